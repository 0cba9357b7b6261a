/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - the kinds of templates; each kind has its own zygote. */
#ifndef IPC_RUNTIME_H
#define IPC_RUNTIME_H

enum runtime_kind {
#define RUNTIME(id, name) RUNTIME_##id,
#include "ipc/runtime.def"
	RUNTIMES
};

#endif
