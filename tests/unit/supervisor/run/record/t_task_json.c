/* SPDX-License-Identifier: Apache-2.0 */
/* Every state of a run, and of a row, as a task. */
#include "supervisor/run/record/task_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "supervisor/mcp/tasks/tasks.h"
#include "tests/unit/tap.h"

#define RELATED "{\"io.modelcontextprotocol/related-task\":{\"taskId\":\"x\"}}"

static const char *const want[RUN_STATES] = {
    [RUN_QUEUED] = "working",
    [RUN_RUNNING] = "working",
    [RUN_AWAITING_INPUT] = "input_required",
    [RUN_CANCELLING] = "cancelled",
    [RUN_SUCCEEDED] = "completed",
    [RUN_PARTIAL_SUCCESS] = "completed",
    [RUN_FAILED] = "failed",
    [RUN_CANCELED] = "cancelled",
};

static const char *const want_row[STORE_STATUSES] = {
    [STORE_QUEUED] = "working",
    [STORE_RUNNING] = "working",
    [STORE_SUCCEEDED] = "completed",
    [STORE_FAILED] = "failed",
    [STORE_PARTIAL_SUCCESS] = "completed",
    [STORE_CANCELED] = "cancelled",
};

/* The states of the task extension, when no question can be shown. */
static const char *const want_detailed[RUN_STATES] = {
    [RUN_QUEUED] = "working",	      [RUN_RUNNING] = "working",
    [RUN_AWAITING_INPUT] = "working", [RUN_CANCELLING] = "working",
    [RUN_SUCCEEDED] = "completed",    [RUN_PARTIAL_SUCCESS] = "completed",
    [RUN_FAILED] = "completed",	      [RUN_CANCELED] = "cancelled",
};

static const char *const want_detailed_row[STORE_STATUSES] = {
    [STORE_QUEUED] = "working",
    [STORE_RUNNING] = "working",
    [STORE_SUCCEEDED] = "completed",
    [STORE_FAILED] = "completed",
    [STORE_PARTIAL_SUCCESS] = "completed",
    [STORE_CANCELED] = "cancelled",
};

static struct template *a_template(void)
{
	struct template *t = xcalloc(1, sizeof(*t));

	t->users = 1;
	t->id = xstrdup("t");
	t->version_text = xstrdup("1.0.0");
	return t;
}

static struct run *a_run(struct requestor *q, struct template *t,
			 enum run_state state)
{
	struct run *r = run_new(q, t);

	r->state = state;
	r->task = (struct run_task){.form = STORE_TASK_OUTPUT,
				    .ttl_ms = 5000,
				    .expires_ms = clock_wall_ms() + 5000};
	if (state == RUN_FAILED)
		run_set_error(r, "RUN_TIMEOUT", NULL, "the run took too long");
	return r;
}

static const char *member(struct json_object *v, const char *key)
{
	const char *text = json_member_str(v, key);

	return text != NULL ? text : "";
}

/* May the task state TO follow FROM? */
static bool may_follow(const char *from, const char *to)
{
	bool open =
	    strcmp(from, "working") == 0 || strcmp(from, "input_required") == 0;

	return open || strcmp(from, to) == 0;
}

static void test_states(struct requestor *q, struct template *t)
{
	for (int s = RUN_QUEUED; s < RUN_STATES; s++) {
		struct run *r = a_run(q, t, (enum run_state)s);
		struct json_object *v = task_json_make(r);

		is_str(member(v, "status"), want[s], "a run that is %s",
		       run_state_name((enum run_state)s));
		ok(strcmp(member(v, "taskId"), r->id) == 0 &&
		       strlen(member(v, "createdAt")) == CLOCK_ISO_SIZE - 1 &&
		       strlen(member(v, "lastUpdatedAt")) ==
			   CLOCK_ISO_SIZE - 1 &&
		       json_object_get_int(json_member(v, "ttl")) == 5000 &&
		       json_object_get_int(json_member(v, "pollInterval")) > 0,
		   "the Task has the required members");
		for (int e = 0; e < RUN_EVENTS; e++) {
			enum run_state to =
			    run_next((enum run_state)s, (enum run_event)e);

			if (to != RUN_NONE && !may_follow(want[s], want[to]))
				ok(false, "  it may not become %s",
				   run_state_name(to));
		}
		json_object_put(v);
		run_free(r);
	}
}

