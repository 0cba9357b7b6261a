/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - filters of system calls; seccomp(2). */
#ifndef SANDBOX_FILTER_H
#define SANDBOX_FILTER_H

#include <linux/filter.h>

enum filter_kind {
	FILTER_WORKER, /* a Lua worker */
	/* a worker's calls, and those to clone and confine one */
	FILTER_ZYGOTE,
	/* a worker's, on top of the zygote's that it inherits; see filter.c */
	FILTER_CLONE,
	FILTER_PROGRAM, /* a template's program */
	FILTER_BUILD,	/* what fills a package: a program's, and connections */
	FILTER_SHIM,	/* the shim, which holds that run's socket */
	FILTER_NO_LOCKS, /* on top of a program's: no lock on any file */
	FILTER_ONE_EXEC, /* on top of a build's: see FILTER_EXEC_AT */
	FILTER_BROWSER,	 /* paddock-browser: any other call ends it */
	FILTER_NAMES,	 /* its resolver of names: any other call fails */
	FILTER_KINDS
};

/*
 * Where the path lies that FILTER_ONE_EXEC lets execve(2) take, and no other: the
 * least address that may be mapped. A program that began so has nothing there, and
 * may map nothing there as long as it has no more addresses than FILTER_EXEC_SPACE:
 * the kernel, which looks from above, does not come down to it.
 */
#define FILTER_EXEC_AT 0x10000ul
#define FILTER_EXEC_SPACE (1ul << 40)

/*
 * Compile KIND into PROG, whose code is never freed. A call that is not allowed
 * raises SIGSYS (a program's fails, or is reported to a listener); calls of
 * another architecture kill the process. 0 or -errno.
 */
int filter_make(enum filter_kind kind, struct sock_fprog *prog);

/*
 * Install PROG on top of the filters in force. Needs no_new_privs. 0 or
 * -errno.
 */
int filter_load(const struct sock_fprog *prog);

/*
 * The same; reports are read from the descriptor that is returned, which is
 * close-on-exec (seccomp_unotify(2)). Or -errno. From Linux 5.19 a call that was
 * received waits for its answer, whatever signal comes but the end.
 */
int filter_load_listening(const struct sock_fprog *prog);

#endif
