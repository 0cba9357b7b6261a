/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_runs_create.c - runs_create(): refusals, the wish of a call within the bounds of server and
 * requestor, and the notices of the first row and of the task.
 */
#include "supervisor/packages/inputs/run_files.h"
#include "supervisor/packages/templates/catalogue.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static struct requestor *ada;
static struct template *t;
static struct json_object *inputs;
static struct tool_error refusal;
static int notices[NOTICE_RELEASED + 1];
static const char *unrecorded; /* the fault in the last notice with a fault */

static void begin(const char *config, const char *members)
{
	server_begin(config);
	server_package("sum", "1.0.0", members);
	server_load();
	ada = requestors_of_uid(&server.requestors, 7);
	t = catalogue_newest(server.context.catalogue, "sum");
	inputs = json_pack("a:i", 1);
	memset(notices, 0, sizeof(notices));
	unrecorded = NULL;
}

static void end(void)
{
	json_object_put(inputs);
	tool_error_fini(&refusal);
	server_end();
}

static struct run *create(const struct run_wish *wish)
{
	tool_error_fini(&refusal);
	return runs_create(server.context.runs, ada, t, inputs, wish, &refusal);
}

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	(void)r;
	notices[n->kind]++;
	if (n->unrecorded != NULL)
		unrecorded = n->unrecorded;
	if (n->kind == NOTICE_RELEASED)
		run_watch_del(w);
}

TEST(wish)
{
	char *text = xstrdup("{\"b\":2}");
	struct run *r;

	begin(NULL, NULL);
	r = create(&(struct run_wish){.timeout_ms = 1000,
				      .ttl_ms = 2000,
				      .session_id = "s_1",
				      .trust = TRUST_REMOTE,
				      .trace = "00-trace",
				      .retried_from = "run_x",
				      .idem_key = "K",
				      .idem_digest = "D"});
	is_str(r->inputs, "{\"a\":1}", "a run has its inputs as text");
	is_int((int64_t)r->inputs_len, 7,
	       "a run knows how long its inputs are");
	is_int(r->limits.timeout_ms, 1000, "a run has the time of its wish");
	is_int(r->limits.ttl_ms, 2000,
	       "a run is kept as long as its wish says");
	is_str(r->session_id, "s_1", "a run has the session of its wish");
	is_int(r->trust, TRUST_REMOTE, "a run has the trust of its caller");
	is_str(r->trace, "00-trace", "a run has the trace of its call");
	is_str(r->retried_from, "run_x", "a run names the run that it repeats");
	is_str(r->idem.key, "K", "a run has the key of its call");
	is_str(r->idem.digest, "D", "a run has the digest of its key");
	ok(runs_find_idem(server.context.runs, ada, "sum", "K") == r,
	   "a run is found by its key");
	is_int(r->state, RUN_QUEUED, "a run without a worker waits");
	is_int((int64_t)runs_queued(server.context.runs), 1,
	       "a run that waits is counted");
	r = create(&(struct run_wish){.inputs_text = text, .inputs_len = 7});
	ok(r->inputs == text, "a run takes the text of its inputs");
	is_str(r->session_id, NULL, "a run without a session has none");
	is_str(r->retried_from, "", "a run that repeats none names none");
	end();
}

TEST(times)
{
	struct run *r;

	begin("[limits]\nrun_ttl_ms = 5000\nmax_ttl_ms = 9000\n"
	      "default_ttl_ms = 3000\n[requestor \"few\"]\nuid = 8\n"
	      "run_ttl_ms = 4000\n[requestor \"less\"]\nuid = 9\n"
	      "max_ttl_ms = 2000\n",
	      "\"limits\":{\"maxTimeoutMs\":1000,\"cancelGraceMs\":60000}");
	r = create(&(struct run_wish){.timeout_ms = 5000, .ttl_ms = 6000});
	is_int(r->limits.timeout_ms, 1000,
	       "a wish for more time than the template's gives the template's");
	is_int(r->limits.ttl_ms, 5000,
	       "a run is kept no longer than the server allows");
	is_int(r->limits.cancel_grace_ms, 60000,
	       "a run has the grace of its template");
	r = create(&(struct run_wish){0});
	is_int(r->limits.ttl_ms, 5000,
	       "without a wish the server's time holds");
	is_int(r->task.form, STORE_TASK_NONE,
	       "without a wish a run is no task");
	r = create(&(struct run_wish){.task = STORE_TASK_VIEW});
	is_int(r->task.ttl_ms, 3000,
	       "a task without a wish has the default time");
	is_int(r->task.expires_ms, r->created_ms + 3000,
	       "the time of a task begins with its run");
	r = create(
	    &(struct run_wish){.task = STORE_TASK_VIEW, .task_ttl_ms = 20000});
	is_int(r->task.ttl_ms, 9000,
	       "a task is kept no longer than the server allows");
	is_int(runs_ttl(server.context.runs, NULL), 5000,
	       "runs of an unknown requestor are kept by the server's time");
	ada = requestors_of_uid(&server.requestors, 8);
	is_int(runs_ttl(server.context.runs, ada), 4000,
	       "a requestor's own time of runs holds");
	ada = requestors_of_uid(&server.requestors, 9);
	is_int(runs_ttl(server.context.runs, ada), 2000,
	       "a requestor's longest time bounds that of its runs");
	r = create(
	    &(struct run_wish){.task = STORE_TASK_VIEW, .task_ttl_ms = 20000});
	is_int(r->task.ttl_ms, 2000,
	       "a requestor's longest time bounds that of its tasks");
	end();
}

