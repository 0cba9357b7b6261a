/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/run/run_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/run/limits.h"
#include "proto/mcp/recover_hint.h"
#include "supervisor/run/lost_artifacts.h"

static const char *const statuses[STORE_STATUSES] = {
    [STORE_QUEUED] = "queued",
    [STORE_RUNNING] = "running",
    [STORE_SUCCEEDED] = "succeeded",
    [STORE_FAILED] = "failed",
    [STORE_PARTIAL_SUCCESS] = "partial_success",
    [STORE_CANCELED] = "canceled",
};

const char *run_json_status(enum store_status status)
{
	return statuses[status];
}

int run_json_status_parse(const char *name)
{
	for (int i = 0; i < STORE_STATUSES; i++)
		if (strcmp(statuses[i], name) == 0)
			return i;
	return -EINVAL;
}

static void add_str(struct json_object *o, const char *key, const char *s)
{
	if (s != NULL)
		json_object_object_add(o, key, json_object_new_string(s));
}

static void add_int(struct json_object *o, const char *key, int64_t n)
{
	json_object_object_add(o, key, json_object_new_int64(n));
}

static void add_time(struct json_object *o, const char *key, int64_t ms)
{
	if (ms > 0)
		add_int(o, key, ms);
}

static struct json_object *progress_view(uint64_t total, uint64_t done)
{
	struct json_object *p = json_object_new_object();

	json_object_object_add(p, "totalSteps", json_object_new_uint64(total));
	json_object_object_add(p, "doneSteps", json_object_new_uint64(done));
	return p;
}

static struct json_object *metrics_view(const struct run *r)
{
	struct json_object *m = json_object_new_object();
	const struct run_use *u = &r->use;
	int64_t now = clock_mono_ms();
	int64_t end = run_terminal(r) ? r->finished_mono_ms : now;
	int64_t start = r->started_ms > 0 ? r->started_mono_ms : end;

	add_int(m, "elapsedMs", end - start);
	add_int(m, "queuedMs", start - r->created_mono_ms);
	if (u->max_rss_bytes == 0)
		return m;
	add_int(m, "cpuMs", u->cpu_ms);
	add_int(m, "cpuUserMs", u->cpu_user_ms);
	add_int(m, "cpuSystemMs", u->cpu_system_ms);
	add_int(m, "maxRssBytes", u->max_rss_bytes);
	if (u->peak_bytes > 0)
		add_int(m, "peakMemoryBytes", u->peak_bytes);
	add_int(m, "readBytes", u->read_bytes);
	add_int(m, "writtenBytes", u->written_bytes);
	add_int(m, "messages", u->messages);
	return m;
}

static const char *artifact_type(const char *mime_type)
{
	static const struct {
		const char *mime, *type;
	} known[] = {{"application/json", "json"},  {"text/csv", "csv"},
		     {"text/markdown", "markdown"}, {"text/html", "html"},
		     {"image/", "image"},	    {"text/", "text"}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(mime_type, known[i].mime, strlen(known[i].mime)) ==
		    0)
			return known[i].type;
	return "binary";
}

static struct json_object *artifacts_view(const struct run *r)
{
	struct json_object *list =
	    json_object_new_array_ext((int)r->n_artifacts);

	for (size_t i = 0; i < r->n_artifacts; i++) {
		const struct run_artifact *a = &r->artifacts[i];
		struct json_object *v = json_object_new_object();

		add_str(v, "artifactId", a->id);
		add_str(v, "type", artifact_type(a->mime_type));
		add_int(v, "size", a->size);
		add_str(v, "name", a->name);
		add_str(v, "mimeType", a->mime_type);
		json_object_array_add(list, v);
	}
	return list;
}

static struct json_object *error_view(const char *code, const char *message,
				      const char *run_id,
				      struct json_object *details)
{
	struct json_object *e = json_object_new_object();
	struct json_object *d = json_object_new_object();
	char *hint = recover_hint_of(code, details);

	if (details != NULL) {
		json_object_object_foreach(details, key, value)
			json_object_object_add(d, key, json_object_get(value));
	}
	add_str(d, "runId", run_id); /* last: details are a worker's */
	add_str(e, "errorCode", code);
	add_str(e, "message", message);
	add_str(e, "recoverHint", hint);
	free(hint);
	json_object_object_add(e, "details", d);
	return e;
}

static void add_end(struct json_object *v, const struct run *r)
{
	struct json_object *hit = limits_hit_details(r),
			   *missing = lost_artifacts_json(r);

	json_object_object_add(v, "artifacts", artifacts_view(r));
	if (r->result_text == NULL &&
	    (r->result != NULL || r->state == RUN_SUCCEEDED ||
	     r->state == RUN_PARTIAL_SUCCESS))
		json_object_object_add(v, "result", json_object_get(r->result));
	if (hit != NULL)
		json_object_object_add(v, "limitsMet", hit);
	if (missing != NULL)
		json_object_object_add(v, "missingArtifacts", missing);
	if (r->error.code != NULL)
		json_object_object_add(v, "error",
				       error_view(r->error.code,
						  r->error.message, r->id,
						  r->error.details));
}

/* A program's says how its own cage is less than it should be. */
static struct json_object *isolation_view(const struct run *r,
					  const struct isolation *iso)
{
	struct json_object *v = json_object_get(iso->view);

	if (r->template->runtime != RUNTIME_PROGRAM || iso->weak[0] == '\0')
		return v;
	json_object_put(v);
	v = NULL;
	json_object_deep_copy(iso->view, &v, NULL);
	add_str(v, "weakProgram", iso->weak);
	return v;
}

