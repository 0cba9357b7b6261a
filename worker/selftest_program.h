/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest_program.h - a process in the sandbox of programs, which tries forbidden
 * actions to measure the sandbox.
 */
#ifndef WORKER_SELFTEST_PROGRAM_H
#define WORKER_SELFTEST_PROGRAM_H

#include "sandbox/rootfs/rootfs.h"
#include "worker/selftest.h"

/*
 * As selftest_run(), in the root T. FOUND's text names each call that was not denied, or
 * a path of the host that must not exist: then the caller stops.
 */
int selftest_program(const struct sandbox *sb, const struct rootfs *t,
		     struct selftest *found);

#endif