static void test_rows(void)
{
	struct store_run row = {.id = "run_x", .task = STORE_TASK_VIEW};

	for (int s = 0; s < STORE_STATUSES; s++) {
		row.status = (enum store_status)s;
		is_str(task_json_status_name(task_json_row_status(&row)),
		       want_row[s], "a row of status %d", s);
	}
	row.status = STORE_RUNNING;
	row.cancelling = true;
	is_str(task_json_status_name(task_json_row_status(&row)), "cancelled",
	       "one that was asked to end is cancelled");
}

static void test_messages(struct requestor *q, struct template *t)
{
	struct run *r = a_run(q, t, RUN_FAILED);
	struct store_run row = {.task = STORE_TASK_OUTPUT,
				.status = STORE_FAILED};
	struct json_object *v = task_json_make(r);

	is_str(
	    member(v, "statusMessage"),
	    "the run took too long (RUN_TIMEOUT). What to do: allow more time "
	    "(options.timeoutMs) or ask for less.",
	    "a failure is told, and what to do about it");
	json_object_put(v);
	free(r->error.message);
	r->error.message = xcalloc(1, 2002);
	for (size_t i = 0; i < 2000; i += 2)
		memcpy(r->error.message + i, "\xC3\xA4", 2);
	v = task_json_make(r);
	ok(strlen(member(v, "statusMessage")) <= TASK_NOTE_MAX &&
	       utf8_ok(member(v, "statusMessage"),
		       strlen(member(v, "statusMessage"))),
	   "a long one is cut between two characters");
	json_object_put(v);
	run_free(r);
	v = task_json_row(&row);
	ok(strstr(member(v, "statusMessage"), "restarted") != NULL,
	   "one that its server left behind was interrupted by a restart");
	json_object_put(v);
	row.task_note = "as it was";
	v = task_json_row(&row);
	is_str(member(v, "statusMessage"), "as it was",
	       "any other is told as it was");
	json_object_put(v);
	r = a_run(q, t, RUN_RUNNING);
	r->progress.message = xstrdup("reading page 7");
	v = task_json_make(r);
	is_str(member(v, "statusMessage"), "reading page 7",
	       "a running one says what the template says");
	json_object_put(v);
	run_free(r);
}

static int poll_at(struct run *r, int64_t age_ms)
{
	struct json_object *v;
	int ms;

	r->created_ms = clock_wall_ms() - age_ms;
	v = task_json_make(r);
	ms = json_object_get_int(json_member(v, "pollInterval"));
	json_object_put(v);
	return ms;
}

static void test_polls(struct requestor *q, struct template *t)
{
	static const int64_t ages[] = {100, 400, 1000, 3000};
	struct run *r = a_run(q, t, RUN_RUNNING);
	int late = 0;

	is_int(poll_at(r, 0), 20, "a new task of unknown length: 20 ms");
	for (size_t i = 0; i < ARRAY_LEN(ages); i++) {
		int ms = poll_at(r, ages[i]);

		/* the clock may go on by some ms between */
		late += ms < ages[i] / 4 || ms > ages[i] / 4 + 50;
	}
	is_int(late, 0, "a task of unknown length: a quarter of its age");
	is_int(poll_at(r, 3600000), 1000, "an old task: 1 s at most");
	is_int(poll_at(r, -3600000), 20, "a clock that went back: 20 ms");
	usual_add(&q->usual, t->id, 600);
	ok(poll_at(r, 100) > 400 && poll_at(r, 100) <= 500,
	   "what the requestor's runs of the template usually still take");
	ok(poll_at(r, 580) >= 145, "no less than a quarter of the age");
	q->usual = (struct usual){0};
	run_free(r);
}

static void test_created(struct requestor *q, struct template *t)
{
	struct run *r = a_run(q, t, RUN_FAILED);
	struct json_object *v = task_json_created(r, NULL);
	struct json_object *task = json_member(v, "task");

	is_str(member(task, "status"), "working",
	       "a task begins as working, however fast it was");
	is_str(member(task, "statusMessage"), "",
	       "a task that was just created tells no end");
	json_object_put(v);
	run_free(r);
}

