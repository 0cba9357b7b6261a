/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_save.c - stores an artifact of a worker: asks whether the requestor
 * has room, has the store write file and row, and answers the worker.
 * worker_artifact.c calls artifact_save(). A refused artifact is reported to
 * the template and noted in the run; an artifact after the run's end is
 * dropped.
 */
#include "supervisor/run/exec/artifact_save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/run/exec/runs_core.h"
#include "supervisor/run/lost_artifacts.h"
#include "supervisor/run/threads/file_sink.h"
#include "supervisor/run/worker/worker.h"

struct kept { /* an artifact on its way to the store */
	struct runs *runs;
	struct requestor *requestor;
	struct run_artifact artifact;
	char run_id[ID_SIZE];
	size_t attempt; /* of the run, which may be at a later attempt */
	char *tmp_path;
	char sha256[65];
};

static void free_saved(struct kept *k)
{
	free(k->artifact.name);
	free(k->artifact.mime_type);
	free(k->tmp_path);
	free(k);
}

/* Return the run that made K while the run is open, else NULL. */
static struct run *maker(const struct kept *k)
{
	struct run *r = runs_working(k->runs, k->run_id);

	return r != NULL && run_attempts(r) == k->attempt ? r : NULL;
}

/*
 * The artifact is durable: add the artifact to the run, and tell the template
 * the id.
 */
static void on_kept(void *arg, const struct store_result *res)
{
	struct kept *k = arg;
	struct run *r = maker(k);

	requestor_kept_one(k->requestor, k->artifact.size, res->rc == 0);
	if (res->rc != 0)
		log_error("keep",
			  "run=%s requestor=%s artifact=lost err=\"%s\"",
			  k->run_id, k->requestor->name, res->errmsg);
	if (r == NULL) {
		; /* the run has ended without this artifact in its list */
	} else if (res->rc != 0) {
		struct tool_error errmsg = {0};

		r->artifact_bytes -= k->artifact.size;
		tool_error_set(&errmsg, "STORE_UNAVAILABLE", NULL,
			       "this server could not keep the artifact: %s",
			       store_says(res->rc));
		worker_answer_refused(r, &k->artifact, &errmsg);
	} else {
		r->artifacts = xrealloc(
		    r->artifacts, (r->n_artifacts + 1) * sizeof(*r->artifacts));
		r->artifacts[r->n_artifacts++] = k->artifact;
		lost_artifacts_remove(r, k->artifact.name);
		worker_answer_saved(r, k->artifact.id);
		k->artifact = (struct run_artifact){0};
	}
	free_saved(k);
}

/* Go on with K: the requestor's use is known, or could not be counted. */
static void charge_saved(struct kept *k)
{
	struct run *r = maker(k);
	struct tool_error errmsg = {0};

	if (r != NULL && requestor_has_room(k->requestor, k->artifact.size)) {
		struct store_artifact row = {.requestor = k->requestor->name,
					     .name = k->artifact.name,
					     .mime_type = k->artifact.mime_type,
					     .sha256 = k->sha256,
					     .size = k->artifact.size,
					     .created_ms = clock_wall_ms()};

		memcpy(row.id, k->artifact.id, sizeof(row.id));
		memcpy(row.run_id, k->run_id, sizeof(row.run_id));
		r->made_artifacts = true;
		requestor_keep(k->requestor, k->artifact.size);
		store_put_artifact(k->runs->ctx->store, &row, k->tmp_path,
				   STORE_SYNC, on_kept, k);
		return;
	}
	file_sink_remove(k->runs->ctx->thread_pool, k->requestor, k->tmp_path,
			 NULL, NULL);
	k->tmp_path = NULL;
	if (r != NULL) { /* else the artifacts have their expiry */
		requestor_no_room(k->requestor, k->artifact.size, &errmsg);
		r->artifact_bytes -= k->artifact.size;
		worker_answer_refused(r, &k->artifact, &errmsg);
	}
	free_saved(k);
}

static void on_learnt(void *arg, const struct store_result *res)
{
	if (res->rc == 0)
		requestor_set_usage(arg, res->artifact_bytes, res->row_bytes);
}

static void on_usage(void *arg, const struct store_result *res)
{
	struct kept *k = arg;

	on_learnt(k->requestor, res);
	charge_saved(k);
}

void artifact_save_count(struct store *store, struct requestor *q)
{
	requestor_asks_usage(q);
	store_usage(store, q->name, on_learnt, q);
}

void artifact_save(void *runs, struct run *r, struct run_artifact *a,
		   char *tmp_path, const char *sha256)
{
	struct runs *s = runs;
	struct requestor *q = r->requestor;
	struct kept *k = xcalloc(1, sizeof(*k));

	id_new(a->id, "art");
	r->artifact_bytes += a->size;
	*k = (struct kept){.runs = s,
			   .requestor = q,
			   .artifact = *a,
			   .attempt = run_attempts(r),
			   .tmp_path = tmp_path};
	memcpy(k->run_id, r->id, sizeof(k->run_id));
	snprintf(k->sha256, sizeof(k->sha256), "%s", sha256);
	/* the requestor's use at other servers may have changed */
	if (q->usage_known && s->ctx->cluster == NULL) {
		charge_saved(k);
		return;
	}
	requestor_asks_usage(q);
	store_usage(s->ctx->store, q->name, on_usage, k);
}
