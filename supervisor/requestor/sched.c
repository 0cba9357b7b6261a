/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched.c - picks the waiting run that starts next: deficit round robin over
 * requestors' lanes. exec/runs_queue.c puts runs in and takes them out. Nothing
 * here allocates or fails; NULL says: no run may start now.
 */
#include "supervisor/requestor/sched.h"

#include "supervisor/requestor/memory.h"

#include <assert.h>

#define KEPT_PART 10

void sched_init(struct sched *s)
{
	*s = (struct sched){0};
	TAILQ_INIT(&s->ring);
	TAILQ_INIT(&s->busy);
}

void sched_lane_init(struct sched_lane *lane)
{
	*lane = (struct sched_lane){.weight = 1, .share = SCHED_ALL};
	TAILQ_INIT(&lane->items);
}

static void count_item(struct sched *s, struct sched_item *item, int by)
{
	item->lane->queued += (size_t)by;
	item->lane->queued_bytes += by * item->bytes;
	if (by > 0)
		memory_add(item->lane->memory, (size_t)item->bytes);
	else
		memory_give(item->lane->memory, (size_t)item->bytes);
	s->queued += (size_t)by;
	s->queued_bytes += by * item->bytes;
}

void sched_put(struct sched *s, struct sched_lane *lane,
	       struct sched_item *item)
{
	item->lane = lane;
	if (TAILQ_EMPTY(&lane->items))
		TAILQ_INSERT_TAIL(&s->ring, lane, link);
	TAILQ_INSERT_TAIL(&lane->items, item, link);
	count_item(s, item, 1);
}

void sched_put_first(struct sched *s, struct sched_lane *lane,
		     struct sched_item *item)
{
	struct sched_item *at;

	item->lane = lane;
	if (TAILQ_EMPTY(&lane->items))
		TAILQ_INSERT_TAIL(&s->ring, lane, link);
	TAILQ_FOREACH(at, &lane->items, link)
		if (at->kind != item->kind)
			break;
	if (at != NULL)
		TAILQ_INSERT_BEFORE(at, item, link);
	else
		TAILQ_INSERT_TAIL(&lane->items, item, link);
	count_item(s, item, 1);
}

void sched_put_aside(struct sched *s, struct sched_lane *lane,
		     struct sched_item *item)
{
	item->lane = lane;
	item->aside = true;
	lane->aside++;
	s->aside++;
	count_item(s, item, 1);
}

/* A lane with no more items loses the turns left in the round. */
void sched_remove(struct sched *s, struct sched_item *item)
{
	struct sched_lane *lane = item->lane;

	count_item(s, item, -1);
	item->lane = NULL;
	if (item->aside) {
		item->aside = false;
		lane->aside--;
		s->aside--;
		return;
	}
	TAILQ_REMOVE(&lane->items, item, link);
	if (!TAILQ_EMPTY(&lane->items))
		return;
	TAILQ_REMOVE(&s->ring, lane, link);
	lane->turns = 0;
}

static size_t fair_part(const struct sched *s)
{
	size_t part = s->known > 0 ? s->places / s->known : s->places;

	return part > 0 ? part : 1;
}

/*
 * Return how many places are to stay free for lanes with less than their part.
 */
static size_t places_kept_free(const struct sched *s)
{
	size_t most = s->places / KEPT_PART > 0 ? s->places / KEPT_PART : 1;
	size_t part = fair_part(s), less = s->known;
	const struct sched_lane *lane;

	TAILQ_FOREACH(lane, &s->busy, busy)
		less -= less > 0 && lane->running >= part;
	return less < most ? less : most;
}

size_t sched_begun(const struct sched *s, unsigned level)
{
	return s->running + s->lent[level];
}

unsigned sched_least(const struct sched *s, size_t most)
{
	unsigned level = 0;

	while (level < SCHED_LEVELS && sched_begun(s, level) >= most)
		level++;
	return level;
}

