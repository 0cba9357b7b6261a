/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.h - what templates are made of: each kind has a zygote of its own. */
#ifndef IPC_RUNTIME_H
#define IPC_RUNTIME_H

enum runtime { RUNTIME_LUA, RUNTIME_PROGRAM, RUNTIMES };

#endif
