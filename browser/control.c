/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.c - requests of the supervisor about calls, sessions and status, from
 * rpc_server.c. Each is answered at once, and none fails.
 */
#include "browser/control.h"

#include <string.h>

#include "base/mem.h"
#include "browser/chromium.h"
#include "browser/session_access.h"
#include "proto/json/json_pack.h"
#include "browser/rpc_server.h"

static struct json_object *cancel(struct browser *b, struct json_object *body)
{
	int64_t seq = json_member_int(body, "seq");
	struct call *c;

	TAILQ_FOREACH(c, &b->calls, link)
		if (c->seq == seq)
			break;
	if (c != NULL)
		call_abort(c, "RUN_CANCELED", "the call was cancelled");
	return json_object_new_object();
}

static struct json_object *run_ended(struct browser *b,
				     struct json_object *body)
{
	const char *run = json_member_str(body, "run");
	unsigned closed = 0;
	struct call *c;

	if (run == NULL)
		return json_pack("closed:i", 0);
	TAILQ_FOREACH(c, &b->calls, link)
		if (c->of_run != NULL && strcmp(c->of_run, run) == 0)
			call_abort(c, "RUN_CANCELED", "the run ended");
	closed = sessions_run_ended(b, run);
	session_access_run_ended(b, run);
	return json_pack("closed:i", closed);
}

static struct json_object *requestor_gone(struct browser *b,
					  struct json_object *body)
{
	const char *requestor = json_member_str(body, "requestor");
	unsigned closed = 0;

	if (requestor != NULL)
		closed = sessions_requestor_gone(b, requestor);
	return json_pack("closed:i", closed);
}

static struct json_object *list(struct browser *b, struct json_object *body)
{
	struct json_object *all = json_object_new_array();
	const char *requestor = json_member_str(body, "requestor");
	struct session *s;

	TAILQ_FOREACH(s, &b->sessions, link)
		if (requestor == NULL || strcmp(requestor, s->requestor) == 0)
			json_object_array_add(all, session_view(s));
	return json_pack("sessions:o", all);
}

/* {NAME: {sessions, tabs}} */
static struct json_object *by_requestor(const struct browser *b)
{
	struct json_object *all = json_object_new_object(), *o;
	const struct session *s;

	TAILQ_FOREACH(s, &b->sessions, link) {
		o = json_member(all, s->requestor);
		json_object_object_add(
		    all, s->requestor,
		    json_pack("sessions:i tabs:i",
			      json_member_int(o, "sessions") + 1,
			      json_member_int(o, "tabs") + s->n_tabs));
	}
	return all;
}

static struct json_object *status(struct browser *b, struct json_object *body)
{
	const struct limits *l = &b->limits;
	struct json_object *o;

	(void)body;
	o = json_pack("sessions:i tabs:i calls:i refusals:i limits:o",
		      b->n_sessions, b->n_tabs, b->n_calls, b->refusals,
		      json_pack("maxSessions:i maxTabs:i maxTabsPerSession:i "
				"sessionIdleMs:i sessionMaxMs:i",
				l->sessions, l->tabs, l->tabs_per_session,
				l->session_idle_ms, l->session_max_ms));
	json_add(o, "requestors:o cage:o", by_requestor(b),
		 browser_sandbox_view(&b->cage));
	chromium_view(b->chromium, o);
	return o;
}

static const struct {
	const char *name;
	struct json_object *(*answer)(struct browser *b,
				      struct json_object *body);
} requests[] = {
    {"cancel", cancel},
    {"run_ended", run_ended},
    {"requestor_gone", requestor_gone},
    {"sessions", list},
    {"status", status},
};

bool control(struct browser *b, uint32_t seq, const char *tool,
	     struct json_object *body)
{
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		if (strcmp(requests[i].name, tool) != 0)
			continue;
		rpc_server_reply(b->rpc, seq, true,
				 requests[i].answer(b, body));
		json_object_put(body);
		return true;
	}
	return false;
}