/* ---- by the extension ---- */

static bool has_int(struct json_object *v, const char *key, int64_t n)
{
	struct json_object *is = json_member(v, key);

	return json_object_is_type(is, json_type_int) &&
	       json_object_get_int64(is) == n;
}

static void test_detailed_states(struct requestor *q, struct template *t)
{
	for (int s = RUN_QUEUED; s < RUN_STATES; s++) {
		struct run *r = a_run(q, t, (enum run_state)s);
		struct json_object *v = task_json_detailed(r, NULL);

		is_str(member(v, "status"), want_detailed[s],
		       "MCP26 16: a run that is %s",
		       run_state_name((enum run_state)s));
		ok(strcmp(member(v, "taskId"), r->id) == 0 &&
		       strlen(member(v, "createdAt")) == CLOCK_ISO_SIZE - 1 &&
		       strlen(member(v, "lastUpdatedAt")) ==
			   CLOCK_ISO_SIZE - 1 &&
		       has_int(v, "ttlMs", 5000) &&
		       json_member_int(v, "pollIntervalMs") > 0 &&
		       json_member(v, "ttl") == NULL &&
		       json_member(v, "inputRequests") == NULL,
		   "MCP26 16: the Task has the required members");
		for (int e = 0; e < RUN_EVENTS; e++) {
			enum run_state to =
			    run_next((enum run_state)s, (enum run_event)e);

			if (to != RUN_NONE &&
			    !may_follow(want_detailed[s], want_detailed[to]))
				ok(false, "  it may not become %s",
				   run_state_name(to));
		}
		json_object_put(v);
		run_free(r);
	}
}

static void test_detailed_rows(void)
{
	struct store_run row = {
	    .id = "run_x", .task = STORE_TASK_VIEW, .task_ttl_ms = 7000};
	struct json_object *v;

	for (int s = 0; s < STORE_STATUSES; s++) {
		row.status = (enum store_status)s;
		v = task_json_detailed_row(&row, NULL);
		is_str(member(v, "status"), want_detailed_row[s],
		       "MCP26 16: a row of status %d", s);
		ok(has_int(v, "ttlMs", 7000), "  lives as long as it says");
		json_object_put(v);
	}
	row.status = STORE_RUNNING;
	row.awaiting = true;
	v = task_json_detailed_row(&row, NULL);
	is_str(member(v, "status"), "working",
	       "MCP26 16: one that asks where it cannot be shown works");
	json_object_put(v);
	row.cancelling = true;
	v = task_json_detailed_row(&row, NULL);
	is_str(member(v, "status"), "working",
	       "MCP26 18: one that was asked to end works until it has");
	is_str(member(v, "statusMessage"), "The task is being cancelled.",
	       "MCP26 18: a task that is being cancelled says so");
	json_object_put(v);
}

static void test_asks(struct requestor *q, struct template *t)
{
	struct run *r = a_run(q, t, RUN_AWAITING_INPUT);
	struct json_object *asks = json_object_new_object();
	struct json_object *v = task_json_detailed(r, NULL);

	ok(strstr(member(v, "statusMessage"), "does not declare") != NULL,
	   "MCP26 16: who cannot answer is told what it waits for");
	json_object_put(v);
	json_add(asks, "k:s", "a question");
	v = task_json_detailed(r, asks);
	is_str(member(v, "status"), "input_required",
	       "MCP26 16: what somebody can answer is asked");
	ok(json_member(v, "inputRequests") == asks,
	   "MCP26 16: the task has the question");
	json_object_put(v);
	run_free(r);
}

static void test_end(struct requestor *q, struct template *t)
{
	struct run *r = a_run(q, t, RUN_FAILED);
	struct json_object *v = task_json_detailed(r, NULL);

	task_json_add_end(v, json_object_new_object(), NULL);
	is_str(json_text(json_member(v, "result"), NULL),
	       "{\"resultType\":\"complete\"}",
	       "MCP26 16: a result says that it is complete");
	is_str(member(v, "status"), "completed",
	       "MCP26 16: a task with a result is completed");
	json_object_put(v);
	v = task_json_detailed(r, NULL);
	task_json_add_end(v, NULL, json_object_new_object());
	is_str(member(v, "status"), "failed", "MCP26 16: an error fails it");
	ok(json_member(v, "error") != NULL && json_member(v, "result") == NULL,
	   "MCP26 16: a failed task has an error in place of a result");
	json_object_put(v);
	run_free(r);
}

