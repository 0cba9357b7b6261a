/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_runs_retry.c - further attempts after a crash or an interruption, the traces of an ended
 * attempt, and the bounds on parked runs.
 */
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/outcome.h"
#include "supervisor/run/run_log.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define RETRY                                                                  \
	"\"annotations\":{\"idempotentHint\":true},\"retry\":{\"attempts\":3," \
	"\"backoffMs\":1000,\"on\":[\"crashed\",\"interrupted\"]}"
#define CRASHED                                                                \
	"\"annotations\":{\"idempotentHint\":true},\"retry\":{\"attempts\":2," \
	"\"backoffMs\":1000,\"on\":[\"crashed\"]}"

static struct run *r;
static struct runs *runs;
static int notices[NOTICE_RELEASED + 1];

static void begin(const char *config, const char *members)
{
	struct tool_error e = {0};
	struct json_object *inputs = json_pack("a:i", 1);

	server_begin(config);
	server_package("sum", "1.0.0", members);
	server_load();
	server.context.others = true;
	runs = server.context.runs;
	r = runs_create(runs, requestors_of_uid(&server.requestors, 7),
			catalogue_newest(server.context.catalogue, "sum"),
			inputs, &(struct run_wish){0}, &e);
	json_object_put(inputs);
	server_settle();
	server_run_start(r);
	memset(notices, 0, sizeof(notices));
}

static void end(void)
{
	server_end();
}

/* R has lost its worker by CODE: is R tried again, at a server that starts runs? */
static bool lost(const char *code)
{
	bool again;

	run_clear_error(r);
	run_set_error(r, code, NULL, "the worker is gone");
	server.context.quiet = false;
	again = runs_retry(runs, r);
	server.context.quiet = true;
	if (again)
		sched_over(&runs->sched, &r->requestor->lane);
	return again;
}

/* R's attempt, which rests, begins at once. */
static void next_attempt(void)
{
	runs_retry_forget(runs, r);
	runs_enqueue(runs, r);
	server_run_start(r);
}

static void fails(const char *name)
{
	ok(!lost("WORKER_CRASHED"), "%s is not tried again", name);
	is_int(r->state, RUN_RUNNING, "%s is left as it was", name);
	run_clear_error(r);
	server_run_fail(r, "EXECUTION_ERROR", "the worker broke");
}

static const char *ended(const char *pointer)
{
	return at(r->attempts.ended, pointer);
}

static void on_notice(struct run_watch *w, struct run *run,
		      const struct run_notice *n)
{
	(void)run;
	notices[n->kind]++;
	if (n->kind == NOTICE_RELEASED)
		run_watch_del(w);
}

TEST(crash)
{
	struct run_watch w = {.on_notice = on_notice};

	begin(NULL, RETRY);
	run_watch_add(r, &w);
	r->use.max_rss_bytes = 1000;
	r->use.cpu_ms = 70;
	ok(lost("WORKER_CRASHED"), "a run whose worker crashed is tried again");
	is_int(r->state, RUN_QUEUED, "a run that is tried again waits");
	ok(runs_retry_rests(r), "a run that is tried again rests before");
	is_int(notices[NOTICE_STATE], 1,
	       "who watches a run hears that it waits");
	is_int((int64_t)run_attempts(r), 1,
	       "the attempt that ended is counted");
	is_str(ended("/0/attempt"), "1",
	       "the attempt that ended has its number");
	is_str(ended("/0/errorCode"), "WORKER_CRASHED",
	       "the attempt that ended has its error");
	is_str(ended("/0/cpuMs"), "70",
	       "the attempt that ended has its CPU time");
	is_int(r->attempts.cpu_ms, 70, "CPU time of attempts is added up");
	is_int(r->use.cpu_ms, 0, "the next attempt has used no CPU time");
	is_str(r->error.code, NULL, "a run that is tried again has no error");
	is_int((int64_t)runs_queued(runs), 1,
	       "a run that rests counts as waiting");
	run_watch_del(&w);
	end();
}

TEST(start_over)
{
	begin(NULL, RETRY);
	run_log_add(r, "info", (struct str){"hello", 5});
	r->progress.told = true;
	r->progress.done = 3;
	r->hit[LIMIT_LOG] = 5;
	r->job.starts = 2;
	lost("WORKER_CRASHED");
	ok(!r->progress.told && r->progress.done == 0,
	   "the progress of an attempt ends with the attempt");
	ok(strstr(r->progress.message, "attempt 1 of 3") != NULL,
	   "the message of progress says that it is tried again");
	is_int(r->hit[LIMIT_LOG], 0, "limits met are those of an attempt");
	is_int(r->job.starts, 0, "the next attempt has not been started");
	buf_add(r->log.text, "", 1);
	ok(strstr(buf_data(r->log.text), "hello") != NULL,
	   "the log of a run outlives its attempt");
	ok(strstr(buf_data(r->log.text), "attempt 1 of 3 ended") != NULL,
	   "the log of a run says that the attempt has ended");
	end();
}

