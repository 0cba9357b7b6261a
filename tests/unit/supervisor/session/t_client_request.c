/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_client_request.c - a question to a client ends once: by the answer, a refusal, the
 * timeout, the end of the session, or a drop by the asker.
 */
#include "supervisor/session/client_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/log.h"
#include "supervisor/session/session.h"
#include "tests/unit/base/clock_fixture.h"
#include "tests/unit/tap.h"

static struct sessions sessions;
static struct context ctx = {.sessions = &sessions};
static struct requestor requestor = {.name = (char *)"somebody"};
static struct session session;
static struct json_object *params;
static char sent[1024]; /* the last message */
static int ends, how;

static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	(void)arg, (void)stream;
	snprintf(sent, sizeof(sent), "%.*s", (int)len, text);
}

static void on_end(void *arg, enum client_request_end end, struct rpc_msg *m)
{
	(void)arg, (void)m;
	ends++;
	how = (int)end;
}

static const struct session_ops ops = {.send = on_send};

static void begin(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	ctx.base = event_base_new();
	sessions_init(&sessions);
	session_init(&session, &ctx, &requestor, &ops, NULL);
	params = json_object_new_object();
	ends = 0;
	how = -1;
}

static void end(void)
{
	session_fini(&session);
	is_int((int64_t)ctx.client_requests, 0,
	       "no question is left at the end");
	sessions_fini(&sessions);
	json_object_put(params);
	event_base_free(ctx.base);
}

static struct client_request *ask(int64_t ms)
{
	return client_request_send(&session, NULL, "roots/list", params, ms,
				   on_end, NULL);
}

/* The client's answer to question N. */
static bool says(int n, const char *what)
{
	struct rpc_msg m;
	char text[256];
	bool was_asked;

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":\"paddock-%d\",%s}", n, what);
	rpc_parse(&m, text, strlen(text));
	was_asked = client_request_response(&session, &m);
	rpc_fini(&m);
	return was_asked;
}

TEST(answered)
{
	begin();
	ask(1000);
	ask(1000);
	ok(strstr(sent, "\"id\":\"paddock-2\"") != NULL &&
	       strstr(sent, "\"roots/list\"") != NULL,
	   "each question has an id of its own");
	ok(!says(3, "\"result\":{}"),
	   "a response to an unknown id is no answer");
	ok(says(1, "\"result\":{}"), "a response to a question is an answer");
	is_int(how, CLIENT_REQUEST_RESULT, "the answer is a result");
	ok(!says(1, "\"result\":{}"), "a second response is no answer");
	is_int((int64_t)ctx.client_requests, 1,
	       "the other question is still open");
	says(2, "\"error\":{\"code\":1,\"message\":\"no\"}");
	is_int(how, CLIENT_REQUEST_REFUSED, "an error response is a refusal");
	ask(1000);
	says(3, "\"result\":7");
	is_int(how, CLIENT_REQUEST_REFUSED, "a malformed result is a refusal");
	is_int(ends, 3, "three questions have three ends");
	end();
	is_int(ends, 3, "the end of the session ends no question twice");
}

TEST(expired)
{
	begin();
	ask(1000);
	clock_skip(900);
	event_base_loop(ctx.base, EVLOOP_NONBLOCK);
	is_int(ends, 0, "before its time a question waits");
	clock_skip(200);
	event_base_loop(ctx.base, EVLOOP_NONBLOCK);
	is_int(how, CLIENT_REQUEST_EXPIRED,
	       "a question without an answer expires");
	ok(strstr(sent, "notifications/cancelled") != NULL &&
	       strstr(sent, "\"requestId\":\"paddock-1\"") != NULL &&
	       strstr(sent, "no answer came in time") != NULL,
	   "the client is told of an expired question");
	ok(!says(1, "\"result\":{}"),
	   "a response to an expired question is no answer");
	is_int(ends, 1, "an expired question ends once");
	end();
}

TEST(dropped)
{
	begin();
	client_request_drop(ask(1000), "nobody waits");
	ok(strstr(sent, "notifications/cancelled") != NULL &&
	       strstr(sent, "nobody waits") != NULL,
	   "a question that nobody wants is taken back");
	client_request_drop(ask(1000), NULL);
	ok(strstr(sent, "roots/list") != NULL,
	   "a question may be dropped without a reason");
	is_int(ends, 0, "a dropped question calls no callback");
	end();
}

TEST(gone)
{
	begin();
	ask(1000);
	end();
	is_int(how, CLIENT_REQUEST_GONE,
	       "the question of a session that has ended is gone");
	is_int(ends, 1, "a question ends once with the session");
}

TEST(too_many)
{
	int n = 0;

	begin();
	while (n < 100000 && ask(1000) != NULL)
		n++;
	is_int(n, SESSION_CLIENT_REQUESTS_MAX,
	       "the number of open questions has a bound");
	says(1, "\"result\":{}");
	ok(ask(1000) != NULL, "an answer makes room for another question");
	end();
}