static void test_started(struct requestor *q, struct template *t)
{
	struct run *r = a_run(q, t, RUN_FAILED);
	struct store_run row = {
	    .id = "run_x", .status = STORE_RUNNING, .task_ttl_ms = 7000};
	struct json_object *v = task_json_started(r, NULL);

	is_str(member(v, "resultType"), "task",
	       "MCP26 15: it says it is a task");
	is_str(member(v, "status"), "working",
	       "MCP26 15: a task begins as working, however fast the run was");
	ok(json_member(v, "statusMessage") == NULL &&
	       has_int(v, "ttlMs", 5000) && json_member(v, "result") == NULL,
	   "MCP26 15: a task that was just started tells no end");
	json_object_put(v);
	r->state = RUN_QUEUED;
	v = task_json_started(r, "It is mortal.");
	is_str(member(v, "statusMessage"),
	       "Waiting for a worker. It is mortal.",
	       "MCP26 15: a note follows the state of a waiting task");
	json_object_put(v);
	v = task_json_started_row(&row);
	ok(strcmp(member(v, "resultType"), "task") == 0 &&
	       strcmp(member(v, "taskId"), "run_x") == 0 &&
	       has_int(v, "ttlMs", 7000),
	   "MCP26 15: so does one whose row alone is there");
	json_object_put(v);
	run_free(r);
}

static void test_pending(struct requestor *q, struct template *t)
{
	struct run *r = a_run(q, t, RUN_RUNNING);

	r->task.pending = true;
	ok(!task_json_is_live(r), "no task is one before its row says so");
	r->task.pending = false;
	r->task.capabilities = json_object_new_object();
	r->task.known = true;
	run_clear_task(r);
	ok(!task_json_is_live(r) && r->task.form == STORE_TASK_NONE &&
	       r->task.capabilities == NULL && r->task.known,
	   "one that is none after all leaves nothing");
	run_free(r);
}

static void test_life(struct requestor *q, struct template *t)
{
	struct run *r = a_run(q, t, RUN_RUNNING);
	struct json_object *v = task_json_related("x");

	is_str(json_text(v, NULL), RELATED, "what belongs to a task names it");
	json_object_put(v);
	ok(task_json_is_live(r), "a task lives");
	r->task.expires_ms = clock_wall_ms();
	ok(!task_json_is_live(r), "a task is dead when the time has passed");
	r->task = (struct run_task){0};
	ok(!task_json_is_live(r), "a run of another call is none");
	ok(task_json_note(r) == NULL, "a run of another call has no note");
	run_free(r);
}

static void test_capability(void)
{
	struct requestor named = {.name = (char[]){"alice"}};
	struct requestor nobody = {.name = (char[]){REQUESTOR_ANONYMOUS}};
	struct json_object *v = tasks_capability(&named);

	is_str(json_text(v, NULL),
	       "{\"list\":{},\"cancel\":{},\"requests\":{\"tools\":{\"call\":"
	       "{}}}}",
	       "MCP 12: list, cancel and tools/call are declared");
	json_object_put(v);
	v = tasks_capability(&nobody);
	ok(json_member(v, "list") == NULL && json_member(v, "cancel") != NULL,
	   "MCP 25: but list not to those that nothing tells apart");
	json_object_put(v);
}

int main(void)
{
	struct requestors all = {0};
	struct requestor *q = requestors_of_uid(&all, 7);
	struct template *t = a_template();

	log_set_level(LOG_LEVEL_ERROR);
	test_states(q, t);
	test_rows();
	test_messages(q, t);
	test_polls(q, t);
	test_created(q, t);
	test_detailed_states(q, t);
	test_detailed_rows();
	test_asks(q, t);
	test_end(q, t);
	test_started(q, t);
	test_pending(q, t);
	test_life(q, t);
	test_capability();
	template_unref(t);
	requestors_fini(&all);
	return tap_done();
}
