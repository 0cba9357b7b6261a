/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper_process.h - a process beside paddock-browser that does what the latter
 * must not be able to do: it takes requests, and ends with it. One packet each
 * way, over a SOCK_SEQPACKET pair.
 */
#ifndef BROWSER_PROCESS_HELPER_PROCESS_H
#define BROWSER_PROCESS_HELPER_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#define HELPER_PROCESS_FD 3 /* its end; no other descriptor is above it */
#define HELPER_PROCESS_REQUEST_MAX 512 /* bytes */

struct helper_process {
	size_t order_size; /* a packet of another size ends the process */
	void (*on_request)(const void *request); /* lent */
	void (*reap)(void);			 /* a child may have ended */
	void (*end)(void); /* the socket is closed: the last call */
};

/*
 * Fork it, called NAME in ps(1): the end of the socket, close-on-exec and
 * non-blocking, and *PID; or -errno. In it *PID is 0, and signals are blocked.
 * Single-threaded, before any event base.
 */
int helper_process_fork(const char *name, pid_t *pid);

/* In it: process requests. */
_Noreturn void helper_process_serve(const struct helper_process *h);

#endif
