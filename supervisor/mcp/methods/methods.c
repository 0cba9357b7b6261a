/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.c - the table of methods, which sessions and transports get by the
 * context, and the methods initialize, server/discover, ping and
 * logging/setLevel. A malformed request is answered by a JSON-RPC error.
 */
#include "supervisor/mcp/methods/methods.h"

#include <string.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/config/config.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/mcp/methods/prompts.h"
#include "supervisor/mcp/methods/resources.h"
#include "supervisor/mcp/proposals/proposals.h"
#include "supervisor/mcp/tasks/tasks.h"
#include "supervisor/mcp/uploads/upload_method.h"
#include "supervisor/mcp/tools/tools.h"

#define BY_NAME                                                                \
	"Each template is a tool of its own name; its arguments are the "      \
	"template's inputs. "
#define BY_SEARCH                                                              \
	"search_task_templates finds the template for a purpose, and "         \
	"run_task_template runs the template. "
#define INSTRUCTIONS                                                           \
	"For anything long, run_task_template with "                           \
	"options {\"mode\": \"async\"} gives a runId at once, and "            \
	"get_task_run tells how it goes. "                                     \
	"Artifacts are read by get_artifact."

/* For a client with a server to itself. */
#define INSTRUCTIONS_STDIO                                                     \
	" This server ends with your client, and its runs do: for those that " \
	"are to go on, the user starts the daemon, paddockd, and points the "  \
	"client to its socket or URL."

/* Add {NAME: {FLAG: true}} to CAPS, for all FLAGS up to NULL. */
static void declare_flags(struct json_object *caps, const char *name,
			  const char *const *flags)
{
	struct json_object *o = json_object_new_object();

	for (; *flags != NULL; flags++)
		json_object_object_add(o, *flags,
				       json_object_new_boolean(true));
	json_object_object_add(caps, name, o);
}

/*
 * Return the capabilities of REV. A capability without a name in REV is served
 * all the same.
 */
static struct json_object *capabilities(const struct requestor *q,
					enum mcp_revision rev)
{
	static const char *const changes[] = {"listChanged", NULL};
	static const char *const subscribes[] = {"subscribe", "listChanged",
						 NULL};
	struct json_object *caps = json_object_new_object();

	declare_flags(caps, "logging", changes + 1);
	declare_flags(caps, "tools", changes);
	declare_flags(caps, "resources", subscribes);
	declare_flags(caps, "prompts", changes);
	if (mcp_has(rev, MCP_COMPLETIONS))
		declare_flags(caps, "completions", changes + 1);
	if (mcp_has(rev, MCP_TASKS))
		json_add(caps, "tasks:o", tasks_capability(q));
	/* an extension with members counts as absent */
	if (mcp_has(rev, MCP_STATELESS))
		json_add(caps, "extensions:o",
			 json_pack("io.modelcontextprotocol/tasks:o",
				   json_object_new_object()));
	return caps;
}

static const char *instructions(const struct context *ctx)
{
	static const char *const texts[2][2] = {
	    {BY_NAME INSTRUCTIONS, BY_NAME INSTRUCTIONS INSTRUCTIONS_STDIO},
	    {BY_SEARCH INSTRUCTIONS,
	     BY_SEARCH INSTRUCTIONS INSTRUCTIONS_STDIO}};

	return texts[config_has_search(ctx->config)][ctx->with_client];
}

static void initialize(struct request *req)
{
	struct session *s = req->session;
	struct json_object *result;

	if (json_member_str(req->msg.params, "protocolVersion") == NULL) {
		request_error(
		    req, RPC_INVALID_PARAMS, NULL,
		    "initialize needs params.protocolVersion, a string "
		    "such as \"%s\"",
		    mcp_revision_name(MCP_LATEST_SESSION));
		return;
	}
	/* the capabilities would be kept in memory */
	if (rpc_async_is_large(req->msg.bytes)) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "initialize has %zu bytes, or values that count "
			      "as so many; at most %d are taken",
			      req->msg.bytes, RPC_ASYNC_LARGE);
		return;
	}
	if (s->greeted) {
		request_error(req, RPC_INVALID_REQUEST, NULL,
			      "this connection is initialized already");
		return;
	}
	s->terms.revision =
	    mcp_negotiate(json_member_str(req->msg.params, "protocolVersion"));
	s->greeted = true;
	session_set_capabilities(s, mcp_known_capabilities(json_member(
					req->msg.params, "capabilities")));
	result =
	    json_pack("protocolVersion:s capabilities:o serverInfo:o "
		      "instructions:s",
		      mcp_revision_name(s->terms.revision),
		      capabilities(s->requestor, s->terms.revision),
		      mcp_server_info(s->terms.revision), instructions(s->ctx));
	log_info("session", "requestor=%s revision=%s", s->requestor->name,
		 mcp_revision_name(s->terms.revision));
	request_result(req, result);
}

