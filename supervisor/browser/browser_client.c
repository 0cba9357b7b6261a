/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_client.c - a client's calls of the browser's tools, and the session
 * which a client gives to a run. tools.c and tool_run.c call it. A failure of
 * paddock-browser is answered as a tool error with its code; a large answer
 * waits until the client reads.
 */
#include "supervisor/browser/browser_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/session/response.h"
#include "supervisor/run/audit.h"
#include "supervisor/session/request_backlog.h"

#define CLIENT_CALL_MS 150000 /* above the timeoutMs of any action */

/* request.state: an action, or a look for a session. */
struct client_ask {
	struct request *call;
	struct browser_rpc_call *asked; /* NULL: the call was answered */
	const struct browser_proto_action *action;
	char id[ID_SIZE];
	void (*done)(struct request *req, bool found);
};

static void client_ask_free(void *state)
{
	struct client_ask *a = state;

	if (a->asked != NULL)
		browser_process_forget(a->asked);
	free(a);
}

static const struct request_ops ask_ops = {.free = client_ask_free};

static struct client_ask *client_ask_new(struct request *req)
{
	struct client_ask *a = xcalloc(1, sizeof(*a));

	a->call = req;
	request_set_state(req, &ask_ops, a);
	return a;
}

bool browser_offers(const struct session *s,
		    const struct browser_proto_action *action)
{
	return requestor_uses(s->requestor, action->name) &&
	       browser_lacks(s->ctx->config) == NULL;
}

/*
 * Return CODE if paddock-browser may answer it; other codes mean a failure of
 * the browser.
 */
static const char *known_code(const char *code)
{
	static const char *const codes[] = {
	    "INVALID_PARAMETER", "URL_NOT_ALLOWED",	"SESSION_NOT_FOUND",
	    "ELEMENT_NOT_FOUND", "NAVIGATION_TIMEOUT",	"PAGE_CRASHED",
	    "QUOTA_EXCEEDED",	 "EXECUTION_ERROR",	"RUN_CANCELED",
	    "BROWSER_BUSY",	 "BROWSER_UNAVAILABLE", "RESOURCE_LIMIT",
	};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (strcmp(codes[i], code) == 0)
			return codes[i];
	return "EXECUTION_ERROR";
}

static void client_answered(void *arg, const struct browser_rpc_answer *answer)
{
	struct client_ask *a = arg;
	struct request *req = a->call;
	struct json_object *body = answer->body;
	struct tool_error r = {0};

	a->asked = NULL;
	audit_browser(req->session->requestor, NULL, a->action->name,
		      answer->ok ? NULL : "failed");
	if (answer->ok) {
		response_tool_result(req, json_object_get(body), false);
		return;
	}
	tool_error_set(&r, known_code(json_member_str(body, "code")),
		       json_object_get(json_member(body, "details")), "%s",
		       json_member_str(body, "message"));
	request_tool_error(req, &r);
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;
	const char *name = json_member_str(req->msg.params, "name");

	(void)fd, (void)what;
	browser_call(req, browser_proto_action(name),
		     json_member(req->msg.params, "arguments"));
}

void browser_call(struct request *req,
		  const struct browser_proto_action *action,
		  struct json_object *args)
{
	struct session *s = req->session;
	struct browser *b = s->ctx->browser;
	struct client_ask *a;
	/* such answers may be too much for a client which does not read */
	bool large = strcmp(action->name, "screenshot") == 0 ||
		     strncmp(action->name, "get_", 4) == 0;

	s->requestor->browses = true;
	if (large) {
		if (request_backlog_holds(req, on_turn))
			return;
		request_mark_large(req);
	}
	a = client_ask_new(req);
	a->action = action;
	a->asked =
	    browser_process_ask(b->process, action->name,
				browser_body(s->requestor, session_trust(s),
					     NULL, args, CLIENT_CALL_MS),
				CLIENT_CALL_MS, client_answered, a);
}

/* ---- the session for a run ---- */

static bool may_give(struct json_object *s, const struct client_ask *a)
{
	const char *id = json_member_str(s, "sessionId");
	const char *trust = json_member_str(s, "trust");

	return id != NULL && trust != NULL && strcmp(id, a->id) == 0 &&
	       json_member_bool(s, "kept") &&
	       (session_trust(a->call->session) == TRUST_LOCAL ||
		strcmp(trust, trust_name(TRUST_LOCAL)) != 0);
}

static void sessions_answered(void *arg,
			      const struct browser_rpc_answer *answer)
{
	struct client_ask *a = arg;
	struct request *req = a->call;
	void (*done)(struct request *, bool) = a->done;
	struct json_object *list = json_member(answer->body, "sessions");
	bool found = false;
	size_t n;

	n = answer->ok ? json_length(list) : 0;
	for (size_t i = 0; !found && i < n; i++)
		found = may_give(json_object_array_get_idx(list, i), a);
	free(request_take_state(req));
	done(req, found);
}

void browser_find_session(struct request *req, const char *id,
			  void (*done)(struct request *req, bool found))
{
	struct session *s = req->session;
	struct browser *b = s->ctx->browser;
	struct client_ask *a;

	if (!id_ok(id, BROWSER_PROTO_SESSION) ||
	    !browser_process_is_running(b->process)) {
		done(req, false);
		return;
	}
	a = client_ask_new(req);
	snprintf(a->id, sizeof(a->id), "%s", id);
	a->done = done;
	a->asked =
	    browser_process_ask(b->process, "sessions",
				json_pack("requestor:s", s->requestor->name),
				BROWSER_REQUEST_MS, sessions_answered, a);
}
