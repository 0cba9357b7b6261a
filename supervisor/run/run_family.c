/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_family.c - the tree of runs that call runs, for exec/runs_family.c and for the
 * views. Nothing here fails: bounds are checked before a child is made.
 */
#include "supervisor/run/run_family.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/json/json_write.h"
#include "supervisor/run/run.h"

_Static_assert(RUN_FAMILY_STATES == RUN_STATES, "a count for each state");

/* A child in the view of the parent. */
struct run_child {
	const struct run *open; /* NULL: the child has ended: */
	char id[ID_SIZE];
	char *template_id;
	enum run_state state;
	char *code; /* of the error, or NULL */
	int64_t created_ms, started_ms, ended_ms;
	bool found; /* made by an earlier attempt or run of the parent */
};

/* ---- the list ---- */

static struct run_child *list_child(struct run_family *f, const char *id,
				    const char *template_id)
{
	struct run_child *c;

	f->listed = xrealloc(f->listed, (f->n_listed + 1) * sizeof(*c));
	c = &f->listed[f->n_listed++];
	*c = (struct run_child){.template_id = xstrdup(template_id)};
	snprintf(c->id, sizeof(c->id), "%s", id);
	return c;
}

static void unlist(struct run_family *f, struct run_child *c)
{
	size_t after = (size_t)(f->listed + f->n_listed - (c + 1));

	free(c->template_id);
	free(c->code);
	memmove(c, c + 1, after * sizeof(*c));
	f->n_listed--;
}

static void list_end(struct run_child *c, const struct run *r)
{
	c->open = NULL;
	c->state = r->state;
	c->code = xstrdup_opt(r->error.code);
	c->created_ms = r->created_ms;
	c->started_ms = r->started_ms;
	c->ended_ms = r->finished_ms;
}

/* Return R in the list of F, or a place that R, which failed, gets there; or NULL. */
static struct run_child *listed(struct run_family *f, const struct run *r)
{
	for (size_t i = 0; i < f->n_listed; i++)
		if (f->listed[i].open == r)
			return &f->listed[i];
	for (size_t i = f->n_listed; i > 0 && r->state != RUN_SUCCEEDED; i--) {
		struct run_child *c = &f->listed[i - 1];

		if (c->open != NULL || c->state != RUN_SUCCEEDED)
			continue;
		unlist(f, c);
		return list_child(f, r->id, r->template->id);
	}
	return NULL;
}

/* ---- changes ---- */

void run_family_join(struct run *r, struct run *parent)
{
	struct run_family *f = &parent->family;

	r->family.parent = parent;
	r->family.parent_id = xstrdup(parent->id);
	r->family.depth = f->depth + 1;
	r->family.allows_writes = f->allows_writes;
	TAILQ_INSERT_TAIL(&f->children, r, family.link);
	f->n_open++;
	f->n_made++;
	if (f->n_listed < RUN_CHILDREN_LISTED)
		list_child(f, r->id, r->template->id)->open = r;
}

struct run *run_family_outermost(struct run *r)
{
	while (r->family.parent != NULL)
		r = r->family.parent;
	return r;
}

void run_family_drop(struct run *r)
{
	if (r->family.parent == NULL || r->family.dropped)
		return;
	r->family.dropped = true;
	r->family.parent->family.n_dropped++;
}

void run_family_leave(struct run *r)
{
	struct run_family *f;
	struct run_child *c;

	if (r->family.parent == NULL)
		return;
	f = &r->family.parent->family;
	c = listed(f, r);
	if (c != NULL)
		list_end(c, r);
	f->n_ended[r->state]++;
	TAILQ_REMOVE(&f->children, r, family.link);
	f->n_open--;
	f->n_dropped -= r->family.dropped;
	r->family.dropped = false;
	r->family.parent = NULL;
}

struct json_object *run_family_callers(const struct run *r)
{
	const struct run *parent = r->family.parent;
	struct json_object *all;

	if (parent == NULL)
		return json_object_get(r->family.callers);
	all = run_family_callers(parent);
	if (all == parent->family.callers) { /* not to be changed */
		struct json_object *copy = json_object_new_array();

		json_each(one, all)
			json_object_array_add(copy, json_object_get(one));
		json_object_put(all);
		all = copy;
	}
	json_object_array_add(all, json_pack("runId:s templateId:s notebook?s",
					     parent->id, parent->template->id,
					     parent->notebook.name));
	return all;
}

