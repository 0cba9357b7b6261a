/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_listen.c - requests subscriptions/listen: receivers of list changes, the time, and
 * the end.
 */
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/session/request.h"
#include "tests/unit/tap.h"

static struct fair_queue turns;
static struct fair_queue_flow chores;
static struct sessions sessions;
static struct config config = {.max_listen_streams = 3,
			       .max_answer_bytes = 1 << 20};
static struct context ctx = {.turns = &turns,
			     .chores = &chores,
			     .sessions = &sessions,
			     .methods = &methods,
			     .config = &config};
static struct config_requestor section;
static struct requestor requestor = {.name = (char *)"somebody",
				     .section = &section};
static struct session session;
static bool backlogged;
static char said[4096]; /* METHOD(ID) for each, or =ID for an answer */

/* The ID after KEY in TEXT. */
static const char *after(const char *text, const char *key)
{
	static char out[64];
	const char *at = strstr(text, key);

	out[0] = '\0';
	if (at != NULL)
		sscanf(at + strlen(key), "%63[^,}]", out);
	return out;
}

static void note(const char *lent, size_t len)
{
	char *text = xstrndup(lent, len);
	size_t used = strlen(said);
	const char *method = strstr(text, "\"notifications/");
	char name[64] = "=";

	if (method != NULL)
		sscanf(method + strlen("\"notifications/"), "%63[^\"]", name);
	else if (strstr(text, "\"error\"") != NULL)
		snprintf(name, sizeof(name), "refused ");
	snprintf(said + used, sizeof(said) - used, "%s(%s) ", name,
		 after(text, "subscriptionId\":"));
	free(text);
}

static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	(void)arg, (void)stream;
	note(text, len);
}

static void on_answer(void *arg, void *stream, const char *text, size_t len,
		      struct reply_hint hint)
{
	(void)arg, (void)stream;
	if (text != NULL)
		note(text, len);
	if (hint.retry_ms > 0)
		snprintf(said + strlen(said), sizeof(said) - strlen(said),
			 "later ");
}

static bool is_backlogged(void *arg)
{
	(void)arg;
	return backlogged;
}

static const struct session_ops ops = {
    .send = on_send, .answer = on_answer, .backlogged = is_backlogged};

static void say(void *stream, const char *text)
{
	struct rpc_msg m;

	said[0] = '\0';
	rpc_parse(&m, text, strlen(text));
	session_take(&session, stream, &m);
}

/* Send the request ID (raw) on STREAM with FILTER. */
static void listens(const char *id, void *stream, const char *filter)
{
	char *text = xasprintf(
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"subscriptions/listen\","
	    "\"params\":{\"notifications\":%s,\"_meta\":{"
	    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
	    id, filter);

	say(stream, text);
	free(text);
}

static void begin(void)
{
	if (ctx.base == NULL)
		ctx.base = event_base_new();
	fair_queue_init(&turns, ctx.base);
	fair_queue_flow_init(&chores);
	fair_queue_flow_init(&requestor.turns);
	sessions_init(&sessions);
	section = (struct config_requestor){0};
	backlogged = false;
	session_init(&session, &ctx, &requestor, &ops, NULL);
}

static void end(void)
{
	session_fini(&session);
	is_int((long long)requestor.n_listens, 0,
	       "no request listens at the end");
	ok(LIST_EMPTY(&sessions.observers) && LIST_EMPTY(&sessions.subscribers),
	   "an ended session gets no notification");
	sessions_fini(&sessions);
	fair_queue_fini(&turns);
}

/* Change the lists; returns the notifications which can be sent now. */
static const char *change(void)
{
	said[0] = '\0';
	session_lists_changed(&ctx);
	while (turns.n_lanes > 0)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	return said;
}

static const char *read_on(void)
{
	said[0] = '\0';
	backlogged = false;
	sessions_read_on(&ctx);
	event_base_loop(ctx.base, EVLOOP_ONCE);
	event_base_loop(ctx.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	return said;
}

TEST(lists)
{
	begin();
	is_str(
	    change(), "",
	    "a session without a greeting and without a listen gets no notification");
	listens("7", NULL, "{\"toolsListChanged\":true}");
	is_str(said, "subscriptions/acknowledged(7) ",
	       "a listen is acknowledged with the id of the request");
	listens("\"7\"", NULL, "{\"promptsListChanged\":true}");
	is_str(said, "subscriptions/acknowledged(\"7\") ",
	       "a listen with a string id is acknowledged with the string");
	listens("8", NULL, "{\"toolsListChanged\":false}");
	is_str(change(), "prompts/list_changed(\"7\") tools/list_changed(7) ",
	       "each listen gets the wanted notifications");
	session.greeted = true;
	is_str(change(),
	       "prompts/list_changed(\"7\") tools/list_changed(7) "
	       "tools/list_changed() resources/list_changed() "
	       "prompts/list_changed() ",
	       "a session beside them all of it");
	session.greeted = false;
	say(NULL, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		  "\"params\":{\"requestId\":7}}");
	is_str(said, "", "a cancelled listen has no answer");
	is_str(change(), "prompts/list_changed(\"7\") ",
	       "a cancelled listen gets no notification");
	end();
}

TEST(backlog)
{
	begin();
	listens("1", NULL, "{\"toolsListChanged\":true}");
	listens("2", NULL,
		"{\"promptsListChanged\":true,\"resourcesListChanged\":true}");
	backlogged = true;
	change();
	is_str(change(), "",
	       "a client which does not read gets no notification");
	is_str(
	    read_on(), "resources/list_changed(2) prompts/list_changed(2) ",
	    "a client which reads again gets one notification for many changes");
	for (int i = 0; i < 4 && strchr(said, '1') == NULL; i++)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	ok(strstr(said, "(2) tools/list_changed(1) ") != NULL,
	   "the next listen gets its notification");
	is_int((long long)session.n_requests, 2, "both listens go on");
	backlogged = true;
	change();
	end();
}

TEST(bounds)
{
	begin();
	for (int i = 0; i < 3; i++) {
		char id[8];

		snprintf(id, sizeof(id), "%d", i);
		listens(id, NULL, "{}");
	}
	listens("3", NULL, "{}");
	is_str(said, "refused () later ",
	       "a listen beyond the bound is refused for now");
	section.max_listen_streams = 4;
	listens("3", NULL, "{}");
	is_str(said, "subscriptions/acknowledged(3) ",
	       "a requestor's own bound comes first");
	end();
}

TEST(end)
{
	char stream;

	begin();
	listens("1", NULL, "{}");
	listens("2", &stream, "{}");
	said[0] = '\0';
	ctx.flush_until_ms = 1;
	sessions_end(&sessions);
	is_str(
	    said, "=(2) =(1) cancelled(1) ",
	    "at the end each is answered, and over lines called off as well");
	is_int((long long)session.n_requests, 0,
	       "no listen is left at the end");
	ctx.flush_until_ms = 0;
	end();
}

int main(void)
{
	tap_run();
	event_base_free(ctx.base);
	return tap_done();
}
