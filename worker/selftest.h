/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.h - a worker that tries what no worker may do. */
#ifndef WORKER_SELFTEST_H
#define WORKER_SELFTEST_H

#include <sys/types.h>

#include "sandbox/sandbox.h"

/* What the worker found. */
struct selftest {
	uint32_t held; /* SANDBOX_BIT() of each layer that held */
	int err;       /* why the filter could not be loaded: -errno */
	/* a program's: it saw inodes of others, so it may lock none */
	bool bare;
	/* without SANDBOX_SECCOMP: the calls that were not denied, or why */
	char text[256];
};

/* A system call that must be denied: with an error, or by SIGSYS. */
struct selftest_act {
	const char *name;
	long nr;
	int want;
	long arg[6];
};
#define SELFTEST_TRAPS 0

/* Are all N denied? The names of those that are not go into FOUND->text. */
bool selftest_denied(const struct selftest_act *list, size_t n,
		     struct selftest *found);

/* What holds in any worker. */
bool selftest_no_new_privs(const struct sandbox *sb);
bool selftest_own_utsns(const struct sandbox *sb);

/* The layer that a worker which ended with STATUS could not enter, or NULL. */
const char *selftest_lost_layer(int status);

/*
 * Clone a worker as any other, let it measure its sandbox, and take its answer.
 * SUPERVISOR is a process that it must not reach. It is dead and reaped on
 * return. 0, or -errno when there is no answer. MEANWHILE is called while it
 * measures.
 */
int selftest_run(const struct sandbox *sb, pid_t supervisor,
		 void (*meanwhile)(void), struct selftest *found);

/*
 * Take ANSWERS answers of the worker PID (or -errno: there is none) over ENDS,
 * then end it. Closes both; 0, or -errno and, if it was there, its *STATUS.
 */
int selftest_await(pid_t pid, const int ends[2], int answers,
		   struct selftest *found, int *status);

#endif
