/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_request.c - how long an answer may be, alone and in a batch; what a large one counts
 * until it is there; and who waits to read more, told once.
 */
#include "supervisor/session/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/config/config.h"
#include "supervisor/session/batch.h"
#include "supervisor/session/session.h"
#include "tests/unit/tap.h"

#define MOST 5000 /* bytes of an answer */

static struct fair_queue turns;
static struct sessions sessions;
static struct config config = {.max_answer_bytes = MOST};
static struct context ctx = {
    .turns = &turns, .sessions = &sessions, .config = &config};
static struct config_requestor section;
static struct requestor requestor = {.name = (char *)"somebody",
				     .section = &section};
static struct session session;
static size_t answer_len;
static char answer[2 * MOST];
static int woken, read_on;

static void on_answer(void *arg, void *stream, const char *text, size_t len,
		      struct reply_hint hint)
{
	(void)arg, (void)stream, (void)hint;
	answer_len = len;
	snprintf(answer, sizeof(answer), "%.*s", (int)len,
		 text != NULL ? text : "");
}

static void on_read_done(void *arg)
{
	(void)arg;
	read_on++;
}

static const struct session_ops ops = {.answer = on_answer,
				       .read_done = on_read_done};

static void begin(void)
{
	ctx.base = event_base_new();
	fair_queue_init(&turns, ctx.base);
	fair_queue_flow_init(&requestor.turns);
	sessions_init(&sessions);
	session_init(&session, &ctx, &requestor, &ops, NULL);
	answer_len = 0;
	woken = read_on = 0;
}

static void end(void)
{
	session_fini(&session);
	is_int((int64_t)requestor.memory.held, 0,
	       "and nothing is counted when its session has ended");
	sessions_fini(&sessions);
	fair_queue_fini(&turns);
	event_base_free(ctx.base);
}

static struct request *called(void)
{
	static const char text[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}";
	struct rpc_msg m;
	struct request *c;

	rpc_parse(&m, text, strlen(text));
	c = request_new(&session, NULL, &m, NULL);
	request_begin(c);
	return c;
}

/* The length of the answer that has LEN bytes when it is not cut. */
static size_t answers(size_t len)
{
	struct json_object *o = json_object_new_object();
	char *text = xcalloc(1, len);

	memset(text, 'x',
	       len - strlen("{\"jsonrpc\":\"2.0\",\"id\":1,"
			    "\"result\":{\"a\":\"\"}}"));
	json_object_object_add(o, "a", json_object_new_string(text));
	free(text);
	request_result(called(), o);
	return answer_len;
}

TEST(longest)
{
	begin();
	is_int((int64_t)answers(MOST), MOST,
	       "an answer of the most bytes leaves");
	ok(strstr(answer, "\"result\"") != NULL, "as it is");
	answers(MOST + 1);
	ok(answer_len < MOST && strstr(answer, "max_answer_bytes") != NULL &&
	       strstr(answer, "5001 bytes") != NULL,
	   "one byte more is an error that says so");
	ok(strstr(answer, "in no batch") == NULL, "and speaks of no batch");
	config.max_answer_bytes = 100;
	is_int((int64_t)answers(2048), 2048,
	       "what an error may have is never too long");
	answers(2049);
	ok(strstr(answer, "\"error\"") != NULL, "but what is longer");
	config.max_answer_bytes = MOST;
	end();
}

TEST(in_batch)
{
	struct request *c;
	struct buf others = {0};

	begin();
	c = called();
	is_int((int64_t)request_max_bytes(c), MOST, "alone it has all bytes");
	c->batch = batch_new(&session, NULL, 3);
	buf_printf(&others, "%0*d", 400, 0);
	batch_add(c->batch, &others);
	batch_skip(c->batch);
	ok(request_max_bytes(c) < MOST - 400, "beside others what they leave");
	ok(request_max_bytes(c) <= MOST - 400 - 2048,
	   "with room for who is not answered yet");
	config.max_answer_bytes = 401;
	is_int((int64_t)request_max_bytes(c), 0, "which may be nothing");
	config.max_answer_bytes = MOST;
	buf_fini(&others);
	end();
}

TEST(reads)
{
	struct request *c;

	begin();
	c = called();
	request_ref_large(c);
	is_int((int64_t)session.n_reads, 1, "who awaits a large answer counts");
	is_int((int64_t)requestor.n_reads, 1, "for its requestor as well");
	request_mark_large(c);
	is_int((int64_t)requestor.n_reads, 1, "once");
	ok(request_unref(c), "until what it awaits is there");
	is_int((int64_t)session.n_reads, 0, "and no longer");
	is_int((int64_t)requestor.n_reads, 0, "for neither");
	request_ref_large(c);
	request_drop(c, false);
	is_int((int64_t)requestor.n_reads, 0, "nor when it is dropped");
	ok(!request_unref(c), "before that is there");
	is_int((int64_t)requestor.n_reads, 0, "which counts nothing twice");
	end();
}

static void on_wake(struct session *s)
{
	woken++;
	if (woken == 1)
		session_wait_to_read(s); /* it is over its limit yet */
}

static void turn(void)
{
	event_base_loop(ctx.base, EVLOOP_NONBLOCK);
}

TEST(waits)
{
	struct session other;

	begin();
	session_init(&other, &ctx, &requestor, &ops, NULL);
	session.wake = other.wake = on_wake;
	sessions_read_on(&ctx);
	turn();
	is_int(woken, 0, "nobody is told who does not wait");
	session_wait_to_read(&session);
	session_wait_to_read(&session);
	session_wait_to_read(&other);
	sessions_read_on(&ctx);
	sessions_read_on(&ctx);
	turn();
	is_int(woken, 2, "each that waits is told once");
	is_int(read_on, 2, "by its transport as well");
	sessions_read_on(&ctx);
	turn();
	is_int(woken, 3, "who waits on is told the next time");
	sessions_read_on(&ctx);
	turn();
	is_int(woken, 3, "and who does not is not");
	session_wait_to_read(&other);
	session_fini(&other);
	sessions_read_on(&ctx);
	turn();
	is_int(woken, 3, "who has gone waits no more");
	end();
}
