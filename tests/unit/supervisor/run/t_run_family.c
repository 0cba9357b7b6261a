/* SPDX-License-Identifier: Apache-2.0 */
/* t_run_family.c - runs that call runs: the tree, and the view. */
#include "supervisor/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/json/json_write.h"
#include "tests/unit/tap.h"

static struct requestor q = {.name = (char *)"ada"};
static char name[] = "callee";
static struct template t = {.id = name, .version_text = name};

static struct run *make(void)
{
	t.users++;
	return run_new(&q, &t);
}

/* The members that run_family_write() writes. */
static struct json_object *view(const struct run *r)
{
	struct json_object *o;
	struct buf out = {0};

	json_open(&out, NULL);
	run_family_write(&out, r);
	json_close(&out);
	o = json_unpack(buf_data(&out), buf_len(&out));
	buf_fini(&out);
	return o;
}

TEST(tree)
{
	struct run *top = make(), *child = make(), *grandchild = make();
	struct json_object *v = view(top);

	is_int(json_object_object_length(v), 0,
	       "a run of a client shows no family");
	json_object_put(v);
	top->family.allows_writes = true;
	run_family_join(child, top);
	run_family_join(grandchild, child);
	is_int((int)grandchild->family.depth, 2,
	       "the depth counts the callers");
	ok(grandchild->family.allows_writes,
	   "children may call what their parent may");
	v = view(child);
	is_str(json_member_str(v, "parentRunId"), top->id,
	       "a child shows its parent");
	is_int((int)json_member_int(v, "depth"), 1, "a child shows its depth");
	is_int((int)json_member_int(v, "childrenTotal"), 1,
	       "a parent counts its children");
	json_object_put(v);
	run_family_leave(grandchild);
	is_int((int)child->family.n_open, 0,
	       "a child that has left is not open");
	ok(grandchild->family.parent == NULL,
	   "a run that has left has no open parent");
	v = view(grandchild);
	is_str(json_member_str(v, "parentRunId"), child->id,
	       "the view names the parent for good");
	json_object_put(v);
	run_free(grandchild);
	run_family_leave(child);
	run_free(child);
	v = view(top);
	is_int((int)json_member_int(v, "childrenTotal"), 1,
	       "a child that is over is in the parent's view");
	json_object_put(v);
	run_free(top);
}

TEST(dropped)
{
	struct run *top = make(), *child = make();

	run_family_drop(top);
	run_family_join(child, top);
	run_family_drop(child);
	run_family_drop(child);
	is_int((int)top->family.n_dropped, 1,
	       "a child whose answer nobody awaits counts once");
	is_int((int)top->family.n_open, 1, "such a child is open");
	run_family_leave(child);
	is_int((int)top->family.n_dropped, 0,
	       "a dropped child counts until the end of the child");
	run_free(child);
	run_free(top);
}

TEST(many)
{
	struct run *top = make();
	struct json_object *v;

	for (int i = 0; i < RUN_CHILDREN_LISTED + 5; i++) {
		struct run *child = make();

		run_family_join(child, top);
		run_family_leave(child);
		run_free(child);
	}
	v = view(top);
	is_int((int)json_object_array_length(json_member(v, "children")),
	       RUN_CHILDREN_LISTED, "the view lists so many children");
	is_int((int)json_member_int(v, "childrenTotal"),
	       RUN_CHILDREN_LISTED + 5, "the view counts all children");
	json_object_put(v);
	run_free(top);
}

/* A child of TOP that has ended as STATE. */
static void ended(struct run *top, enum run_state state)
{
	struct run *child = make();

	run_family_join(child, top);
	child->state = state;
	if (state == RUN_FAILED)
		run_set_error(child, "BAD", NULL, "bad");
	run_family_leave(child);
	run_free(child);
}

TEST(failures)
{
	struct run *top = make();
	struct json_object *v, *list, *rest;

	for (int i = 0; i < RUN_CHILDREN_LISTED; i++)
		ended(top, RUN_SUCCEEDED);
	for (int i = 0; i < 3; i++)
		ended(top, RUN_FAILED);
	ended(top, RUN_SUCCEEDED);
	v = view(top);
	list = json_member(v, "children");
	rest = json_member(v, "unlistedChildren");
	is_int((int)json_object_array_length(list), RUN_CHILDREN_LISTED,
	       "children that fail late are listed within the bound");
	for (size_t i = 1; i <= 3; i++)
		is_str(json_member_str(json_object_array_get_idx(
					   list, RUN_CHILDREN_LISTED - i),
				       "errorCode"),
		       "BAD", "in the place of a child that succeeded");
	is_int((int)json_member_int(rest, "succeeded"), 4,
	       "the view counts the rest by status");
	is_int(json_object_object_length(rest), 1,
	       "no listed child is counted in the rest");
	json_object_put(v);
	for (int i = 0; i < RUN_CHILDREN_LISTED; i++)
		ended(top, RUN_FAILED);
	v = view(top);
	is_int(
	    (int)json_member_int(json_member(v, "unlistedChildren"), "failed"),
	    3, "of failures the first are listed");
	json_object_put(v);
	run_free(top);
}

TEST(times)
{
	struct run *top = make(), *child = make();
	struct store_run row = {.template_id = "found",
				.created_ms = 1000,
				.started_ms = 1100,
				.finished_ms = 1150};
	struct json_object *v, *one;

	run_family_join(child, top);
	v = view(top);
	one = json_object_array_get_idx(json_member(v, "children"), 0);
	ok(json_member_int(one, "createdAt") > 0 &&
	       json_member(one, "startedAt") == NULL &&
	       json_member(one, "elapsedMs") == NULL,
	   "a child that waits has the time of its creation");
	json_object_put(v);
	run_apply(child, EV_START);
	v = view(top);
	one = json_object_array_get_idx(json_member(v, "children"), 0);
	ok(json_member(one, "elapsedMs") != NULL &&
	       json_member(one, "endedAt") == NULL,
	   "a child that runs says for how long");
	json_object_put(v);
	run_apply(child, EV_SUCCEED);
	run_family_leave(child);
	snprintf(row.id, sizeof(row.id), "run_found");
	run_family_find(top, &row);
	v = view(top);
	one = json_object_array_get_idx(json_member(v, "children"), 1);
	is_str(json_member_str(one, "runId"), "run_found",
	       "a child that is found is listed");
	is_int((int)json_member_int(one, "elapsedMs"), 50,
	       "a child that is found says how long it took");
	ok(json_object_get_boolean(json_member(one, "reused")),
	   "a child that is found says so");
	is_int((int)json_member_int(v, "childrenTotal"), 2,
	       "a child that is found counts");
	json_object_put(v);
	run_family_start_over(top);
	v = view(top);
	is_int(json_object_object_length(v), 0,
	       "the next attempt has called nothing yet");
	is_int((int)top->family.n_made, 1,
	       "children of all attempts count for the bound");
	json_object_put(v);
	run_free(child);
	run_free(top);
}