static int64_t least_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* An item that waits above LEVEL 0 may have all of the share, at another server. */
static int64_t share_at(const struct sched_lane *lane, unsigned level)
{
	return lane->share == 0 && level > 0 ? 1 : lane->share;
}

static bool lane_is_full(const struct sched *s, const struct sched_lane *lane,
			 unsigned level)
{
	size_t begun = lane->running + lane->lent[level];

	if (lane->held)
		return true;
	if (lane->max_running > 0 && lane->share != SCHED_ALL)
		return begun >= (size_t)least_of(share_at(lane, level),
						 lane->max_running);
	if (lane->max_running > 0)
		return begun >= (size_t)lane->max_running;
	return s->places > 0 && begun >= fair_part(s) &&
	       sched_begun(s, level) + places_kept_free(s) >= s->places;
}

bool sched_has_room(const struct sched *s, const struct sched_lane *lane,
		    unsigned level)
{
	return !lane_is_full(s, lane, level);
}

static void count_running(struct sched *s, struct sched_lane *lane, int by)
{
	if (lane->running > 0)
		TAILQ_REMOVE(&s->busy, lane, busy);
	lane->running += (size_t)by;
	s->running += (size_t)by;
	if (lane->running > 0)
		TAILQ_INSERT_TAIL(&s->busy, lane, busy);
}

static bool waits(const struct sched *s, unsigned kind, unsigned level)
{
	return level < s->least || (s->waits & UINT32_C(1) << kind) != 0;
}

/* A lane that is held or at the limit keeps place and turns. */
struct sched_item *sched_next(const struct sched *s)
{
	const struct sched_lane *lane;
	struct sched_item *item;

	TAILQ_FOREACH(lane, &s->ring, link) {
		/* the lane has most room for the highest level */
		if (lane_is_full(s, lane, SCHED_LEVELS - 1))
			continue;
		TAILQ_FOREACH(item, &lane->items, link)
			if (!waits(s, item->kind, item->level) &&
			    !lane_is_full(s, lane, item->level))
				return item;
	}
	return NULL;
}

bool sched_is_clear(const struct sched *s, const struct sched_lane *lane,
		    unsigned kind, unsigned level)
{
	return !lane_is_full(s, lane, level) && !waits(s, kind, level) &&
	       sched_next(s) == NULL;
}

void sched_start(struct sched *s, struct sched_item *item)
{
	struct sched_lane *lane = item->lane;

	if (lane->turns == 0)
		lane->turns = lane->weight;
	lane->turns--;
	sched_remove(s, item);
	count_running(s, lane, 1);
	if (!TAILQ_EMPTY(&lane->items) && lane->turns == 0) {
		TAILQ_REMOVE(&s->ring, lane, link);
		TAILQ_INSERT_TAIL(&s->ring, lane, link);
	}
}

void sched_over(struct sched *s, struct sched_lane *lane)
{
	assert(lane->running > 0 && s->running > 0);
	count_running(s, lane, -1);
}

void sched_again(struct sched *s, struct sched_lane *lane)
{
	count_running(s, lane, 1);
}

void sched_lend(struct sched *s, struct sched_lane *lane, unsigned level)
{
	count_running(s, lane, -1);
	for (unsigned i = 0; i <= level; i++) {
		lane->lent[i]++;
		s->lent[i]++;
	}
}

void sched_take_back(struct sched *s, struct sched_lane *lane, unsigned level)
{
	assert(lane->lent[level] > 0 && s->lent[level] > 0);
	for (unsigned i = 0; i <= level; i++) {
		lane->lent[i]--;
		s->lent[i]--;
	}
	count_running(s, lane, 1);
}

void sched_put_back(struct sched *s, struct sched_lane *lane,
		    struct sched_item *item)
{
	sched_over(s, lane);
	if (!TAILQ_EMPTY(&lane->items))
		TAILQ_REMOVE(&s->ring, lane, link);
	TAILQ_INSERT_HEAD(&s->ring, lane, link);
	TAILQ_INSERT_HEAD(&lane->items, item, link);
	item->lane = lane;
	count_item(s, item, 1);
	lane->turns++;
}
