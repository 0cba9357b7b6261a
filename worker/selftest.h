/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.h - a worker that tries forbidden actions, to measure the sandbox. */
#ifndef WORKER_SELFTEST_H
#define WORKER_SELFTEST_H

#include <sys/types.h>

#include "sandbox/sandbox.h"

/* The result of the worker. */
struct selftest {
	uint32_t held; /* SANDBOX_BIT() of each layer that held */
	int err;       /* -errno of loading the filter */
	/* of a program: inodes of other runs are visible, so locks are forbidden */
	bool bare;
	/* without SANDBOX_SECCOMP: the calls that were not denied, or the cause */
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

/* Are all N calls denied? The names of other calls go into FOUND->text. */
bool selftest_denied(const struct selftest_act *list, size_t n,
		     struct selftest *found);

/* Checks that apply to any worker. */
bool selftest_no_new_privs(const struct sandbox *sb);
bool selftest_own_utsns(const struct sandbox *sb);

/* The layer that a worker with exit STATUS could not enter, or NULL. */
const char *selftest_lost_layer(int status);

/*
 * Clone a worker like any other, let the worker measure the sandbox, and receive the
 * answer. The worker must not reach the process SUPERVISOR. The worker is dead and reaped
 * on return. 0, or -errno without an answer. MEANWHILE is called during the measurement.
 */
int selftest_run(const struct sandbox *sb, pid_t supervisor,
		 void (*meanwhile)(void), struct selftest *found);

/*
 * As selftest_run(), for a process in the sandbox of programs, in the root T. FOUND's text
 * names each call that was not denied, or a path of the host that must not exist: then the
 * caller stops. In selftest_program.c.
 */
struct rootfs;
int selftest_program(const struct sandbox *sb, const struct rootfs *t,
		     struct selftest *found);

/*
 * Receive ANSWERS answers of the worker PID (or -errno of the clone) over ENDS, then kill
 * the worker. Closes ENDS; 0, or -errno and the worker's *STATUS if the worker existed.
 */
int selftest_await(pid_t pid, const int ends[2], int answers,
		   struct selftest *found, int *status);

#endif
