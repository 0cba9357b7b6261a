/* SPDX-License-Identifier: Apache-2.0 */
/* selftest_program.h - a program that tries what no program may do. */
#ifndef WORKER_SELFTEST_PROGRAM_H
#define WORKER_SELFTEST_PROGRAM_H

#include "sandbox/rootfs/rootfs.h"
#include "worker/selftest.h"

/*
 * As selftest_run(), in the root T. A call that was not denied, or a path that
 * should not exist, is in FOUND's text: then do not go on.
 */
int selftest_program(const struct sandbox *sb, const struct rootfs *t,
		     struct selftest *found);

#endif
