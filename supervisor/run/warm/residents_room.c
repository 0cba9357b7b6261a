/* SPDX-License-Identifier: Apache-2.0 */
/*
 * residents_room.c - the limits of residents: for one more process, or for more memory, the
 * longest unused process of the same requestor ends; an old or unused process ends as
 * well. residents.c calls the functions. A new run fails when all processes of the
 * requestor have runs.
 */
#include "supervisor/run/warm/residents_private.h"

#include <errno.h>

#include "base/clock.h"
#include "base/fair_share.h"
#include "proto/json/json_pack.h"
#include "supervisor/config/config.h"

/* ---- room ---- */

static struct resident *longest_unused(const struct residents *all,
				       const struct requestor *q)
{
	struct resident *x;

	TAILQ_FOREACH(x, &all->list, link)
		if (x->requestor == q && x->spawned != NULL)
			break;
	return x;
}

int64_t residents_room_bytes(const struct residents *all,
			     const struct requestor *q)
{
	const struct resident *x;
	int64_t sum = 0;

	TAILQ_FOREACH(x, &all->list, link)
		if (q == NULL || x->requestor == q)
			sum += (int64_t)x->bytes;
	return sum;
}

void residents_room_weigh(struct resident *x, uint64_t bytes)
{
	struct residents *all = x->all;
	const struct requestor *q = x->requestor;
	struct resident *old;
	int64_t share;

	x->bytes = bytes;
	share = fair_share(all->ctx->config->resident_memory,
			   residents_room_bytes(all, NULL) -
			       residents_room_bytes(all, q));
	while (residents_room_bytes(all, q) > share &&
	       (old = longest_unused(all, q)) != NULL) {
		all->evicted++;
		resident_end(old,
			     "idle notebooks had more memory together than "
			     "the requestor's share (the operator can "
			     "raise that: resident_memory in [limits])");
	}
}

unsigned residents_room_count(const struct residents *all,
			      const struct requestor *q)
{
	const struct resident *x;
	unsigned n = 0;

	TAILQ_FOREACH(x, &all->list, link)
		n += x->alive && (q == NULL || x->requestor == q);
	return n;
}

int64_t resident_most(const struct resident *x)
{
	int64_t own = x->requestor->section->max_residents;

	return own > 0 ? own : x->all->ctx->config->max_residents;
}

/* Fail R, since N residents are all that may be. -EDQUOT. */
static int refuse_room(struct run *r, const char *key, int64_t n,
		       const char *who)
{
	run_set_error(
	    r, "QUOTA_EXCEEDED",
	    json_pack("limit:s used:i allowed:i unit:s whoCanRaise:s", key, n,
		      n, "notebooks", who),
	    "%lld notebooks are in use, which is all that may be; await the "
	    "end of their runs, or use a name again (%s can raise that: %s)",
	    (long long)n, who, key);
	return -EDQUOT;
}

int residents_room_make(struct residents *all, struct run *r)
{
	int64_t own = resident_most(r->job.resident);
	int64_t most = all->ctx->config->max_residents_in_all;
	struct resident *old;

	if (r->job.resident->is_refused)
		return refuse_room(r, "max_residents", own, "the operator");
	while (residents_room_count(all, r->requestor) >= own ||
	       residents_room_count(all, NULL) >= most) {
		old = longest_unused(all, r->requestor);
		if (old == NULL)
			return residents_room_count(all, r->requestor) >= own
				   ? refuse_room(r, "max_residents", own,
						 "the operator")
				   : refuse_room(r, "max_residents_in_all",
						 most, "the operator");
		all->evicted++;
		resident_end(old, RESIDENTS_ROOM_NEEDED);
	}
	return 0;
}

/* ---- time passes ---- */

static int64_t lower_ms(int64_t own, int64_t all)
{
	return own > 0 && own < all ? own : all;
}

static const char *is_due(const struct resident *x, int64_t now)
{
	const struct config *c = x->all->ctx->config;
	const struct config_requestor *own = x->requestor->section;

	if (now - x->used_ms >=
	    lower_ms(own->resident_idle_ms, c->resident_idle_ms))
		return "nobody used it for a while (resident_idle_ms)";
	if (now - x->born_ms >=
	    lower_ms(own->resident_life_ms, c->resident_life_ms))
		return "it had lived as long as it may (resident_life_ms)";
	return NULL;
}

void residents_room_look(evutil_socket_t fd, short what, void *arg)
{
	struct residents *all = arg;
	struct resident *x, *next;
	int64_t now = clock_mono_ms();
	bool more = false;

	(void)fd, (void)what;
	for (x = TAILQ_FIRST(&all->list); x != NULL; x = next) {
		const char *why = x->spawned != NULL ? is_due(x, now) : NULL;

		next = TAILQ_NEXT(x, link);
		if (why != NULL)
			resident_end(x, why);
		else
			more |= x->spawned != NULL;
	}
	if (more)
		evtimer_add(all->look, CLOCK_TIMEVAL(RESIDENTS_LOOK_MS));
}
