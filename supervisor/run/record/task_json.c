/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_json.c - a run, or its row, as a Task of MCP: status, message, poll
 * interval, time to live; as 2025-11-25 has it, and as the extension of
 * 2026-07-28. tasks/tasks.c, tasks_extension.c, session/task_notify.c and the
 * answers to calls use it. The module only builds trees; a long status message
 * is cut.
 */
#include "supervisor/run/record/task_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/tool_error.h"

#define META "io.modelcontextprotocol/"
#define POLL_LEAST_MS 20
#define POLL_MOST_MS 1000
#define POLL_PART 4 /* a task that is polled as told is late by a quarter */

static const char restarted[] =
    "The server was restarted before the task had ended, so the task was "
    "interrupted; start it again.";

static const char queued[] = "Waiting for a worker.";

static const char *const names[TASK_STATUSES] = {
    [TASK_WORKING] = "working",	    [TASK_INPUT_REQUIRED] = "input_required",
    [TASK_COMPLETED] = "completed", [TASK_FAILED] = "failed",
    [TASK_CANCELLED] = "cancelled",
};

static const enum task_json_status of_state[RUN_STATES] = {
    [RUN_QUEUED] = TASK_WORKING,
    [RUN_RUNNING] = TASK_WORKING,
    [RUN_AWAITING_INPUT] = TASK_INPUT_REQUIRED,
    [RUN_CANCELLING] = TASK_CANCELLED,
    [RUN_SUCCEEDED] = TASK_COMPLETED,
    [RUN_PARTIAL_SUCCESS] = TASK_COMPLETED,
    [RUN_FAILED] = TASK_FAILED,
    [RUN_CANCELED] = TASK_CANCELLED,
};

static const enum task_json_status of_row[STORE_STATUSES] = {
    [STORE_QUEUED] = TASK_WORKING,
    [STORE_RUNNING] = TASK_WORKING,
    [STORE_SUCCEEDED] = TASK_COMPLETED,
    [STORE_PARTIAL_SUCCESS] = TASK_COMPLETED,
    [STORE_FAILED] = TASK_FAILED,
    [STORE_CANCELED] = TASK_CANCELLED,
};

/*
 * Returns the status by the extension, which completes a task that failed. A task
 * whose questions can be shown is INPUT_REQUIRED instead.
 */
static enum task_json_status detailed_status(enum store_status status)
{
	return status == STORE_FAILED ? TASK_COMPLETED : of_row[status];
}

enum task_json_status task_json_status(const struct run *r)
{
	return of_state[r->state];
}

enum task_json_status task_json_row_status(const struct store_run *row)
{
	if (row->cancelling)
		return TASK_CANCELLED;
	return row->awaiting ? TASK_INPUT_REQUIRED : of_row[row->status];
}

const char *task_json_status_name(enum task_json_status status)
{
	return names[status];
}

static bool lives(enum store_task form, int64_t expires_ms)
{
	return form != STORE_TASK_NONE && clock_wall_ms() < expires_ms;
}

bool task_json_is_live(const struct run *r)
{
	return !r->task.pending && lives(r->task.form, r->task.expires_ms);
}

bool task_json_row_is_live(const struct store_run *row)
{
	return lives(row->task, row->task_expires_ms);
}

/* ---- statusMessage ---- */

/*
 * Returns the text of an error reply by the template, instead of an error by
 * paddock; or NULL.
 */
static const char *reply_text(const struct run *r)
{
	struct json_object *content = json_member(r->output.value, "content");

	if (!r->output.is_reply ||
	    !json_object_is_type(content, json_type_array) ||
	    json_object_array_length(content) == 0)
		return NULL;
	return json_member_str(json_object_array_get_idx(content, 0), "text");
}

static char *failure(const struct run *r)
{
	const char *code = r->error.code, *text = reply_text(r);
	char *hint, *failure_text;

	if (strcmp(code, "RUN_INTERRUPTED") == 0)
		return xstrdup(restarted);
	if (text != NULL && strcmp(code, "EXECUTION_ERROR") == 0)
		return xasprintf("The tool answered with an error: %s", text);
	hint = recover_hint_of(code, r->error.details);
	failure_text =
	    xasprintf("%s (%s). What to do: %s.", r->error.message, code, hint);
	free(hint);
	return failure_text;
}