const char *run_family_holder(const struct run *r, const char *template_id,
			      const char *notebook)
{
	while (r->family.parent != NULL)
		r = r->family.parent;
	json_each(one, r->family.callers)
		if (json_member_is(one, "notebook", notebook) &&
		    json_member_is(one, "templateId", template_id))
			return json_member_str(one, "runId");
	return NULL;
}

void run_family_find(struct run *parent, const struct store_run *row)
{
	struct run_family *f = &parent->family;
	struct run_child *c;

	f->n_ended[RUN_SUCCEEDED]++;
	if (f->n_listed >= RUN_CHILDREN_LISTED)
		return;
	c = list_child(f, row->id, row->template_id);
	c->state = RUN_SUCCEEDED;
	c->created_ms = row->created_ms;
	c->started_ms = row->started_ms;
	c->ended_ms = row->finished_ms;
	c->found = true;
}

void run_family_start_over(struct run *r)
{
	struct run_family *f = &r->family;

	assert(TAILQ_EMPTY(&f->children));
	while (f->n_listed > 0)
		unlist(f, &f->listed[f->n_listed - 1]);
	memset(f->n_ended, 0, sizeof(f->n_ended));
	run_journal_start_over(r);
}

/* ---- the view ---- */

/* Return the status of the open CHILD of R, which is cancelled when R ends before. */
static const char *open_status(const struct run *r, const struct run *child)
{
	return run_terminal(r) ? "canceled" : run_status(child);
}

static const char *status_of(const struct run *r, const struct run_child *c)
{
	return c->open != NULL ? open_status(r, c->open)
			       : run_state_name(c->state);
}

static struct json_object *child_view(const struct run *r,
				      const struct run_child *c)
{
	struct run_child now = *c;
	struct json_object *v;

	if (c->open != NULL) {
		now.created_ms = c->open->created_ms;
		now.started_ms = c->open->started_ms;
	}
	v = json_pack("runId:s templateId:s status:s errorCode?s createdAt:i "
		      "startedAt?i endedAt?i reused?b",
		      c->id, c->template_id, status_of(r, c), c->code,
		      now.created_ms, now.started_ms, now.ended_ms, c->found);
	if (now.ended_ms == 0)
		now.ended_ms = clock_wall_ms();
	if (now.started_ms > 0)
		json_add(v, "elapsedMs:i", now.ended_ms - now.started_ms);
	return v;
}

static void count(struct json_object *counts, const char *status, int64_t n)
{
	n += json_member_int(counts, status);
	if (n != 0)
		json_object_object_add(counts, status,
				       json_object_new_int64(n));
	else
		json_object_object_del(counts, status);
}

static size_t n_children(const struct run_family *f)
{
	size_t n = f->n_open;

	for (int i = 0; i < RUN_STATES; i++)
		n += f->n_ended[i];
	return n;
}

/* Return the numbers of R's children that are not listed, by status; NULL: none. */
static struct json_object *unlisted(const struct run *r)
{
	const struct run_family *f = &r->family;
	struct json_object *counts;
	const struct run *child;

	if (n_children(f) == f->n_listed)
		return NULL;
	counts = json_object_new_object();
	for (int i = 0; i < RUN_STATES; i++)
		count(counts, run_state_name(i), (int64_t)f->n_ended[i]);
	TAILQ_FOREACH(child, &f->children, family.link)
		count(counts, open_status(r, child), 1);
	for (size_t i = 0; i < f->n_listed; i++)
		count(counts, status_of(r, &f->listed[i]), -1);
	return counts;
}

void run_family_write(struct buf *out, const struct run *r)
{
	const struct run_family *f = &r->family;
	struct json_object *list;

	json_write(out, "parentRunId?s depth?i", f->parent_id, f->depth);
	if (n_children(f) == 0)
		return;
	list = json_object_new_array_ext((int)f->n_listed);
	for (size_t i = 0; i < f->n_listed; i++)
		json_object_array_add(list, child_view(r, &f->listed[i]));
	json_write(out, "children:o childrenTotal:i unlistedChildren?o", list,
		   n_children(f), unlisted(r));
}

void run_family_fini(struct run *r)
{
	struct run_family *f = &r->family;

	run_family_leave(r);
	run_family_start_over(r);
	free(f->listed);
	free(f->parent_id);
	json_object_put(f->callers);
	free(f->journal.id);
}
