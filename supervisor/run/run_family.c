/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_family.c - the tree of runs that call runs, for exec/runs_family.c and for the
 * views. Nothing here fails: bounds are checked before a child is made.
 */
#include "supervisor/run/run_family.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/json/json_write.h"
#include "supervisor/run/run.h"

/* A child in the view of the parent. */
struct run_child {
	const struct run *open; /* NULL: the child has ended: */
	char id[ID_SIZE];
	char *template_id;
	const char *status; /* static */
	char *code;	    /* of the error, or NULL */
};

void run_family_join(struct run *r, struct run *parent)
{
	struct run_family *f = &parent->family;

	r->family.parent = parent;
	r->family.parent_id = xstrdup(parent->id);
	r->family.depth = f->depth + 1;
	r->family.allows_writes = f->allows_writes;
	TAILQ_INSERT_TAIL(&f->children, r, family.link);
	f->n_open++;
	if (f->n_made < RUN_CHILDREN_LISTED) {
		f->listed =
		    xrealloc(f->listed, (f->n_made + 1) * sizeof(*f->listed));
		f->listed[f->n_made] = (struct run_child){
		    .open = r, .template_id = xstrdup(r->template->id)};
		memcpy(f->listed[f->n_made].id, r->id, sizeof(r->id));
	}
	f->n_made++;
}

static size_t n_listed(const struct run_family *f)
{
	return f->n_made < RUN_CHILDREN_LISTED ? f->n_made
					       : RUN_CHILDREN_LISTED;
}

void run_family_leave(struct run *r)
{
	struct run_family *f;

	if (r->family.parent == NULL)
		return;
	f = &r->family.parent->family;
	for (size_t i = 0; i < n_listed(f); i++) {
		if (f->listed[i].open != r)
			continue;
		f->listed[i].open = NULL;
		f->listed[i].status = run_status(r);
		f->listed[i].code = xstrdup_opt(r->error.code);
	}
	TAILQ_REMOVE(&f->children, r, family.link);
	f->n_open--;
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

static bool has_notebook(const struct run *r, const char *template_id,
			 const char *notebook)
{
	return r->notebook.name != NULL &&
	       strcmp(r->notebook.name, notebook) == 0 &&
	       strcmp(r->template->id, template_id) == 0;
}

const char *run_family_holder(const struct run *r, const char *template_id,
			      const char *notebook)
{
	const struct run *up = r;

	while (!has_notebook(up, template_id, notebook)) {
		if (up->family.parent == NULL)
			break;
		up = up->family.parent;
	}
	if (has_notebook(up, template_id, notebook))
		return up->id;
	json_each(one, up->family.callers)
		if (json_member_is(one, "notebook", notebook) &&
		    json_member_is(one, "templateId", template_id))
			return json_member_str(one, "runId");
	return NULL;
}

/* Return the status of C, a child of R, which is cancelled when R ends before C. */
static const char *status_of(const struct run *r, const struct run_child *c)
{
	return c->open == NULL	 ? c->status
	       : run_terminal(r) ? "canceled"
				 : run_status(c->open);
}

void run_family_write(struct buf *out, const struct run *r)
{
	const struct run_family *f = &r->family;
	struct json_object *list;

	json_write(out, "parentRunId?s depth?i", f->parent_id, f->depth);
	if (f->n_made == 0)
		return;
	list = json_object_new_array_ext((int)n_listed(f));
	for (size_t i = 0; i < n_listed(f); i++) {
		const struct run_child *c = &f->listed[i];

		json_object_array_add(
		    list,
		    json_pack("runId:s templateId:s status:s errorCode?s",
			      c->id, c->template_id, status_of(r, c), c->code));
	}
	json_write(out, "children:o childrenTotal:i", list, f->n_made);
}

void run_family_fini(struct run *r)
{
	struct run_family *f = &r->family;

	assert(TAILQ_EMPTY(&f->children));
	run_family_leave(r);
	for (size_t i = 0; i < n_listed(f); i++) {
		free(f->listed[i].template_id);
		free(f->listed[i].code);
	}
	free(f->listed);
	free(f->parent_id);
	json_object_put(f->callers);
}
