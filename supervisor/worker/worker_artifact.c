/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_artifact.c - an artifact that a worker sends, and what it lost of them,
 * for worker_recv.c. What may not be kept is let go as it comes, and the worker
 * is told why when all of it has come.
 */
#include "supervisor/worker/worker_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/run/limits.h"
#include "supervisor/run/lost_artifacts.h"
#include "supervisor/state/disk_space.h"

#define DISK_LOOK_BYTES (1u << 20) /* of it, after which to look again */

void worker_unreserve(struct worker *w)
{
	requestor_kept_one(w->run->requestor, w->promised, false);
	w->promised = 0;
}

/* The world's fault, SAYS: what W sends now is not kept. */
static void unavailable(struct worker *w, const char *says)
{
	tool_error_set(&w->tool_error, "STORE_UNAVAILABLE", NULL,
		       "this server could not keep the artifact: %s", says);
}

/* May SIZE bytes of an artifact be written now, as to the disk? */
static bool disk_has_room(struct worker *w, int64_t size)
{
	const char *says =
	    disk_space_message(disk_space(w->env->ctx->config, size));

	if (says != NULL)
		unavailable(w, says);
	return says == NULL;
}

/* A file of it failed with ERR: the operator is told more than the client. */
static void not_written(struct worker *w, int err)
{
	log_error("worker",
		  "run=%s requestor=%s artifact=refused "
		  "err=\"%s: %s; %s\"",
		  w->run->id, w->run->requestor->name,
		  config_files_dir(w->env->ctx->config), strerror(err),
		  store_remedy(-err));
	unavailable(w, store_says(-err));
}

static int artifact_done(struct worker *w)
{
	struct run_artifact a = w->artifact;
	char sha256[65];
	char *path =
	    w->blob == NULL ? NULL : artifact_file_finish(w->blob, sha256);

	if (w->blob != NULL && path == NULL)
		not_written(w, errno);
	w->blob = NULL;
	worker_unreserve(w);
	w->artifact = (struct run_artifact){0};
	w->phase = PHASE_ANSWER;
	if (path == NULL) {
		struct tool_error errmsg = w->tool_error;

		w->tool_error = (struct tool_error){0};
		worker_answer_refused(w->run, &a, &errmsg);
		free(a.name);
		free(a.mime_type);
		return 0;
	}
	w->env->on_artifact(w->env->arg, w->run, &a, path, sha256);
	return 0;
}

/* Others write, too: is there still room for what is on its way? */
static void look_at_disk(struct worker *w)
{
	if (disk_has_room(w, 0))
		return;
	artifact_file_free(w->blob);
	w->blob = NULL;
}

int worker_artifact_bytes(struct worker *w, struct str s)
{
	if (s.n > w->body_total - w->body_got)
		return worker_violation(w,
					"an artifact is longer than it said");
	if (w->blob != NULL && (w->body_got + s.n) / DISK_LOOK_BYTES >
				   w->body_got / DISK_LOOK_BYTES)
		look_at_disk(w);
	/* a failed write shows at artifact_file_finish(), when it can be answered */
	if (w->blob != NULL)
		(void)artifact_file_write(w->blob, s.p, s.n);
	w->body_got += s.n;
	return w->body_got == w->body_total ? artifact_done(w) : 0;
}

/* It may not have what it wants, says WHAT. */
static void over(struct worker *w, enum limit b, int64_t used, int64_t allowed,
		 const char *what)
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

	over(w, LIMIT_ARTIFACT_BYTES,
	     r->artifact_bytes +
		 (int64_t)(size < INT64_MAX / 2 ? size : INT64_MAX / 2),
	     r->limits.artifact_bytes,
	     "the run's artifacts would hold more than they may");
}

/* May W have an artifact of SIZE more? Its error says why not. */
static bool may_have(struct worker *w, uint64_t size)
{
	const struct run *r = w->run;

	if ((int64_t)r->n_artifacts >= r->limits.artifacts) {
		over(w, LIMIT_ARTIFACTS, (int64_t)r->n_artifacts + 1,
		     r->limits.artifacts,
		     "the run would have more artifacts than it may");
		return false;
	}
	if (size > (uint64_t)(r->limits.artifact_bytes - r->artifact_bytes)) {
		over_bytes(w, size);
		return false;
	}
	return !requestor_no_room(r->requestor, (int64_t)size,
				  &w->tool_error) &&
	       disk_has_room(w, (int64_t)size);
}

int worker_artifact(struct worker *w, const struct msg *m)
{
	struct run *r = w->run;

	tool_error_fini(&w->tool_error);
	if (may_have(w, m->artifact.total)) {
		w->blob =
		    artifact_file_new(config_files_dir(w->env->ctx->config),
				      w->env->ctx->instance);
		if (w->blob == NULL)
			not_written(w, errno);
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

/* A part of its memory, or of its files, is /work, and that is full. */
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

/* What nobody sent, as it could not be kept. Of what was refused we know why. */
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
