/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_runs_queue.c - waiting runs by look-up, queue and end: the finder, the counted
 * bytes and places, and runs which cannot start or meet the server's end. No worker is
 * started.
 */
#include "tests/unit/supervisor/run/exec/runs_fixture.h"

#include <errno.h>

#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"

static struct run_watch watch;

static struct runs *runs(void)
{
	return it.ctx.runs;
}

static struct requestor *alice(void)
{
	return requestors_of_uid(&it.all, 7);
}

/* A waiting run with a watch which counts notices. */
static struct run *watched(void)
{
	struct run *r = waiting();

	memset(it.notices, 0, sizeof(it.notices));
	watch = (struct run_watch){.on_notice = on_notice};
	run_watch_add(r, &watch);
	return r;
}

/* A run with a place. */
static struct run *placed(void)
{
	struct run *r = watched();

	sched_start(&runs()->sched, &r->job.queued);
	run_apply(r, EV_START);
	return r;
}

static void is_gone(struct run *r)
{
	char id[ID_SIZE];

	memcpy(id, r->id, sizeof(id));
	recorded(id);
	is_int((int64_t)runs_queued(runs()), 0, "no run is left queued");
	is_int((int64_t)runs_running(runs()), 0, "no run is left running");
	is_int((int64_t)runs_unrecorded(runs()), 0,
	       "no run is left to be recorded");
}

/* ---- look-up ---- */

TEST(found)
{
	struct run *r;

	begin();
	r = waiting();
	ok(runs_find(runs(), alice(), r->id) == r,
	   "who asks for its run has it");
	ok(runs_find(runs(), requestors_of_uid(&it.all, 8), r->id) == NULL,
	   "nobody else has");
	ok(runs_find(runs(), alice(), "run_none") == NULL,
	   "no run is found by another id");
	r->remote.place = RUN_REMOTE;
	ok(runs_find(runs(), alice(), r->id) == NULL,
	   "one that another instance has is not ours to show");
	r->remote.place = RUN_QUEUE;
	ok(runs_find(runs(), alice(), r->id) == r,
	   "one in the queue of all is");
	r->remote.cancel = true;
	ok(runs_find(runs(), alice(), r->id) == NULL,
	   "a run of the common queue that is to be cancelled is not found");
	r->remote.cancel = false;
	r->remote.place = RUN_HERE;
	ok(runs_working(runs(), r->id) == NULL, "what waits has no worker");
	r->job.worker = (struct worker *)&it;
	ok(runs_working(runs(), r->id) == r,
	   "a run with a worker is found as working");
	ok(!runs_leaving(runs(), r->id), "what runs is not leaving");
	r->job.worker = NULL;
	sched_remove(&runs()->sched, &r->job.queued);
	run_apply(r, EV_START);
	run_apply(r, EV_SUCCEED);
	ok(runs_find(runs(), alice(), r->id) == NULL,
	   "one that has ended is the store's to show");
	ok(!runs_leaving(runs(), r->id), "when its worker is gone");
	r->job.worker = (struct worker *)&it;
	ok(runs_leaving(runs(), r->id), "a run with a worker is leaving");
	r->job.worker = NULL;
	run_record_end(r, END_ASK);
	run_record_end(r, END_CORRECT);
	ok(runs_leaving(runs(), r->id),
	   "a run whose row is to be corrected is leaving");
	run_record_end(r, END_CORRECTED);
	end();
}

TEST(found_by_key)
{
	struct run *r, *plain;

	begin();
	plain = waiting();
	r = waiting();
	r->idem.key = xstrdup("key");
	ok(runs_find_idem(runs(), alice(), "t", "key") == r,
	   "a run is found by its key");
	ok(runs_find_idem(runs(), alice(), "t", "other") == NULL, "no other");
	ok(runs_find_idem(runs(), alice(), "u", "key") == NULL,
	   "of its template");
	ok(runs_find_idem(runs(), requestors_of_uid(&it.all, 8), "t", "key") ==
	       NULL,
	   "the key of another requestor finds no run");
	ok(plain->idem.key == NULL, "one without a key is nobody's find");
	end();
}

/* ---- counted bytes and places ---- */

TEST(weight)
{
	struct run *r;
	const struct sched_lane *lane = &alice()->lane;

	begin();
	lane = &alice()->lane;
	r = waiting();
	is_int(lane->queued_bytes, 2, "what waits counts with its inputs");
	sched_remove(&runs()->sched, &r->job.queued);
	runs_enqueue_aside(runs(), r);
	is_int(lane->queued_bytes, 2,
	       "inputs of a run that waits aside are counted");
	is_int((int64_t)lane->aside, 1,
	       "a run that waits aside is counted in the lane");
	is_int((int64_t)runs_queued(runs()), 1,
	       "a run that waits aside counts as queued");
	sched_remove(&runs()->sched, &r->job.queued);
	is_int(alice()->memory.held, 0,
	       "memory of a removed run is given back");
	runs_await_place(runs(), r);
	is_int(lane->queued_bytes, 0, "who has a worker already has no inputs");
	runs_await_place(runs(), r);
	is_int((int64_t)runs_queued(runs()), 1,
	       "a run that awaits a place twice waits once");
	sched_remove(&runs()->sched, &r->job.queued);
	end();
}

