/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.c - tools/list and tools/call: the tools of the contract, of the
 * browser, and a tool for each template, as the requestor may see them.
 * methods.c calls it. Unknown tools, wrong arguments and tasks not allowed are
 * answered here, with the nearest name.
 */
#include "supervisor/mcp/tools/tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "proto/mcp/mcp_schema.h"
#include "supervisor/browser/browser.h"
#include "supervisor/browser/browser_tools.h"
#include "supervisor/mcp/proposals/proposals.h"
#include "supervisor/mcp/tools/contract_tools.h"
#include "supervisor/session/pagination.h"
#include "supervisor/packages/templates/catalogue.h"

EMBED(handle_json, "supervisor/mcp/tools/handle_schema.json");

/* ms; above the bound of any server */
#define TTL_MOST INT64_C(1000000000000000)

const char *tools_nearest(const struct requestor *requestor,
			  const struct catalogue *cat, const char *id)
{
	struct suggest found;

	suggest_init(&found, id);
	for (size_t i = 0; i < cat->n; i++)
		if (requestor_sees(requestor, cat->all[i]->id))
			suggest_try(&found, cat->all[i]->id);
	return found.best;
}

bool tools_offers(const struct session *s, const struct template *t)
{
	return (t->trust & session_trust(s)) != 0 &&
	       requestor_sees(s->requestor, t->id);
}

const struct catalogue_entry *
tools_offer(const struct session *s, const struct catalogue_index_list *list,
	    const char *key)
{
	const struct catalogue_entry *o = catalogue_index_find(list, key);

	while (o != NULL && !tools_offers(s, o->template))
		o = o->next_same_key;
	return o;
}

/* ---- tools/list ---- */

/* Return DEFINITION without members unknown to REV. */
static struct json_object *for_revision(struct json_object *definition,
					enum mcp_revision rev)
{
	struct json_object *tool;

	if (mcp_has(rev, MCP_TASKS))
		return json_object_get(definition);
	tool = json_object_new_object();
	json_object_object_foreach(definition, key, value) {
		if (strcmp(key, "execution") == 0)
			continue;
		if (!mcp_has(rev, MCP_STRUCTURED) &&
		    (strcmp(key, "title") == 0 ||
		     strcmp(key, "outputSchema") == 0))
			continue;
		if (strcmp(key, "annotations") == 0 &&
		    !mcp_has(rev, MCP_ANNOTATIONS))
			continue;
		json_object_object_add(tool, key, json_object_get(value));
	}
	return tool;
}

/* Return T's tool: the outputSchema is T's output, or a handle instead. */
static struct json_object *template_tool(const struct template *t,
					 enum mcp_revision rev)
{
	static const char *const support[] = {[TASK_OPTIONAL] = "optional",
					      [TASK_REQUIRED] = "required",
					      [TASK_FORBIDDEN] = "forbidden"};
	static struct json_object *handle;

	if (handle == NULL &&
	    json_parse(&handle, handle_json,
		       (size_t)(handle_json_end - handle_json), NULL) < 0)
		abort();
	return json_pack(
	    "name:s title:s description:s inputSchema:o outputSchema?o "
	    "annotations?O execution:o",
	    t->id, t->name, t->description,
	    mcp_schema_inputs(t->inputs_json, rev),
	    template_promises(t) ? mcp_schema_either(t->outputs_json, handle)
				 : NULL,
	    t->annotations, json_pack("taskSupport:s", support[t->task]));
}

/* Is T the template of its name, and may REQ's client see it? */
static bool is_tool(const struct request *req, const struct template *t)
{
	const struct context *ctx = req->session->ctx;

	return config_publishes(ctx->config, t->id) &&
	       catalogue_newest(ctx->catalogue, t->id) == t &&
	       tools_offers(req->session, t);
}

static void page_add(struct pagination *p, struct json_object *tool)
{
	json_object_array_add(p->list,
			      for_revision(tool, p->request->terms->revision));
	json_object_put(tool);
}

/* List the contract's tools, the browser's, then templates by id. */
void tools_list(struct request *req)
{
	const struct contract_tool *contract = contract_tools();
	const struct catalogue *cat = req->session->ctx->catalogue;
	const struct browser_proto_action *a = NULL;
	struct pagination p;
	size_t own;

	if (!pagination_begin(&p, req, TOOLS_PAGE))
		return;
	for (own = 0; own < CONTRACT_TOOLS; own++)
		if (tool_propose_serves(req->ctx, contract[own].name) &&
		    pagination_wants(&p, "", own))
			page_add(&p, json_object_get(contract[own].definition));
	for (; (a = browser_tool_next(a)) != NULL; own++)
		if (browser_offers(req->session, a) &&
		    pagination_wants(&p, "", own))
			page_add(&p, browser_tool_definition(a));
	for (size_t i = 0; i < cat->n; i++)
		if (is_tool(req, cat->all[i]) &&
		    pagination_wants(&p, cat->all[i]->id, 0))
			page_add(&p, template_tool(cat->all[i],
						   req->terms->revision));
	pagination_end(&p, "tools");
}

