/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_layer.h - the layers of a worker's sandbox: the steps that build it,
 * and the bits of the report that its zygote sends to the supervisor.
 */
#ifndef BASE_OS_SANDBOX_LAYER_H
#define BASE_OS_SANDBOX_LAYER_H

#include <stdint.h>

enum sandbox_layer {
	SANDBOX_SECCOMP,
	SANDBOX_NNP,  /* no_new_privs */
	SANDBOX_CAPS, /* none left, securebits locked */
	SANDBOX_USERNS,
	SANDBOX_NETNS,
	SANDBOX_IPCNS,
	SANDBOX_UTSNS,
	SANDBOX_MNTNS,
	SANDBOX_ROOT, /* read-only, and for Lua empty */
	SANDBOX_UID,  /* one per worker */
	SANDBOX_LANDLOCK,
	SANDBOX_RLIMITS,
	SANDBOX_CLOSED, /* one descriptor beside /dev/null */
	SANDBOX_EMPTY_ENV,
	SANDBOX_UNDUMPABLE,
	SANDBOX_PDEATHSIG,
	SANDBOX_PIDNS, /* a program's alone */
	SANDBOX_LAYERS
};

#define SANDBOX_BIT(layer) (UINT32_C(1) << (layer))
#define SANDBOX_ALL (SANDBOX_BIT(SANDBOX_LAYERS) - 1)

#endif
