/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_runs.c - runs and the rows of runs: an answer of the store that comes too late, or is
 * lost with the connection. No worker is started.
 */
#include "tests/unit/supervisor/run/exec/runs_fixture.h"

#include <malloc.h>

#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"

static void test_forgotten_first(void)
{
	struct run *r;
	struct run_watch w = {.on_notice = on_notice};

	begin();
	r = waiting();
	run_watch_add(r, &w);
	sched_remove(&it.ctx.runs->sched, &r->job.queued);
	runs_record(it.ctx.runs, r);
	answered();
	is_int(it.notices[NOTICE_DURABLE], 1,
	       "a watcher is told that a run has a row");
	ok(run_is_durable(r), "a run that has its row is known as durable");
	runs_record(it.ctx.runs, r);
	runs_forget(it.ctx.runs, r);
	answered();
	is_int(it.notices[NOTICE_DURABLE], 1,
	       "no watcher is told of a forgotten run's row");
	end();
}

/* A run on a server whose connections go through the relay. */
static struct run *waiting_by_relay(char id[ID_SIZE])
{
	struct run *r;

	begin_by_relay();
	answered(); /* the store is known as shared */
	r = waiting();
	memcpy(id, r->id, ID_SIZE);
	return r;
}

/*
 * The run's first row is committed, but the database disconnects before the answer.
 */
static void test_unsure(bool as_task)
{
	const struct run_wish wish = {.task = STORE_TASK_OUTPUT};
	struct help_db *db;
	struct run *r;
	char id[ID_SIZE];

	if (!help_is_postgres())
		return;
	r = waiting_by_relay(id);
	sched_remove(&it.ctx.runs->sched, &r->job.queued);
	run_apply(r, EV_START);
	relay_lose_all(it.relay);
	if (as_task)
		runs_make_task(it.ctx.runs, r, &wish);
	else
		runs_record(it.ctx.runs, r);
	answered();
	ok(!run_is_durable(r),
	   "a row whose answer is lost is not known to be there");
	runs_finish(it.ctx.runs, r, EV_SUCCEED);
	answered();
	relay_pass(it.relay);
	recorded(id);
	db = help_open(it.dir);
	is_int(help_number(db, "SELECT status FROM runs"), STORE_SUCCEEDED,
	       "its %s that ends meanwhile has ended in it as well, once the "
	       "database is back",
	       as_task ? "task" : "run");
	help_close(db);
	end();
}

/* The run's first row was not committed, so the client asked another server. */
static void test_unsure_in_vain(void)
{
	struct store_run other = help_run("uid:7", STORE_SUCCEEDED);
	struct help_db *db;
	struct run *r;
	char id[ID_SIZE];

	if (!help_is_postgres())
		return;
	r = waiting_by_relay(id);
	other.template_id = "t";
	other.idem_key = "key";
	other.idem_digest = "digest";
	help_put(it.ctx.store, &other, STORE_SYNC);
	r->idem.key = xstrdup("key");
	sched_remove(&it.ctx.runs->sched, &r->job.queued);
	run_apply(r, EV_START);
	relay_hold(it.relay);
	runs_record(it.ctx.runs, r);
	relay_cut_held(it.relay);
	answered();
	runs_finish(it.ctx.runs, r, EV_SUCCEED);
	answered();
	relay_pass(it.relay);
	recorded(id);
	db = help_open(it.dir);
	is_int(help_number(db, "SELECT count(*) FROM runs"), 1,
	       "a run that could not be recorded has no row when it has ended, "
	       "where another has its key");
	help_close(db);
	end();
}

/*
 * The run waited in the common queue when the server was taken for dead, with the row
 * in flight.
 */
static void test_ended_unqueued(void)
{
	struct help_db *db;
	struct run *r;
	char id[ID_SIZE];

	if (!help_is_postgres())
		return;
	r = waiting_by_relay(id);
	r->remote.place = RUN_QUEUE;
	relay_hold(it.relay);
	runs_record(it.ctx.runs, r);
	relay_cut_held(it.relay);
	sched_remove(&it.ctx.runs->sched, &r->job.queued);
	run_set_error(r, "RUN_INTERRUPTED", NULL,
		      "another server took the run over");
	runs_finish(it.ctx.runs, r, EV_FAIL);
	answered();
	relay_pass(it.relay);
	recorded(id);
	db = help_open(it.dir);
	is_int(help_number(db, "SELECT count(*) FROM runs"), 0,
	       "a run that ends before it is known that it cannot be queued "
	       "ends once, and has no row");
	help_close(db);
	end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	mallopt(M_PERTURB, 0x5a); /* makes the use of freed memory visible */
	test_forgotten_first();
	test_unsure(false);
	test_unsure(true);
	test_unsure_in_vain();
	test_ended_unqueued();
	return tap_done();
}
