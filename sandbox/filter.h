/* SPDX-License-Identifier: Apache-2.0 */
/* filter.h - seccomp filters of system calls; seccomp(2). */
#ifndef SANDBOX_FILTER_H
#define SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

enum filter_kind {
	FILTER_WORKER, /* a Lua worker */
	/* a worker's calls, and the calls to clone and confine a worker */
	FILTER_ZYGOTE,
	/* of a worker, on top of the inherited filter of the zygote; see filter.c */
	FILTER_CLONE,
	/* the same, of a worker with network: SANDBOX_CAGE_FD, too */
	FILTER_STREAM_CLONE,
	FILTER_PROGRAM, /* a template's program */
	/* a program with network: connections in its own network namespace, too */
	FILTER_NETWORK,
	/* the build of a package: a program's calls, and connections */
	FILTER_BUILD,
	FILTER_SHIM,	 /* the shim, which holds the socket of the run */
	FILTER_NO_LOCKS, /* on top of a program's filter: no lock on any file */
	FILTER_ONE_EXEC, /* on top of a build's filter: see FILTER_EXEC_AT */
	FILTER_BROWSER,	 /* paddock-browser: any other call is fatal */
	/* the resolver of paddock-browser: any other call fails */
	FILTER_NAMES,
	FILTER_EGRESS, /* a child of paddock-egress: any other call is fatal */
	FILTER_KINDS
};

/*
 * The address of the only path that FILTER_ONE_EXEC allows for execve(2): the
 * least address that may be mapped. A program started by execve(2) has nothing
 * mapped at the address, and cannot map anything there while the address space
 * is limited to FILTER_EXEC_SPACE: the kernel places mappings from above, and
 * does not come down so far.
 */
#define FILTER_EXEC_AT 0x10000ul
#define FILTER_EXEC_SPACE (1ul << 40)

/*
 * Compile KIND into PROG, whose code is never freed. A forbidden call raises
 * SIGSYS (for a program: fails, or is reported to a listener); a call by
 * another architecture's convention kills the process. 0 or -errno.
 */
int filter_make(enum filter_kind kind, struct sock_fprog *prog);

/*
 * Install PROG on top of the filters in force. Requires no_new_privs. 0 or
 * -errno.
 */
int filter_load(const struct sock_fprog *prog);

/*
 * As filter_load(), and return the close-on-exec descriptor from which reports are read
 * (seccomp_unotify(2)), or -errno. From Linux 5.19 on, a call whose report was received
 * waits for the answer through any signal except a fatal signal.
 */
int filter_load_listening(const struct sock_fprog *prog);

/*
 * Is CALL, reported to a listener of FILTER_PROGRAM, one that makes a process, a thread or a
 * session, or executes a file?
 */
bool filter_is_birth(int call);

#endif