TEST(places)
{
	struct run *r, *other;

	begin();
	it.config.max_concurrent_runs = 2;
	r = placed();
	other = waiting();
	ok(runs_has_place(runs(), other),
	   "where two may run one more has a place");
	it.config.max_concurrent_runs = 1;
	ok(!runs_has_place(runs(), other), "where one may it has none");
	sched_over(&runs()->sched, &r->requestor->lane);
	ok(runs_has_place(runs(), other),
	   "a run has a place when another has ended");
	it.config.max_concurrent_runs = 0;
	ok(!runs_has_place(runs(), other), "where none may it has none either");
	ok(runs_next(runs()) == NULL,
	   "no run is next where max_concurrent_runs is 0");
	end();
}

/* ---- the run's row ---- */

TEST(row)
{
	struct store *store;
	struct run *r;

	begin();
	r = watched();
	r->kept.bytes = 7;
	r->idem.key = xstrdup("key");
	runs_record(runs(), r);
	answered();
	ok(run_is_durable(r), "a run that is recorded lasts");
	is_int(it.notices[NOTICE_DURABLE], 1,
	       "the watcher of a recorded run is told");
	is_int(r->kept.bytes, 7, "a recorded run's row has the inputs");
	is_str(r->idem.key, "key", "a recorded run keeps the key");
	end();

	begin();
	r = watched();
	r->kept.bytes = 7;
	store = it.ctx.store;
	it.ctx.store = (store_start)("/proc/nowhere", "inst_one");
	runs_record(runs(), r);
	store_stop(it.ctx.store, 0);
	it.ctx.store = store;
	ok(!run_is_durable(r), "one that cannot be does not");
	is_int(it.notices[NOTICE_DURABLE], 1,
	       "a run that cannot be recorded sends no notice of durability");
	is_int(r->kept.bytes, 0,
	       "a run that cannot be recorded has no inputs in a row");
	is_int((int64_t)runs_unrecorded(runs()), 0,
	       "a run that cannot be recorded is not awaited");
	end();
}

/* ---- a run which cannot start ---- */

TEST(not_started)
{
	struct run *r;
	int n = 0;

	begin();
	r = placed();
	for (; r->state == RUN_RUNNING && n < 1000; n++) {
		runs_not_started(runs(), r, -EAGAIN);
		if (r->state != RUN_RUNNING)
			break;
		sched_start(&runs()->sched, &r->job.queued);
	}
	is_int(n, 19, "a worker that is not to be had is asked for 20 times");
	is_str(r->error.code, "WORKER_CRASHED",
	       "a run without a worker fails after 20 tries");
	ok(strstr(r->error.message, strerror(EAGAIN)) != NULL,
	   "a run without a worker fails with the reason");
	is_gone(r);
	end();

	begin();
	r = placed();
	runs_not_started(runs(), r, -EINPROGRESS);
	is_int((int64_t)runs_queued(runs()), 1,
	       "one whose zygote is renewed waits");
	ok(evtimer_pending(runs()->pause[RUNTIME_LUA], NULL), "for a moment");
	is_int((int64_t)runs_running(runs()), 0, "without a place");
	sched_start(&runs()->sched, &r->job.queued);
	r->job.starts = 298;
	runs_not_started(runs(), r, -EINPROGRESS);
	is_int((int64_t)runs_queued(runs()), 1, "for half a minute");
	sched_start(&runs()->sched, &r->job.queued);
	runs_not_started(runs(), r, -EINPROGRESS);
	is_str(r->error.code, "WORKER_CRASHED",
	       "a run without a worker fails after half a minute");
	is_gone(r);
	end();

	begin();
	r = placed();
	runs_not_started(runs(), r, -EPERM);
	is_str(run_state_name(r->state), "failed",
	       "what does not pass by itself fails at once");
	is_gone(r);
	end();

	begin();
	r = placed();
	run_set_error(r, "PERMISSION_NOT_ALLOWED", NULL, "no");
	runs_not_started(runs(), r, -EAGAIN);
	is_str(r->error.code, "PERMISSION_NOT_ALLOWED",
	       "a run that has failed before keeps the error");
	is_gone(r);
	end();
}

/* ---- the end of the server ---- */

