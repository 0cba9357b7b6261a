/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_starter.h - the process that starts Chromium. paddock-browser, which
 * reads output caused by pages, so needs no right to start programs. The
 * starter is told only "start" and "stop": its program was fixed before the
 * first page.
 *
 * Packets each way over a SOCK_SEQPACKET pair. The starter ends with
 * paddock-browser, and all its processes end with it.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_STARTER_H
#define BROWSER_PROCESS_CHROMIUM_STARTER_H

#include <stdint.h>
#include <sys/types.h>

#include "browser/process/chromium_launch.h"

#define CHROMIUM_STARTER_WHY 320

enum chromium_starter_request_kind {
	CHROMIUM_STARTER_START = 1,
	CHROMIUM_STARTER_STOP
};

struct chromium_starter_request {
	uint32_t kind;
	uint32_t start; /* number of the start */
};

/* The first four come in this order, each with a descriptor. */
enum chromium_starter_event_kind {
	CHROMIUM_STARTER_TO = 1,   /* Chromium's debugging pipe, to write to */
	CHROMIUM_STARTER_FROM,	   /* the pipe to read from */
	CHROMIUM_STARTER_LISTENER, /* accepts Chromium's connections */
	/* the socket of PID 1 (pid VALUE), for events: chromium_init.h */
	CHROMIUM_STARTER_PID1,
	CHROMIUM_STARTER_FAILED, /* ERRMSG has the failure */
	CHROMIUM_STARTER_ENDED,	 /* Chromium ended: VALUE is wait(2)'s status */
};

struct chromium_starter_event {
	uint32_t kind;
	uint32_t start; /* the request's number */
	int32_t value;
	char errmsg[CHROMIUM_STARTER_WHY];
};

/*
 * Fork the starter, for PLAN (lent during the call). Return the end of the
 * socket, close-on-exec and non-blocking, and *PID; or -errno. Single-threaded,
 * before any event base.
 */
int chromium_starter_fork(const struct chromium_launch_plan *plan, pid_t *pid);

#endif
