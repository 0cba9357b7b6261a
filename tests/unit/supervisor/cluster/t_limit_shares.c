/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_limit_shares.c - the shares of a requestor's limits, where several servers share a
 * database: a server asks for a share when more is needed, or less, and tells the use.
 */
#include "tests/unit/supervisor/run/exec/runs_fixture.h"

#include "supervisor/cluster/cluster_private.h"
#include "tests/unit/base/clock_fixture.h"
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"

static struct config_requestor section;
static struct requestor *q;

static void open_shared(void)
{
	begin_in_cluster();
	section = (struct config_requestor){.name = (char *)"uid:7",
					    .uid = 7,
					    .weight = 1,
					    .max_concurrent_runs = 4,
					    .rate_per_second = 10,
					    .cpu_seconds_per_hour = 100};
	it.config.max_concurrent_runs = 8;
	q = requestors_of_uid(&it.all, 7);
	q->section = &section;
	q->lane.max_running = 4;
	answered(); /* the database is open */
	limit_shares_open(it.ctx.runs);
	answered();
}

static void need(void)
{
	limit_shares_need(it.ctx.runs, q);
	answered();
}

TEST(places)
{
	struct run *r, *other;

	open_shared();
	ok(q->share.is_part && !q->share.asking,
	   "who has limits has a share of them from the start");
	is_int(q->lane.share, 0, "without a run it takes no place");
	r = waiting();
	need();
	is_int(q->lane.share, 2,
	       "one that waits has a place, and the next one");
	other = waiting();
	waiting();
	waiting();
	waiting();
	need();
	is_int(q->lane.share, 4, "a share is no larger than the limit");
	sched_remove(&it.ctx.runs->sched, &r->job.queued);
	sched_remove(&it.ctx.runs->sched, &other->job.queued);
	need();
	is_int(q->lane.share, 4, "while three wait nothing is given back");
	end();
}

TEST(given_back)
{
	struct run *r, *other;

	open_shared();
	r = waiting();
	other = waiting();
	need();
	is_int(q->lane.share, 3, "two that wait have three places");
	sched_remove(&it.ctx.runs->sched, &r->job.queued);
	sched_remove(&it.ctx.runs->sched, &other->job.queued);
	limit_shares_need(it.ctx.runs, q);
	is_int(q->lane.share, 0,
	       "what is given back is used no more before that is known");
	answered();
	is_int(q->lane.share, 0,
	       "a share that was given back stays unused after the answer");
	end();
}

TEST(cpu)
{
	int64_t before;

	open_shared();
	q->share.untold_ms = 500;
	clock_skip(60000);
	need();
	is_int(q->share.untold_ms, 0, "CPU time that was used is told");
	is_int(q->share.cpu_ms, 0,
	       "reported CPU time is counted for no other requestor");
	before = q->share.asked_ms;
	need();
	is_int(q->share.asked_ms, before, "nothing is asked without need");
	clock_skip(60000);
	need();
	is_int(q->share.asked_ms, before, "however late it is");
	q->share.calls = 1;
	need();
	ok(q->share.asked_ms > before, "a new call is reported in time");
	is_int(q->share.calls, 0, "calls are counted anew after a report");
	end();
}

TEST(nodes)
{
	int64_t before;

	open_shared();
	before = q->share.asked_ms;
	clock_skip(10);
	q->share.nodes++;
	need();
	ok(q->share.asked_ms > before,
	   "when there are more or fewer nodes shares are others");
	end();
}

/* Is a share asked for, AGO_MS after the last, when NOTHING else changed? */
static bool renewed(int64_t ago_ms)
{
	bool asked;

	clock_stop(true);
	q->share.asked_ms = clock_mono_ms() - ago_ms;
	limit_shares_need(it.ctx.runs, q);
	clock_stop(false);
	asked = q->share.asking;
	answered();
	return asked;
}

/* Other servers may use the rest of the limits, so a user asks again in time. */
TEST(renewed)
{
	open_shared();
	ok(!renewed(3600000), "who does nothing asks for nothing");
	q->share.untold_ms = 1;
	ok(!renewed(999), "CPU time that was used is not told at once");
	ok(renewed(1000), "CPU time that was used is told after a second");
	q->share.calls = 1;
	ok(!renewed(999), "calls that came are not told at once");
	ok(renewed(1000), "calls that came are told after a second");
	ok(!renewed(1000), "a share that was renewed is not asked for again");
	end();
}

TEST(rejoined)
{
	open_shared();
	waiting();
	need();
	is_int(q->lane.share, 2, "a share");
	limit_shares_rejoined(it.ctx.runs);
	limit_shares_need(it.ctx.runs, q);
	is_int(q->lane.share, 0,
	       "the share is another's after a change of name");
	answered();
	is_int(q->lane.share, 2, "a server with a new name gets a share anew");
	end();
}

TEST(unlimited)
{
	open_shared();
	section = (struct config_requestor){.uid = 7, .weight = 1};
	q->share = (struct requestor_share){0};
	need();
	ok(!q->share.is_part, "who is held to nothing has no share");
	section.artifact_bytes = 1;
	need();
	ok(q->share.is_part, "who is held to bytes has one");
	is_int(q->lane.share, 0, "of no runs");
	q->share.is_part = false;
	q->gone = true;
	need();
	ok(!q->share.is_part, "who is gone has none");
	end();
}

TEST(asking)
{
	open_shared();
	q->share.is_part = false;
	q->share.asking = true;
	need();
	ok(!q->share.is_part, "one question is under way at a time");
	q->share.asking = false;
	need();
	ok(q->share.is_part, "the share is a part after the next answer");
	end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	if (help_is_postgres()) /* SQLite has no other server */
		tap_run();
	else
		skip("needs PostgreSQL", "one server alone shares nothing");
	return tap_done();
}
