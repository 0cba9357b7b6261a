/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper_process.h - a process beside paddock-browser, with rights that
 * paddock-browser must not have: it takes requests, and ends with
 * paddock-browser. Packets each way over a SOCK_SEQPACKET pair.
 */
#ifndef BROWSER_PROCESS_HELPER_PROCESS_H
#define BROWSER_PROCESS_HELPER_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* the process's end; higher descriptors are closed */
#define HELPER_PROCESS_FD 3
#define HELPER_PROCESS_REQUEST_MAX 512 /* most bytes of a request */

struct helper_process {
	size_t order_size; /* a packet of another size ends the process */
	void (*on_request)(const void *request); /* REQUEST is lent */
	void (*reap)(void);			 /* a child may have ended */
	void (*end)(void); /* the socket is closed: the last call */
};

/*
 * Fork the process, called NAME in ps(1): the end of the socket, close-on-exec
 * and non-blocking, and *PID; or -errno. In the child *PID is 0, and signals
 * are blocked. Single-threaded, before any event base.
 */
int helper_process_fork(const char *name, pid_t *pid);

/* Process requests; called in the child. */
_Noreturn void helper_process_serve(const struct helper_process *h);

#endif
