/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_shares.c - shares the limits of requestors out among the instances of one
 * database: fetches a share of each limit ahead of need, and returns the
 * unneeded part, so that a call does not wait for the database. A timer, and a
 * run without a place, ask. Without an answer the instance keeps the share that
 * was not returned.
 */
#include "supervisor/cluster/cluster_private.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/run/exec/artifact_save.h"

#define LOOK_MS 250
#define RENEW_MS 1000 /* an active requestor's use at other servers is read */
#define KEEP_MS 5000  /* after the last use a place for one more run is kept */

struct limit_shares {
	struct event *look; /* NULL: not open yet */
	int64_t nodes;	    /* living servers, at the last look */
};

static bool is_active(const struct requestor *q, int64_t now)
{
	return q->lane.running + q->lane.lent[0] + q->lane.queued > 0 ||
	       (q->share.used_ms > 0 && now - q->share.used_ms < KEEP_MS);
}

/* Places for running runs, for waiting runs, and for a run that may come. */
static int64_t runs_wanted(const struct runs *s, const struct requestor *q,
			   int64_t now)
{
	int64_t most = s->ctx->config->max_concurrent_runs;
	int64_t want = (int64_t)(q->lane.running + q->lane.lent[0] +
				 q->lane.queued + q->lane.elsewhere) +
		       is_active(q, now);

	return q->section->max_concurrent_runs == 0 ? 0
	       : want < most			    ? want
						    : most;
}

/* The wanted rate of calls: half as many again as came. */
static int64_t rate_wanted(const struct requestor *q, int64_t now)
{
	int64_t ms = now - q->share.asked_ms;

	return q->share.asked_ms == 0 || q->section->rate_per_second == 0
		   ? 0
		   : q->share.calls * QUOTA_CALL * 1500 / (ms > 0 ? ms : 1);
}

/* A request for a share; a requestor lives as long as the server. */
struct asked {
	struct runs *runs;
	struct requestor *requestor;
	int64_t cpu_ms;
};

static void on_given(void *arg, const struct store_result *res)
{
	struct asked *a = arg;
	struct requestor *q = a->requestor;
	struct runs *s = a->runs;
	bool more;

	q->share.asking = false;
	if (res->rc != 0) {
		q->share.untold_ms += a->cpu_ms;
		q->share.nodes = 0; /* the next look asks again */
		free(a);
		return;
	}
	more = res->share.runs > q->lane.share;
	q->lane.share = res->share.runs;
	q->share.rate = res->share.rate;
	q->share.cpu_ms = res->share.cpu_others_ms;
	q->share.is_part = true;
	requestor_hold(q);
	if (more) {
		shared_queue_wake(s);
		runs_pump(s);
	}
	free(a);
}

static void ask_share(struct runs *s, struct requestor *q, int64_t now)
{
	const struct config_requestor *c = q->section;
	struct store_share share = {
	    .requestor = q->name,
	    .runs_used = (int64_t)(q->lane.running + q->lane.lent[0]),
	    .runs_wanted = runs_wanted(s, q, now),
	    .runs_most = c->max_concurrent_runs,
	    .rate_wanted = rate_wanted(q, now),
	    .rate_most = c->rate_per_second * QUOTA_CALL,
	    .cpu_ms = q->share.untold_ms,
	};
	struct asked *a = xcalloc(1, sizeof(*a));

	*a = (struct asked){s, q, share.cpu_ms};
	if (!q->share.is_part) /* no share until the store gives a share */
		q->lane.share = 0;
	/* the returned part may go to another server before the answer */
	if (share.runs_most > 0 && share.runs_wanted < q->lane.share)
		q->lane.share = share.runs_wanted;
	q->share.untold_ms = 0;
	q->share.calls = 0;
	q->share.asked_ms = now;
	q->share.nodes = s->cluster->shares->nodes;
	q->share.asking = true;
	store_share(s->ctx->store, &share, on_given, a);
	if (q->usage_known && is_active(q, now))
		artifact_save_count(s->ctx->store, q);
}

/* Is a new share due: is the need another, or may other servers have used some? */
static bool share_is_due(const struct runs *s, const struct requestor *q,
			 int64_t now)
{
	const struct config_requestor *c = q->section;
	int64_t want = runs_wanted(s, q, now), most = c->max_concurrent_runs;
	int64_t nodes = s->cluster->shares->nodes;
	bool limited = most > 0 || c->rate_per_second > 0 ||
		       c->cpu_seconds_per_hour > 0 || c->artifact_bytes > 0;

	if (q->share.asking || !limited || requestor_gone(q))
		return false;
	if (!q->share.is_part || (want < most ? want : most) != q->lane.share)
		return true;
	/* the equal part of the calls changed, even if no calls come here */
	if (q->share.nodes != nodes)
		return true;
	/* with a small rate, another server had not returned a part before */
	return now - q->share.asked_ms >= RENEW_MS &&
	       (is_active(q, now) || q->share.untold_ms > 0 ||
		q->share.calls > 0 ||
		q->share.rate < c->rate_per_second * QUOTA_CALL /
				    (2 * (nodes > 0 ? nodes : 1)));
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct runs *s = arg;
	struct store_database about;
	struct requestor *q, *next;
	int64_t now = clock_mono_ms();

	(void)fd, (void)what;
	if (store_about(s->ctx->store, &about) && about.reachable)
		s->cluster->shares->nodes = about.nodes;
	HASH_ITER(hh, s->ctx->requestors->by_name, q, next)
		if (share_is_due(s, q, now))
			ask_share(s, q, now);
}

bool limit_shares_is_alone(const struct runs *s)
{
	struct store_database about;

	/* the timer may be late */
	return s->cluster->shares->nodes == 1 &&
	       !(store_about(s->ctx->store, &about) && about.nodes > 1);
}

void limit_shares_need(struct runs *s, struct requestor *q)
{
	int64_t now = clock_mono_ms();

	if (s->cluster->shares->look != NULL && share_is_due(s, q, now))
		ask_share(s, q, now);
}

void limit_shares_rejoined(struct runs *s)
{
	struct requestor *q, *next;

	HASH_ITER(hh, s->ctx->requestors->by_name, q, next)
		q->share.is_part = false;
}

void limit_shares_open(struct runs *s)
{
	if (s->ctx->passing)
		return;
	s->cluster->shares->look =
	    event_new(s->ctx->base, -1, EV_PERSIST, on_look, s);
	event_add(s->cluster->shares->look, CLOCK_TIMEVAL(LOOK_MS));
	on_look(-1, 0, s);
}

void limit_shares_init(struct runs *s)
{
	s->cluster->shares = xcalloc(1, sizeof(*s->cluster->shares));
}

void limit_shares_fini(struct runs *s)
{
	if (s->cluster->shares->look != NULL)
		event_free(s->cluster->shares->look);
	free(s->cluster->shares);
}
