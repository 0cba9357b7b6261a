/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_files.c - runs that are given artifacts wait, outside of the queue, until those
 * are files here; runs_queue.c and runs_create.c ask before one starts. Without one
 * of them it starts, and fails as worker_files.c says.
 */
#include "supervisor/exec/runs_private.h"

#include "base/mem.h"
#include "supervisor/artifacts/artifact_copies.h"
#include "supervisor/config/config.h"
#include "supervisor/inputs/run_files.h"

static void on_here(void *arg, const char *run_id)
{
	struct runs *s = arg;
	struct run *r = runs_by_id(s, run_id);

	if (r == NULL || r->state != RUN_QUEUED || r->away.place != RUN_HERE ||
	    !r->queued.aside)
		return;
	artifact_copies_name(s->copies, r->id, r->files);
	sched_remove(&s->sched, &r->queued);
	sched_put_first(&s->sched, &r->requestor->lane, &r->queued);
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
	sched_remove(&s->sched, &r->queued);
	runs_enqueue_aside(s, r);
	return false;
}

void runs_files_over(struct runs *s, const struct run *r)
{
	artifact_copies_release(s->copies, r->id);
}
