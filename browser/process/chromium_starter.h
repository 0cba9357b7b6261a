/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_starter.h - the process that starts Chromium, so that the broker, which
 * hears what pages make Chromium say, need not be able to start anything. It
 * is told no more than "start" and "stop": what is started was settled before
 * the first page.
 *
 * One packet each way, over a SOCK_SEQPACKET pair. It ends with the broker, and
 * with it whatever it has started.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_STARTER_H
#define BROWSER_PROCESS_CHROMIUM_STARTER_H

#include <stdint.h>
#include <sys/types.h>

#include "browser/process/chromium_launch.h"

#define STARTER_WHY 320

enum starter_order_kind { STARTER_START = 1, STARTER_STOP };

struct starter_order {
	uint32_t kind;
	uint32_t start; /* which start it is about; the broker counts them */
};

/* The first four come in this order, each with a descriptor. */
enum starter_note_kind {
	STARTER_TO = 1,	  /* Chromium's debugging pipe, to write to */
	STARTER_FROM,	  /* and to read from */
	STARTER_LISTENER, /* accepts what it connects to */
	STARTER_WORLD,	  /* its PID 1, VALUE, tells of it there: chromium_init.h */
	STARTER_FAILED,	  /* WHY */
	STARTER_ENDED,	  /* it is gone: VALUE is wait(2)'s status */
};

struct starter_note {
	uint32_t kind;
	uint32_t start; /* as ordered */
	int32_t value;
	char why[STARTER_WHY];
};

/*
 * Fork it, for PLAN (lent until then). The end of the socket, close-on-exec and
 * non-blocking, and *PID; or -errno. Single-threaded, before any event base.
 */
int starter_fork(const struct launch_plan *plan, pid_t *pid);

#endif
