/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warm_share.c - shares prestart_memory, and the places for waiting programs,
 * between the requestors of the runs. warm.c asks. The requestor with the most
 * gives way to a requestor with less, but never so much as to have less: so
 * nothing is taken back, and sharing comes to rest.
 */
#include "supervisor/config/config.h"
#include "supervisor/run/warm/warm_private.h"

#define LEAST_BYTES (4u << 20)
#define GUESS_PART 8 /* the part guessed for a program that never waited */

/* Return the bytes of prestart_memory held by waiting workers of USER. */
static uint64_t use_of(const struct warm *m, const void *user)
{
	const struct kept *k;
	const struct spawned *b;
	uint64_t use = 0;

	TAILQ_FOREACH(k, &m->kept, link)
		if (k->user == user)
			TAILQ_FOREACH(b, &k->waiting, link)
				use += b->bytes;
	return use;
}

static uint64_t left_of(const struct warm *m)
{
	uint64_t left = (uint64_t)m->ctx->config->prestart_memory;
	const struct kept *k;
	const struct spawned *b;

	TAILQ_FOREACH(k, &m->kept, link)
		TAILQ_FOREACH(b, &k->waiting, link)
			left -= b->bytes < left ? b->bytes : left;
	return left;
}

/*
 * Return the bytes needed by a worker of K: as the last that waited, or a
 * guess.
 */
static uint64_t need_of(const struct kept *k)
{
	uint64_t guess =
	    (uint64_t)k->warm->ctx->config->prestart_memory / GUESS_PART;

	if (k->needs > 0)
		return k->needs;
	return guess < k->job.memory_bytes ? guess : k->job.memory_bytes;
}

/*
 * Return the waiting worker that gives way to K: of another requestor, who has
 * the most, and would still have as much as K's requestor with one more; the
 * least recently used. Or NULL.
 */
static struct spawned *who_gives_way(const struct kept *k)
{
	const struct warm *m = k->warm;
	uint64_t would_have = use_of(m, k->user) + need_of(k), most = 0;
	struct spawned *b, *found = NULL;
	struct kept *other;

	TAILQ_FOREACH(other, &m->kept, link) {
		uint64_t has = use_of(m, other->user);

		if (other->user == k->user || has < most)
			continue;
		TAILQ_FOREACH(b, &other->waiting, link)
			if (b->settled && has >= b->bytes + would_have) {
				found = b;
				most = has;
			}
	}
	return found;
}

uint64_t warm_share_room(const struct kept *k)
{
	uint64_t need = need_of(k), left = left_of(k->warm);
	struct spawned *b;

	while (left < need && (b = who_gives_way(k)) != NULL) {
		warm_dismiss(b);
		left = left_of(k->warm);
	}
	if (left < k->needs)
		return 0; /* too little memory to come to wait */
	if (left > k->job.memory_bytes)
		left = k->job.memory_bytes;
	return left >= LEAST_BYTES ? left : 0;
}

struct kept *warm_share_last(const struct warm *m, enum runtime_kind kind,
			     const void *user)
{
	struct kept *k, *other, *last = NULL;
	unsigned most = 0;

	TAILQ_FOREACH(k, &m->kept, link) {
		/* count the worker to come */
		unsigned n = k->user == user ? 1 : 0;

		if (k->job.kind != kind)
			continue;
		TAILQ_FOREACH(other, &m->kept, link)
			n += other->job.kind == kind && other->user == k->user;
		if (n >= most) {
			most = n;
			last = k;
		}
	}
	return last;
}