static void no_run(const struct run_wish *wish, const char *code,
		   const char *name)
{
	ok(create(wish) == NULL, "%s makes no run", name);
	is_str(refusal.code, code, "%s is refused by its code", name);
	ok(server_run() == NULL, "%s leaves no run", name);
}

TEST(refusals)
{
	begin("[browser]\nenabled = no\n", "\"tools\":[\"create_tab\"]");
	no_run(&(struct run_wish){0}, "PERMISSION_NOT_ALLOWED",
	       "a template that lacks a grant");
	end();
	begin(NULL, NULL);
	server.context.draining = true;
	no_run(&(struct run_wish){0}, "QUEUE_FULL", "a server that drains");
	server.context.draining = false;
	ok(create(&(struct run_wish){0}) != NULL,
	   "a server that no longer drains makes a run");
	end();
}

TEST(files_in_the_memory_of_lua)
{
	struct run_file f = {.size = (32 << 20) + 1};
	struct run_files files = {.v = &f, .n = 1};

	begin(NULL, "\"limits\":{\"maxMemoryBytes\":134217728}");
	no_run(&(struct run_wish){.files = &files}, "RESOURCE_LIMIT",
	       "more files than a quarter of the memory");
	ok(strstr(refusal.message, "33554432") != NULL,
	   "a refusal of files says how many bytes would pass");
	end();
}

/* ---- the first row, and the task ---- */

static struct run *watched(const struct run_wish *wish)
{
	static struct run_watch watch;
	struct run *r = create(wish);

	watch = (struct run_watch){.on_notice = on_notice};
	run_watch_add(r, &watch);
	return r;
}

TEST(first_row)
{
	struct run *r;

	begin(NULL, NULL);
	r = watched(&(struct run_wish){.promised = true});
	is_int(notices[NOTICE_DURABLE], 0,
	       "nobody is told of a row before runs_create() returns");
	server_settle();
	is_int(notices[NOTICE_DURABLE], 1, "the row of a promised run is told");
	ok(run_is_durable(r), "a run knows that it has a row");
	ok(unrecorded == NULL, "a row that was written has no fault");
	runs_record(server.context.runs, r);
	server_settle();
	is_int(notices[NOTICE_DURABLE], 2, "a row that is asked for is told");
	end();
}

/* The store refuses the row, since another run has the key. */
TEST(promised_run_that_cannot_be_recorded)
{
	begin(NULL, NULL);
	create(&(struct run_wish){.idem_key = "K", .idem_digest = "D"});
	server_settle();
	watched(&(struct run_wish){
	    .promised = true, .idem_key = "K", .idem_digest = "D"});
	server_until(notices[NOTICE_DURABLE] > 0);
	ok(unrecorded != NULL,
	   "a promised run whose row is refused is told with the reason");
	server_until(notices[NOTICE_RELEASED] > 0);
	ok(true, "a promised run whose row is refused is cancelled");
	end();
}

TEST(becomes_a_task)
{
	const struct run_wish wish = {.task = STORE_TASK_VIEW,
				      .task_ttl_ms = 60000};
	struct run *r;

	begin(NULL, NULL);
	r = watched(&(struct run_wish){0});
	runs_make_task(server.context.runs, r, &wish);
	ok(r->task.pending, "a run that becomes a task waits for its row");
	is_int(notices[NOTICE_TASK], 0, "a task is not told before its row");
	server_settle();
	is_int(notices[NOTICE_TASK], 1,
	       "a task is told when its row is written");
	ok(!r->task.pending, "a task that has its row waits no more");
	is_int(r->task.form, STORE_TASK_VIEW,
	       "a task has the form of its wish");
	ok(unrecorded == NULL, "a task that was recorded has no fault");
	r->remote.place = RUN_REMOTE;
	runs_make_task(server.context.runs, r, &wish);
	is_int(notices[NOTICE_TASK], 2,
	       "another server's run is no task at once");
	is_str(unrecorded, "another server has the run",
	       "another server's run is no task for that reason");
	r->remote.place = RUN_HERE;
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
