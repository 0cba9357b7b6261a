/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_process.h - the broker's side of chromium_starter.h and chromium_init.h: Chromium's world as it
 * is started, stopped, ends, and what its PID 1 tells of it.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_PROCESS_H
#define BROWSER_PROCESS_CHROMIUM_PROCESS_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/types.h>

#include "browser/process/chromium_init.h"

struct world;

struct world_ends { /* the taker's */
	int to, from; /* Chromium's debugging pipes */
	int listener; /* accepts what it connects to, non-blocking */
};

/* Called from the loop, never within a call of world_*. */
struct world_ops {
	void (*up)(void *arg, const struct world_ends *ends);
	void (*failed)(void *arg, const char *why); /* lent */
	void (*ended)(void *arg, int status);	    /* wait(2)'s */
	void (*lost)(void *arg);		    /* there is no starter */
};

/* Takes STARTER, the end that starter_fork() gave. */
struct world *world_new(struct event_base *base, int starter,
			const struct world_ops *ops, void *arg);
void world_free(struct world *w); /* the starter ends with it; NULL is fine */

/* Of one that was started before, nothing more is told. 0 or -errno. */
int world_start(struct world *w);
void world_stop(struct world *w);
pid_t world_pid(const struct world *w); /* PID 1's, or -1 */

/* Do its pages have Chromium's own sandbox? -1: there was none to see yet. */
int world_held(const struct world *w);
/*
 * What its watch ended within the last MS; NULL: nothing. What has been told
 * by now is read first.
 */
const struct watch_note *world_over(struct world *w, int64_t ms);

#endif
