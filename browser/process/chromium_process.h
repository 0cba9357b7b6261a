/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_process.h - starts and stops Chromium through chromium_starter.h,
 * and passes on its end and the events of its PID 1 (chromium_init.h).
 */
#ifndef BROWSER_PROCESS_CHROMIUM_PROCESS_H
#define BROWSER_PROCESS_CHROMIUM_PROCESS_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/types.h>

#include "browser/process/chromium_init.h"

struct chromium_process;

struct chromium_pipes { /* pipes of a start, owned by the callee */
	int to, from;	/* Chromium's debugging pipes */
	int listener;	/* accepts Chromium's connections, non-blocking */
};

/* Called from the loop, never within a call of chromium_process_*(). */
struct chromium_process_ops {
	void (*up)(void *arg, const struct chromium_pipes *ends);
	void (*failed)(void *arg, const char *errmsg); /* ERRMSG is lent */
	void (*ended)(void *arg, int status);	       /* STATUS is wait(2)'s */
	/* the starter has ended */
	void (*lost)(void *arg);
};

/* Takes STARTER, from chromium_starter_fork(). */
struct chromium_process *
chromium_process_new(struct event_base *base, int starter,
		     const struct chromium_process_ops *ops, void *arg);
/* ends the starter, too; NULL is fine */
void chromium_process_free(struct chromium_process *w);

/* Start Chromium; no event of an earlier start follows. 0 or -errno. */
int chromium_process_start(struct chromium_process *w);
void chromium_process_stop(struct chromium_process *w);
/* Return PID 1's pid, or -1. */
pid_t chromium_process_pid(const struct chromium_process *w);

/*
 * Tell PID 1 that Chromium has not answered for MS, so it ends the page at
 * fault.
 */
void chromium_process_silent(struct chromium_process *w, int64_t ms);

/* Do Chromium's pages have its own sandbox? -1: not known yet. */
int chromium_process_held(const struct chromium_process *w);
/*
 * Return PID 1's event of a kill within the last MS, or NULL, after reading all
 * events received.
 */
const struct chromium_init_event *
chromium_process_over(struct chromium_process *w, int64_t ms);

#endif
