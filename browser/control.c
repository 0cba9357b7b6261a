/* SPDX-License-Identifier: Apache-2.0 */
#include "browser/control.h"

#include <string.h>

#include "base/mem.h"
#include "browser/chromium.h"
#include "browser/session_access.h"
#include "proto/json/json_pack.h"
#include "browser/rpc_server.h"

static struct json_object *cancel(struct browser *b, struct json_object *body)
{
	int64_t seq = member_int(body, "seq");
	struct call *c;

	TAILQ_FOREACH(c, &b->calls, link)
		if (c->seq == seq)
			break;
	if (c != NULL)
		call_abort(c, "RUN_CANCELED", "the call was cancelled");
	return pack("");
}

static struct json_object *run_ended(struct browser *b,
				     struct json_object *body)
{
	const char *run = member_str(body, "run");
	unsigned closed = 0;
	struct call *c;

	if (run == NULL)
		return pack("closed:i", (int64_t)0);
	TAILQ_FOREACH(c, &b->calls, link)
		if (c->of_run != NULL && strcmp(c->of_run, run) == 0)
			call_abort(c, "RUN_CANCELED", "the run ended");
	closed = sessions_run_ended(b, run);
	session_access_run_ended(b, run);
	return pack("closed:i", (int64_t)closed);
}

static struct json_object *requestor_gone(struct browser *b,
					  struct json_object *body)
{
	const char *who = member_str(body, "requestor");
	unsigned closed = 0;

	if (who != NULL)
		closed = sessions_requestor_gone(b, who);
	return pack("closed:i", (int64_t)closed);
}

static struct json_object *list(struct browser *b, struct json_object *body)
{
	struct json_object *all = json_object_new_array();
	const char *who = member_str(body, "requestor");
	struct session *s;

	TAILQ_FOREACH(s, &b->sessions, link)
		if (who == NULL || strcmp(who, s->requestor) == 0)
			json_object_array_add(all, session_view(s));
	return pack("sessions:o", all);
}

/* {NAME: {sessions, tabs}} */
static struct json_object *by_requestor(const struct browser *b)
{
	struct json_object *all = json_object_new_object(), *o;
	const struct session *s;

	TAILQ_FOREACH(s, &b->sessions, link) {
		o = member(all, s->requestor);
		json_object_object_add(all, s->requestor,
				       pack("sessions:i tabs:i",
					    member_int(o, "sessions") + 1,
					    member_int(o, "tabs") + s->n_tabs));
	}
	return all;
}

static struct json_object *status(struct browser *b, struct json_object *body)
{
	const struct limits *l = &b->limits;
	struct json_object *o;

	(void)body;
	o = pack("sessions:i tabs:i calls:i refusals:i limits:o",
		 (int64_t)b->n_sessions, (int64_t)b->n_tabs,
		 (int64_t)b->n_calls, (int64_t)b->refusals,
		 pack("maxSessions:i maxTabs:i maxTabsPerSession:i "
		      "sessionIdleMs:i sessionMaxMs:i",
		      (int64_t)l->sessions, (int64_t)l->tabs,
		      (int64_t)l->tabs_per_session, l->session_idle_ms,
		      l->session_max_ms));
	json_object_object_add(o, "requestors", by_requestor(b));
	json_object_object_add(o, "cage", browser_sandbox_view(&b->cage));
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
		rpc_server_reply(b->wire, seq, true,
				 requests[i].answer(b, body));
		json_object_put(body);
		return true;
	}
	return false;
}