static char *cut(char *text)
{
	size_t len = text != NULL ? strlen(text) : 0;

	if (len > TASK_NOTE_MAX)
		text[utf8_cut(text, len, TASK_NOTE_MAX)] = '\0';
	return text;
}

char *task_json_note(const struct run *r)
{
	if (r->task.form == STORE_TASK_NONE)
		return NULL;
	if (r->state == RUN_FAILED)
		return cut(failure(r));
	if (r->state == RUN_PARTIAL_SUCCESS)
		return xasprintf("Partly done: %zu of %zu steps failed.",
				 r->steps.count[MSG_STEP_FAILED], r->steps.n);
	return NULL;
}

char *task_json_message(const struct run *r)
{
	switch (r->state) {
	case RUN_QUEUED:
		return xstrdup(queued);
	case RUN_RUNNING:
		return cut(xstrdup_opt(r->progress.message));
	case RUN_AWAITING_INPUT:
		return xstrdup("Waiting for an answer of the client's.");
	case RUN_CANCELLING:
	case RUN_CANCELED:
		return xstrdup("The task was cancelled.");
	default:
		return task_json_note(r);
	}
}

/* ---- the Task ---- */

struct task_fields {
	const char *id;
	enum task_json_status status;
	const char *message; /* NULL: none */
	int64_t created_ms, updated_ms, ttl_ms;
	int64_t usual_ms; /* of the template's runs; 0: unknown */
	bool queued;
};

/*
 * Returns the time that the requestor's runs of F's template usually still take, and at least a
 * quarter of the time that F's run has taken already.
 */
static int poll_ms(const struct task_fields *f)
{
	int64_t age = clock_wall_ms() - f->created_ms;
	int64_t left, ms;

	if (age < 0) /* the clock was set back */
		age = 0;
	left = f->usual_ms - age;
	ms = left > age / POLL_PART ? left : age / POLL_PART;

	if (ms < POLL_LEAST_MS)
		return POLL_LEAST_MS;
	return ms < POLL_MOST_MS ? (int)ms : POLL_MOST_MS;
}

#define BEGINNING                                                              \
	"taskId:s status:s statusMessage?s createdAt:s lastUpdatedAt:s "
#define TASK BEGINNING "ttl:i pollInterval:i"
#define DETAILED_TASK BEGINNING "ttlMs:i pollIntervalMs:i"

/* Returns the Task of F; SPEC names the time to live and the poll interval. */
static struct json_object *packed(const struct task_fields *f, const char *spec)
{
	char created[CLOCK_ISO_SIZE], updated[CLOCK_ISO_SIZE];

	clock_iso(created, f->created_ms);
	clock_iso(updated, f->updated_ms);
	return json_pack(spec, f->id, task_json_status_name(f->status),
			 f->message, created, updated, f->ttl_ms, poll_ms(f));
}

static struct task_fields fields(const struct run *r)
{
	return (struct task_fields){
	    .id = r->id,
	    .status = task_json_status(r),
	    .created_ms = r->created_ms,
	    .updated_ms = r->updated_ms,
	    .ttl_ms = r->task.ttl_ms,
	    .usual_ms = usual_ms(&r->requestor->usual, r->template->id),
	    .queued = r->state == RUN_QUEUED};
}

int task_json_poll_ms(const struct run *r)
{
	struct task_fields f = fields(r);

	return poll_ms(&f);
}

struct json_object *task_json_make(const struct run *r)
{
	struct task_fields f = fields(r);
	char *text = task_json_message(r);
	struct json_object *v;

	f.message = text;
	v = packed(&f, TASK);
	free(text);
	return v;
}

static struct task_fields row_fields(const struct store_run *row)
{
	struct task_fields f = {.id = row->id,
				.status = task_json_row_status(row),
				.created_ms = row->created_ms,
				.updated_ms = row->updated_ms,
				.ttl_ms = row->task_ttl_ms,
				.queued = row->status == STORE_QUEUED};

