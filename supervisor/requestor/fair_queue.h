/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_queue.h - whose message is handled next. The server has one thread for all
 * clients: each message is a turn, turns go round the requestors, and within
 * a requestor round its connections. When a turn is over and its connection
 * has more, the loop looks at all others before that one's next.
 */
#ifndef SUPERVISOR_REQUESTOR_FAIR_QUEUE_H
#define SUPERVISOR_REQUESTOR_FAIR_QUEUE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/time.h>

#define TURNS_ROUND_US 2000 /* of turns, until the loop looks at all others */

/* Somebody's place in the line; TAKE and ARG are the owner's. */
struct turn {
	void (*take)(void *arg); /* may free its owner */
	void *arg;
	struct turn_lane *lane; /* where it waits; NULL: it does not */
	uint64_t asked;		/* in this round */
	TAILQ_ENTRY(turn) link;
};

/* All turns of one requestor. */
struct turn_lane {
	struct turns *all; /* while any waits */
	TAILQ_HEAD(turn_line, turn) line;
	TAILQ_ENTRY(turn_lane) link; /* in all.lanes, while any waits */
};

struct turns {
	struct event_base *base;
	struct event *go_on;
	TAILQ_HEAD(turn_lanes, turn_lane) lanes; /* whose turn it is, first */
	size_t n_lanes;
	uint64_t round;
	struct timeval looked; /* the loop, by its own clock */
	int64_t spent_us; /* on turns since then */
};

void turns_init(struct turns *all, struct event_base *base);
void turns_fini(struct turns *all); /* nobody waits any more */
void turn_lane_init(struct turn_lane *lane);

/*
 * T->take() is called once: now, when nobody waits and the loop has not been
 * away from the others for TURNS_ROUND_US; else in its turn. T does not wait.
 */
void turn_ask(struct turns *all, struct turn_lane *lane, struct turn *t);
/* The same, but never before the loop has looked at all others. */
void turn_wait(struct turns *all, struct turn_lane *lane, struct turn *t);
/* It does not want it any more; nothing when it does not wait. */
void turn_leave(struct turn *t);

#endif
