/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_json.c - a run, or its row in the store, as the JSON of the contract's
 * tools: view, handle, summary. tools, resources and exec/runs_finish.c call
 * it. The module only builds trees and texts, for the caller; an unknown status
 * name is -EINVAL.
 */
#include "supervisor/run/record/run_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/json/json_write.h"
#include "supervisor/egress/egress_record.h"
#include "supervisor/run/limits.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/run/lost_artifacts.h"
#include "supervisor/runtime/runtime.h"

#define VIEW_BYTES 1024 /* enough for most views */

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

static void write_metrics(struct buf *out, const struct run *r)
{
	const struct run_use *u = &r->use;
	int64_t now = clock_mono_ms();
	int64_t end = run_terminal(r) ? r->finished_mono_ms : now;
	int64_t start = r->started_ms > 0 ? r->started_mono_ms : end;

	json_open(out, "metrics");
	json_write(out, "elapsedMs:i queuedMs:i", end - start,
		   start - r->created_mono_ms);
	if (u->max_rss_bytes != 0)
		json_write(out,
			   "cpuMs:i cpuUserMs:i cpuSystemMs:i maxRssBytes:i "
			   "peakMemoryBytes?i readBytes:i writtenBytes:i "
			   "messages:i",
			   u->cpu_ms, u->cpu_user_ms, u->cpu_system_ms,
			   u->max_rss_bytes, u->peak_bytes, u->read_bytes,
			   u->written_bytes, u->messages);
	json_close(out);
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

static struct json_object *error_view(const char *code, const char *message,
				      const char *run_id,
				      struct json_object *details)
{
	struct json_object *d = json_object_new_object(), *e;
	char *hint = recover_hint_of(code, details);

	if (details != NULL) {
		json_object_object_foreach(details, key, value)
			json_object_object_add(d, key, json_object_get(value));
	}
	/* last: a worker's details cannot replace it */
	json_add(d, "runId:s", run_id);
	e = json_pack("errorCode:s message?s recoverHint:s details:o", code,
		      message, hint, d);
	free(hint);
	return e;
}

/* How the run left the state of its notebook. */
static void write_notebook(struct buf *out, const struct run *r)
{
	const struct run_notebook *n = &r->notebook;
	const char *state = !n->ended	   ? "lost"
			    : !n->kept	   ? "restored"
			    : n->cell == 1 ? "new"
					   : "kept";

	json_open(out, "notebook");
	json_write(out, "name:s cell:i state:s why?s", n->name, n->cell, state,
		   n->kept && n->cell == 1 ? n->lost : n->why);
	json_close(out);
}

static void write_end(struct buf *out, const struct run *r)
{
	struct json_object *list =
	    json_object_new_array_ext((int)r->n_artifacts);

	for (size_t i = 0; i < r->n_artifacts; i++) {
		const struct run_artifact *a = &r->artifacts[i];

		json_object_array_add(
		    list, json_pack("artifactId:s type:s size:i name:s "
				    "mimeType:s",
				    a->id, artifact_type(a->mime_type), a->size,
				    a->name, a->mime_type));
	}
	json_write(out, "artifacts:o", list);
	if (r->notebook.cell > 0)
		write_notebook(out, r);
	if (r->output.text == NULL &&
	    (r->output.value != NULL || r->state == RUN_SUCCEEDED ||
	     r->state == RUN_PARTIAL_SUCCESS))
		json_write(out, "result:O", r->output.value);
	json_write(out, "limitsMet?o missingArtifacts?o lacked?O",
		   limits_hit_details(r), lost_artifacts_json(r), r->lacked);
	if (r->error.code != NULL)
		json_write(out, "error:o",
			   error_view(r->error.code, r->error.message, r->id,
				      r->error.details));
}

/*
 * Returns the isolation of R: a program's also says how the program's own cage
 * is weaker.
 */
static struct json_object *isolation_view(const struct run *r,
					  const struct isolation *iso)
{
	struct json_object *v = json_object_get(iso->view);

	if (!runtimes[r->template->runtime]->sees_host || iso->weak[0] == '\0')
		return v;
	json_object_put(v);
	v = NULL;
	json_object_deep_copy(iso->view, &v, NULL);
	/* drop the prepared text: a member follows */
	json_object_set_serializer(v, NULL, NULL, NULL);
	json_add(v, "weakProgram:s", iso->weak);
	return v;
}

static const char *retried_from(const struct run *r)
{
	return r->retried_from[0] != '\0' ? r->retried_from : NULL;
}

char *run_json_text(const struct run *r, const struct isolation *iso)
{
	bool told = r->progress.told;
	struct buf out = {0};

	buf_room(&out, r->output.text != NULL ? r->output.len + VIEW_BYTES
					      : VIEW_BYTES);
	json_open(&out, NULL);
	json_write(&out, "runId:s templateId:s templateVersion:s status:s",
		   r->id, r->template->id, r->template->version_text,
		   run_status(r));
	json_open(&out, "progress");
	json_write(&out, "totalSteps:i doneSteps:i",
		   told ? r->progress.total : r->steps.n,
		   told ? r->progress.done : run_steps_done(&r->steps));
	json_close(&out);
	write_metrics(&out, r);
	json_write(&out,
		   "createdAt?i startedAt?i updatedAt?i expiresAt?i "
		   "retriedFrom?s sessionId?s message?s awaitingInput?b "
		   "cancelRequested?b",
		   r->created_ms, r->started_ms, r->updated_ms, r->expires_ms,
		   retried_from(r), r->session_id, r->progress.message,
		   r->state == RUN_AWAITING_INPUT, r->state == RUN_CANCELLING);
	run_family_write(&out, r);
	json_write(&out, "attempts?O network?o", r->attempts.ended,
		   egress_record_view(r->network));
	run_steps_write(&out, &r->steps);
	if (run_terminal(r))
		write_end(&out, r);
	if (iso->view != NULL)
		json_write(&out, "isolation:o", isolation_view(r, iso));
	if (r->output.text != NULL && run_terminal(r))
		json_write_raw(&out, "result", r->output.text, r->output.len);
	json_close(&out);
	return buf_take(&out, NULL);
}

/* Add the end of a run whose server died before writing a view. */
static void add_lost(struct json_object *v, const struct store_run *row,
		     const char *code, const char *message)
{
	json_add(v, "artifacts:o error:o", json_object_new_array(),
		 error_view(code, message, row->id, NULL));
}

struct json_object *run_json_row(const struct store_run *row)
{
	int64_t end = row->finished_ms > 0 ? row->finished_ms : clock_wall_ms();
	int64_t ms = row->started_ms > 0 && end > row->started_ms
			 ? end - row->started_ms
			 : 0;
	struct json_object *v = json_pack(
	    "runId:s templateId:s templateVersion:s status:s progress:o "
	    "metrics:o createdAt?i startedAt?i updatedAt?i expiresAt?i "
	    "retriedFrom?s parentRunId?s depth?i cancelRequested?b",
	    row->id, row->template_id, row->version,
	    run_json_status(row->status),
	    json_pack("totalSteps:i doneSteps:i", 0, 0),
	    json_pack("elapsedMs:i", ms), row->created_ms, row->started_ms,
	    row->updated_ms, row->expires_ms, row->retried_from,
	    row->parent_run_id, row->depth,
	    row->cancelling && row->status == STORE_RUNNING);

	if (row->status == STORE_FAILED)
		add_lost(v, row, "RUN_INTERRUPTED",
			 row->started_ms > 0
			     ? "the server that ran this stopped before the "
			       "run had ended"
			     : "the run had not begun when its server stopped, "
			       "and the next server may not begin it: the "
			       "requestor's section, the template or an input "
			       "is not there any more as it was");
	if (row->status == STORE_CANCELED)
		add_lost(v, row, "RUN_CANCELED", "the run was cancelled");
	return v;
}

struct json_object *run_json_open_row(const struct store_run *row,
				      const char *silent)
{
	struct json_object *v = NULL, *m;
	int64_t now = clock_wall_ms();
	int64_t start = row->started_ms > 0 ? row->started_ms : now;
	char *errmsg;

	if (silent == NULL && row->view != NULL)
		json_parse(&v, row->view, strlen(row->view), NULL);
	if (json_object_is_type(v, json_type_object)) {
		/* the view is the owner's: time has passed, and the status or
		   the wish to cancel may have changed */
		m = json_member(v, "metrics");
		if (json_object_is_type(m, json_type_object) && now >= start)
			json_add(m, "elapsedMs:i queuedMs:i", now - start,
				 start - row->created_ms);
		json_add(v, "status:s cancelRequested?b",
			 run_json_status(row->status), row->cancelling);
		return v;
	}
	json_object_put(v);
	v = run_json_row(row);
	if (silent == NULL)
		return v;
	errmsg = xasprintf("it is not known how far this is: %s", silent);
	json_add(v, "message:s", errmsg);
	free(errmsg);
	return v;
}

static struct json_object *handle(const char *id, const char *status,
				  int64_t created_ms, const char *version,
				  const char *from)
{
	return json_pack("runId:s status:s createdAt:i mode:s "
			 "templateVersion:s pollAfterMs:i retriedFrom?s",
			 id, status, created_ms, "async", version,
			 RUN_JSON_POLL_AFTER_MS, from);
}

struct json_object *run_json_handle(const struct run *r)
{
	/* an end that is not recorded yet is not shown */
	return handle(r->id, run_terminal(r) ? "running" : run_status(r),
		      r->created_ms, r->template->version_text,
		      retried_from(r));
}

struct json_object *run_json_row_handle(const struct store_run *row)
{
	return handle(row->id, run_json_status(row->status), row->created_ms,
		      row->version, row->retried_from);
}

struct json_object *run_json_ended_handle(const char *id,
					  enum store_status status,
					  const char *mode)
{
	return json_pack("runId:s status:s mode:s", id, statuses[status], mode);
}

struct json_object *run_json_summary(const struct store_run *row,
				     const char *node)
{
	return json_pack(
	    "runId:s templateId:s status:s createdAt:i updatedAt:i "
	    "retriedFrom?s parentRunId?s node?s",
	    row->id, row->template_id, run_json_status(row->status),
	    row->created_ms, row->updated_ms, row->retried_from,
	    row->parent_run_id, node);
}
