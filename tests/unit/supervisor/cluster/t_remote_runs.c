/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_remote_runs.c - runs that another server has, had, or may have: claimed, visited,
 * taken over. No worker is started.
 */
#include "tests/unit/supervisor/run/exec/runs_fixture.h"

#include <malloc.h>

#include "supervisor/cluster/cluster_private.h"
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"

/* A run is claimed, is to become a task, and is given back before the row says so. */
static void test_task_given_back(void)
{
	const struct run_wish wish = {.task = STORE_TASK_OUTPUT};
	struct run *r;
	char id[ID_SIZE];

	begin_in_cluster();
	r = waiting();
	memcpy(id, r->id, sizeof(id));
	r->record.revived = true;
	run_record_row(r, ROW_COMMITTED);
	r->remote.vtime = 1;
	runs_make_task(it.ctx.runs, r, &wish);
	it.ctx.cluster->hand_over(it.ctx.runs);
	ok(runs_by_id(it.ctx.runs, id) == NULL,
	   "a run that waits for others again is forgotten here");
	answered();
	ok(runs_by_id(it.ctx.runs, id) == NULL,
	   "a later answer on the row of a forgotten run is ignored");
	end();
}

/* A run of the shared queue asked its client at a server that died. */
static void test_asked_elsewhere(void)
{
	const struct store_run row = {.options = "{\"attemptStartedAt\":7}"};
	struct run *r;

	begin_in_cluster();
	it.ctx.others = true;
	r = waiting();
	run_record_row(r, ROW_COMMITTED);
	r->remote.place = RUN_QUEUE;
	remote_runs_claimed(it.ctx.runs, r);
	run_mirror(r, RUN_AWAITING_INPUT);
	remote_runs_take_back(it.ctx.runs, r, &row);
	is_str(run_state_name(r->state), "queued",
	       "a run that asked its client at a server that died is tried "
	       "again");
	is_int((int)run_attempts(r), 1, "after an attempt");
	is_str(r->error.code, NULL, "a run that is tried again has no error");
	end();
}

/* The former server died during the cancellation of a run. */
static void test_cancelled_elsewhere(void)
{
	const struct store_run row = {.options = "{\"attemptStartedAt\":7}"};
	struct run *r;
	char id[ID_SIZE];

	begin_in_cluster();
	it.ctx.others = true;
	r = waiting();
	memcpy(id, r->id, sizeof(id));
	run_record_row(r, ROW_COMMITTED);
	r->remote.place = RUN_QUEUE;
	remote_runs_claimed(it.ctx.runs, r);
	run_mirror(r, RUN_CANCELLING);
	remote_runs_take_back(it.ctx.runs, r, &row);
	is_str(
	    run_state_name(r->state), "canceled",
	    "a run taken from a dead server during a cancellation has ended");
	recorded(id);
	end();
}

/* A request here may be answered, and still have messages for the owner of the run. */
static void test_visited(void)
{
	struct store_run row = {.status = STORE_RUNNING,
				.shown_until_ms = INT64_MAX};
	struct proxied_requests one = {(struct proxied_request *)&row};
	struct run *r;

	begin_in_cluster();
	snprintf(row.id, sizeof(row.id), "run_%026d", 2);
	r = remote_runs_visit(it.ctx.runs, requestors_of_uid(&it.all, 7),
			      &it.template, &row);
	r->remote.proxied = one;
	event_base_loop(it.ctx.base, EVLOOP_ONCE); /* a look at such runs */
	ok(runs_by_id(it.ctx.runs, row.id) != NULL,
	   "a run of another is known while somebody may write to its owner");
	LIST_INIT(&r->remote.proxied);
	event_base_loop(it.ctx.base, EVLOOP_ONCE);
	ok(runs_by_id(it.ctx.runs, row.id) == NULL,
	   "a remote run without writers is forgotten");
	end();
}

#define GONE "DELETE FROM node WHERE id = 'inst_one'"

/* A run had ended here, and the store has said that the run is another server's. */
static void test_disowned_first(void)
{
	struct help_db *db;
	struct run *r;
	char id[ID_SIZE];

	if (!help_is_postgres())
		return;
	begin_in_cluster();
	answered(); /* the database is open */
	r = waiting();
	memcpy(id, r->id, sizeof(id));
	sched_remove(&it.ctx.runs->sched, &r->job.queued);
	run_apply(r, EV_START);
	run_apply(r, EV_SUCCEED);
	r->remote.disowned = true;
	remote_runs_follow(it.ctx.runs, r);
	run_mirror(r, RUN_RUNNING);
	lease_open(it.ctx.runs);
	db = help_open(it.dir);
	help_sql(db, GONE);
	help_close(db);
	while (strcmp(it.ctx.instance, "inst_one") == 0) {
		struct store_run row = help_run("alice", STORE_RUNNING);

		help_put(it.ctx.store, &row, STORE_SYNC);
	}
	r = runs_by_id(it.ctx.runs, id);
	is_str(r != NULL ? run_state_name(r->state) : "gone", "running",
	       "who hears afterwards that it was taken for dead ends such a "
	       "run no second time");
	end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	mallopt(M_PERTURB, 0x5a); /* freed memory has no old content */
	test_task_given_back();
	test_asked_elsewhere();
	test_cancelled_elsewhere();
	test_visited();
	test_disowned_first();
	return tap_done();
}
