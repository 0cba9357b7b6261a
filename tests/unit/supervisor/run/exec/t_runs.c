/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_runs.c - runs whose servers are several: what the store says too late of one that
 * is forgotten, and what becomes of one that another had. No worker is started.
 */
#include "tests/unit/supervisor/run/exec/runs_fixture.h"

#include <malloc.h>

#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"

/* Claimed here, where it is to become a task, and given back before that is known. */
static void test_task_given_back(void)
{
	const struct run_wish wish = {.task = STORE_TASK_OUTPUT};
	struct run *r;
	char id[ID_SIZE];

	begin();
	r = waiting();
	memcpy(id, r->id, sizeof(id));
	r->record.durable = r->remote.taken_over = true;
	r->remote.vtime = 1;
	runs_make_task(it.ctx.runs, r, &wish);
	runs_hand_over(it.ctx.runs);
	ok(runs_by_id(it.ctx.runs, id) == NULL,
	   "a run that waits for others again is forgotten here");
	answered();
	ok(runs_by_id(it.ctx.runs, id) == NULL,
	   "and what is said of its row later is nobody's");
	end();
}

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
	       "that a run has its row is told to who watches it");
	ok(r->record.durable, "and known");
	runs_record(it.ctx.runs, r);
	runs_forget(it.ctx.runs, r);
	answered();
	is_int(it.notices[NOTICE_DURABLE], 1,
	       "unless the run is forgotten by then");
	end();
}

/* It waited in the queue of all, and asked something at who had claimed it, who died. */
static void test_asked_elsewhere(void)
{
	const struct store_run row = {.options = "{\"attemptStartedAt\":7}"};
	struct run *r;

	begin();
	it.ctx.others = true;
	r = waiting();
	r->record.durable = true;
	r->remote.place = RUN_QUEUE;
	runs_abroad_claimed(it.ctx.runs, r);
	run_apply(r, EV_ASK);
	runs_take_back(it.ctx.runs, r, &row);
	is_str(run_state_name(r->state), "queued",
	       "a run that asked its client at a server that died is tried "
	       "again");
	is_int((int)run_attempts(r), 1, "after an attempt");
	is_str(r->error.code, NULL, "and has not failed");
	end();
}

/* A request of ours may be answered, and still hold what it writes to its owner by. */
static void test_visited(void)
{
	struct store_run row = {.status = STORE_RUNNING,
				.shown_until_ms = INT64_MAX};
	struct run_visits one = {(struct input_visit *)&row};
	struct run *r;

	begin();
	snprintf(row.id, sizeof(row.id), "run_%026d", 2);
	r = runs_visit(it.ctx.runs, requestors_of_uid(&it.all, 7), &it.template,
		       &row);
	r->remote.visits = one;
	event_base_loop(it.ctx.base, EVLOOP_ONCE); /* a look at such runs */
	ok(runs_by_id(it.ctx.runs, row.id) != NULL,
	   "a run of another is known while somebody may write to its owner");
	LIST_INIT(&r->remote.visits);
	event_base_loop(it.ctx.base, EVLOOP_ONCE);
	ok(runs_by_id(it.ctx.runs, row.id) == NULL, "and no longer");
	end();
}

#define GONE "DELETE FROM node WHERE id = 'inst_one'"

/* It had ended here, and the store has said that it is another's. */
static void test_disowned_first(void)
{
	struct help_db *db;
	struct run *r;
	char id[ID_SIZE];

	if (!help_is_postgres())
		return;
	begin();
	answered(); /* that it is shared is known */
	r = waiting();
	memcpy(id, r->id, sizeof(id));
	sched_remove(&it.ctx.runs->sched, &r->job.queued);
	run_apply(r, EV_START);
	run_apply(r, EV_SUCCEED);
	run_disown(r);
	r->remote.disowned = true;
	runs_abroad_follow(it.ctx.runs, r);
	runs_lease_open(it.ctx.runs);
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

/* Of a server that reaches its database by the relay. */
static struct run *waiting_by_relay(char id[ID_SIZE])
{
	struct run *r;

	begin_by_relay();
	answered(); /* that it is shared is known */
	r = waiting();
	memcpy(id, r->id, ID_SIZE);
	return r;
}

/* Its first row is committed, but the database goes before it says so. */
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
	ok(!r->record.durable,
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

/* Its first row was not committed, so that who asked for it asked another server. */
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

/* It waited for others when its server was taken for dead, and its row on its way. */
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
	run_set_error(r, "RUN_INTERRUPTED", NULL, "it was taken over");
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
	mallopt(M_PERTURB, 0x5a); /* what is freed is good for nothing */
	test_task_given_back();
	test_forgotten_first();
	test_asked_elsewhere();
	test_visited();
	test_disowned_first();
	test_unsure(false);
	test_unsure(true);
	test_unsure_in_vain();
	test_ended_unqueued();
	return tap_done();
}
