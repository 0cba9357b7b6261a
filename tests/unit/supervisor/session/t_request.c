/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_request.c - the longest answer, alone and in a batch; the count of large reads
 * until the answer is there; sessions which wait to read, woken once; and answers which
 * wait for earlier answers.
 */
#include "supervisor/session/request.h"
#include "supervisor/session/request_backlog.h"

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
	       "no byte is counted after the end of the session");
	sessions_fini(&sessions);
	fair_queue_fini(&turns);
	event_base_free(ctx.base);
}

static struct request *called(void)
{
	static const char text[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}";
	struct rpc_msg m;
	struct request *req;

	rpc_parse(&m, text, strlen(text));
	req = request_new(&session, NULL, &m, NULL);
	request_begin(req);
	return req;
}

/* The length of the answer whose uncut length is LEN. */
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
	ok(strstr(answer, "\"result\"") != NULL,
	   "the longest answer is a result");
	answers(MOST + 1);
	ok(answer_len < MOST && strstr(answer, "max_answer_bytes") != NULL &&
	       strstr(answer, "5001 bytes") != NULL,
	   "one byte more is an error that says so");
	ok(strstr(answer, "in no batch") == NULL,
	   "an error outside of a batch names no batch");
	config.max_answer_bytes = 100;
	is_int((int64_t)answers(2048), 2048,
	       "an answer of the size of an error is never too long");
	answers(2049);
	ok(strstr(answer, "\"error\"") != NULL,
	   "an answer longer than an error is refused");
	config.max_answer_bytes = MOST;
	end();
}

TEST(in_batch)
{
	struct request *req;
	struct buf others = {0};

	begin();
	req = called();
	is_int((int64_t)request_max_bytes(req), MOST, "alone it has all bytes");
	req->batch = batch_new(&session, NULL, 3);
	buf_printf(&others, "%0*d", 400, 0);
	batch_add(req->batch, &others);
	batch_skip(req->batch);
	ok(request_max_bytes(req) < MOST - 400,
	   "beside others what they leave");
	ok(request_max_bytes(req) <= MOST - 400 - 2048,
	   "an answer in a batch leaves room for the other answers");
	config.max_answer_bytes = 401;
	is_int((int64_t)request_max_bytes(req), 0,
	       "an answer in a batch may have no room");
	config.max_answer_bytes = MOST;
	buf_fini(&others);
	end();
}

TEST(reads)
{
	struct request *req;

	begin();
	req = called();
	request_ref_large(req);
	is_int((int64_t)session.n_reads, 1,
	       "a large read counts for the session");
	is_int((int64_t)requestor.n_reads, 1,
	       "a large read counts for the requestor");
	request_mark_large(req);
	is_int((int64_t)requestor.n_reads, 1,
	       "a request with two large reads counts once");
	ok(request_unref(req), "a request is released when the read is done");
	is_int((int64_t)session.n_reads, 0,
	       "a finished large read does not count for the session");
	is_int((int64_t)requestor.n_reads, 0,
	       "a finished large read does not count for the requestor");
	request_ref_large(req);
	request_drop(req, false);
	is_int((int64_t)requestor.n_reads, 0,
	       "a dropped request does not count for the requestor");
	ok(!request_unref(req),
	   "a dropped request lives until the read is done");
	is_int((int64_t)requestor.n_reads, 0,
	       "a dropped request is not counted twice");
	end();
}

static void on_wake(struct session *s)
{
	woken++;
	if (woken == 1)
		/* the session is still over the limit */
		session_wait_to_read(s);
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
	is_int(woken, 0, "a session which does not wait is not woken");
	session_wait_to_read(&session);
	session_wait_to_read(&session);
	session_wait_to_read(&other);
	sessions_read_on(&ctx);
	sessions_read_on(&ctx);
	turn();
	is_int(woken, 2, "each waiting session is woken once");
	is_int(read_on, 2, "the transport of a waiting session reads on");
	sessions_read_on(&ctx);
	turn();
	is_int(woken, 3, "a session which waits again is woken again");
	sessions_read_on(&ctx);
	turn();
	is_int(woken, 3, "a session which waits no more is not woken");
	session_wait_to_read(&other);
	session_fini(&other);
	sessions_read_on(&ctx);
	turn();
	is_int(woken, 3, "an ended session is not woken");
	end();
}

/* ---- answers which wait ---- */

static char order[64]; /* the ids of the requests that may be answered */

/* Note the id of C, which may be answered now, or let C wait further. */
static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;
	size_t n = strlen(order);

	(void)fd, (void)what;
	if (!request_backlog_holds(req, on_again))
		snprintf(order + n, sizeof(order) - n, "%s ", req->msg.id);
}

