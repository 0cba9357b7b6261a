/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_artifact.c - receives artifacts of a worker, and reports of lost
 * artifacts, for worker_recv.c. An artifact that may not be kept is dropped as
 * it comes, and the worker is told why when the last byte has come.
 */
#include "supervisor/run/worker/worker_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/run/limits.h"
#include "supervisor/run/lost_artifacts.h"
#include "supervisor/store/state/disk_space.h"

/* Bytes counted for an artifact until its file is removed. */
struct reserved {
	struct requestor *requestor;
	int64_t bytes;
};

static void unreserve(void *arg)
{
	struct reserved *v = arg;

	requestor_kept_one(v->requestor, v->bytes, false);
	free(v);
}

void worker_artifact_drop(struct worker *w)
{
	struct reserved *v = xcalloc(1, sizeof(*v));

	*v = (struct reserved){w->run->requestor, w->promised};
	w->promised = 0;
	file_sink_free(w->blob, unreserve, v);
	w->blob = NULL;
}

/* Set W's error: the server cannot keep the artifact, for the reason SAYS. */
static void refuse_unavailable_store(struct worker *w, const char *says)
{
	tool_error_set(&w->tool_error, "STORE_UNAVAILABLE", NULL,
		       "this server could not keep the artifact: %s", says);
}

/* Tell W, all of whose bytes have come, why the artifact is not kept. */
static void refuse_artifact_bytes(struct worker *w)
{
	struct run_artifact a = w->artifact;
	struct tool_error errmsg = w->tool_error;

	w->artifact = (struct run_artifact){0};
	w->tool_error = (struct tool_error){0};
	worker_answer_refused(w->run, &a, &errmsg);
	free(a.name);
	free(a.mime_type);
}

static bool has_come(const struct worker *w)
{
	return w->body_got == w->body_total;
}

/*
 * Drop the artifact, which cannot be written, by RC or SAYS, and the bytes to
 * come.
 */
static void fail_artifact(struct worker *w, int rc, const char *says)
{
	if (says == NULL) { /* the operator is told more than the client */
		log_error("worker",
			  "run=%s requestor=%s artifact=refused "
			  "err=\"%s: %s; %s\"",
			  w->run->id, w->run->requestor->name,
			  config_files_dir(w->env->ctx->config), strerror(-rc),
			  store_remedy(rc));
		says = store_says(rc);
	}
	refuse_unavailable_store(w, says);
	worker_artifact_drop(w);
	if (has_come(w))
		refuse_artifact_bytes(w);
	if (w->full)
		worker_read_on(w);
}

static void on_room(void *arg)
{
	worker_read_on(arg);
}

static void on_written(void *arg, const struct file_sink_end *end)
{
	struct worker *w = arg;
	struct run_artifact a = w->artifact;
	char *sha256;

	if (end->rc != 0) {
		fail_artifact(w, end->rc, end->says);
		return;
	}
	sha256 = xstrdup(end->sha256); /* the sink, freed next, owns it */
	w->artifact = (struct run_artifact){0};
	worker_artifact_drop(w);
	w->env->on_artifact(w->env->arg, w->run, &a, end->path, sha256);
	free(sha256);
}

static const struct file_sink_ops sink_ops = {on_room, on_written};

int worker_artifact_bytes(struct worker *w, struct str s)
{
	int rc = 0;
	size_t room;
	char *to;

	if (s.n > w->body_total - w->body_got)
		return worker_violation(w,
					"an artifact is longer than it said");
	w->body_got += s.n;
	if (has_come(w))
		w->phase = PHASE_ANSWER;
	if (w->blob == NULL) {
		if (has_come(w))
			refuse_artifact_bytes(w);
		return 0;
	}
	if (s.n > 0) { /* there is room: else W is not read */
		to = file_sink_room(w->blob, &room);
		assert(s.n <= room);
		memcpy(to, s.p, s.n);
		rc = file_sink_wrote(w->blob, s.n); /* -errno: no thread */
	}
	if (rc == 0 && has_come(w))
		rc = file_sink_finish(w->blob);
	if (rc != 0)
		fail_artifact(w, rc, NULL);
	else if (!has_come(w))
		w->full = !file_sink_wants(w->blob);
	return 0;
}

/* Set W's error: over the limit B. WHAT says what was wanted. */
static void refuse_over_limit(struct worker *w, enum limit b, int64_t used,
			      int64_t allowed, const char *what)
{
	char *who = limits_who_can_raise(w->run, b);

	limits_hit(w->run, b, used);
	tool_error_set(
	    &w->tool_error, "RESOURCE_LIMIT", limits_details(w->run, b, used),
	    "%s: %lld%s, of %lld allowed; who can raise that is %s", what,
	    (long long)used, b == LIMIT_ARTIFACT_BYTES ? " bytes" : "",
	    (long long)allowed, who);
	free(who);
}

