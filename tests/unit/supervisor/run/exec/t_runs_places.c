/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_runs_places.c - a run gives back its place among the running once, in whatever step
 * the run ends. The loop reads results of threads only when the test says so.
 */
#include "tests/unit/supervisor/run/exec/runs_fixture.h"

#include <sys/stat.h>

#include "proto/json/json.h"
#include "supervisor/run/outcome.h"
#include "supervisor/run/threads/thread_pool.h"
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"

static struct schema *schema;

static void begin_with_threads(void)
{
	begin();
	it.ctx.thread_pool = thread_pool_new(it.ctx.base, 1);
}

static void end_with_threads(void)
{
	thread_pool_free(it.ctx.thread_pool);
	end();
}

/* A run with a place. */
static struct run *placed(void)
{
	struct run *r = waiting();

	sched_start(&it.ctx.runs->sched, &r->job.queued);
	run_apply(r, EV_START);
	return r;
}

/* Cancel R, and process the results of threads so far. */
static void cancel(struct run *r, const char *what)
{
	char id[ID_SIZE];

	memcpy(id, r->id, sizeof(id));
	is_int((int)runs_running(it.ctx.runs), 1, "%s has its place", what);
	is_int(runs_cancel(it.ctx.runs, r), 0,
	       "a run with a place can be cancelled");
	is_int((int)runs_running(it.ctx.runs), 0,
	       "a cancelled run gives the place back");
	while (thread_pool_jobs(it.ctx.thread_pool) > 0)
		event_base_loop(it.ctx.base, EVLOOP_ONCE);
	recorded(id);
	is_int((int)runs_running(it.ctx.runs), 0, "a place is given back once");
}

static void ends_with(struct run *r, const char *output)
{
	struct exit_facts e = {.have_result = true,
			       .group = CGROUP_USE_UNKNOWN};

	if (output != NULL) {
		e.output = xstrdup(output);
		e.output_len = strlen(output);
	}
	runs_worker_ended(it.ctx.runs, r, &e);
}

TEST(looked_at)
{
	struct run *r;

	begin_with_threads();
	it.template.runtime = RUNTIME_PROGRAM;
	it.template.dir = it.dir;
	r = waiting();
	runs_start(it.ctx.runs, r);
	ok(r->job.look != NULL, "before a program begins its package is seen");
	cancel(r, "meanwhile its run");
	end_with_threads();
}

TEST(changed)
{
	struct run *r;

	begin_with_threads();
	it.template.runtime = RUNTIME_PROGRAM;
	it.template.dir = it.dir;
	r = waiting();
	runs_start(it.ctx.runs, r);
	while (!run_terminal(r))
		event_base_loop(it.ctx.base, EVLOOP_ONCE);
	is_str(r->error.code, "EXECUTION_ERROR",
	       "a run whose package was changed fails");
	is_int((int)runs_running(it.ctx.runs), 0,
	       "a run whose package was changed has no place");
	recorded(r->id);
	end_with_threads();
}

TEST(being_read)
{
	struct run *r;

	begin_with_threads();
	r = placed();
	ends_with(r, "[1, 2, 3]");
	ok(r->job.reading == NULL && r->job.reading_arg != NULL,
	   "a large output waits until there is room for it");
	cancel(r, "meanwhile its run");
	r = placed();
	ends_with(r, "[1, 2, 3]");
	while (r->job.reading == NULL)
		event_base_loop(it.ctx.base, EVLOOP_ONCE);
	ok(it.ctx.runs->trees.held > 0, "a waiting result is read and counted");
	cancel(r, "meanwhile its run");
	is_int((long long)it.ctx.runs->trees.held, 0,
	       "nothing is counted of a cancelled run's result");
	end_with_threads();
}

/* A server's memory in which the trees of results get some 2 KiB. */
#define SMALL_MEMORY ((48 << 20) + 8 * 1024)

/* With the least memory for trees, one result at a time has room. */
TEST(read_in_turn)
{
	struct run *first, *second;
	char id[ID_SIZE], gone[ID_SIZE];

	begin_with_threads();
	it.config.server_memory = SMALL_MEMORY;
	first = placed();
	second = placed();
	memcpy(id, second->id, sizeof(id));
	ends_with(first, "[1, 2, 3]");
	ends_with(second, "[4]");
	while (first->job.reading == NULL)
		event_base_loop(it.ctx.base, EVLOOP_ONCE);
	ok(second->job.reading == NULL && second->job.reading_arg != NULL,
	   "the second waits while the first is read");
	memcpy(gone, first->id, sizeof(gone));
	runs_cancel(it.ctx.runs, first);
	while (!run_terminal(second))
		event_base_loop(it.ctx.base, EVLOOP_ONCE);
	is_int(second->state, RUN_SUCCEEDED,
	       "the second result has room after the first was cancelled");
	recorded(id);
	recorded(gone);
	is_int((long long)it.ctx.runs->trees.held, 0,
	       "nothing is counted of a recorded result");
	it.config.server_memory = 0;
	end_with_threads();
}

/* A stopped worker keeps its slot, even when another run has the place. */
TEST(slots)
{
	begin();
	it.ctx.runs->stopped = ZYGOTE_PROTO_SLOTS - 1;
	ok(runs_has_slot(it.ctx.runs), "while a slot is free one may start");
	it.ctx.runs->stopped++;
	ok(!runs_has_slot(it.ctx.runs),
	   "no run may start when stopped workers have all slots");
	it.ctx.runs->stopped = 0;
	end();
}

TEST(being_checked)
{
	struct json_object *doc = json_tokener_parse("{\"type\": \"array\"}");
	struct schema_error err;
	struct run *r;

	begin_with_threads();
	is_int(schema_compile(&schema, doc, NULL, &err), 0, "a schema");
	it.template.outputs = schema;
	r = placed();
	r->output.value = json_tokener_parse("[1, 2, 3]");
	while (requestor_steps(r->requestor) > 0)
		requestor_stepped(r->requestor, requestor_steps(r->requestor));
	ends_with(r, NULL);
	ok(r->job.checked != NULL, "an output that is dear is checked later");
	cancel(r, "meanwhile its run");
	it.template.outputs = NULL;
	end_with_threads();
	schema_free(schema);
	json_object_put(doc);
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tap_run();
	return tap_done();
}
