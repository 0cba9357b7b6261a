/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_family.c - bounds and places of runs that call runs. A run lends the place among
 * running runs while children are open, so that parents never keep children waiting.
 * runs_create.c makes children; a call beyond a bound is refused by the bound's name.
 * mcp/children/ holds the bound on children at once.
 */
#include "supervisor/run/exec/runs_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/run/limits.h"

#define RUNS_LOOKED_AT 1000
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

bool runs_may_call(const struct runs *s, const struct run *parent,
		   struct tool_error *e)
{
	int64_t depth = s->ctx->config->max_call_depth;

	if (parent->family.depth >= depth)
		return refuse_depth(parent, depth, e);
	if (parent->family.n_made >= RUN_CHILDREN_MAX)
		return refuse_in_all(parent, e);
	return true;
}

static bool is_above(const struct run *r, const struct run *parent)
{
	while (parent != NULL && parent != r)
		parent = parent->family.parent;
	return parent != NULL;
}

/*
 * Does R wait for PARENT, by its children and by turns in notebooks? *LEFT runs are looked
 * at: in a larger crowd runs wait until their time is over.
 */
static bool waits_for(const struct residents *all, const struct run *r,
		      const struct run *parent, int *left)
{
	for (; r != NULL && (*left)-- > 0; r = residents_before(all, r)) {
		const struct run *child;

		if (is_above(r, parent))
			return true;
		TAILQ_FOREACH(child, &r->family.children, family.link)
			if (waits_for(all, child, parent, left))
				return true;
	}
	return false;
}

bool runs_may_wait_for(const struct runs *s, const struct run *parent,
		       const struct run *child, struct tool_error *e)
{
	const struct run *before = residents_before(s->ctx->residents, child);
	const char *holder = NULL;
	int left = RUNS_LOOKED_AT;

	if (child->notebook.name == NULL)
		return true;
	if (waits_for(s->ctx->residents, before, parent, &left))
		holder = before->id;
	else
		holder = run_family_holder(parent, child->template->id,
					   child->notebook.name);
	if (holder != NULL)
		tool_error_set(e, "CALL_NOT_ALLOWED", NULL,
			       "the notebook \"%s\" is in use until the run %s "
			       "ends, which waits for this call, itself or by "
			       "way of others: call %s with another notebook, "
			       "or without one",
			       child->notebook.name, holder,
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

/* R's open children, which are cancelled, go on without R until their end. */
static void leave_children(struct run *r)
{
	struct run *child;

	while ((child = TAILQ_FIRST(&r->family.children)) != NULL)
		run_family_leave(child);
}

void runs_start_family_over(struct runs *s, struct run *r)
{
	leave_children(r);
	runs_take_back(s, r);
	run_family_start_over(r);
}

void runs_leave_family(struct runs *s, struct run *r)
{
	struct run *parent = r->family.parent;

	leave_children(r);
	run_family_leave(r);
	if (parent == NULL)
		return;
	if (parent->family.n_open == 0)
		runs_take_back(s, parent);
	run_tell(parent, &(struct run_notice){.kind = NOTICE_CHILD});
}

size_t runs_descendants(const struct run *r)
{
	const struct run *child;
	size_t n = 0;

	TAILQ_FOREACH(child, &r->family.children, family.link)
		n += 1 + runs_descendants(child);
	return n;
}
