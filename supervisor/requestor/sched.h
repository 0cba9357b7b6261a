/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched.h - whose turn it is: deficit round robin over lanes, one a
 * requestor. A lane is first in, first out; a turn is one item, whatever it
 * costs; in each round a lane has as many turns as its weight. It knows
 * neither runs nor requestors: it is told what each lane may have at a time,
 * and which kinds of items wait; those behind them go before.
 */
#ifndef SUPERVISOR_REQUESTOR_SCHED_H
#define SUPERVISOR_REQUESTOR_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct sched_lane;

struct sched_item {    /* embedded in what waits; all-zero: it waits nowhere */
	int64_t bytes; /* of memory that it holds; set before it is put */
	unsigned kind; /* 0 to 31; set before it is put */
	struct sched_lane *lane;
	bool aside;		      /* counted there, but in no line… */
	TAILQ_ENTRY(sched_item) link; /* …else in lane.items */
};

#define SCHED_ALL (-1)

struct sched_lane {
	TAILQ_HEAD(, sched_item) items; /* the oldest first */
	TAILQ_ENTRY(sched_lane) link;	/* in sched.ring, while it has items */
	size_t queued;			/* with those that are aside… */
	size_t aside;			/* …of which there are so many */
	int64_t queued_bytes;
	size_t elsewhere;	      /* that others say wait for it there */
	size_t running;		      /* started, and not over */
	TAILQ_ENTRY(sched_lane) busy; /* in sched.busy, while some do */
	int64_t max_running;	      /* 0: no limit of its own; may change */
	int64_t share;	/* the same, of what several instances may have;
			  SCHED_ALL: it is not shared */
	int64_t weight; /* 1 or more; may change */
	bool held;	/* nothing of it starts now; may change */
	int64_t turns;	/* left in this round */
};

struct sched {
	TAILQ_HEAD(, sched_lane) ring; /* the head has, or gets, its turns */
	size_t queued;
	int64_t queued_bytes;
	size_t aside;	  /* of these */
	size_t elsewhere; /* of all lanes */
	size_t running;
	uint32_t waits; /* a bit for each kind that does not start now */
	TAILQ_HEAD(, sched_lane) busy; /* lanes of which something runs */
	/*
	 * Of so many places (0: one lane may have all) each of KNOWN lanes has a
	 * fair part. One that has its part, and no limit of its own, leaves a
	 * place to each that has less, a tenth of them or one at the most: what
	 * runs gives its place to nobody.
	 */
	size_t places, known;
};

void sched_init(struct sched *s);
void sched_lane_init(struct sched_lane *lane); /* weight 1, no limit */

/* ITEM waits behind the others of LANE. Both are lent until it leaves. */
void sched_put(struct sched *s, struct sched_lane *lane,
	       struct sched_item *item);
/* The same, but behind those of its kind alone, which are the first. */
void sched_put_first(struct sched *s, struct sched_lane *lane,
		     struct sched_item *item);
/* ITEM counts as one that waits, but others see to its turn. */
void sched_put_aside(struct sched *s, struct sched_lane *lane,
		     struct sched_item *item);
/* ITEM, which waits, is wanted no more. */
void sched_remove(struct sched *s, struct sched_item *item);

/* May one more of LANE's run, whoever waits? */
bool sched_has_room(const struct sched *s, const struct sched_lane *lane);
/* Would an item of LANE's and of KIND, put now, be next? */
bool sched_is_clear(const struct sched *s, const struct sched_lane *lane,
		    unsigned kind);

/*
 * Who is next; NULL: nobody that may start. O(lanes that are at their max,
 * and items that wait for their kind).
 */
struct sched_item *sched_next(const struct sched *s);
/* ITEM, which sched_next() gave just now, has started: its turn is used. */
void sched_start(struct sched *s, struct sched_item *item);
/* One that LANE started is over, or rests; or goes on AGAIN, out of turn. */
void sched_over(struct sched *s, struct sched_lane *lane);
void sched_again(struct sched *s, struct sched_lane *lane);
/* ITEM of LANE did not start after all: it is next again. */
void sched_put_back(struct sched *s, struct sched_lane *lane,
		    struct sched_item *item);

#endif