/* ---- tools/call ---- */

static const char *nearest_tool(struct request *req, const char *name)
{
	const struct contract_tool *contract = contract_tools();
	const struct browser_proto_action *a = NULL;
	struct suggest found;

	suggest_init(&found, name);
	for (size_t i = 0; i < CONTRACT_TOOLS; i++)
		if (tool_propose_serves(req->ctx, contract[i].name))
			suggest_try(&found, contract[i].name);
	while ((a = browser_tool_next(a)) != NULL)
		if (browser_offers(req->session, a))
			suggest_try(&found, a->name);
	return found.best != NULL
		   ? found.best
		   : tools_nearest(req->session->requestor,
				   req->session->ctx->catalogue, name);
}

/* Answer REQ: its client may see template T, but not as a tool. */
static void not_as_tool(struct request *req, const struct template *t)
{
	enum template_trust trust = session_trust(req->session);

	if ((t->trust & trust) == 0)
		request_error(
		    req, RPC_INVALID_PARAMS, NULL,
		    "Unknown tool \"%s\": its template is for the trust "
		    "level %s, and yours is %s, which the operator sets "
		    "by trust_level in your [requestor] section",
		    t->id, trust_name(t->trust), trust_name(trust));
	else
		request_error(
		    req, RPC_INVALID_PARAMS, NULL,
		    "Unknown tool \"%s\": this server does not publish "
		    "it as a tool (publish_templates, the "
		    "operator's); run_task_template runs it",
		    t->id);
}

static void no_such_tool(struct request *req, const char *name)
{
	const struct template *t =
	    catalogue_newest(req->session->ctx->catalogue, name);
	const char *suggest = nearest_tool(req, name);

	if (t != NULL && requestor_sees(req->session->requestor, t->id))
		not_as_tool(req, t);
	else if (suggest != NULL)
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "Unknown tool \"%.100s\"; did you mean \"%s\"?",
			      name, suggest);
	else
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "Unknown tool \"%.100s\"; tools/list names them",
			      name);
}

static bool has_nul(struct json_object *v)
{
	return json_object_is_type(v, json_type_string) &&
	       strlen(json_object_get_string(v)) !=
		   (size_t)json_object_get_string_len(v);
}

/*
 * Refuse a NUL in ids, versions and keys, which are C strings from here on. A
 * template's inputs may have NULs.
 */
static int check_plain(struct json_object *args, const char *at,
		       struct schema_error *err)
{
	json_object_object_foreach(args, key, value) {
		if (strcmp(key, "inputs") == 0)
			continue;
		if (json_object_is_type(value, json_type_object) &&
		    check_plain(value, "/options", err) < 0)
			return -EINVAL;
		if (!has_nul(value))
			continue;
		*err = (struct schema_error){.keyword = "pattern",
					     .expected = "no \\u0000"};
		snprintf(err->pointer, sizeof(err->pointer), "%s/%s", at, key);
		snprintf(err->text, sizeof(err->text),
			 "%s has a \\u0000 in it, which no such name has",
			 err->pointer);
		return -EINVAL;
	}
	return 0;
}

/* Read params.task into REQ. False: REQ was answered. */
static bool read_task(struct request *req, struct json_object *task)
{
	struct json_object *ttl = json_member(task, "ttl");
	double ms = ttl != NULL ? json_object_get_double(ttl) : 1;
	bool number = ttl == NULL || json_object_is_type(ttl, json_type_int) ||
		      json_object_is_type(ttl, json_type_double);

	if (!json_object_is_type(task, json_type_object) || !number ||
	    !(ms >= 1)) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "params.task is an object; its ttl, when it is "
			      "there, is a number of milliseconds, 1 or more");
		return false;
	}
	req->as_task = true;
	if (ttl != NULL)
		req->task_ttl_ms = ms < TTL_MOST ? (int64_t)ms : TTL_MOST;
	return true;
}

/*
 * The server decides on tasks: set whether REQ may or must become a task. False:
 * REQ's client does not know tasks, and was answered.
 */
static bool check_extension(struct request *req, const char *name,
			    enum template_task support)
{
	bool knows =
	    mcp_declares(req->terms->capabilities, MCP_EXTENSION_TASKS);

	if (support == TASK_REQUIRED && !knows) {
		request_error(req, RPC_MISSING_CAPABILITY,
			      mcp_missing_capability(MCP_EXTENSION_TASKS),
			      "the tool %s runs as a task alone: the client "
			      "has to declare the extension "
			      "io.modelcontextprotocol/tasks in each request",
			      name);
		return false;
	}
	req->may_be_task = knows && support != TASK_FORBIDDEN;
	req->as_task = knows && support == TASK_REQUIRED;
	return true;
}

/* Does the tool NAME allow REQ as it is, a task or not? False: REQ was answered. */
static bool check_task(struct request *req, const char *name,
		       enum template_task support)
{
	struct json_object *task = json_member(req->msg.params, "task");

