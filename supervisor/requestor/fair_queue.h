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

/* Turns last so long at most until the loop looks at all others… */
#define FAIR_QUEUE_ROUND_US 2000
#define FAIR_QUEUE_WRITE_BYTES (1u << 20) /* …and one write: 0.5 ms */

/* Somebody's place in the line; TAKE and ARG are the owner's. */
struct fair_queue_turn {
	void (*take)(void *arg); /* may free its owner */
	void *arg;
	struct fair_queue_flow *lane; /* where it waits; NULL: it does not */
	uint64_t asked;		      /* in this round */
	TAILQ_ENTRY(fair_queue_turn) link;
};

/* All turns of one requestor. */
struct fair_queue_flow {
	struct fair_queue *all; /* while any waits */
	TAILQ_HEAD(fair_queue_turns, fair_queue_turn) line;
	TAILQ_ENTRY(fair_queue_flow) link; /* in all.lanes, while any waits */
};

struct fair_queue {
	struct event_base *base;
	struct event *go_on;
	TAILQ_HEAD(fair_queue_flows, fair_queue_flow)
	lanes; /* whose turn it is, first */
	size_t n_lanes;
	uint64_t round;
	struct timeval looked; /* the loop, by its own clock */
	int64_t spent_us;      /* on turns since then */
};

void fair_queue_init(struct fair_queue *all, struct event_base *base);
void fair_queue_fini(struct fair_queue *all); /* nobody waits any more */
void fair_queue_flow_init(struct fair_queue_flow *lane);

/*
 * T->take() is called once: now, when nobody waits and the loop has not been
 * away from the others for FAIR_QUEUE_ROUND_US; else in its turn. T does not wait.
 */
void fair_queue_submit(struct fair_queue *all, struct fair_queue_flow *lane,
		       struct fair_queue_turn *t);
/* The same, but never before the loop has looked at all others. */
void fair_queue_requeue(struct fair_queue *all, struct fair_queue_flow *lane,
			struct fair_queue_turn *t);
/* It does not want it any more; nothing when it does not wait. */
void fair_queue_cancel(struct fair_queue_turn *t);

#endif
