/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_files.c - lets a run wait outside of the queue until the run's artifacts
 * are files on this machine. runs_queue.c and runs_create.c ask before a run
 * starts. When an artifact cannot be fetched the run starts, and worker_files.c
 * fails the run.
 */
#include "supervisor/run/exec/runs_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/run/artifacts/artifact_copies.h"
#include "supervisor/config/config.h"
#include "supervisor/run/exec/artifact_save.h"
#include "supervisor/packages/inputs/run_files.h"

static void on_here(void *arg, const char *run_id)
{
	struct runs *s = arg;
	struct run *r = runs_by_id(s, run_id);

	if (r == NULL || r->state != RUN_QUEUED || !run_is_here(r) ||
	    !r->job.queued.aside)
		return;
	artifact_copies_name(s->copies, r->id, r->files);
	sched_remove(&s->sched, &r->job.queued);
	sched_put_first(&s->sched, &r->requestor->lane, &r->job.queued);
	runs_pump(s);
}

void runs_files_init(struct runs *s)
{
	s->copies = artifact_copies_new(s->ctx, on_here, s);
}

void runs_files_fini(struct runs *s)
{
	artifact_copies_free(s->copies);
}

bool runs_files_here(struct runs *s, struct run *r)
{
	if (r->state != RUN_QUEUED || r->files == NULL ||
	    run_files_artifacts(r->files) == 0 ||
	    !config_has_rows(s->ctx->config))
		return true;
	if (artifact_copies_take(s->copies, r->id, r->requestor->name,
				 r->files)) {
		artifact_copies_name(s->copies, r->id, r->files);
		return true;
	}
	sched_remove(&s->sched, &r->job.queued);
	runs_enqueue_aside(s, r);
	return false;
}

void runs_files_hold(struct runs *s, struct run *r)
{
	size_t n = r->files == NULL ? 0 : run_files_artifacts(r->files);

	if (r->job.held != NULL || n == 0 || config_has_rows(s->ctx->config))
		return;
	r->job.held = xcalloc(n, sizeof(*r->job.held));
	for (size_t i = 0; i < r->files->n; i++) {
		if (r->files->v[i].bytes != NULL)
			continue;
		memcpy(r->job.held[r->job.n_held++], r->files->v[i].artifact,
		       ID_SIZE);
		store_hold(s->ctx->store, r->files->v[i].artifact);
	}
}

/* Artifacts that were deleted meanwhile go now, and count no more. */
static void release_copies(struct runs *s, struct run *r)
{
	bool wanted = false;

	for (size_t i = 0; i < r->job.n_held; i++)
		wanted |= store_release(s->ctx->store, r->job.held[i]);
	free(r->job.held);
	r->job.held = NULL;
	r->job.n_held = 0;
	if (!wanted)
		return;
	store_sweep(s->ctx->store, clock_wall_ms());
	artifact_save_count(s->ctx->store, r->requestor);
}

void runs_files_over(struct runs *s, struct run *r)
{
	release_copies(s, r);
	artifact_copies_release(s->copies, r->id);
}
