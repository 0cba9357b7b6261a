/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_starter.h - the process that starts Chromium, so that
 * paddock-browser, which reads what pages make Chromium send, need not be able
 * to. It is told no more than "start" and "stop": what is started was fixed
 * before the first page.
 *
 * One packet each way, over a SOCK_SEQPACKET pair. It ends with
 * paddock-browser, and everything that it started ends with it.
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
	uint32_t start; /* the number of the start */
};

/* The first four come in this order, each with a descriptor. */
enum chromium_starter_event_kind {
	CHROMIUM_STARTER_TO = 1,   /* Chromium's debugging pipe, to write to */
	CHROMIUM_STARTER_FROM,	   /* and to read from */
	CHROMIUM_STARTER_LISTENER, /* accepts what it connects to */
	/* its PID 1, VALUE, sends events there: chromium_init.h */
	CHROMIUM_STARTER_PID1,
	CHROMIUM_STARTER_FAILED, /* ERRMSG */
	CHROMIUM_STARTER_ENDED,	 /* it ended: VALUE is wait(2)'s status */
};

struct chromium_starter_event {
	uint32_t kind;
	uint32_t start; /* as requested */
	int32_t value;
	char errmsg[CHROMIUM_STARTER_WHY];
};

/*
 * Fork it, for PLAN (lent until then). The end of the socket, close-on-exec and
 * non-blocking, and *PID; or -errno. Single-threaded, before any event base.
 */
int chromium_starter_fork(const struct chromium_launch_plan *plan, pid_t *pid);

#endif
