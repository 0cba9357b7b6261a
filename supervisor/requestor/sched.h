/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched.h - decides whose turn it is: deficit round robin over lanes, one for
 * each requestor. A lane is first in, first out; a turn is one item, whatever
 * the cost; in each round a lane has as many turns as its weight. The scheduler
 * knows neither runs nor requestors. The caller sets how many items of each
 * lane may run at a time, and which kinds of items have to wait; items behind a
 * waiting kind go first.
 *
 * An item of a level may wait for items of higher levels, and lends its place to them
 * meanwhile: the place is for higher levels alone, so that all items of a level and
 * above that have begun are never more than the places, and never wait for each other's.
 */
#ifndef SUPERVISOR_REQUESTOR_SCHED_H
#define SUPERVISOR_REQUESTOR_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct memory_account;
struct sched_lane;

struct sched_item {    /* embedded in the queued object; all-zero: not queued */
	int64_t bytes; /* memory held; set before the item is put */
	unsigned kind; /* 0 to 31; set before the item is put */
	unsigned level; /* below SCHED_LEVELS; set before the item is put */
	struct sched_lane *lane;
	bool aside;		      /* counted as waiting, but in no queue */
	TAILQ_ENTRY(sched_item) link; /* entry in lane.items, unless aside */
};

#define SCHED_ALL (-1)
#define SCHED_LEVELS 9

struct sched_lane {
	TAILQ_HEAD(, sched_item) items; /* queued items, the oldest first */
	/* entry in sched.ring, while the lane has items */
	TAILQ_ENTRY(sched_lane) link;
	size_t queued; /* waiting items, with those aside */
	size_t aside;  /* how many of queued are aside */
	int64_t queued_bytes;
	/* an account that counts these bytes, too; or NULL */
	struct memory_account *memory;
	size_t elsewhere; /* items of this lane waiting at other servers */
	size_t running;	  /* items started, and neither over nor lent */
	/* places lent by items of a level and above, by level */
	size_t lent[SCHED_LEVELS];
	/* entry in sched.busy, while an item runs */
	TAILQ_ENTRY(sched_lane) busy;
	int64_t max_running; /* 0: no limit of the lane's own; may change */
	/* the part of max_running at this instance, where several share the
	   limit; SCHED_ALL: not shared */
	int64_t share;
	int64_t weight; /* 1 or more; may change */
	bool held;	/* true: no item starts now; may change */
	int64_t turns;	/* turns left in this round */
};

struct sched {
	/* lanes with items; the first has, or gets, the turn */
	TAILQ_HEAD(, sched_lane) ring;
	size_t queued;
	int64_t queued_bytes;
	size_t aside;	  /* how many of queued are aside */
	size_t elsewhere; /* items of all lanes waiting at other servers */
	size_t running;
	size_t lent[SCHED_LEVELS]; /* as in each lane */
	uint32_t waits; /* a bit for each kind that does not start now */
	unsigned least; /* the least level that starts now */
	TAILQ_HEAD(, sched_lane) busy; /* lanes with running items */
	/*
	 * Of so many places (0: one lane may have all) each of KNOWN lanes has
	 * a fair part. A lane that has its part, and no limit of its own,
	 * leaves a place to each lane with less: at the most a tenth of the
	 * places, or one. A running item gives its place to no other item.
	 */
	size_t places, known;
};

void sched_init(struct sched *s);
void sched_lane_init(struct sched_lane *lane); /* sets weight 1, no limit */

/* Put ITEM behind the other items of LANE. Both are lent until ITEM leaves. */
void sched_put(struct sched *s, struct sched_lane *lane,
	       struct sched_item *item);
/*
 * As sched_put(), but ITEM goes behind the first items of the same kind only.
 */
void sched_put_first(struct sched *s, struct sched_lane *lane,
		     struct sched_item *item);
/*
 * Count ITEM as waiting, without a place in the queue: the caller sees to its
 * turn.
 */
void sched_put_aside(struct sched *s, struct sched_lane *lane,
		     struct sched_item *item);
/* Withdraw ITEM, which waits. */
void sched_remove(struct sched *s, struct sched_item *item);

/* Return how many items of LEVEL and above have begun, and are not over. */
size_t sched_begun(const struct sched *s, unsigned level);
/* Return the least level of which one more item may run in MOST places. */
unsigned sched_least(const struct sched *s, size_t most);
/* May one more item of LANE and LEVEL run, whichever items wait? */
bool sched_has_room(const struct sched *s, const struct sched_lane *lane,
		    unsigned level);
/* Would an item of LANE's, of KIND and of LEVEL, put now, be next? */
bool sched_is_clear(const struct sched *s, const struct sched_lane *lane,
		    unsigned kind, unsigned level);

/*
 * Return the next item; NULL: no item may start. O(lanes that are at their max,
 * and items that wait for their kind).
 */
struct sched_item *sched_next(const struct sched *s);
/* ITEM, which sched_next() gave just now, has started: a turn is used. */
void sched_start(struct sched *s, struct sched_item *item);
/*
 * sched_over(): an item that LANE started is over, or rests. sched_again(): a
 * resting item goes on, out of turn.
 */
void sched_over(struct sched *s, struct sched_lane *lane);
void sched_again(struct sched *s, struct sched_lane *lane);
/* An item of LEVEL that LANE started lends its place, or takes a place back. */
void sched_lend(struct sched *s, struct sched_lane *lane, unsigned level);
void sched_take_back(struct sched *s, struct sched_lane *lane, unsigned level);
/* ITEM of LANE did not start after all: ITEM is next again. */
void sched_put_back(struct sched *s, struct sched_lane *lane,
		    struct sched_item *item);

#endif
