/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper_process.h - a process beside the broker that does what the broker itself must
 * not be able to do: it takes orders, and ends with the broker. One packet each
 * way, over a SOCK_SEQPACKET pair.
 */
#ifndef BROWSER_PROCESS_HELPER_PROCESS_H
#define BROWSER_PROCESS_HELPER_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#define HELPER_PROCESS_FD 3 /* its end; no other descriptor is above it */
#define HELPER_PROCESS_REQUEST_MAX 512 /* bytes */

struct helper_process {
	size_t order_size; /* a packet of another size ends it */
	void (*obey)(const void *request); /* lent */
	void (*reap)(void);		   /* a child of its may have ended */
	void (*end)(void); /* nobody gives orders any more: the last call */
};

/*
 * Fork it, called NAME in ps(1): the end of the socket, close-on-exec and
 * non-blocking, and *PID; or -errno. In it *PID is 0, and signals are blocked.
 * Single-threaded, before any event base.
 */
int helper_process_fork(const char *name, pid_t *pid);

/* In it: take orders. */
_Noreturn void helper_process_serve(const struct helper_process *h);

#endif