TEST(number_of_attempts)
{
	begin(NULL, RETRY);
	ok(lost("WORKER_CRASHED"), "a run of three attempts has a second");
	next_attempt();
	ok(lost("WORKER_CRASHED"), "a run of three attempts has a third");
	next_attempt();
	fails("a run that has had all attempts");
	end();
}

TEST(cause)
{
	begin(NULL, CRASHED);
	ok(!lost("RUN_INTERRUPTED"),
	   "an interruption is no crash, for a template that names crashes");
	ok(!lost("EXECUTION_ERROR"), "an error of the template is no crash");
	ok(lost("WORKER_CRASHED"), "a crash is one");
	end();
	begin(NULL, RETRY);
	server.context.others = false;
	ok(!lost("RUN_INTERRUPTED"),
	   "an interruption of a server for one client ends the run");
	server.context.others = true;
	ok(lost("RUN_INTERRUPTED"),
	   "an interruption is followed by an attempt at the next server");
	end();
	begin(NULL, NULL);
	fails("a run of a template that says nothing of attempts");
	end();
}

TEST(what_is_needed)
{
	begin(NULL, RETRY);
	free(r->inputs);
	r->inputs = NULL;
	fails("a run whose inputs are gone");
	end();
	begin(NULL, RETRY);
	r->limits.timeout_ms = 900;
	fails("a run with less time than the pause");
	end();
	begin(NULL, RETRY);
	r->requestor->gone = true;
	fails("a run of a requestor who is gone");
	end();
}

TEST(requestor_removed_meanwhile)
{
	char id[ID_SIZE];

	begin(NULL, RETRY);
	snprintf(id, sizeof(id), "%s", r->id);
	lost("WORKER_CRASHED");
	runs_reloaded(runs);
	ok(runs_retry_rests(r), "a reload leaves runs that rest");
	r->requestor->gone = true;
	runs_reloaded(runs);
	is_int(r->state, RUN_FAILED,
	       "a run that rests fails when its requestor is removed");
	is_str(r->error.code, "WORKER_CRASHED",
	       "a run whose requestor is removed has the error of its attempt");
	server_until(runs_by_id(runs, id) == NULL);
	end();
}

TEST(cancelled_while_it_rests)
{
	char id[ID_SIZE];

	begin(NULL, RETRY);
	snprintf(id, sizeof(id), "%s", r->id);
	lost("WORKER_CRASHED");
	is_int(runs_cancel(runs, r), 0, "a run that rests can be cancelled");
	is_int((int64_t)runs_queued(runs), 0,
	       "a run that was cancelled while it rested waits no more");
	server_until(runs_by_id(runs, id) == NULL);
	end();
}

/* ---- parked runs ---- */

static bool may_park(const char *code, const char *allowed)
{
	struct tool_error e = {0};
	bool may = runs_may_park(runs, r, &e);

	is_str(e.code, code, "a bound on parked runs has its code");
	is_str(at(e.details, "/allowed"), allowed,
	       "a bound on parked runs is told by its figure");
	tool_error_fini(&e);
	return may;
}

TEST(parked_runs)
{
	begin("[limits]\nmax_parked_runs = 3\n[requestor \"few\"]\nuid = 7\n"
	      "max_parked_runs = 2\n",
	      NULL);
	server.context.others = false;
	r->requestor->parked = 1;
	runs->parked = 1;
	ok(may_park(NULL, NULL), "a run below all bounds may be parked");
	r->requestor->parked = 2;
	runs->parked = 2;
	ok(!may_park("QUOTA_EXCEEDED", "2"),
	   "a run at the bound of its requestor may not be parked");
	r->requestor->parked = 1;
	runs->parked = 3;
	ok(may_park(NULL, NULL),
	   "parked runs of others do not count where nobody else is served");
	server.context.others = true;
	ok(!may_park("QUOTA_EXCEEDED", "3"),
	   "parked runs of others leave a share of the bound");
	r->requestor->parked = runs->parked = 0;
	server_run_end(r, "1");
	end();
}

TEST(parked_runs_leave_workers)
{
	struct tool_error e = {0};

	begin("[limits]\nmax_parked_runs = 10000\n", NULL);
	server.context.others = false;
	r->requestor->parked = ZYGOTE_PROTO_SLOTS / 4 - 1;
	ok(may_park(NULL, NULL), "a quarter of all workers may be parked");
	r->requestor->parked = runs->parked = ZYGOTE_PROTO_SLOTS;
	ok(!runs_may_park(runs, r, &e),
	   "parked runs leave workers, whatever the configuration");
	tool_error_fini(&e);
	r->requestor->parked = runs->parked = 0;
	server_run_end(r, "1");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