static void over_bytes(struct worker *w, uint64_t size)
{
	const struct run *r = w->run;

	refuse_over_limit(w, LIMIT_ARTIFACT_BYTES,
			  r->artifact_bytes + (int64_t)(size < INT64_MAX / 2
							    ? size
							    : INT64_MAX / 2),
			  r->limits.artifact_bytes,
			  "the run's artifacts would hold more than they may");
}

/* May W have an artifact of SIZE more? If not, W's error has the reason. */
static bool may_keep_artifact(struct worker *w, uint64_t size)
{
	const struct run *r = w->run;
	const char *says;

	if ((int64_t)r->n_artifacts >= r->limits.artifacts) {
		refuse_over_limit(
		    w, LIMIT_ARTIFACTS, (int64_t)r->n_artifacts + 1,
		    r->limits.artifacts,
		    "the run would have more artifacts than it may");
		return false;
	}
	if (size > (uint64_t)(r->limits.artifact_bytes - r->artifact_bytes)) {
		over_bytes(w, size);
		return false;
	}
	if (requestor_no_room(r->requestor, (int64_t)size, &w->tool_error))
		return false;
	says =
	    disk_space_message(disk_space(w->env->ctx->config, (int64_t)size));
	if (says != NULL)
		refuse_unavailable_store(w, says);
	return says == NULL;
}

int worker_artifact(struct worker *w, const struct msg *m)
{
	struct run *r = w->run;
	const struct file_sink_ask ask = {.pool = w->env->ctx->thread_pool,
					  .requestor = r->requestor,
					  .config = w->env->ctx->config,
					  .instance = w->env->ctx->instance,
					  .size = (int64_t)m->artifact.total};

	tool_error_fini(&w->tool_error);
	if (may_keep_artifact(w, m->artifact.total)) {
		w->blob = file_sink_new(&ask, &sink_ops, w);
		w->promised = (int64_t)m->artifact.total;
		requestor_keep(r->requestor, w->promised);
	}
	w->artifact = (struct run_artifact){
	    .name = xstrndup(m->artifact.name.p, m->artifact.name.n),
	    .mime_type =
		xstrndup(m->artifact.mime_type.p, m->artifact.mime_type.n),
	    .size = (int64_t)m->artifact.total};
	w->phase = PHASE_ARTIFACT;
	w->body_total = m->artifact.total;
	w->body_got = 0;
	return worker_artifact_bytes(w, m->artifact.head);
}

/*
 * Set W's error: /work was full, which is part of the limit on memory, or on
 * files.
 */
static void full(struct worker *w, struct str limit)
{
	enum limit b = limit.n == 5 && memcmp(limit.p, "files", 5) == 0
			   ? LIMIT_FILES
			   : LIMIT_MEMORY;
	char *who = limits_who_can_raise(w->run, b);

	tool_error_set(
	    &w->tool_error, "RESOURCE_LIMIT", limits_details(w->run, b, -1),
	    "it was full when the program ended, so what was written last may "
	    "be cut short; who can raise that is %s",
	    who);
	free(who);
}

/*
 * W reports artifacts that were not sent, as they could not be kept. For
 * refused artifacts the reason is known already.
 */
int worker_lost(struct worker *w, const struct msg *m)
{
	struct lost_artifact one = {.name = m->lost.name,
				    .size = (int64_t)m->lost.size,
				    .count = m->lost.count,
				    .told = m->lost.told,
				    .no_file =
					m->lost.kind == MSG_LOST_NO_FILE ||
					m->lost.kind == MSG_LOST_ROOM};

	if (m->lost.kind == MSG_LOST_REFUSED)
		return lost_artifacts_unreported(w->run)
			   ? 0
			   : worker_violation(w,
					      "a LOST of what was not refused");
	tool_error_fini(&w->tool_error);
	if (m->lost.kind == MSG_LOST_LIMIT)
		over_bytes(w, m->lost.size);
	else if (m->lost.kind == MSG_LOST_ROOM)
		full(w, m->lost.errmsg);
	else
		tool_error_set(&w->tool_error, "EXECUTION_ERROR", NULL, "%.*s",
			       (int)m->lost.errmsg.n, m->lost.errmsg.p);
	lost_artifacts_add(w->run, &one, &w->tool_error);
	return 0;
}
