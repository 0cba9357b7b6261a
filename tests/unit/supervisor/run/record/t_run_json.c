/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_run_json.c - views, handles and summaries of runs and rows: which members are there
 * in which state.
 */
#include "supervisor/run/record/run_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/run/limits.h"
#include "tests/unit/base/clock_fixture.h"
#include "tests/unit/tap.h"

#define ID "run_aaaaaaaaaaaaaaaaaaaaaaaaaa"

static struct requestor ada = {.name = (char *)"ada"};
static struct template template = {
    .id = (char *)"echo", .version_text = (char *)"1.2.3", .users = 100};
static struct isolation none;
static struct json_object *seen; /* the last */

/* The member KEY of O as text; NULL: none. */
static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *m = json_member(o, key);

	if (m == NULL)
		return NULL;
	return json_object_is_type(m, json_type_string)
		   ? json_object_get_string(m)
		   : json_text(m, NULL);
}

static struct json_object *keep(struct json_object *o)
{
	json_object_put(seen);
	seen = o;
	return o;
}

static struct json_object *view_of(const struct run *r,
				   const struct isolation *iso)
{
	struct json_object *o = NULL;
	char *text = run_json_text(r, iso);

	if (json_parse(&o, text, strlen(text), NULL) < 0)
		abort();
	free(text);
	return keep(o);
}

static struct run *a_run(void)
{
	struct run *r = run_new(&ada, &template);

	snprintf(r->id, sizeof(r->id), "%s", ID);
	r->created_ms = 1000;
	r->created_mono_ms = clock_mono_ms() - 500;
	return r;
}

TEST(statuses)
{
	for (int i = 0; i < STORE_STATUSES; i++)
		is_int(run_json_status_parse(
			   run_json_status((enum store_status)i)),
		       i, "the status %s is read as it is written",
		       run_json_status((enum store_status)i));
	is_int(run_json_status_parse("nothing"), -EINVAL,
	       "an unknown status is refused");
}

TEST(queued)
{
	struct run *r = a_run();
	struct json_object *v;

	clock_stop(true);
	r->created_mono_ms = clock_mono_ms() - 500;
	v = view_of(r, &none);
	is_str(text_of(v, "runId"), ID, "a view has the id");
	is_str(text_of(v, "status"), "queued", "a run that waits is queued");
	is_str(text_of(v, "metrics"), "{\"elapsedMs\":0,\"queuedMs\":500}",
	       "a run that waits has waited so far");
	is_str(text_of(v, "progress"), "{\"totalSteps\":0,\"doneSteps\":0}",
	       "a run that waits has no progress");
	ok(text_of(v, "retriedFrom") == NULL && text_of(v, "error") == NULL &&
	       text_of(v, "result") == NULL &&
	       text_of(v, "artifacts") == NULL &&
	       text_of(v, "isolation") == NULL &&
	       text_of(v, "attempts") == NULL,
	   "a run that waits has no more to tell");
	ok(text_of(v, "awaitingInput") == NULL &&
	       text_of(v, "cancelRequested") == NULL,
	   "a run that waits awaits nothing else");
	clock_stop(false);
	run_free(r);
}

TEST(running)
{
	struct run *r = a_run();
	struct json_object *v;

	clock_stop(true);
	r->created_mono_ms = clock_mono_ms() - 500;
	r->state = RUN_RUNNING;
	r->started_ms = 1200;
	r->started_mono_ms = clock_mono_ms() - 300;
	r->progress.told = true;
	r->progress.done = 2;
	r->progress.total = 5;
	snprintf(r->retried_from, sizeof(r->retried_from), "run_b");
	v = view_of(r, &none);
	is_str(text_of(v, "metrics"), "{\"elapsedMs\":300,\"queuedMs\":200}",
	       "a run that goes on runs since its start");
	is_str(text_of(v, "progress"), "{\"totalSteps\":5,\"doneSteps\":2}",
	       "told progress is that of the run");
	is_str(text_of(v, "retriedFrom"), "run_b",
	       "a run has the id of the run that it repeats");
	r->state = RUN_AWAITING_INPUT;
	is_str(text_of(view_of(r, &none), "awaitingInput"), "true",
	       "a run that asks awaits input");
	r->state = RUN_CANCELLING;
	v = view_of(r, &none);
	ok(text_of(v, "awaitingInput") == NULL &&
	       strcmp(text_of(v, "cancelRequested"), "true") == 0,
	   "a run that is cancelled shows the wish");
	clock_stop(false);
	run_free(r);
}

