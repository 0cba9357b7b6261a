/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_look.c - checks that a program's package is unchanged since the load,
 * before a run gets a worker. runs_queue.c asks for each start, and the run
 * keeps its place meanwhile. A changed package fails the run; when the package
 * cannot be read now, the check is repeated later.
 */
#include "supervisor/run/exec/runs_private.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/threads/package_look.h"

struct run_look {
	struct runs *runs;
	struct run *run;
	struct package_look *package;
	int64_t since_ms; /* mono */
	bool first;	  /* the run has not been started before */
};

static void tell_changed(struct run *r, const char *errmsg)
{
	/* only the operator learns the package's path */
	log_warn("runs", "run=%s requestor=%s template=%s stale=\"%s\"", r->id,
		 r->requestor->name, r->template->id, errmsg);
	if (r->template->broken != NULL)
		run_set_error(
		    r, "EXECUTION_ERROR",
		    json_pack("cure:s",
			      "the operator mends the package, and has "
			      "templates reloaded (paddock reload, or SIGHUP)"),
		    "the package of %s %s is broken since it was loaded, and "
		    "what is there now is not run before it is mended and "
		    "templates are reloaded (paddock reload, or SIGHUP)",
		    r->template->id, r->template->version_text);
	else
		run_set_error(
		    r, "EXECUTION_ERROR",
		    json_pack("cure:s",
			      "the operator has templates reloaded (paddock "
			      "reload, or SIGHUP)"),
		    "%s %s was changed after it was loaded, and what is "
		    "there now is not run before templates are reloaded "
		    "(paddock reload, or SIGHUP)",
		    r->template->id, r->template->version_text);
}

static void on_seen(void *arg, int rc, const char *errmsg)
{
	struct run_look *l = arg;
	struct runs *s = l->runs;
	struct run *r = l->run;
	bool first = l->first;

	r->job.look = NULL;
	/* the time of the look does not count */
	r->started_mono_ms += clock_mono_ms() - l->since_ms;
	free(l);
	if (rc == -ESTALE)
		tell_changed(r, errmsg);
	if (rc < 0)
		runs_not_started(s, r, rc);
	else if (!runs_has_lease(s)) /* R may belong to another server */
		runs_not_started(s, r, -EINPROGRESS);
	else
		runs_launch(s, r, first);
	runs_pump(s); /* the run may have left its place */
}

void runs_look(struct runs *s, struct run *r, bool first)
{
	struct run_look *l = xcalloc(1, sizeof(*l));

	*l = (struct run_look){
	    .runs = s, .run = r, .since_ms = clock_mono_ms(), .first = first};
	r->job.look = l;
	l->package = package_look_ask(s->ctx->base, s->ctx->thread_pool,
				      r->requestor, r->template, on_seen, l);
}

void runs_look_drop(struct runs *s, struct run *r)
{
	if (r->job.look == NULL)
		return;
	package_look_forget(r->job.look->package);
	free(r->job.look);
	r->job.look = NULL;
	sched_over(&s->sched, &r->requestor->lane);
}
