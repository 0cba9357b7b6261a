/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_queue.c - gives connections turns at the loop; stream_conn.c and
 * http_conn.c ask for turns. A timer of zero length serves the waiting turns.
 * The timer fires once after each look of the loop at its descriptors: a firing
 * is a round. Nothing here fails.
 */
#include "supervisor/requestor/fair_queue.h"

#include <assert.h>

#include "base/clock.h"

void fair_queue_flow_init(struct fair_queue_flow *lane)
{
	*lane = (struct fair_queue_flow){0};
	TAILQ_INIT(&lane->line);
}

static void take_turn(struct fair_queue *all, struct fair_queue_turn *t)
{
	int64_t from = clock_mono_us();

	t->take(t->arg);
	all->spent_us += clock_mono_us() - from;
}

/*
 * Return the lane with the next turn. Lanes that asked only in this round are
 * passed over.
 */
static struct fair_queue_flow *next_lane(struct fair_queue *all)
{
	for (size_t n = all->n_lanes; n > 0; n--) {
		struct fair_queue_flow *lane = TAILQ_FIRST(&all->lanes);

		if (TAILQ_FIRST(&lane->line)->asked != all->round)
			return lane;
		TAILQ_REMOVE(&all->lanes, lane, link);
		TAILQ_INSERT_TAIL(&all->lanes, lane, link);
	}
	return NULL;
}

static void arm(struct fair_queue *all)
{
	static const struct timeval now = {0};

	/* a timer: an event made active now would come before all waiting
	   descriptors */
	if (all->n_lanes > 0 && !evtimer_pending(all->go_on, NULL))
		evtimer_add(all->go_on, &now);
}

static void on_go_on(evutil_socket_t fd, short what, void *arg)
{
	struct fair_queue *all = arg;
	struct fair_queue_flow *lane;

	(void)fd, (void)what;
	all->round++;
	all->spent_us = 0;
	while (all->spent_us < FAIR_QUEUE_ROUND_US &&
	       (lane = next_lane(all)) != NULL) {
		struct fair_queue_turn *t = TAILQ_FIRST(&lane->line);

		fair_queue_cancel(t);
		/* more turns wait: put the lane behind the other lanes */
		if (lane->all != NULL) {
			TAILQ_REMOVE(&all->lanes, lane, link);
			TAILQ_INSERT_TAIL(&all->lanes, lane, link);
		}
		take_turn(all, t);
	}
	arm(all);
}

void fair_queue_init(struct fair_queue *all, struct event_base *base)
{
	*all = (struct fair_queue){.base = base};
	all->go_on = evtimer_new(base, on_go_on, all);
	TAILQ_INIT(&all->lanes);
}

void fair_queue_fini(struct fair_queue *all)
{
	if (all->go_on == NULL)
		return;
	assert(all->n_lanes == 0);
	event_free(all->go_on);
	all->go_on = NULL;
}

void fair_queue_requeue(struct fair_queue *all, struct fair_queue_flow *lane,
			struct fair_queue_turn *t)
{
	assert(t->lane == NULL);
	t->asked = all->round;
	t->lane = lane;
	TAILQ_INSERT_TAIL(&lane->line, t, link);
	if (lane->all == NULL) {
		lane->all = all;
		TAILQ_INSERT_TAIL(&all->lanes, lane, link);
		all->n_lanes++;
	}
	arm(all);
}

void fair_queue_submit(struct fair_queue *all, struct fair_queue_flow *lane,
		       struct fair_queue_turn *t)
{
	struct timeval now;

	/* libevent's clock, which is coarse, has moved: the loop has looked at its
	   descriptors, so measure time anew */
	event_base_gettimeofday_cached(all->base, &now);
	if (timercmp(&now, &all->looked, !=)) {
		all->looked = now;
		all->spent_us = 0;
	}
	if (all->n_lanes == 0 && all->spent_us < FAIR_QUEUE_ROUND_US)
		take_turn(all, t);
	else
		fair_queue_requeue(all, lane, t);
}

void fair_queue_cancel(struct fair_queue_turn *t)
{
	struct fair_queue_flow *lane = t->lane;

	if (lane == NULL)
		return;
	t->lane = NULL;
	TAILQ_REMOVE(&lane->line, t, link);
	if (!TAILQ_EMPTY(&lane->line))
		return;
	TAILQ_REMOVE(&lane->all->lanes, lane, link);
	lane->all->n_lanes--;
	lane->all = NULL;
}
