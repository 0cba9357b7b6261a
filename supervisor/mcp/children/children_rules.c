/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children_rules.c - decides which template a run may call: by the grant of the run's
 * own template, and for a template with effects by the wish of the outermost run's
 * client. children.c asks before each call. A refusal names the person to ask.
 */
#include "supervisor/mcp/children/children_private.h"

#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/packages/grants/grants_lacked.h"
#include "supervisor/session/session.h"

/* Return the first member of O (may be NULL) besides the N words, or NULL. */
static const char *strange_member(struct json_object *o,
				  const char *const *words, size_t n)
{
	struct lh_entry *at = json_object_is_type(o, json_type_object)
				  ? lh_table_head(json_object_get_object(o))
				  : NULL;

	for (; at != NULL; at = lh_entry_next(at)) {
		size_t i = 0;

		while (i < n && strcmp(words[i], lh_entry_k(at)) != 0)
			i++;
		if (i == n)
			return lh_entry_k(at);
	}
	return NULL;
}

/* Have ARGS just the members of a run's call? */
static bool are_known(struct json_object *args, struct tool_error *e)
{
	static const char *const members[] = {"templateId", "templateVersion",
					      "inputs", "options"};
	static const char *const options[] = {"timeoutMs"};
	const char *strange = strange_member(args, members, ARRAY_LEN(members));

	if (strange == NULL)
		strange = strange_member(json_member(args, "options"), options,
					 ARRAY_LEN(options));
	if (strange != NULL)
		tool_error_set(e, "INVALID_PARAMETER", NULL,
			       "a call of a template has a template, inputs, "
			       "and perhaps a version and options.timeoutMs, "
			       "but no \"%.64s\"",
			       strange);
	return strange == NULL;
}

/* The text WHAT is such as "call csv_profile"; the grant would have to list ASKED. */
static bool refuse_grant(struct run *parent, const char *asked,
			 const char *what, const char *why,
			 struct tool_error *e)
{
	struct json_object *list = json_object_new_array();

	json_object_array_add(list, json_text_new(asked));
	grants_lacked_add(&parent->lacked, "templates", asked);
	tool_error_set(e, "PERMISSION_NOT_ALLOWED",
		       json_pack("asked:o key:s whoCanGrant:s", list,
				 "templates", "the operator and the author"),
		       "%s may not %s: %s", parent->template->id, what, why);
	return false;
}

/* A tool for reading shows what is the requestor's: a grant of some templates is not enough. */
bool children_may_read(const struct context *ctx, struct run *parent,
		       const char *what, struct tool_error *e)
{
	const char *why = grants_call(parent->template, ctx->config, "*");

	return why == NULL || refuse_grant(parent, "*", what, why, e);
}

/* May T change things, by its annotations? */
static bool may_write(const struct template *t)
{
	struct json_object *reads = json_member(t->annotations, "readOnlyHint");
	struct json_object *destroys =
	    json_member(t->annotations, "destructiveHint");

	return !json_object_get_boolean(reads) ||
	       json_object_get_boolean(destroys);
}

/* A notebook has what other code of the requestor left in variables. */
static bool may_enter_notebook(const struct context *ctx, struct run *parent,
			       const struct template *t,
			       struct json_object *args, struct tool_error *e)
{
	struct json_object *inputs = json_member(args, "inputs");

	return t->notebook == NULL ||
	       json_member(inputs, t->notebook) == NULL ||
	       children_may_read(ctx, parent,
				 "use notebooks of its client, without a grant "
				 "of all templates (*)",
				 e);
}

bool children_may(const struct context *ctx, struct run *parent,
		  struct json_object *args, struct tool_error *e)
{
	const char *id = json_member_str(args, "templateId");
	const char *range = json_member_str(args, "templateVersion");
	const struct template *t;
	const char *why;
	char what[80];

	if (!are_known(args, e))
		return false;
	if (id == NULL) /* refused as any client's call without an id */
		return true;
	why = grants_call(parent->template, ctx->config, id);
	if (why != NULL) {
		snprintf(what, sizeof(what), "call %.64s", id);
		return refuse_grant(parent, id, what, why, e);
	}
	t = catalogue_find(ctx->catalogue, id, range);
	if (t != NULL && !may_enter_notebook(ctx, parent, t, args, e))
		return false;
	if (t == NULL || !may_write(t) || parent->family.allows_writes)
		return true;
	tool_error_set(e, "PERMISSION_NOT_ALLOWED",
		       json_pack("option:s whoCanGrant:s",
				 "options.allowWrites",
				 "the client that calls the outermost run"),
		       "%s may change things (its readOnlyHint is not true, or "
		       "its destructiveHint is), and a run calls it only when "
		       "the client of the outermost run gave "
		       "options.allowWrites: true with run_task_template",
		       t->id);
	return false;
}
