/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.c - the table of all open runs of this instance: finds runs by id,
 * cancels runs, and ends all runs when the server ends. server.c and the code
 * that serves requests call the functions. A failure of a worker or of the
 * store is recorded as the run's failure.
 */
#include "supervisor/run/exec/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/exec/artifact_save.h"
#include "supervisor/run/record/run_row.h"
#include "supervisor/run/exec/runs_private.h"

/* ---- workers ---- */

static void on_not_started(void *arg, struct run *r, int err)
{
	runs_not_started(arg, r, err);
	runs_pump(arg);
}

/* ---- look-up, cancel ---- */

struct run *runs_by_id(const struct runs *s, const char *id)
{
	struct run *r;

	HASH_FIND_STR(s->by_id, id, r);
	return r;
}

struct run_ref *runs_refer(struct runs *s, const struct run *r)
{
	struct run_ref *ref = xcalloc(1, sizeof(*ref));

	ref->runs = s;
	memcpy(ref->id, r->id, sizeof(ref->id));
	return ref;
}

struct run *runs_referred(struct run_ref *ref)
{
	struct run *r = runs_by_id(ref->runs, ref->id);

	free(ref);
	return r;
}

struct run *runs_find(struct runs *s, const struct requestor *requestor,
		      const char *id)
{
	struct run *r = runs_by_id(s, id);

	return r != NULL && r->requestor == requestor && !run_terminal(r) &&
		       r->remote.place != RUN_REMOTE && !r->remote.cancel
		   ? r
		   : NULL;
}

bool runs_leaving(const struct runs *s, const char *id)
{
	const struct run *r = runs_by_id(s, id);

	return r != NULL && run_terminal(r) &&
	       (r->job.worker != NULL || run_is_corrected(r));
}

struct run *runs_working(struct runs *s, const char *id)
{
	struct run *r = runs_by_id(s, id);

	return r != NULL && r->job.worker != NULL ? r : NULL;
}

struct run *runs_find_idem(struct runs *s, const struct requestor *requestor,
			   const char *template_id, const char *key)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after)
		if (r->idem.key != NULL && r->requestor == requestor &&
		    strcmp(r->idem.key, key) == 0 &&
		    strcmp(r->template->id, template_id) == 0)
			return r;
	return NULL;
}

int runs_cancel(struct runs *s, struct run *r)
{
	/* queued, or for a new zygote, or for its output to be checked */
	bool waits = r->job.worker == NULL;

	if (run_terminal(r) || r->state == RUN_CANCELLING || r->remote.cancel)
		return -EALREADY;
	if (!run_is_here(r))
		return s->ctx->cluster->cancel(s, r);
	log_info("run", "run=%s requestor=%s cancel=asked", r->id,
		 r->requestor->name);
	audit_run("run_cancel_asked", r);
	runs_output_drop(s, r);
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	runs_retry_forget(s, r);
	if (r->state == RUN_QUEUED) {
		runs_finish(s, r, EV_CANCEL);
		return 0;
	}
	run_apply(r, EV_CANCEL);
	/* so the run is cancelled even if this server dies before the end */
	run_row_put(s->ctx->store, r, STORE_SYNC, NULL, NULL);
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
	if (waits) {
		runs_finish(s, r, EV_FAIL);
		runs_resume(s);
	} else {
		worker_cancel(r);
	}
	return 0;
}

/* ---- the end of this server, and of the store ---- */

void runs_interrupt(struct runs *s, bool queued)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after) {
		bool left = !queued || r->record.revived; /* if the run waits */

		if (run_terminal(r) || !run_is_here(r) ||
		    (r->state == RUN_QUEUED && left))
			continue;
		if (r->job.beginning && left) {
			runs_begin_undo(s, r);
			continue;
		}
		run_set_error(
		    r, "RUN_INTERRUPTED", NULL,
		    "the server was stopped before the run had ended");
		if (r->job.worker != NULL)
			continue; /* spawner_stop() ends the worker, then on_over() */
		runs_output_drop(s, r);
		if (r->job.queued.lane != NULL)
			sched_remove(&s->sched, &r->job.queued);
		runs_retry_forget(s, r);
		if (!runs_retry(s, r))
			runs_finish(s, r, EV_FAIL);
	}
}