static struct run *ended(enum run_state state)
{
	struct run *r = a_run();

	r->state = state;
	r->started_ms = 1200;
	r->created_mono_ms = 1000;
	r->started_mono_ms = 1200;
	r->finished_mono_ms = 1900;
	return r;
}

TEST(results)
{
	struct run *r = ended(RUN_SUCCEEDED);
	struct json_object *v = view_of(r, &none);

	is_str(text_of(v, "metrics"), "{\"elapsedMs\":700,\"queuedMs\":200}",
	       "an ended run ran until its end");
	ok(json_object_object_get_ex(v, "result", NULL) &&
	       text_of(v, "result") == NULL,
	   "a success without output has the result null");
	r->state = RUN_PARTIAL_SUCCESS;
	ok(json_object_object_get_ex(view_of(r, &none), "result", NULL),
	   "a part of a success has a result");
	r->state = RUN_FAILED;
	ok(!json_object_object_get_ex(view_of(r, &none), "result", NULL),
	   "a failure without output has no result");
	r->output.value = json_object_new_int(7);
	is_str(text_of(view_of(r, &none), "result"), "7",
	       "a failure with an output has a result");
	is_str(text_of(view_of(r, &none), "artifacts"), "[]",
	       "an ended run has a list of artifacts");
	run_free(r);

	r = ended(RUN_SUCCEEDED);
	r->output.text = xstrdup("{\"large\":1}");
	r->output.len = strlen(r->output.text);
	is_str(text_of(view_of(r, &none), "result"), "{\"large\":1}",
	       "a large result is there as its text");
	r->state = RUN_RUNNING;
	ok(text_of(view_of(r, &none), "result") == NULL,
	   "no result is shown before the end");
	r->state = RUN_SUCCEEDED;
	r->use = (struct run_use){.cpu_ms = 5, .max_rss_bytes = 4096};
	is_str(text_of(view_of(r, &none), "metrics"),
	       "{\"elapsedMs\":700,\"queuedMs\":200,\"cpuMs\":5,"
	       "\"cpuUserMs\":0,\"cpuSystemMs\":0,\"maxRssBytes\":4096,"
	       "\"readBytes\":0,\"writtenBytes\":0,\"messages\":0}",
	       "a reaped worker has its use");
	run_free(r);
}

TEST(errors)
{
	struct run *r = ended(RUN_FAILED);
	struct json_object *d = json_object_new_object(), *e;

	json_object_object_add(d, "runId", json_object_new_string("forged"));
	json_object_object_add(d, "n", json_object_new_int(1));
	run_set_error(r, "WORKER_CRASHED", d, "no luck");
	e = json_member(view_of(r, &none), "error");
	is_str(text_of(e, "errorCode"), "WORKER_CRASHED",
	       "an error has a code");
	is_str(text_of(e, "message"), "no luck", "an error has a message");
	ok(text_of(e, "recoverHint") != NULL, "an error has a hint");
	is_str(text_of(json_member(e, "details"), "runId"), ID,
	       "no detail of a worker replaces the run's id");
	is_str(text_of(json_member(e, "details"), "n"), "1",
	       "other details of a worker are kept");
	run_free(r);
}