	if (f.status == TASK_CANCELLED)
		f.message = "The task was cancelled.";
	else if (row->task_note != NULL)
		f.message = row->task_note;
	else if (f.status == TASK_FAILED) /* the server died without a note */
		f.message = restarted;
	else if (f.queued)
		f.message = queued;
	return f;
}

struct json_object *task_json_row(const struct store_run *row)
{
	struct task_fields f = row_fields(row);

	return packed(&f, TASK);
}

struct json_object *task_json_created(const struct run *r, const char *note)
{
	struct json_object *result;
	struct task_fields f = fields(r);
	char *text = xasprintf("%s is under way as task %s; its result follows "
			       "when it has ended.%s%s",
			       r->template->id, r->id, note != NULL ? " " : "",
			       note != NULL ? note : "");

	f.status = TASK_WORKING;
	if (f.queued)
		f.message = queued;
	result = json_pack("task:o _meta:o", packed(&f, TASK),
			   json_pack(META "model-immediate-response:s", text));
	free(text);
	return result;
}

/* ---- by the extension ---- */

static const char cancelling[] = "The task is being cancelled.";
static const char unanswerable[] =
    "Waiting for an answer that this request does not declare the client can "
    "give.";

struct json_object *task_json_detailed(const struct run *r,
				       struct json_object *asks)
{
	struct task_fields f = fields(r);
	char *text = task_json_message(r);
	struct json_object *v;

	f.status = asks != NULL ? TASK_INPUT_REQUIRED
				: detailed_status(run_stored_status(r));
	f.message = r->state == RUN_CANCELLING ? cancelling
		    : r->state == RUN_AWAITING_INPUT && asks == NULL
			? unanswerable
			: text;
	v = packed(&f, DETAILED_TASK);
	json_add(v, "inputRequests?o", asks);
	free(text);
	return v;
}

struct json_object *task_json_detailed_row(const struct store_run *row,
					   struct json_object *asks)
{
	struct task_fields f = row_fields(row);
	struct json_object *v;

	f.status =
	    asks != NULL ? TASK_INPUT_REQUIRED : detailed_status(row->status);
	if (row->cancelling && row->status <= STORE_RUNNING)
		f.message = cancelling;
	v = packed(&f, DETAILED_TASK);
	json_add(v, "inputRequests?o", asks);
	return v;
}

void task_json_add_end(struct json_object *v, struct json_object *result,
		       struct json_object *error)
{
	if (error != NULL) {
		json_add(v, "status:s error:o",
			 task_json_status_name(TASK_FAILED), error);
		return;
	}
	/* without resultType, official clients see no result */
	json_add(result, "resultType:s", "complete");
	json_add(v, "result:o", result);
}

/*
 * Returns the CreateTaskResult of F by the extension: "working", whatever the
 * state is now.
 */
static struct json_object *started(struct task_fields *f, const char *note)
{
	const char *text = f->queued ? queued : NULL;
	char *both = text != NULL && note != NULL
			 ? xasprintf("%s %s", text, note)
			 : xstrdup_opt(text != NULL ? text : note);
	struct json_object *result;

	f->status = TASK_WORKING;
	f->message = both;
	result = packed(f, DETAILED_TASK);
	json_add(result, "resultType:s", "task");
	free(both);
	return result;
}

struct json_object *task_json_started(const struct run *r, const char *note)
{
	struct task_fields f = fields(r);

	return started(&f, note);
}

struct json_object *task_json_started_row(const struct store_run *row)
{
	struct task_fields f = row_fields(row);

	return started(&f, NULL);
}

/* ---- messages of a task of 2025-11-25 ---- */

struct json_object *task_json_related(const char *id)
{
	struct json_object *meta = json_object_new_object();

	task_json_add_related(meta, id);
	return meta;
}

void task_json_add_related(struct json_object *meta, const char *id)
{
	json_add(meta, META "related-task:o", json_pack("taskId:s", id));
}
