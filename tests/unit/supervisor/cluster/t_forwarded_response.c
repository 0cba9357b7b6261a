/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_forwarded_response.c - a client's response leaves for the server that asked, and no
 * large response becomes text before. There is no database.
 */
#include <json-c/printbuf.h>
#include <string.h>

#include "base/os/log.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/cluster/cluster_table.h"
#include "supervisor/cluster/forwarded_response.h"
#include "supervisor/session/client_request.h"
#include "supervisor/store/store.h"
#include "supervisor/run/threads/rpc_async.h"
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static struct context ctx = {.instance = "inst_one"};
static struct requestor requestor = {.name = (char *)"somebody"};
static int written; /* how often a response became text */

static int write_it(struct json_object *o, struct printbuf *out, int level,
		    int flags)
{
	(void)o, (void)level, (void)flags;
	written++;
	return printbuf_memappend(out, "{}", 2);
}

static void key(void *arg, char *out)
{
	(void)arg;
	memset(out, 'k', SESSION_KEY_SIZE - 1);
	out[SESSION_KEY_SIZE - 1] = '\0';
}

/* Return the bytes that leave of a response of BYTES, of which TEXT was kept. */
static size_t leaves(size_t bytes, const char *text)
{
	static const struct session_ops ops = {.key = key};
	struct session s = {.ctx = &ctx, .requestor = &requestor, .ops = &ops};
	struct rpc_msg m = {
	    .kind = RPC_RESPONSE,
	    .root = json_object_new_object(),
	    .id = (char *)"\"paddock-inst_22222222222222222222222222-1\"",
	    .bytes = bytes,
	    .inputs = (char *)(uintptr_t)text,
	    .inputs_len = text != NULL ? strlen(text) : 0};
	size_t before = requestor.message_bytes;

	json_object_set_serializer(m.root, write_it, NULL, NULL);
	forwarded_response_forward(&s, &m);
	json_object_put(m.root);
	return requestor.message_bytes - before;
}

static void begin(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	ctx.store = store_start("/proc/nowhere", ctx.instance);
	store_set_url(ctx.store, "postgresql:///none?host=/proc/nowhere");
	ctx.cluster = &cluster_table;
}

static void end(void)
{
	store_stop(ctx.store, 0);
	ctx.store = NULL;
}

TEST(leaves)
{
	begin();
	is_int((long long)leaves(100, NULL), 2, "a small response leaves");
	is_int(written, 1, "a small response is printed once");
	is_int((long long)leaves(RPC_ASYNC_LARGE + 1, "{ }"), 3,
	       "a large response is sent as received");
	is_int((long long)leaves(RPC_ASYNC_TEXT_MAX + 1, NULL), 0,
	       "a response whose text is too long is not sent");
	is_int(written, 1, "a large response is never printed");
	end();
	is_int((long long)requestor.message_bytes, 0,
	       "nothing is on its way when the store has ended");
}

/* Does a response to ID leave? */
static bool leaves_for(const char *id)
{
	static const struct session_ops ops = {.key = key};
	struct session s = {.ctx = &ctx, .requestor = &requestor, .ops = &ops};
	struct rpc_msg m = {.kind = RPC_RESPONSE,
			    .id = (char *)(uintptr_t)id,
			    .bytes = 2,
			    .inputs = (char *)(uintptr_t) "{}",
			    .inputs_len = 2};
	size_t before = requestor.message_bytes;

	forwarded_response_forward(&s, &m);
	return requestor.message_bytes > before;
}

TEST(whose)
{
	begin();
	ctx.instance = "inst_22222222222222222222222222";
	ok(leaves_for("\"paddock-inst_33333333333333333333333333-1\""),
	   "a response to another server's question is sent to the server");
	ok(!leaves_for("\"paddock-inst_22222222222222222222222222-1\""),
	   "a response to this server's question is not sent");
	ok(!leaves_for("\"paddock-inst_33333333333333333333333333\""),
	   "a response with an id without a number is not sent");
	ok(!leaves_for("\"paddock-inst_3333333333333333333333333-11\""),
	   "a response with a malformed server name is not sent");
	ok(!leaves_for("\"paddock-1\"") && !leaves_for("\"else-1\"") &&
	       !leaves_for(NULL),
	   "a response with a foreign id, or without an id, is not sent");
	requestor.message_bytes += (8u << 20) - requestor.message_bytes - 2;
	ok(leaves_for("\"paddock-inst_33333333333333333333333333-1\""),
	   "8 MiB of messages may be in flight");
	ok(!leaves_for("\"paddock-inst_33333333333333333333333333-1\""),
	   "a message beyond 8 MiB is not sent");
	requestor.message_bytes = 2 * 2; /* of the responses that left */
	end();
	is_int((long long)requestor.message_bytes, 0,
	       "no bytes of messages are counted at the end");
	ctx.instance = "inst_one";
}

/* Return the content of a message, with the key in AT. */
static const char *opens(const char *to, const char *body,
			 char at[SESSION_KEY_SIZE])
{
	struct store_message message = {.body = (char *)(uintptr_t)body};

	snprintf(message.run_id, sizeof(message.run_id), "%s", to);
	return forwarded_response_open(at, &message);
}