struct json_object *run_json_make(const struct run *r,
				  const struct isolation *iso)
{
	struct json_object *v = json_object_new_object();
	bool told = r->told_progress;

	add_str(v, "runId", r->id);
	add_str(v, "templateId", r->template->id);
	add_str(v, "templateVersion", r->template->version_text);
	add_str(v, "status", run_status(r));
	json_object_object_add(
	    v, "progress",
	    progress_view(told ? r->total : r->steps.n,
			  told ? r->done : run_steps_done(&r->steps)));
	json_object_object_add(v, "metrics", metrics_view(r));
	add_time(v, "createdAt", r->created_ms);
	add_time(v, "startedAt", r->started_ms);
	add_time(v, "updatedAt", r->updated_ms);
	add_time(v, "expiresAt", r->expires_ms);
	add_str(v, "sessionId", r->session_id);
	add_str(v, "message", r->message);
	if (r->state == RUN_AWAITING_INPUT)
		json_object_object_add(v, "awaitingInput",
				       json_object_new_boolean(true));
	if (r->state == RUN_CANCELLING)
		json_object_object_add(v, "cancelRequested",
				       json_object_new_boolean(true));
	if (r->steps.n > 0)
		json_object_object_add(v, "steps", run_steps_view(&r->steps));
	if (run_terminal(r))
		add_end(v, r);
	if (iso->view != NULL)
		json_object_object_add(v, "isolation", isolation_view(r, iso));
	return v;
}

/* Its server died before it could say more. */
static void add_lost(struct json_object *v, const struct store_run *row,
		     const char *code, const char *message)
{
	json_object_object_add(v, "artifacts", json_object_new_array());
	json_object_object_add(v, "error",
			       error_view(code, message, row->id, NULL));
}

struct json_object *run_json_row(const struct store_run *row)
{
	struct json_object *v = json_object_new_object();
	struct json_object *m = json_object_new_object();
	int64_t end = row->finished_ms > 0 ? row->finished_ms : clock_wall_ms();

	add_str(v, "runId", row->id);
	add_str(v, "templateId", row->template_id);
	add_str(v, "templateVersion", row->version);
	add_str(v, "status", run_json_status(row->status));
	json_object_object_add(v, "progress", progress_view(0, 0));
	add_int(m, "elapsedMs",
		row->started_ms > 0 && end > row->started_ms
		    ? end - row->started_ms
		    : 0);
	json_object_object_add(v, "metrics", m);
	add_time(v, "createdAt", row->created_ms);
	add_time(v, "startedAt", row->started_ms);
	add_time(v, "updatedAt", row->updated_ms);
	add_time(v, "expiresAt", row->expires_ms);
	if (row->cancelling && row->status == STORE_RUNNING)
		json_object_object_add(v, "cancelRequested",
				       json_object_new_boolean(true));
	if (row->status == STORE_FAILED)
		add_lost(v, row, "RUN_INTERRUPTED",
			 "the server that ran this stopped before the run had "
			 "ended");
	if (row->status == STORE_CANCELED)
		add_lost(v, row, "RUN_CANCELED", "the run was cancelled");
	return v;
}

/* What has changed without its owner: time has passed, or it is to end. */
static void bring_up_to_date(struct json_object *v, const struct store_run *row)
{
	struct json_object *m = json_member(v, "metrics");
	int64_t now = clock_wall_ms();
	int64_t start = row->started_ms > 0 ? row->started_ms : now;

	if (json_object_is_type(m, json_type_object) && now >= start) {
		add_int(m, "elapsedMs", now - start);
		add_int(m, "queuedMs", start - row->created_ms);
	}
	add_str(v, "status", run_json_status(row->status));
	if (row->cancelling)
		json_object_object_add(v, "cancelRequested",
				       json_object_new_boolean(true));
}

struct json_object *run_json_open_row(const struct store_run *row,
				      const char *silent)
{
	struct json_object *v = NULL;
	char *errmsg;

	if (silent == NULL && row->view != NULL)
		json_parse(&v, row->view, strlen(row->view), NULL);
	if (json_object_is_type(v, json_type_object)) {
		bring_up_to_date(v, row);
		return v;
	}
	json_object_put(v);
	v = run_json_row(row);
	if (silent == NULL)
		return v;
	errmsg = xasprintf("it is not known how far this is: %s", silent);
	add_str(v, "message", errmsg);
	free(errmsg);
	return v;
}

static struct json_object *handle(const char *id, const char *status,
				  int64_t created_ms, const char *version)
{
	struct json_object *v = json_object_new_object();

	add_str(v, "runId", id);
	add_str(v, "status", status);
	add_int(v, "createdAt", created_ms);
	add_str(v, "mode", "async");
	add_str(v, "templateVersion", version);
	add_int(v, "pollAfterMs", RUN_JSON_POLL_AFTER_MS);
	return v;
}

struct json_object *run_json_handle(const struct run *r)
{
	/* an end that is not recorded yet is nobody's to know */
	return handle(r->id, run_terminal(r) ? "running" : run_status(r),
		      r->created_ms, r->template->version_text);
}

struct json_object *run_json_row_handle(const struct store_run *row)
{
	return handle(row->id, run_json_status(row->status), row->created_ms,
		      row->version);
}

struct json_object *run_json_ended_handle(const char *id,
					  enum store_status status,
					  const char *mode)
{
	struct json_object *v = json_object_new_object();

	add_str(v, "runId", id);
	add_str(v, "status", statuses[status]);
	add_str(v, "mode", mode);
	return v;
}

struct json_object *run_json_summary(const struct store_run *row)
{
	struct json_object *v = json_object_new_object();

	add_str(v, "runId", row->id);
	add_str(v, "templateId", row->template_id);
	add_str(v, "status", run_json_status(row->status));
	add_int(v, "createdAt", row->created_ms);
	add_int(v, "updatedAt", row->updated_ms);
	return v;
}
