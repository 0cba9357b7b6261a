/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - which system calls are left; seccomp(2). */
#ifndef SANDBOX_FILTER_H
#define SANDBOX_FILTER_H

#include <linux/filter.h>

enum filter_kind {
	FILTER_WORKER,	/* a caged run */
	FILTER_ZYGOTE,	/* a worker's, and what cloning and caging one takes */
	FILTER_CLONE,	/* on top of the zygote's, which each worker inherits: a
			 worker's; see filter.c */
	FILTER_PROGRAM, /* any program of a template's */
	FILTER_SHIM,	/* who holds such a run's socket */
	FILTER_NO_LOCKS, /* beside a program's: no lock on any file */
	FILTER_BROWSER,	 /* the browser's broker: anything else ends it */
	FILTER_NAMES,	 /* who resolves names for it: anything else fails */
	FILTER_KINDS
};

/*
 * Compile KIND into PROG, whose code is never freed. Anything that is not
 * allowed raises SIGSYS (a program's: fails, or is a listener's to
 * report); another architecture's calls kill the process. 0 or
 * -errno.
 */
int filter_make(enum filter_kind kind, struct sock_fprog *prog);

/*
 * Install PROG on top of the filters in force. Needs no_new_privs. 0 or
 * -errno.
 */
int filter_load(const struct sock_fprog *prog);

/*
 * The same; what is to be reported waits at the descriptor that is returned,
 * close-on-exec (seccomp_unotify(2)). Or -errno.
 */
int filter_load_listening(const struct sock_fprog *prog);

#endif
