/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_process.h - Chromium as it is started, stopped and ends, by
 * chromium_starter.h, and what its PID 1 reports, by chromium_init.h.
 */
#ifndef BROWSER_PROCESS_CHROMIUM_PROCESS_H
#define BROWSER_PROCESS_CHROMIUM_PROCESS_H

#include <event2/event.h>
#include <stdint.h>
#include <sys/types.h>

#include "browser/process/chromium_init.h"

struct chromium_process;

struct chromium_pipes { /* owned by the callee */
	int to, from;	/* Chromium's debugging pipes */
	int listener;	/* accepts what it connects to, non-blocking */
};

/* Called from the loop, never within a call of chromium_process_*. */
struct chromium_process_ops {
	void (*up)(void *arg, const struct chromium_pipes *ends);
	void (*failed)(void *arg, const char *errmsg); /* lent */
	void (*ended)(void *arg, int status);	       /* wait(2)'s */
	void (*lost)(void *arg);		       /* there is no starter */
};

/* Takes STARTER, the end that chromium_starter_fork() gave. */
struct chromium_process *
chromium_process_new(struct event_base *base, int starter,
		     const struct chromium_process_ops *ops, void *arg);
/* the starter ends with it; NULL is fine */
void chromium_process_free(struct chromium_process *w);

/* Nothing more is reported of one that was started before. 0 or -errno. */
int chromium_process_start(struct chromium_process *w);
void chromium_process_stop(struct chromium_process *w);
/* PID 1's, or -1 */
pid_t chromium_process_pid(const struct chromium_process *w);

/* Do its pages have Chromium's own sandbox? -1: not known yet. */
int chromium_process_held(const struct chromium_process *w);
/*
 * What PID 1 killed within the last MS; NULL: nothing. Reads first what PID 1
 * has sent.
 */
const struct chromium_init_event *
chromium_process_over(struct chromium_process *w, int64_t ms);

#endif
