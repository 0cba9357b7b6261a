/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_family.c - bounds and places of runs that call runs. A run lends the place among
 * running runs while children are open, so that parents never keep children waiting.
 * runs_create.c makes children; a call beyond a bound is refused by the bound's name.
 */
#include "supervisor/run/exec/runs_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/run/limits.h"

#define FIXED "nobody: the bound is fixed"

static bool refuse_depth(const struct run *parent, int64_t most,
			 struct tool_error *e)
{
	tool_error_set(
	    e, "RESOURCE_LIMIT",
	    tool_error_limit("max_call_depth", parent->family.depth + 1, most,
			     "calls",
			     "the operator: max_call_depth in [limits]"),
	    "%s is itself called by %u runs, one by the other, and calls may "
	    "be %lld deep (max_call_depth, which the operator can raise)",
	    parent->template->id, parent->family.depth, (long long)most);
	return false;
}

static bool refuse_in_all(const struct run *parent, struct tool_error *e)
{
	tool_error_set(e, "RESOURCE_LIMIT",
		       tool_error_limit("children_in_all",
					(int64_t)parent->family.n_made,
					RUN_CHILDREN_MAX, "runs", FIXED),
		       "a run makes %d calls of templates at most, all in all, "
		       "and this run has made as many; have one call do more",
		       RUN_CHILDREN_MAX);
	return false;
}

static bool refuse_at_once(const struct run *parent, struct tool_error *e)
{
	char *who = limits_who_can_raise(parent, LIMIT_CHILDREN);

	tool_error_set(e, "RESOURCE_LIMIT",
		       limits_details(parent, LIMIT_CHILDREN,
				      (int64_t)parent->family.n_open + 1),
		       "%zu calls of this run are open, which is as many as "
		       "may be at once; await one first (who can raise that is "
		       "%s)",
		       parent->family.n_open, who);
	free(who);
	return false;
}

bool runs_may_call(const struct runs *s, const struct run *parent,
		   struct tool_error *e)
{
	int64_t depth = s->ctx->config->max_call_depth;

	if (parent->family.depth >= depth)
		return refuse_depth(parent, depth, e);
	if (parent->family.n_made >= RUN_CHILDREN_MAX)
		return refuse_in_all(parent, e);
	return parent->family.n_open < (size_t)parent->limits.children ||
	       refuse_at_once(parent, e);
}

bool runs_may_wait_for(const struct run *parent, const struct run *child,
		       struct tool_error *e)
{
	const char *holder;

	if (child->notebook.name == NULL)
		return true;
	holder = run_family_holder(parent, child->template->id,
				   child->notebook.name);
	if (holder != NULL)
		tool_error_set(e, "CALL_NOT_ALLOWED", NULL,
			       "the run %s has the notebook \"%s\" until it "
			       "ends, and waits for this call: call %s with "
			       "another notebook, or without one",
			       holder, child->notebook.name,
			       child->template->id);
	return holder == NULL;
}

void runs_lend(struct runs *s, struct run *parent)
{
	if (parent->family.lends || parent->job.worker == NULL ||
	    parent->job.parked.stopped)
		return;
	parent->family.lends = true;
	sched_lend(&s->sched, &parent->requestor->lane, parent->family.depth);
}

void runs_take_back(struct runs *s, struct run *parent)
{
	if (!parent->family.lends)
		return;
	parent->family.lends = false;
	sched_take_back(&s->sched, &parent->requestor->lane,
			parent->family.depth);
}

void runs_leave_family(struct runs *s, struct run *r)
{
	struct run *parent = r->family.parent, *child;

	while ((child = TAILQ_FIRST(&r->family.children)) != NULL)
		run_family_leave(child);
	run_family_leave(r);
	if (parent != NULL && parent->family.n_open == 0)
		runs_take_back(s, parent);
}

size_t runs_descendants(const struct run *r)
{
	const struct run *child;
	size_t n = 0;

	TAILQ_FOREACH(child, &r->family.children, family.link)
		n += 1 + runs_descendants(child);
	return n;
}
