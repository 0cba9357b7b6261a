/* SPDX-License-Identifier: Apache-2.0 */
/* t_session.c - answers of a session: ids, batches, and the rate of requests. */
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/session/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/session/request.h"
#include "tests/unit/tap.h"

#define WAITING 2000
#define BAD_TERMS                                                              \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","             \
	"\"params\":{\"_meta\":"                                               \
	"{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}"

static struct fair_queue turns;
static struct sessions sessions;
static struct context ctx = {
    .turns = &turns, .sessions = &sessions, .methods = &methods};
static struct config_requestor section;
static struct requestor requestor = {.name = (char *)"somebody",
				     .section = &section};
static struct session session;
static char answers[4096]; /* the answers, one after another */
/* the hint of the last answer: refused by the rate */
static bool was_limited;

static void on_answer(void *arg, void *stream, const char *text, size_t len,
		      struct reply_hint hint)
{
	size_t used = strlen(answers);

	(void)arg, (void)stream;
	snprintf(answers + used, sizeof(answers) - used, "%.*s\n", (int)len,
		 text != NULL ? text : "");
	was_limited = hint.retry_ms > 0;
}

static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	on_answer(arg, stream, text, len, (struct reply_hint){0});
}

static const struct session_ops ops = {.send = on_send, .answer = on_answer};

static void begin(void)
{
	if (ctx.base == NULL)
		ctx.base = event_base_new();
	fair_queue_init(&turns, ctx.base);
	fair_queue_flow_init(&requestor.turns);
	sessions_init(&sessions);
	section = (struct config_requestor){0};
	requestor.rate = requestor.other_rate = (struct quota_rate){0};
	session_init(&session, &ctx, &requestor, &ops, NULL);
	answers[0] = '\0';
}

static void say(const char *text)
{
	struct rpc_msg m;

	answers[0] = '\0';
	rpc_parse(&m, text, strlen(text));
	session_take(&session, NULL, &m);
}

static void end(void)
{
	session_fini(&session);
	fair_queue_fini(&turns);
}

static void turn(void)
{
	while (turns.n_lanes > 0)
		event_base_loop(ctx.base, EVLOOP_ONCE);
}

/*
 * Make a waiting call without other references; the end of the session frees the call.
 */
static struct request *wait_for(const char *id)
{
	char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,"
			       "\"method\":\"tools/call\"}",
			       id);
	struct rpc_msg m;
	struct request *req;

	rpc_parse(&m, text, strlen(text));
	req = request_new(&session, NULL, &m, NULL);
	request_begin(req);
	free(text);
	return req;
}

TEST(ids)
{
	struct request *req;

	begin();
	for (int i = 0; i < WAITING - 1; i++) {
		char id[32];

		snprintf(id, sizeof(id), "\"call\\u002d%d\"", i);
		wait_for(id);
	}
	req = wait_for("\"w/\\u0000\"");
	say("{\"jsonrpc\":\"2.0\",\"id\":\"\\u0077\\/\\u0000\","
	    "\"method\":\"ping\"}");
	ok(strstr(answers, "under way") != NULL,
	   "among %d waiting calls an id in use is found in any spelling",
	   WAITING);
	say("{\"jsonrpc\":\"2.0\",\"id\":\"call-1999\",\"method\":\"ping\"}");
	ok(strstr(answers, "\"result\"") != NULL, "an unused id may be used");
	say("{\"jsonrpc\":\"2.0\",\"id\":\"call-1999\",\"method\":\"ping\"}");
	ok(strstr(answers, "\"result\"") != NULL,
	   "an answered id may be used again");
	is_int((long long)session.n_requests, WAITING,
	       "waiting calls still wait");
	request_drop(req, false);
	say("{\"jsonrpc\":\"2.0\",\"id\":\"w/\\u0000\",\"method\":\"ping\"}");
	ok(strstr(answers, "\"result\"") != NULL,
	   "an id is free when its call is dropped");
	end();
}

#define PING "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}"

static void ping(int id)
{
	char *text = xasprintf(PING, id);

	say(text);
	free(text);
}

/* The hint tells the transport to answer with HTTP's 429. */
TEST(rate)
{
	begin();
	section.rate_per_second = 1;
	for (int i = 0; i < 10; i++)
		ping(i);
	ok(strstr(answers, "\"result\"") != NULL && !was_limited,
	   "ten pings for each request are answered");
	ping(2);
	ok(strstr(answers, "RATE_LIMITED") != NULL && was_limited,
	   "one above it is refused, and the transport is told");
	end();

	begin();
	section.rate_per_second = 1;
	session.greeted = true;
	session.terms.revision = MCP_2025_03_26;
	say("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/none\"},"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/none\"}]");
	turn();
	ok(strstr(answers, "\"code\":-32601") != NULL &&
	       strstr(answers, "\"id\":2,\"error\"") != NULL &&
	       strstr(answers, "RATE_LIMITED") != NULL,
	   "each request of a batch over the rate has an error");
	ok(!was_limited, "a batch over the rate is no refusal as a whole");
	end();

	begin();
	section.rate_per_second = 1;
	say(BAD_TERMS);
	ok(strstr(answers, "\"code\":-32602") != NULL && !was_limited,
	   "MCP26 1: what says too little of itself is refused");
	say(BAD_TERMS);
	ok(strstr(answers, "\"code\":429") != NULL && was_limited,
	   "MCP26 5: and counts as any other, in the codes of its revision");
	end();
}

static size_t others; /* turns of another lane */

static void on_other(void *arg)
{
	(void)arg;
	others++;
	if (session.n_batches > 0)
		return;
	others = 1000; /* too late */
}

/*
 * A part of a batch is one turn: other lanes run between two parts, and the client may
 * leave.
 */
TEST(batch)
{
	static const char batch[] =
	    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"},7]";
	struct fair_queue_flow lane;
	struct fair_queue_turn other = {.take = on_other};

	begin();
	session.greeted = true;
	session.terms.revision = MCP_2025_03_26;
	fair_queue_flow_init(&lane);
	say(batch);
	is_str(answers, "",
	       "a batch is not answered before all of it is taken");
	fair_queue_submit(&turns, &lane, &other);
	turn();
	is_int((long long)others, 1, "another lane has a turn within a batch");
	ok(strstr(answers,
		  "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},"
		  "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}},"
		  "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":") == answers,
	   "the answers of a batch leave together");
	end();

	begin();
	session.greeted = true;
	session.terms.revision = MCP_2025_03_26;
	say(batch);
	end();
	is_str(answers, "",
	       "a client which leaves within a batch gets no answer");
}

static bool fired;

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
	fired = true;
}

/*
 * A dropped call with a reference is freed later, and its timer is stopped at once.
 */
TEST(timer)
{
	struct request *req;

	begin();
	req = wait_for("1");
	request_set_timer(req, 0, on_timer);
	request_ref(req);
	request_drop(req, false);
	event_base_loop(ctx.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	ok(!fired, "a call that is dropped while it is held wakes no more");
	ok(!request_unref(req),
	   "a dropped call is freed with the last reference");
	end();
}