TEST(artifacts)
{
	static const struct {
		const char *mime, *type;
	} all[] = {{"application/json", "json"},  {"text/csv", "csv"},
		   {"text/markdown", "markdown"}, {"text/html", "html"},
		   {"image/png", "image"},	  {"text/plain", "text"},
		   {"application/pdf", "binary"}};
	struct run *r = ended(RUN_SUCCEEDED);
	struct run_artifact list[ARRAY_LEN(all)] = {0};
	struct json_object *v;

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		list[i].size = (int64_t)i;
		list[i].name = (char *)"f";
		list[i].mime_type = (char *)(uintptr_t)all[i].mime;
	}
	r->artifacts = list;
	r->n_artifacts = ARRAY_LEN(all);
	v = json_member(view_of(r, &none), "artifacts");
	is_int((int64_t)json_object_array_length(v), ARRAY_LEN(all),
	       "all artifacts are listed");
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		is_str(text_of(json_object_array_get_idx(v, i), "type"),
		       all[i].type, "an artifact of the type %s", all[i].mime);
	r->artifacts = NULL;
	r->n_artifacts = 0;
	run_free(r);
}

TEST(isolation)
{
	struct isolation iso = {.view = json_object_new_object()};
	struct run *r = a_run();

	json_object_object_add(iso.view, "level",
			       json_object_new_string("high"));
	is_str(text_of(view_of(r, &iso), "isolation"), "{\"level\":\"high\"}",
	       "a view has the isolation");
	snprintf(iso.weak, sizeof(iso.weak), "weak");
	is_str(text_of(view_of(r, &iso), "isolation"), "{\"level\":\"high\"}",
	       "a weakness of programs is not shown for Lua");
	template.runtime = RUNTIME_PROGRAM;
	is_str(text_of(view_of(r, &iso), "isolation"),
	       "{\"level\":\"high\",\"weakProgram\":\"weak\"}",
	       "a weakness of programs is shown for a program");
	iso.weak[0] = '\0';
	is_str(text_of(view_of(r, &iso), "isolation"), "{\"level\":\"high\"}",
	       "a program without a weakness is shown none");
	template.runtime = RUNTIME_LUA;
	json_object_put(iso.view);
	run_free(r);
}

static struct store_run a_row(enum store_status status)
{
	struct store_run row = {.id = ID,
				.requestor = "ada",
				.template_id = "echo",
				.version = "1.2.3",
				.status = status,
				.created_ms = 1000,
				.started_ms = 1200,
				.finished_ms = 1900};

	return row;
}

static const char *elapsed(struct json_object *v)
{
	return text_of(json_member(v, "metrics"), "elapsedMs");
}

TEST(rows)
{
	struct store_run row = a_row(STORE_FAILED);
	struct json_object *v = keep(run_json_row(&row));

	is_str(elapsed(v), "700", "a row ran from its start to its end");
	ok(strstr(text_of(json_member(v, "error"), "message"),
		  "stopped before the run had ended") != NULL,
	   "a failed row without a view was interrupted");
	is_str(text_of(v, "artifacts"), "[]", "a failed row has no artifacts");
	row.started_ms = 0;
	v = keep(run_json_row(&row));
	is_str(elapsed(v), "0", "a row that never started never ran");
	ok(strstr(text_of(json_member(v, "error"), "message"),
		  "had not begun") != NULL,
	   "a failed row that never started says so");
	row.started_ms = 2000;
	is_str(elapsed(keep(run_json_row(&row))), "0",
	       "a row that ends before its start ran for no time");
	row = a_row(STORE_CANCELED);
	v = keep(run_json_row(&row));
	is_str(text_of(json_member(v, "error"), "errorCode"), "RUN_CANCELED",
	       "a cancelled row says so");
	row = a_row(STORE_RUNNING);
	v = keep(run_json_row(&row));
	ok(text_of(v, "error") == NULL && text_of(v, "cancelRequested") == NULL,
	   "a row that runs has no error, and no wish to cancel");
	row.cancelling = true;
	is_str(text_of(keep(run_json_row(&row)), "cancelRequested"), "true",
	       "a row that runs shows the wish to cancel");
	row.status = STORE_QUEUED;
	ok(text_of(keep(run_json_row(&row)), "cancelRequested") == NULL,
	   "a row that waits shows no wish to cancel");
	row.finished_ms = 0;
	row.started_ms = clock_wall_ms() - 5000;
	ok(strtoll(elapsed(keep(run_json_row(&row))), NULL, 10) >= 5000,
	   "a row without an end runs until now");
}