TEST(opened)
{
	char at[SESSION_KEY_SIZE], want[SESSION_KEY_SIZE];
	char body[2 * SESSION_KEY_SIZE];

	key(NULL, want);
	snprintf(body, sizeof(body), "%s\n{}", want);
	is_str(opens(STORE_MESSAGE_TO_SESSION, body, at), "{}",
	       "a message to a session is what stands behind its key");
	is_str(at, want, "the first line of a message to a session is the key");
	is_str(opens("run_1", body, at), body,
	       "a message to a run is the whole body");
	is_str(at, "", "a message to a run has no key");
	snprintf(body, sizeof(body), "%s", want);
	is_str(opens(STORE_MESSAGE_TO_SESSION, body, at), body,
	       "a message with a key alone is the whole body");
	is_str(at, "", "a message with a key alone has no key");
	snprintf(body, sizeof(body), "%.*s\n{}", SESSION_KEY_SIZE - 2, want);
	opens(STORE_MESSAGE_TO_SESSION, body, at);
	is_str(at, "", "a message with a short key has no key");
	snprintf(body, sizeof(body), "%sk\n{}", want);
	opens(STORE_MESSAGE_TO_SESSION, body, at);
	is_str(at, "", "a message with a long key has no key");
}

static int heard;

static void on_heard(void *arg, enum client_request_end how, struct rpc_msg *m)
{
	(void)arg, (void)m;
	heard += how == CLIENT_REQUEST_RESULT;
}

static char sent_id[80];

static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	struct rpc_msg m;

	(void)arg, (void)stream;
	rpc_parse(&m, text, len);
	snprintf(sent_id, sizeof(sent_id), "%s", m.id);
	rpc_fini(&m);
}

static void hear(const struct requestor *q, const char *at, const char *method)
{
	struct rpc_msg m;
	char text[256];

	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}",
		 sent_id, method);
	rpc_parse(&m, text, strlen(text));
	forwarded_response_hear(&ctx, q, at, &m);
	rpc_fini(&m);
}

TEST(heard)
{
	static const struct session_ops ops = {.key = key, .send = on_send};
	static const struct runs_ops none;
	static struct sessions sessions;
	static struct config config;
	static struct requestors requestors;
	struct requestor other = {.name = (char *)"another"};
	struct json_object *params = json_object_new_object();
	struct session s;
	char own[SESSION_KEY_SIZE];

	key(NULL, own);
	begin();
	ctx.base = event_base_new();
	ctx.sessions = &sessions;
	ctx.config = &config;
	ctx.requestors = &requestors;
	ctx.runs = runs_new(&ctx, &none);
	sessions_init(&sessions);
	session_init(&s, &ctx, &requestor, &ops, NULL);
	ok(!forwarded_response_awaits(&ctx, &requestor, own),
	   "a session that has asked nothing awaits nothing");
	client_request_send(&s, NULL, "roots/list", params, 60000, on_heard,
			    NULL);
	ok(strstr(sent_id, "inst_one-") != NULL,
	   "a question's id names the server where there are several");
	ok(forwarded_response_awaits(&ctx, &requestor, own),
	   "a session with a question awaits a response");
	ok(!forwarded_response_awaits(&ctx, &other, own),
	   "a session of another requestor awaits no response");
	ok(!forwarded_response_awaits(&ctx, &requestor, "else"),
	   "a session with another key awaits no response");
	hear(&other, own, "\"result\":{}");
	hear(&requestor, "else", "\"result\":{}");
	hear(&requestor, own, "\"method\":\"ping\"");
	is_int(heard, 0,
	       "a request received by another server answers no question");
	hear(&requestor, own, "\"result\":{}");
	is_int(heard, 1,
	       "a response received by another server answers the question");
	json_object_put(params);
	session_fini(&s);
	end();
	runs_free(ctx.runs);
	sessions_fini(&sessions);
	requestors_fini(&requestors);
	event_base_free(ctx.base);
}

#define OTHER "inst_33333333333333333333333333"

/* A response in the database is opened by the asking server as the response left. */
TEST(arrives)
{
	static const struct session_ops ops = {.key = key};
	struct session s = {.ctx = &ctx, .requestor = &requestor, .ops = &ops};
	struct rpc_msg m = {.kind = RPC_RESPONSE,
			    .id = (char *)"\"paddock-" OTHER "-1\"",
			    .bytes = 13,
			    .inputs = (char *)"{\"result\":{}} and more",
			    .inputs_len = 13};
	struct store_run row = help_run("somebody", STORE_QUEUED);
	char at[SESSION_KEY_SIZE], own[SESSION_KEY_SIZE], body[256] = "";
	struct store *other;
	struct help_db *db;
	char *dir, *beside;

	if (!help_is_postgres())
		return;
	dir = help_dir();
	beside = help_dir();
	ctx.store = help_start(dir, ctx.instance);
	other = help_start_beside(beside, dir, OTHER);
	help_put(ctx.store, &row, STORE_SYNC);
	snprintf(row.id, sizeof(row.id), "run_%026d", 3);
	help_put(other, &row, STORE_SYNC);
	forwarded_response_forward(&s, &m);
	row.id[29] = '4';
	help_put(ctx.store, &row, STORE_SYNC);
	is_int((long long)requestor.message_bytes, 0,
	       "a stored message is not in flight any more");
	db = help_open(dir);
	is_int(help_number(db, "SELECT count(*) FROM mail WHERE instance = "
			       "'" OTHER "'"),
	       1, "the message is stored for the asking server");
	help_text(db, "SELECT body FROM mail", body, sizeof(body));
	help_close(db);
	key(NULL, own);
	is_str(opens(STORE_MESSAGE_TO_SESSION, body, at), "{\"result\":{}}",
	       "the message has the response as received");
	is_str(at, own, "the message names the session");
	store_stop(other, HELP_WAIT_MS);
	end();
	help_remove(beside);
	help_remove(dir);
}
