/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_queue.h - decides whose message is handled next. The server has one
 * thread for all clients: each message is a turn, turns go round the
 * requestors, and within a requestor round the connections. When a turn is over
 * and the connection has more messages, the loop looks at all other connections
 * first.
 */
#ifndef SUPERVISOR_REQUESTOR_FAIR_QUEUE_H
#define SUPERVISOR_REQUESTOR_FAIR_QUEUE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/time.h>

/*
 * How long (us) turns may last until the loop looks at its descriptors again.
 */
#define FAIR_QUEUE_ROUND_US 2000
#define FAIR_QUEUE_WRITE_BYTES (1u << 20) /* the largest write: 0.5 ms */

/* A place in the queue; TAKE and ARG are the owner's. */
struct fair_queue_turn {
	/* handle the message; may free the owner of the turn */
	void (*take)(void *arg);
	void *arg;
	/* the lane in which the turn waits; NULL: not waiting */
	struct fair_queue_flow *lane;
	uint64_t asked; /* the round in which the turn was submitted */
	TAILQ_ENTRY(fair_queue_turn) link;
};

/* The turns of one requestor. */
struct fair_queue_flow {
	/* the queue, while a turn waits here; else NULL */
	struct fair_queue *all;
	TAILQ_HEAD(fair_queue_turns, fair_queue_turn) line;
	/* entry in all.lanes, while a turn waits */
	TAILQ_ENTRY(fair_queue_flow) link;
};

struct fair_queue {
	struct event_base *base;
	struct event *go_on;
	TAILQ_HEAD(fair_queue_flows, fair_queue_flow)
	lanes; /* the lane whose turn is next comes first */
	size_t n_lanes;
	uint64_t round;
	/* when the loop looked last, by libevent's clock */
	struct timeval looked;
	int64_t spent_us; /* time spent on turns since the loop looked last */
};

void fair_queue_init(struct fair_queue *all, struct event_base *base);
void fair_queue_fini(struct fair_queue *all); /* no turn may wait any more */
void fair_queue_flow_init(struct fair_queue_flow *lane);

/*
 * Call T->take() once: now, when no turn waits and turns have lasted less than
 * FAIR_QUEUE_ROUND_US since the loop looked; else in T's turn. T must not be
 * waiting.
 */
void fair_queue_submit(struct fair_queue *all, struct fair_queue_flow *lane,
		       struct fair_queue_turn *t);
/*
 * As fair_queue_submit(), but never before the loop has looked at all other
 * connections.
 */
void fair_queue_requeue(struct fair_queue *all, struct fair_queue_flow *lane,
			struct fair_queue_turn *t);
/* Withdraw T; does nothing when T is not waiting. */
void fair_queue_cancel(struct fair_queue_turn *t);

#endif
