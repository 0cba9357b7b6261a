/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_wanted.c - finds the template of a call by id and version, and
 * checks that the client may run it, for tool_run.c and tool_try_again.c. A
 * refusal names the reason.
 */
#include "supervisor/mcp/tools/tool_run_private.h"

#include <string.h>

#include "proto/json/json_pack.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/mcp/tools/tools.h"

static void refuse_template(struct tool_error *r, const struct requestor *q,
			    const struct catalogue *cat, const char *id,
			    const char *range)
{
	const char *suggest = tools_nearest(q, cat, id);
	struct json_object *d, *list;

	if (catalogue_newest(cat, id) == NULL || !requestor_sees(q, id)) {
		tool_error_set(r, "TEMPLATE_NOT_FOUND", NULL,
			       suggest != NULL
				   ? "there is no template \"%.64s\"; did you "
				     "mean \"%s\"?"
				   : "there is no template \"%.64s\"",
			       id, suggest);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < cat->n; i++)
		if (strcmp(cat->all[i]->id, id) == 0)
			json_object_array_add(
			    list, json_text_new(cat->all[i]->version_text));
	d = json_pack("available:o", list);
	tool_error_set(r, "TEMPLATE_VERSION_UNSUPPORTED", d,
		       "no installed version of %s is \"%.64s\"", id, range);
}

static bool check_trust(struct tool_error *r, const struct template *t,
			enum template_trust trust)
{
	if ((t->trust & trust) != 0)
		return true;
	tool_error_set(
	    r, "TRUST_LEVEL_NOT_ALLOWED", NULL,
	    "this connection's trust level is %s, and %s is for %s alone (its "
	    "trustLevelSupport)",
	    trust_name(trust), t->id, trust_name(t->trust));
	return false;
}

/* Refuse the mode "async" in a task, which is asynchronous already. */
static bool check_mode(struct tool_error *r, const struct request *req,
		       struct json_object *options)
{
	const char *mode = json_member_str(options, "mode");
	struct schema_error err = {
	    .pointer = "/options/mode",
	    .keyword = "enum",
	    .expected = "\"auto\" or \"sync\", or no params.task",
	    .text = "/options/mode is \"async\", but the call is a task "
		    "already; leave one of them out"};

	if (!req->as_task || mode == NULL || strcmp(mode, "async") != 0)
		return true;
	contract_tools_invalid(r, "", &err);
	return false;
}

struct template *tool_run_wanted(struct request *req, const char *id,
				 const char *range, struct json_object *options)
{
	const struct catalogue *cat = req->session->ctx->catalogue;
	struct template *t = catalogue_find(cat, id, range);
	const struct requestor *q = req->session->requestor;
	struct tool_error r = {0};

	if (t == NULL || !requestor_sees(q, t->id))
		refuse_template(&r, q, cat, id, range);
	else if (check_mode(&r, req, options) &&
		 check_trust(&r, t, session_trust(req->session)))
		return t;
	request_tool_error(req, &r);
	return NULL;
}
