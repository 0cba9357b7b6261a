/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_session.c - which session ends when there are too many, or idle. */
#include "proto/json/json.h"
#include "supervisor/session/client_task.h"
#include "supervisor/session/client_request.h"
#include "supervisor/clients/streamable_http/http_session.h"
#include "tests/unit/supervisor/clients/http/http_fixture.h"
#include "tests/unit/supervisor/clients/streamable_http/http_session_fixture.h"

#define ANY_TIME (-60000) /* whoever has been idle for less than no time */

static void open_all(struct requestor *q, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (http_session_new(&all, q) == NULL)
			return;
}

static bool is_there(struct requestor *q, const char *id)
{
	return http_session_find(&all, q, id) != NULL;
}

TEST(own)
{
	struct http_session *others, *first;
	char theirs[HTTP_SESSION_ID_SIZE], own[HTTP_SESSION_ID_SIZE];

	server_begin(NULL);
	others = http_session_new(&all, user(1));
	memcpy(theirs, others->id, sizeof(theirs));
	first = http_session_new(&all, user(2));
	memcpy(own, first->id, sizeof(own));
	open_all(user(2), HTTP_SESSIONS_EACH - 1);
	is_int(user(2)->http_sessions, HTTP_SESSIONS_EACH,
	       "a requestor is at its bound of sessions");
	ok(http_session_new(&all, user(2)) != NULL,
	   "a requestor at the bound gets one more session");
	ok(!is_there(user(2), own),
	   "the requestor's session idle for longest is ended");
	ok(is_there(user(1), theirs),
	   "another requestor's session idle for longer stays");
	is_int(user(2)->http_sessions, HTTP_SESSIONS_EACH,
	       "the requestor has as many sessions as before");
	server_end();
}

/* A session from before a restart counts like any other session. */
TEST(again)
{
	static const char id[HTTP_SESSION_ID_SIZE] =
	    "0123456789012345678901234567890123456789";
	char own[HTTP_SESSION_ID_SIZE];
	struct http_session *s;

	server_begin(NULL);
	memcpy(own, http_session_new(&all, user(1))->id, sizeof(own));
	open_all(user(1), HTTP_SESSIONS_EACH - 1);
	s = http_session_again(&all, user(1), id);
	ok(s != NULL && is_there(user(1), id),
	   "a session comes back at the bound");
	ok(!is_there(user(1), own),
	   "a restored session ends the session idle for longest");
	is_int(user(1)->http_sessions, HTTP_SESSIONS_EACH,
	       "a restored session does not exceed the bound");
	ok(s != NULL && s->lost == s->last_stream && s->lost > UINT32_MAX,
	   "streams of a restored session have new numbers");
	server_end();
}

TEST(all)
{
	struct http_session *s;
	char id[HTTP_SESSION_ID_SIZE];
	uid_t uid = 2;

	server_begin(NULL);
	s = http_session_new(&all, user(1));
	memcpy(id, s->id, sizeof(id));
	for (; all.n < HTTP_SESSIONS_MAX; uid++)
		open_all(user(uid), HTTP_SESSIONS_MAX - all.n);
	ok(user(2)->http_sessions > user(3)->http_sessions,
	   "%u requestors fill all sessions", uid - 1);
	ok(http_session_new(&all, user(uid)) != NULL,
	   "a further requestor gets a session");
	ok(is_there(user(1), id),
	   "a requestor with one session keeps the session");
	is_int(all.n, HTTP_SESSIONS_MAX,
	       "the number of sessions stays at the bound");
	server_end();
}

static void forget(void *arg, enum client_task_end how, struct rpc_msg *value,
		   const char *errmsg)
{
	(void)how, (void)value, (void)errmsg;
	*(bool *)arg = true;
}

/* S's client says TEXT, an answer. */
static void answer(struct http_session *s, const char *text)
{
	struct rpc_msg m;

	rpc_parse(&m, text, strlen(text));
	client_request_response(&s->session, &m);
	rpc_fini(&m);
}

TEST(polled)
{
	struct http_session *s;
	struct json_object *params = json_object_new_object();
	static const char can[] =
	    "{\"tasks\":{\"requests\":{\"elicitation\":{\"create\":{}}}}}";
	char id[HTTP_SESSION_ID_SIZE];
	struct client_task *t;
	bool over = false;

	server_begin(NULL);
	s = http_session_new(&all, user(1));
	memcpy(id, s->id, sizeof(id));
	json_parse(&s->session.terms.capabilities, can, strlen(can), NULL);
	t = client_task_ask(&s->session, NULL, "elicitation/create", params,
			    60000, forget, &over);
	answer(s, "{\"jsonrpc\":\"2.0\",\"id\":\"paddock-1\",\"result\":{"
		  "\"task\":{\"taskId\":\"t\",\"status\":\"working\","
		  "\"pollInterval\":30000}}}");
	ok(s->session.client_requests == NULL,
	   "the client answered with a task, which is polled now and then");
	http_sessions_sweep(&all, ANY_TIME);
	ok(is_there(user(1), id),
	   "a session with a polled task is not idle between two polls");
	ok(!over, "a polled task of the client goes on");
	client_task_drop(t, NULL);
	http_sessions_sweep(&all, ANY_TIME);
	ok(!is_there(user(1), id), "without one it is, and ends");
	json_object_put(params);
	server_end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tap_run();
	return tap_done();
}
