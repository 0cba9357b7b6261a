/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.c - ends the runs of this node before other nodes may take the
 * node for dead: without a lease no run starts or goes on. server.c starts the
 * timer. The ends are recorded when the database answers again. When other
 * nodes have taken the runs over, waiting clients get what the rows say, and
 * this node goes on under a new id.
 */
#include "supervisor/cluster/cluster_private.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/os/log.h"
#include "supervisor/run/warm/residents.h"

#define LOOK_MS                                                                \
	250 /* a small part of the time between the end of a lease and a take-over */
#define SOON_MS 20 /* killed workers are about to be reaped */

bool lease_holds(const struct runs *s)
{
	return !s->leaving && store_lease_left_ms(s->ctx->store) > 0;
}

/* End each run that has a worker. */
static void end_running(struct runs *s)
{
	struct run *r, *after;
	size_t n = 0;

	HASH_ITER(hh, s->by_id, r, after) {
		if (r->job.worker == NULL || run_terminal(r))
			continue;
		run_set_error(r, "RUN_INTERRUPTED", NULL,
			      "the server that ran it did not reach its "
			      "database for longer than its lease");
		r->remote.fenced = true;
		worker_end(r);
		n++;
	}
	log_error("runs", "lease=over interrupted=%zu", n);
}

/* ---- runs that ended with the lease ---- */

bool lease_keeps(struct runs *s, struct run *r)
{
	if (!r->remote.fenced || !run_is_durable(r))
		return false;
	if (s->leaving) {
		remote_runs_follow(s, r);
		return true;
	}
	if (r->state == RUN_CANCELLING)
		return false;
	s->cluster->lease.cut_short = true;
	runs_remote_read(s);
	return true;
}

/* Requests to cancel were answered meanwhile; the other runs were interrupted. */
void lease_messages_read(struct runs *s)
{
	struct run *r, *after;

	if (!s->cluster->lease.cut_short || !lease_holds(s))
		return;
	s->cluster->lease.cut_short = false;
	HASH_ITER(hh, s->by_id, r, after) {
		if (!r->remote.fenced || r->job.worker != NULL ||
		    run_terminal(r))
			continue;
		r->remote.fenced = false;
		if (!runs_retry(s, r))
			runs_finish(s, r, EV_FAIL);
	}
	runs_pump(s);
}

/* ---- taken for dead ---- */

/* The runs have ended, or are followed by their rows. */
static void begin_anew(struct runs *s)
{
	id_new(s->cluster->lease.instance, "inst");
	s->ctx->instance = s->cluster->lease.instance;
	log_info("runs", "instance=%s after=\"taken for dead\"",
		 s->ctx->instance);
	store_rejoin(s->ctx->store, s->ctx->instance);
	s->leaving = false;
	s->cluster->lease.over = false;
	s->cluster->lease.cut_short = false;
	shared_queue_rejoined(s);
	limit_shares_rejoined(s);
	runs_recover(s);
}

/*
 * Runs with a row go on or have ended at another server, as their rows say. The
 * waiters of a run without a row are told that the run is not recorded.
 */
static void drop_waiting(struct runs *s)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after) {
		if (r->job.worker != NULL || run_terminal(r) ||
		    r->remote.disowned)
			continue; /* a disowned run is followed already */
		runs_output_drop(s, r);
		if (run_is_durable(r)) {
			runs_files_over(s, r);
			remote_runs_follow(s, r);
			continue;
		}
		run_set_error(r, "RUN_INTERRUPTED", NULL,
			      "another server has taken the run over: ask for "
			      "it by its id");
		if (r->job.queued.lane != NULL)
			sched_remove(&s->sched, &r->job.queued);
		runs_retry_forget(s, r);
		runs_finish(s, r, EV_FAIL);
	}
}

static void leave_lease(struct runs *s)
{
	if (s->leaving)
		return;
	s->leaving = true;
	log_error("runs", "taken_for_dead=yes runs=%u", HASH_COUNT(s->by_id));
	end_running(s);
	residents_disown(s->ctx->residents);
	drop_waiting(s);
}

/* ---- the timer ---- */

static void check_lease(struct runs *s)
{
	bool lasts = store_lease_left_ms(s->ctx->store) > 0;

	if (store_is_lost(s->ctx->store))
		leave_lease(s);
	else if (!lasts && !s->cluster->lease.over)
		end_running(s);
	else if (lasts && s->cluster->lease.over)
		log_info("runs", "lease=renewed");
	if (lasts == s->cluster->lease.over) {
		s->cluster->lease.over = !lasts;
		runs_pump(s);
	}
	if (s->leaving && HASH_COUNT(s->by_id) == s->cluster->remote.n &&
	    !s->ctx->draining)
		begin_anew(s);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct runs *s = arg;
	int64_t left, ms = LOOK_MS;

	(void)fd, (void)what;
	check_lease(s);
	store_tell_load(s->ctx->store, &(struct store_load){
					   .running = runs_running(s),
					   .queued = runs_queued(s),
					   .room = (size_t)shared_queue_room(s),
					   .draining = s->ctx->draining});
	left = store_lease_left_ms(s->ctx->store);
	if (s->leaving)
		ms = SOON_MS;
	else if (left > 0 && left < LOOK_MS)
		ms = left;
	evtimer_add(s->cluster->lease.look, CLOCK_TIMEVAL(ms));
}

static void on_news(void *arg)
{
	struct runs *s = arg;
	unsigned woken = store_woken(s->ctx->store);

	check_lease(s);
	if (s->leaving)
		evtimer_add(s->cluster->lease.look, CLOCK_TIMEVAL(SOON_MS));
	if (store_found_dead(s->ctx->store))
		runs_recover(s);
	if ((woken & STORE_WOKEN_MAIL) != 0)
		runs_remote_read(s);
	if ((woken & STORE_WOKEN_QUEUE) != 0)
		shared_queue_look(s);
}

void lease_open(struct runs *s)
{
	store_on_news(s->ctx->store, on_news, s);
	s->cluster->lease.look = evtimer_new(s->ctx->base, on_look, s);
	evtimer_add(s->cluster->lease.look, CLOCK_TIMEVAL(LOOK_MS));
}

void lease_fini(struct runs *s)
{
	if (s->cluster->lease.look != NULL)
		event_free(s->cluster->lease.look);
}