	if (mcp_has(req->terms->revision, MCP_STATELESS))
		return check_extension(req, name, support);
	if (!mcp_has(req->terms->revision, MCP_TASKS))
		return true; /* ignored from clients which know no tasks */
	if (task == NULL && support == TASK_REQUIRED)
		request_error(req, RPC_METHOD_NOT_FOUND, NULL,
			      "the tool %s is called as a task alone: add "
			      "params.task",
			      name);
	else if (task != NULL && support == TASK_FORBIDDEN)
		request_error(req, RPC_METHOD_NOT_FOUND, NULL,
			      "the tool %s cannot be called as a task: leave "
			      "params.task out",
			      name);
	else
		return task == NULL || read_task(req, task);
	return false;
}

/* Add the argument's description to an error of its type. */
static void say_what_it_is(const struct contract_tool *tool,
			   struct schema_error *err)
{
	struct json_object *all = json_member(
	    json_member(tool->definition, "inputSchema"), "properties");
	const char *name = err->pointer + 1, *words;
	size_t n = strlen(err->text);

	if (err->pointer[0] != '/' || strcmp(err->keyword, "type") != 0)
		return;
	words = json_member_str(json_member(all, name), "description");
	if (words != NULL && n + strlen(words) + 4 < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - n, " (%s)", words);
}

static void call_contract(struct request *req, const struct contract_tool *tool,
			  struct json_object *args)
{
	struct schema_budget b = {.allowed = SCHEMA_STEPS_INLINE};
	struct schema_error err;
	struct tool_error r = {0};

	bool may = json_member(tool->definition, "execution") != NULL;

	if (!check_task(req, tool->name, may ? TASK_OPTIONAL : TASK_FORBIDDEN))
		return;
	if (schema_check(tool->input, args, &b, &err) == 0 &&
	    check_plain(args, "", &err) == 0) {
		tool->serve(req, args);
		return;
	}
	say_what_it_is(tool, &err);
	contract_tools_invalid(&r, "", &err);
	request_tool_error(req, &r);
}

static void call_browser(struct request *req,
			 const struct browser_proto_action *action,
			 struct json_object *args)
{
	const char *errmsg = browser_lacks(req->session->ctx->config);
	struct tool_error r = {0};

	if (!check_task(req, action->name, TASK_FORBIDDEN))
		return;
	if (browser_offers(req->session, action)) {
		browser_call(req, action, args);
		return;
	}
	if (errmsg != NULL)
		tool_error_set(&r, "BROWSER_UNAVAILABLE", NULL,
			       "there is no browser here: %s", errmsg);
	else
		tool_error_set(
		    &r, "CALL_NOT_ALLOWED", NULL,
		    "the operator does not let you use %s: browser_tools in "
		    "[requestor \"%s\"] says which tools you may, and without "
		    "it who has templates there may use none",
		    action->name, req->session->requestor->name);
	request_tool_error(req, &r);
}

static const char *field_of(void *arg, const char *name)
{
	const struct session *s = ((const struct request *)arg)->session;

	return s->ops->field(s->arg, name);
}

/*
 * Check that REQ's header, if any, repeats what T wants. False: REQ was answered.
 */
static bool check_fields(struct request *req, const struct template *t,
			 struct json_object *args)
{
	char errmsg[256];

	if (req->session->ops->field == NULL ||
	    mcp_param_headers_check(&t->mcp_headers, args, field_of, req,
				    errmsg, sizeof(errmsg)))
		return true;
	request_error(req, RPC_HEADER_MISMATCH, NULL, "%s", errmsg);
	return false;
}

void tools_call(struct request *req)
{
	const struct contract_tool *contract = contract_tools();
	struct json_object *args = json_member(req->msg.params, "arguments");
	const char *name = json_member_str(req->msg.params, "name");
	struct template *t;

	if (name != NULL && has_nul(json_member(req->msg.params, "name")))
		name = NULL;
	if (name == NULL ||
	    (args != NULL && !json_object_is_type(args, json_type_object))) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "tools/call needs params.name, a string without "
			      "\\u0000, and "
			      "params.arguments, an object when it is there");
		return;
	}
	if (args == NULL) { /* the message owns args */
		args = json_object_new_object();
		json_add(req->msg.params, "arguments:o", args);
	}
	for (size_t i = 0; i < CONTRACT_TOOLS; i++)
		if (strcmp(contract[i].name, name) == 0) {
			call_contract(req, &contract[i], args);
			return;
		}
	if (browser_tool(name) != NULL) {
		call_browser(req, browser_tool(name), args);
		return;
	}
	t = catalogue_newest(req->session->ctx->catalogue, name);
	if (t == NULL || !is_tool(req, t))
		no_such_tool(req, name);
	else if (check_task(req, name, t->task) && check_fields(req, t, args))
		tool_run_by_name(req, t, args);
}
