/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which programs waiting for a run release memory and places. */
#include <stdlib.h>

#include "base/mem.h"
#include "supervisor/config/config.h"
#include "supervisor/run/warm/warm_private.h"
#include "tests/unit/tap.h"

#define MIB ((uint64_t)1 << 20)

static struct config config = {.prestart_memory = 64 << 20};
static struct context ctx = {.config = &config};
static const char ada, bob, cyd;
static struct template program;

static struct warm *fresh(void)
{
	struct warm *m = xcalloc(1, sizeof(*m));

	m->ctx = &ctx;
	TAILQ_INIT(&m->kept);
	TAILQ_INIT(&m->ending);
	return m;
}

/*
 * Add a waiting program of USER, used after earlier ones; NEEDS is the memory of the
 * last.
 */
static struct kept *add(struct warm *m, const void *user, uint64_t needs)
{
	struct kept *k = xcalloc(1, sizeof(*k));

	k->warm = m;
	k->user = user;
	k->needs = needs;
	k->template = &program;
	k->job = (struct spawner_job){.kind = RUNTIME_PROGRAM,
				      .memory_bytes = 32 * MIB};
	TAILQ_INIT(&k->waiting);
	TAILQ_INSERT_HEAD(&m->kept, k, link);
	return k;
}

static void wait_for(struct kept *k, uint64_t bytes, bool settled)
{
	struct spawned *b = xcalloc(1, sizeof(*b));

	b->owner = k->warm;
	b->kept = k;
	b->bytes = bytes;
	b->settled = settled;
	TAILQ_INSERT_TAIL(&k->waiting, b, link);
	k->n++;
}

static void end(struct warm *m)
{
	struct kept *k;
	struct spawned *b;

	while ((k = TAILQ_FIRST(&m->kept)) != NULL) {
		while (!TAILQ_EMPTY(&k->waiting))
			warm_dismiss(TAILQ_FIRST(&k->waiting));
		TAILQ_REMOVE(&m->kept, k, link);
		free(k);
	}
	while ((b = TAILQ_FIRST(&m->ending)) != NULL) {
		TAILQ_REMOVE(&m->ending, b, link);
		free(b);
	}
	free(m);
}

TEST(memory)
{
	struct warm *m = fresh();
	struct kept *first = add(m, &ada, 10 * MIB);
	struct kept *second = add(m, &ada, 10 * MIB), *other;

	is_int((int64_t)warm_share_room(first), 32 * (int64_t)MIB,
	       "who is alone may have as much as its limit");
	for (int i = 0; i < 3; i++) {
		wait_for(first, 10 * MIB, true);
		wait_for(second, 10 * MIB, true);
	}
	is_int((int64_t)warm_share_room(second), 0,
	       "no more than there is, and none with too little");
	is_int(first->n + second->n, 6, "nobody gives way to itself");
	other = add(m, &bob, 0);
	is_int((int64_t)warm_share_room(other), 14 * (int64_t)MIB,
	       "who comes later has some");
	is_int(first->n, 2, "of what was used longest ago of who has the most");
	is_int(second->n, 3,
	       "a kind with the most workers gives no more than is needed");
	wait_for(other, 14 * MIB, true);
	other->needs = 14 * MIB;
	is_int((int64_t)warm_share_room(first), 0,
	       "who has had to give way takes nothing back");
	is_int(other->n, 1, "from who has less");
	is_int((int64_t)warm_share_room(other), 20 * (int64_t)MIB,
	       "a kind with less may have a second worker");
	is_int(first->n + second->n, 3, "the other kinds keep as many workers");
	wait_for(other, 14 * MIB, true);
	is_int((int64_t)warm_share_room(other), 0,
	       "a kind that has as much as others gets no more");
	end(m);
}

TEST(unsettled)
{
	struct warm *m = fresh();
	struct kept *k = add(m, &ada, 0), *other = add(m, &bob, 8 * MIB);

	wait_for(k, 32 * MIB, false);
	wait_for(k, 32 * MIB, false);
	is_int((int64_t)warm_share_room(other), 0,
	       "one that starts is not ended for another");
	is_int(k->n, 2, "since it will have less in a moment");
	end(m);
}

TEST(places)
{
	struct warm *m = fresh();
	struct kept *oldest = add(m, &bob, 0), *adas = add(m, &ada, 0);

	add(m, &ada, 0);
	ok(warm_share_last(m, RUNTIME_PROGRAM, &cyd) == adas,
	   "who has the most places gives one up");
	ok(warm_share_last(m, RUNTIME_PROGRAM, &ada) == adas,
	   "a requestor with most places gives one up for the own kind");
	add(m, &bob, 0);
	ok(warm_share_last(m, RUNTIME_PROGRAM, &bob) == oldest,
	   "of those that have as many, who is to have one more");
	ok(warm_share_last(m, RUNTIME_LUA, &ada) == NULL,
	   "a worker of another kind is not given up");
	end(m);
}