TEST(given_up)
{
	struct run *r;

	begin();
	r = placed();
	runs_give_up(runs(), r);
	is_str(run_state_name(r->state), "running",
	       "one that has begun is not given up");
	sched_over(&runs()->sched, &r->requestor->lane);
	end();

	begin();
	r = watched();
	r->remote.place = RUN_QUEUE;
	runs_give_up(runs(), r);
	is_str(run_state_name(r->state), "queued",
	       "a run that others may start is not given up");
	r->remote.place = RUN_HERE;
	runs_give_up(runs(), r);
	is_str(run_state_name(r->state), "failed",
	       "a run that only this server has is given up");
	is_str(r->error.code, "RUN_INTERRUPTED",
	       "a run that was given up is RUN_INTERRUPTED");
	is_int(it.notices[NOTICE_ENDED], 1,
	       "the caller of a run that was given up is told");
	is_gone(r);
	end();
}

TEST(left)
{
	struct run *r;

	begin();
	r = watched();
	runs_leave(runs());
	is_int(it.notices[NOTICE_LEFT], 1,
	       "who waits for what the next server has is told");
	r->remote.place = RUN_QUEUE;
	runs_leave(runs());
	is_int(it.notices[NOTICE_LEFT], 1, "of what others have it is not");
	r->remote.place = RUN_HERE;
	runs_interrupt(runs(), false);
	is_str(run_state_name(r->state), "queued",
	       "a run of others stays queued when the server leaves");
	is_int((int64_t)runs_unrecorded(runs()), 0,
	       "a run of others is nothing that the end waits for");
	r->record.revived = true;
	runs_interrupt(runs(), true);
	is_str(run_state_name(r->state), "queued",
	       "a revived run that begins waits again");
	r->record.revived = false;
	runs_interrupt(runs(), true);
	is_str(r->error.code, "RUN_INTERRUPTED", "where all ends it ends");
	is_gone(r);
	end();
}

TEST(interrupted)
{
	struct run *r;

	begin();
	r = placed();
	it.template.retry.attempts = 1;
	r->job.worker = (struct worker *)&it;
	runs_interrupt(runs(), true);
	is_str(r->error.code, "RUN_INTERRUPTED", "what runs is interrupted");
	is_str(run_state_name(r->state), "running",
	       "an interrupted run is running until the worker has ended");
	r->job.worker = NULL;
	sched_over(&runs()->sched, &r->requestor->lane);
	runs_finish(runs(), r, EV_FAIL);
	is_gone(r);
	end();
}

TEST(not_begun)
{
	struct run *r;

	begin();
	r = watched();
	sched_start(&runs()->sched, &r->job.queued);
	run_apply(r, EV_START);
	r->job.beginning = true;
	runs_interrupt(runs(), false);
	is_str(run_state_name(r->state), "queued",
	       "one whose row says just now that it runs waits again");
	ok(!r->job.beginning && r->started_ms == 0 &&
	       r->attempts.started_ms == 0,
	   "a run that waits again has no time of start");
	is_int((int64_t)runs_running(runs()), 0, "without a place");
	is_int((int64_t)alice()->lane.aside, 1,
	       "an interrupted run waits aside");
	sched_remove(&runs()->sched, &r->job.queued);
	end();
}

/* ---- cancelling ---- */

TEST(cancelled)
{
	struct run *r;

	begin();
	r = watched();
	is_int(runs_cancel(runs(), r), 0, "a run that waits is cancelled");
	is_str(run_state_name(r->state), "canceled",
	       "a cancelled waiting run is canceled at once");
	is_str(r->error.code, "RUN_CANCELED",
	       "the error of a cancelled run is RUN_CANCELED");
	is_int(runs_cancel(runs(), r), -EALREADY,
	       "a canceled run cannot be cancelled");
	is_gone(r);
	end();

	begin();
	r = placed();
	run_apply(r, EV_CANCEL);
	is_int(runs_cancel(runs(), r), -EALREADY,
	       "one that is being cancelled needs no other cancel");
	sched_over(&runs()->sched, &r->requestor->lane);
	runs_finish(runs(), r, EV_FAIL);
	is_gone(r);
	end();
}

/* ---- expiry ---- */

TEST(expiry)
{
	struct run *r;

	begin();
	it.config.artifact_ttl_ms = 5000;
	r = placed();
	r->limits.ttl_ms = 1000;
	sched_over(&runs()->sched, &r->requestor->lane);
	runs_finish(runs(), r, EV_SUCCEED);
	is_int(r->expires_ms - r->finished_ms, 1000, "a run lasts its ttl");
	is_gone(r);
	r = placed();
	r->limits.ttl_ms = 1000;
	r->made_artifacts = true;
	sched_over(&runs()->sched, &r->requestor->lane);
	runs_finish(runs(), r, EV_SUCCEED);
	is_int(r->expires_ms - r->finished_ms, 5000,
	       "a run expires as late as the run's artifacts");
	is_gone(r);
	r = placed();
	r->limits.ttl_ms = 9000;
	r->made_artifacts = true;
	r->task.expires_ms = INT64_MAX;
	sched_over(&runs()->sched, &r->requestor->lane);
	runs_finish(runs(), r, EV_SUCCEED);
	is_int(r->expires_ms, INT64_MAX,
	       "a run expires as late as the run's task");
	is_gone(r);
	end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tap_run();
	return tap_done();
}
