/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.c - the one table of methods and notifications, and initialize
 * itself; session.c brings each message here. A method that is unknown, too
 * early, or not in the client's revision is answered by a JSON-RPC error; such
 * a notification is ignored.
 */
#include "supervisor/methods/methods.h"

#include <string.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/methods/completion.h"
#include "supervisor/threads/rpc_async.h"
#include "supervisor/session/logging.h"
#include "supervisor/methods/prompts.h"
#include "supervisor/methods/resources.h"
#include "supervisor/methods/subscriptions.h"
#include "supervisor/methods/tasks.h"
#include "supervisor/tools/tools.h"

#define INSTRUCTIONS                                                           \
	"Each template is a tool of its own name; its arguments are the "      \
	"template's inputs. For anything long, run_task_template with "        \
	"options {\"mode\": \"async\"} gives a runId at once, and "            \
	"get_task_run tells how it goes. "                                     \
	"Artifacts are read by get_artifact."

/* To one that has a server to itself. */
#define INSTRUCTIONS_STDIO                                                     \
	" This server ends with your client, and its runs do: for those that " \
	"are to go on, the user starts the daemon, paddockd, and points the "  \
	"client to its socket or URL."

static struct json_object *server_info(enum mcp_revision rev)
{
	return json_pack("name:s title?s version:s", "paddock",
			 mcp_has(rev, MCP_TITLES) ? "paddock" : NULL,
			 PADDOCK_VERSION);
}

/* {NAME: {FLAG: true, …}} to CAPS; FLAGS end with NULL. */
static void declare(struct json_object *caps, const char *name,
		    const char *const *flags)
{
	struct json_object *o = json_object_new_object();

	for (; *flags != NULL; flags++)
		json_object_object_add(o, *flags,
				       json_object_new_boolean(true));
	json_object_object_add(caps, name, o);
}

/* What a revision has no name for is served all the same. */
static struct json_object *capabilities(const struct session *s)
{
	enum mcp_revision rev = s->revision;
	static const char *const changes[] = {"listChanged", NULL};
	static const char *const subscribes[] = {"subscribe", "listChanged",
						 NULL};
	struct json_object *caps = json_object_new_object();

	declare(caps, "logging", changes + 1);
	declare(caps, "tools", changes);
	declare(caps, "resources", subscribes);
	declare(caps, "prompts", changes);
	if (mcp_has(rev, MCP_COMPLETIONS))
		declare(caps, "completions", changes + 1);
	if (mcp_has(rev, MCP_TASKS))
		json_add(caps, "tasks:o", tasks_capability(s->requestor));
	return caps;
}

static void initialize(struct request *c)
{
	struct session *s = c->session;
	struct json_object *result;

	if (json_member_str(c->msg.params, "protocolVersion") == NULL) {
		request_error(
		    c, RPC_INVALID_PARAMS, NULL,
		    "initialize needs params.protocolVersion, a string "
		    "such as \"%s\"",
		    mcp_revision_name(MCP_LATEST));
		return;
	}
	if (rpc_async_is_large(c->msg.bytes)) { /* a part of it is kept */
		request_error(c, RPC_INVALID_PARAMS, NULL,
			      "initialize has %zu bytes; at most %d are taken",
			      c->msg.bytes, RPC_ASYNC_LARGE);
		return;
	}
	if (s->greeted) {
		request_error(c, RPC_INVALID_REQUEST, NULL,
			      "this connection is initialized already");
		return;
	}
	s->revision =
	    mcp_negotiate(json_member_str(c->msg.params, "protocolVersion"));
	s->greeted = true;
	s->client = json_object_get(json_member(c->msg.params, "capabilities"));
	result = json_pack("protocolVersion:s capabilities:o serverInfo:o "
			   "instructions:s",
			   mcp_revision_name(s->revision), capabilities(s),
			   server_info(s->revision),
			   s->ctx->with_client ? INSTRUCTIONS INSTRUCTIONS_STDIO
					       : INSTRUCTIONS);
	log_info("session", "requestor=%s revision=%s", s->requestor->name,
		 mcp_revision_name(s->revision));
	request_result(c, result);
}

static void ping(struct request *c)
{
	request_result(c, json_object_new_object());
}

/* EARLY: also before initialize, as the lifecycle allows. */
static const struct {
	const char *name;
	void (*serve)(struct request *c);
	bool early;
} methods[] = {
    {"initialize", initialize, true},
    {"ping", ping, true},
    {"tools/list", tools_list, false},
    {"tools/call", tools_call, false},
    {"tasks/get", tasks_get, false},
    {"tasks/result", tasks_result, false},
    {"tasks/list", tasks_list, false},
    {"tasks/cancel", tasks_cancel, false},
    {"resources/list", resources_list, false},
    {"resources/templates/list", resources_templates, false},
    {"resources/read", resources_read, false},
    {"resources/subscribe", subscriptions_add, false},
    {"resources/unsubscribe", subscriptions_drop, false},
    {"logging/setLevel", logging_set_level, false},
    {"prompts/list", prompts_list, false},
    {"prompts/get", prompts_get, false},
    {"completion/complete", completion_complete, false},
};

static bool is_of_tasks(const char *method)
{
	return strncmp(method, "tasks/", strlen("tasks/")) == 0;
}

bool methods_is_slow(const char *name)
{
	static const char *const slow[] = {"tools/call", "tasks/result"};

	for (size_t i = 0; i < ARRAY_LEN(slow); i++)
		if (strcmp(slow[i], name) == 0)
			return true;
	return false;
}

void methods_call(struct request *c)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (strcmp(methods[i].name, c->msg.method) != 0)
			continue;
		if (is_of_tasks(c->msg.method) &&
		    !mcp_has(c->session->revision, MCP_TASKS))
			break;
		if (!methods[i].early && !c->session->greeted)
			request_error(
			    c, RPC_INVALID_PARAMS, NULL,
			    "%s came before initialize; send that first",
			    methods[i].name);
		else
			methods[i].serve(c);
		return;
	}
	request_error(c, RPC_METHOD_NOT_FOUND, NULL,
		      "this server has no method \"%.100s\"", c->msg.method);
}

/* initialize cannot be cancelled; what is unknown or over is no error. */
static void cancelled(struct session *s, const struct rpc_msg *msg)
{
	struct json_object *wanted = json_member(msg->params, "requestId");
	const char *reason = json_member_str(msg->params, "reason");
	char key[RPC_ID_MAX + 1];
	size_t len = rpc_id_key(key, wanted);
	struct request *c = session_find_request(s, key, len);

	if (c == NULL)
		return;
	log_info(
	    "session", "requestor=%s method=%s cancelled=yes reason=\"%s\"",
	    s->requestor->name, c->msg.method, reason != NULL ? reason : "");
	request_drop(c, true);
}

void methods_notify(struct session *s, const struct rpc_msg *msg)
{
	if (strcmp(msg->method, "notifications/cancelled") == 0)
		cancelled(s, msg);
	else if (strcmp(msg->method, "notifications/initialized") == 0)
		s->initialized = s->greeted;
	else
		log_debug("session",
			  "requestor=%s notification=\"%.64s\" "
			  "ignored=yes",
			  s->requestor->name, msg->method);
}