TEST(open_rows)
{
	struct store_run row = a_row(STORE_RUNNING);
	struct json_object *v;

	clock_stop(true);
	row.created_ms = clock_wall_ms() - 900;
	row.started_ms = clock_wall_ms() - 700;
	row.finished_ms = 0;
	row.view = (char *)"{\"x\":1,\"status\":\"queued\","
			   "\"metrics\":{\"elapsedMs\":1,\"queuedMs\":1}}";
	v = keep(run_json_open_row(&row, NULL));
	is_str(text_of(v, "x"), "1", "the owner's view is shown");
	is_str(text_of(v, "status"), "running", "the status is the row's");
	is_str(text_of(v, "metrics"), "{\"elapsedMs\":700,\"queuedMs\":200}",
	       "the owner's view has the times of now");
	ok(text_of(v, "cancelRequested") == NULL, "no wish to cancel is shown");
	row.cancelling = true;
	is_str(text_of(keep(run_json_open_row(&row, NULL)), "cancelRequested"),
	       "true", "the row's wish to cancel is shown");
	row.started_ms = 0;
	is_str(text_of(keep(run_json_open_row(&row, NULL)), "metrics"),
	       "{\"elapsedMs\":0,\"queuedMs\":900}",
	       "a view of a run that waits has waited until now");
	row.started_ms = clock_wall_ms() + 1000;
	is_str(text_of(keep(run_json_open_row(&row, NULL)), "metrics"),
	       "{\"elapsedMs\":1,\"queuedMs\":1}",
	       "times of a clock that is ahead are not corrected");
	v = keep(run_json_open_row(&row, "the server is silent"));
	ok(text_of(v, "x") == NULL, "of a silent server no view is shown");
	ok(strstr(text_of(v, "message"), "the server is silent") != NULL,
	   "of a silent server the reason is shown");
	row.view = NULL;
	v = keep(run_json_open_row(&row, NULL));
	ok(text_of(v, "message") == NULL &&
	       strcmp(text_of(v, "status"), "running") == 0,
	   "without a view the row is shown");
	row.view = (char *)"[1]";
	is_str(text_of(keep(run_json_open_row(&row, NULL)), "status"),
	       "running", "in place of a broken view the row is shown");
	clock_stop(false);
}

TEST(handles)
{
	struct run *r = a_run();
	struct store_run row = a_row(STORE_CANCELED);

	is_str(text_of(keep(run_json_handle(r)), "status"), "queued",
	       "a handle has the status");
	r->state = RUN_SUCCEEDED;
	is_str(text_of(keep(run_json_handle(r)), "status"), "running",
	       "a handle shows no end that is not recorded");
	is_str(text_of(keep(run_json_row_handle(&row)), "status"), "canceled",
	       "a handle of a row shows its end");
	is_str(
	    json_text(keep(run_json_ended_handle(ID, STORE_SUCCEEDED, "link")),
		      NULL),
	    "{\"runId\":\"" ID "\",\"status\":\"succeeded\","
	    "\"mode\":\"link\"}",
	    "a handle of an end");
	is_str(json_text(keep(run_json_summary(&row, "one")), NULL),
	       "{\"runId\":\"" ID "\",\"templateId\":\"echo\","
	       "\"status\":\"canceled\",\"createdAt\":1000,\"updatedAt\":0,"
	       "\"node\":\"one\"}",
	       "a summary has the server");
	keep(NULL);
	run_free(r);
}
