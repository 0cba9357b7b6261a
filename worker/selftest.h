/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.h - a worker that tries what no worker may do. */
#ifndef WORKER_SELFTEST_H
#define WORKER_SELFTEST_H

#include <sys/types.h>

#include "sandbox/sandbox.h"

/* What it found. */
struct selftest {
	uint32_t held; /* a bit per sandbox_layer: measured, and it held */
	int err;       /* why the filter could not be installed: -errno */
	bool bare; /* a program's: it saw inodes of others, so it locks none */
	char text[256]; /* without SANDBOX_SECCOMP: what got through, or why */
};

/*
 * Bear a worker as any other, let it look and try, and take its findings.
 * SUPERVISOR is a process that it must not reach. It is dead and reaped on
 * return. 0, or -errno when there is no answer.
 */
int selftest_run(const struct sandbox *sb, pid_t supervisor,
		 struct selftest *found);

#endif
