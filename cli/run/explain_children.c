/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_children.c - follows failures down the tree of runs that call runs, for
 * explain.c: the failed children of the run, then those of the first failed child, and so
 * on. A child without a view any more is told by the code alone.
 */
#include "cli/run/explain_children.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"

#define TOLD_MAX 3  /* failed runs of one caller */
#define DEPTH_MAX 8 /* as deep as calls may be configured to be */

struct teller {
	struct client *c;
	void (*tell)(void *arg, const char *sentence);
	void *arg;
};

static void say(const struct teller *t, char *sentence)
{
	t->tell(t->arg, sentence);
	free(sentence);
}

/* Tell that CALLER called CHILD, a failed run; *VIEW, the view of CHILD or NULL, is owned. */
static void tell_child(const struct teller *t, struct json_object *child,
		       const char *caller, struct json_object **view)
{
	const char *id = json_member_str(child, "runId"), *why;
	struct tool_result a = {0};

	*view = NULL;
	if (client_tool(t->c, "get_task_run", json_pack("runId:s", id), &a) !=
	    0)
		return;
	if (a.good)
		*view = json_object_get(a.value);
	why = json_member_str(json_member(*view, "error"), "message");
	say(t, xasprintf("%s called %s (%s), which ended with %s%s%s.", caller,
			 json_member_str(child, "templateId"), id,
			 json_member_str(child, "errorCode"),
			 why != NULL ? ": " : "", why != NULL ? why : ""));
	tool_result_fini(&a);
}

/* Did CHILD fail, other than by the cancel of its caller, whose view is VIEW? */
static bool has_failed(struct json_object *view, struct json_object *child)
{
	return json_member_str(child, "errorCode") != NULL &&
	       !(json_member_is(view, "status", "canceled") &&
		 json_member_is(child, "status", "canceled"));
}

/* Return the number of failed children of VIEW; *FIRST, the first one's view, is owned. */
static int64_t tell_children(const struct teller *t, struct json_object *view,
			     const char *caller, struct json_object **first)
{
	struct json_object *rest = json_member(view, "unlistedChildren"), *next;
	int64_t n = 0;

	*first = NULL;
	json_each(child, json_member(view, "children")) {
		if (!has_failed(view, child) || n++ >= TOLD_MAX)
			continue;
		tell_child(t, child, caller, &next);
		if (n == 1)
			*first = next;
		else
			json_object_put(next);
	}
	return n + json_member_int(rest, "failed");
}

bool explain_children(struct client *c, struct json_object *view,
		      void (*tell)(void *arg, const char *sentence), void *arg)
{
	const struct teller t = {c, tell, arg};
	struct json_object *next;
	const char *caller = "It", *called = "it";
	bool any = false;

	json_object_get(view);
	for (int depth = 0; view != NULL && depth < DEPTH_MAX; depth++) {
		int64_t n = tell_children(&t, view, caller, &next);

		if (n > TOLD_MAX)
			say(&t, xasprintf("%" PRId64 " more of the runs that "
					  "%s called failed.",
					  n - TOLD_MAX, called));
		any = any || n > 0;
		called = caller = json_member_str(next, "templateId");
		json_object_put(view);
		view = next;
	}
	json_object_put(view);
	return any;
}