static struct request *called_as(const char *id)
{
	char text[80];
	struct rpc_msg m;
	struct request *req;

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\"}",
		 id);
	rpc_parse(&m, text, strlen(text));
	req = request_new(&session, NULL, &m, NULL);
	request_begin(req);
	return req;
}

static void turns_of(int n)
{
	while (n-- > 0)
		turn();
}

/* Requests 1, 2 and 3 wait, since N reads of the session are open. */
static void begin_waiting(struct request *req[3], size_t n)
{
	begin();
	order[0] = '\0';
	session.n_reads = requestor.n_reads = n;
	for (int i = 0; i < 3; i++) {
		req[i] = called_as((const char *[]){"1", "2", "3"}[i]);
		on_again(-1, 0, req[i]);
	}
}

static void end_waiting(void)
{
	session.n_reads = requestor.n_reads = 0;
	end();
}

TEST(backlog)
{
	struct request *req[3];

	begin_waiting(req, SESSION_READS_MAX - 1);
	is_str(order, "1 2 3 ", "below the bound of reads no request waits");
	end_waiting();
	begin_waiting(req, SESSION_READS_MAX);
	is_str(order, "", "at the bound of reads requests wait");
	session.n_reads = SESSION_READS_MAX / 2;
	sessions_read_on(&ctx);
	turns_of(9);
	is_str(order, "", "waiting requests need more room than the first");
	session.n_reads--;
	on_again(-1, 0, req[1]);
	is_str(order, "2 ", "a request that is due is answered");
	turns_of(9);
	is_str(order, "2 1 3 ",
	       "the others are answered in their order, though none ended");
	ok(TAILQ_EMPTY(&session.backlog), "no request waits at the end");
	end_waiting();
}

/* With too little room still, a request looks for room again. */
TEST(backlog_again)
{
	struct request *req[3];

	begin_waiting(req, SESSION_READS_MAX);
	sessions_read_on(&ctx);
	turns_of(9);
	is_str(order, "", "without more room requests wait on");
	session.n_reads = 0;
	sessions_read_on(&ctx);
	turns_of(9);
	is_str(order, "1 2 3 ", "requests that waited in vain are woken again");
	end_waiting();
}

/* A first answer is made, however much memory the requestor has in use. */
TEST(backlog_memory)
{
	struct memory little = {.most = 1};
	struct request *req[3];

	requestor.memory.all = &little;
	begin_waiting(req, 1);
	is_str(order, "",
	       "further requests wait where too much memory is in use");
	end_waiting();
	begin_waiting(req, 0);
	is_str(order, "1 2 3 ",
	       "no request waits for memory where no answer is awaited");
	end_waiting();
	requestor.memory.all = NULL;
}

/* A request whose client cancels it lets the next go on. */
TEST(backlog_left)
{
	struct request *req[3];

	begin_waiting(req, SESSION_READS_MAX);
	session.n_reads = 0;
	request_ref(req[0]); /* so that its end lets no other go on */
	request_drop(req[0], true);
	turns_of(9);
	is_str(order, "2 3 ", "behind a cancelled request the next go on");
	is_int(request_unref(req[0]), false, "the cancelled request ends");
	end_waiting();
}

/* Behind a waiting request later requests wait, whatever room there is. */
TEST(backlog_order)
{
	struct request *req[3], *late;

	begin_waiting(req, SESSION_READS_MAX);
	session.n_reads = 0;
	late = called_as("4");
	on_again(-1, 0, late);
	is_str(order, "", "a request behind waiting ones waits");
	sessions_read_on(&ctx);
	turns_of(9);
	is_str(order, "1 2 3 4 ", "a request behind waiting ones is the last");
	end_waiting();
}

#define IN_A_TURN 32 /* answers of a requestor */

static int answered; /* of the crowd, before the first that waits */

/* The loop looks at the clock once a turn, so a crowd comes in one turn. */
static void on_crowd(evutil_socket_t fd, short what, void *arg)
{
	bool waits = false;

	(void)fd, (void)what, (void)arg;
	for (answered = -1; !waits && answered < 2 * IN_A_TURN; answered++) {
		char id[16];

		snprintf(id, sizeof(id), "%d", answered + 2);
		waits = request_backlog_holds(called_as(id), on_again);
	}
}

/* Answers of a requestor have a bound a turn; the rest follows in later turns. */
TEST(crowd)
{
	begin();
	order[0] = '\0';
	event_base_once(ctx.base, -1, EV_TIMEOUT, on_crowd, NULL,
			&(struct timeval){0});
	while (answered == 0)
		turn();
	is_int(answered, IN_A_TURN, "the answers of a turn have a bound");
	turns_of(9);
	is_str(order, "33 ", "the next is answered in a later turn");
	end();
}
