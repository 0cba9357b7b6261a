/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_layer.h - the layers of a worker's sandbox: the steps of building the
 * sandbox, and the bits of the zygote's report to the supervisor.
 */
#ifndef BASE_OS_SANDBOX_LAYER_H
#define BASE_OS_SANDBOX_LAYER_H

#include <stdint.h>

enum sandbox_layer {
	SANDBOX_SECCOMP,
	SANDBOX_NNP,  /* the flag no_new_privs */
	SANDBOX_CAPS, /* capabilities dropped, securebits locked */
	SANDBOX_USERNS,
	SANDBOX_NETNS,
	SANDBOX_IPCNS,
	SANDBOX_UTSNS,
	SANDBOX_MNTNS,
	SANDBOX_ROOT, /* read-only; for Lua also empty */
	SANDBOX_UID,  /* a uid for each worker */
	SANDBOX_LANDLOCK,
	SANDBOX_RLIMITS,
	SANDBOX_CLOSED, /* a single descriptor beside /dev/null */
	SANDBOX_EMPTY_ENV,
	SANDBOX_UNDUMPABLE,
	SANDBOX_PDEATHSIG,
	SANDBOX_PIDNS, /* a program's pid namespace */
	SANDBOX_LAYERS
};

#define SANDBOX_BIT(layer) (UINT32_C(1) << (layer))
#define SANDBOX_ALL (SANDBOX_BIT(SANDBOX_LAYERS) - 1)

#endif