static void discover(struct request *req)
{
	enum mcp_revision rev = req->terms->revision;
	struct json_object *result =
	    json_pack("supportedVersions:o capabilities:o instructions:s",
		      mcp_revisions(), capabilities(req->requestor, rev),
		      instructions(req->ctx));

	mcp_add_cache_hint(result, rev, MCP_CACHE_DISCOVER);
	request_result(req, result);
}

static void ping(struct request *req)
{
	request_result(req, json_object_new_object());
}

static void set_level(struct request *req)
{
	int level = mcp_level_of(json_member_str(req->msg.params, "level"));

	if (level < 0) {
		request_error(
		    req, RPC_INVALID_PARAMS, NULL,
		    "logging/setLevel needs params.level, one of "
		    "emergency, alert, critical, error, warning, notice, "
		    "info, debug");
		return;
	}
	req->session->terms.log_level = level;
	session_changed(req->session);
	request_result(req, json_object_new_object());
}

/* Name, function, required feature, allowed before initialize, slow. */
static const struct method all[] = {
    {"initialize", initialize, MCP_SESSIONS, true, false},
    {"ping", ping, MCP_SESSIONS, true, false},
    {"server/discover", discover, MCP_STATELESS, true, false},
    {"tools/list", tools_list, MCP_ALWAYS, false, false},
    {"tools/call", tools_call, MCP_ALWAYS, false, true},
    {"tasks/get", tasks_get, MCP_TASKS, false, false},
    {"tasks/result", tasks_result, MCP_TASKS, false, true},
    {"tasks/list", tasks_list, MCP_TASKS, false, false},
    {"tasks/cancel", tasks_cancel, MCP_TASKS, false, false},
    {"tasks/get", tasks_extension_get, MCP_STATELESS, false, false},
    {"tasks/update", tasks_extension_update, MCP_STATELESS, false, false},
    {"tasks/cancel", tasks_extension_cancel, MCP_STATELESS, false, false},
    {"resources/list", resources_list, MCP_ALWAYS, false, false},
    {"resources/templates/list", resources_list_templates, MCP_ALWAYS, false,
     false},
    {"resources/read", resources_read, MCP_ALWAYS, false, false},
    {"resources/subscribe", subscriptions_add, MCP_SESSIONS, false, false},
    {"resources/unsubscribe", subscriptions_drop, MCP_SESSIONS, false, false},
    {"subscriptions/listen", listen_begin, MCP_STATELESS, true, true},
    {"logging/setLevel", set_level, MCP_SESSIONS, false, false},
    {"prompts/list", prompts_list, MCP_ALWAYS, false, false},
    {"prompts/get", prompts_get, MCP_ALWAYS, false, false},
    {"completion/complete", completion_complete, MCP_ALWAYS, false, false},
    {"paddock/proposals", proposal_methods_list, MCP_ALWAYS, false, false},
    {"paddock/decide", proposal_methods_decide, MCP_ALWAYS, false, true},
    {"paddock/draft", draft_methods_draft, MCP_ALWAYS, false, false},
    {"paddock/usage", server_methods_usage, MCP_ALWAYS, false, false},
    {"paddock/putArtifact", upload_method_put, MCP_ALWAYS, false, false},
    {"paddock/readArtifact", upload_method_read, MCP_ALWAYS, false, false},
    {"paddock/artifacts", upload_method_list, MCP_ALWAYS, false, false},
    {"paddock/waiting", server_methods_waiting, MCP_ALWAYS, false, false},
    {"paddock/residents", resident_methods_list, MCP_ALWAYS, false, false},
    {"paddock/endResident", resident_methods_end, MCP_ALWAYS, false, false},
    {"paddock/reload", server_methods_reload, MCP_ALWAYS, false, true},
    {"paddock/nodes", server_methods_nodes, MCP_ALWAYS, false, false},
    {"paddock/deleteRuns", deletion_runs, MCP_ALWAYS, false, true},
    {"paddock/deleteArtifacts", deletion_artifacts, MCP_ALWAYS, false, true},
    {NULL, NULL, MCP_ALWAYS, false, false},
};

const struct methods methods = {all, subscriptions_list, subscriptions_restore};