void runs_leave(struct runs *s)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after)
		if (r->state == RUN_QUEUED && run_is_here(r) &&
		    r->family.parent == NULL)
			run_tell(r, &(struct run_notice){.kind = NOTICE_LEFT});
}

void runs_give_up(struct runs *s, struct run *r)
{
	if (r->state != RUN_QUEUED || !run_is_here(r))
		return;
	run_set_error(r, "RUN_INTERRUPTED", NULL,
		      "the server was stopped before the run had begun; call "
		      "again");
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	runs_retry_forget(s, r);
	runs_finish(s, r, EV_FAIL);
}

void runs_end_now(struct runs *s, bool queued)
{
	struct run *r, *after;

	runs_interrupt(s, queued);
	HASH_ITER(hh, s->by_id, r, after)
		if (r->job.worker != NULL && !run_terminal(r))
			worker_end(r);
}

static void tell_unrecorded(struct runs *s, const char *errmsg)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after) {
		if (!run_terminal(r) || TAILQ_EMPTY(&r->watches))
			continue;
		run_tell(r, &(struct run_notice){.kind = NOTICE_RECORDED,
						 .unrecorded = errmsg});
	}
}

void runs_tell_unrecorded(struct runs *s, const char *errmsg)
{
	if (!store_is_lost(s->ctx->store)) /* other nodes record these runs */
		tell_unrecorded(s, errmsg);
}

void runs_end_waits(struct runs *s)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after)
		if (!run_terminal(r) && run_is_of_others(r))
			run_tell(r, &(struct run_notice){.kind = NOTICE_LEFT});
	tell_unrecorded(s, "the store had not answered when the server ended");
}

/*
 * Return the number of unrecorded runs, with runs of other servers that clients
 * here wait for.
 */
size_t runs_unrecorded(const struct runs *s)
{
	const struct cluster *c = s->ctx->cluster;

	return HASH_COUNT(s->by_id) - s->sched.queued -
	       (c != NULL ? c->unwatched(s) : 0) + s->awaited;
}

struct runs *runs_new(struct context *ctx, const struct runs_ops *ops)
{
	struct runs *s = xcalloc(1, sizeof(*s));

	s->ctx = ctx;
	s->ops = ops;
	s->workers = (struct worker_env){
	    .ctx = ctx,
	    .on_artifact = artifact_save,
	    .on_ask = ops->on_ask,
	    .on_drop = ops->on_drop,
	    .on_over = runs_worker_ended,
	    .on_leaving = runs_worker_leaving,
	    .on_gone = runs_worker_gone,
	    .on_not_started = on_not_started,
	    .arg = s,
	};
	runs_queue_init(s);
	runs_output_init(s);
	runs_remote_init(s);
	if (ctx->cluster != NULL)
		ctx->cluster->init(s);
	return s;
}

void runs_free(struct runs *s)
{
	const struct sched *c;
	struct run *r, *after;

	if (s == NULL)
		return;
	HASH_ITER(hh, s->by_id, r, after) {
		if (r->job.queued.lane !=
		    NULL) /* the next server takes the run */
			sched_remove(&s->sched, &r->job.queued);
		runs_begin_drop(s, r);
		runs_forget(s, r);
	}
	if (s->ctx->cluster != NULL)
		s->ctx->cluster->fini(s);
	runs_remote_fini(s);
	runs_queue_fini(s);
	runs_output_fini(s);
	/* counters that are not zero when no run is left: see requestor_use.c */
	c = &s->sched;
	if (c->running + c->lent[0] + c->queued + s->stopped + s->parked +
		s->trees.held + s->unrecorded + s->awaited >
	    0)
		log_warn("runs",
			 "left=%zu of=places queued=%zu stopped=%zu parked=%zu "
			 "tree_bytes=%zu view_bytes=%zu rows=%zu",
			 c->running, c->queued, s->stopped, s->parked,
			 s->trees.held, s->unrecorded, s->awaited);
	free(s);
}
