/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_input_large.c - answers to a run's questions which are large, so a thread parses
 * the answer: the question waits, or ends meanwhile.
 */
#include "tests/unit/supervisor/mcp/input/input_fixture.h"
#include "tests/unit/supervisor/run/threads/full_pool_fixture.h"
#include "tests/unit/supervisor/run/worker/worker_fixture.h"

#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"

/* Like says(), with a message large enough for a thread. */
static void says_at_length(struct client *c, const char *result)
{
	struct buf text = {0};
	struct rpc_msg m;

	buf_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s,\"x\":\"%*s\"}",
		   json_text(c->asked, NULL), result, RPC_ASYNC_LARGE, "");
	rpc_parse(&m, buf_data(&text), buf_len(&text));
	session_take(&c->session, NULL, &m);
	buf_fini(&text);
}

/* Wait until the threads have no jobs. */
static void await_threads(void)
{
	while (thread_pool_jobs(ctx.thread_pool) > 0)
		event_base_loop(it.base, EVLOOP_ONCE);
}

static const char *heard_later(void)
{
	await_threads();
	return heard();
}

/* A run asks A; THREADS threads parse large answers. */
static void begin_large(struct client *a, size_t threads)
{
	ctx.thread_pool = thread_pool_new(it.base, threads);
	client_begin(a, "A");
	start(false);
	waits(a, "1");
	ask(1, QUESTION);
}

static void end_large(void)
{
	stop();
	thread_pool_free(ctx.thread_pool);
	ctx.thread_pool = NULL;
}

static void large(void)
{
	struct client a;

	begin_large(&a, 1);
	noted();
	says_at_length(&a, "\"result\":" ACCEPT);
	is_int((long)thread_pool_jobs(ctx.thread_pool), 1,
	       "a large answer is read on a thread");
	is_str(heard(), "(none)", "the worker waits for a large answer");
	accepts(&a);
	run_tell_waiter(it.r, WAITER_CAME, NULL);
	is_str(heard(), "(none)",
	       "a question with a large answer is not asked again");
	is_str(heard_later(), ACCEPTED,
	       "a large answer goes to the worker after parsing");
	ask(2, QUESTION);
	says_at_length(&a, "\"result\":{\"action\":\"maybe\"}");
	ok(strstr(heard_later(), "(2 not {\"code\":\"INPUT_INVALID\"") != NULL,
	   "an invalid large answer fails with a reason");
	ask(3, QUESTION);
	says_at_length(&a, "\"error\":{\"code\":-5,\"message\":\"no\"}");
	ok(strstr(heard_later(), "(3 not {\"code\":\"INPUT_FAILED\"") != NULL,
	   "a large error goes to the worker");
	ask(4, QUESTION);
	noted();
	says_at_length(&a, "\"result\":" ACCEPT);
	client_end(&a);
	is_str(heard_later(), "(4 ok {\"content\":{},\"action\":\"accept\"})",
	       "a large answer counts though the client has left");
	end_large();
}

static void dropped_at_1(void)
{
	hear(&(struct msg){.type = MSG_DROP, .drop = {1}});
}

static void cancelled(void)
{
	run_apply(it.r, EV_CANCEL);
	run_tell(it.r, &(struct run_notice){.kind = NOTICE_STATE});
}

static void forgotten(void)
{
	run_tell(it.r, &(struct run_notice){.kind = NOTICE_RELEASED});
}

/* A question ends while the answer is being parsed: the answer is dropped. */
static void large_in_vain(void)
{
	static const struct {
		const char *what;
		void (*how)(void);
		const char *told;
	} ways[] = {
	    {"is dropped", dropped_at_1, "(1 not {\"code\":\"DROPPED\""},
	    {"is of a run that is cancelled", cancelled, "(none)"},
	    {"is of a run that ends", forgotten, "(none)"}};

	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct client a;

		begin_large(&a, 1);
		says_at_length(&a, "\"result\":" ACCEPT);
		noted();
		ways[i].how();
		ok(strstr(heard_later(), ways[i].told) != NULL,
		   "a question which %s during parsing has no answer",
		   ways[i].what);
		is_str(heard(), "(none)",
		       "a dropped large answer never goes to the worker");
		client_end(&a);
		end_large();
	}
}

static bool was_asked;

static void note_asked(struct request *req, struct run *r)
{
	(void)r;
	was_asked = true;
	request_unwatch(req);
	request_result(req, json_object_new_object());
}

/*
 * A request which leaves with questions would come back while no thread is free to
 * parse.
 */
static void asked_when_there_is_room(void)
{
	static const struct request_ops takes = {.asked = note_asked};
	struct client a;
	struct request *req;

	ctx.thread_pool = thread_pool_new(it.base, 1);
	client_begin(&a, "A");
	a.session.terms.revision = MCP_LATEST;
	start(false);
	full_pool_begin(ctx.thread_pool, it.r->requestor);
	req = call_of(&a, "1", "{}");
	request_set_state(req, &takes, NULL);
	request_watch(req, it.r);
	run_waiter_add(it.r, &req->waiter);
	ask(1, QUESTION);
	for (int i = 0; i < 5 && !was_asked; i++)
		event_base_loop(it.base, EVLOOP_ONCE);
	ok(!was_asked, "a client is not asked while no thread could parse");
	full_pool_end();
	while (!was_asked)
		event_base_loop(it.base, EVLOOP_ONCE);
	ok(was_asked, "a client is asked once a thread is free");
	await_threads();
	client_end(&a);
	end_large();
}

static void large_refused(void)
{
	struct client a;

	begin_large(&a, 0);
	noted();
	says_at_length(&a, "\"result\":" ACCEPT);
	ok(strstr(heard(),
		  "(1 not {\"code\":\"INPUT_FAILED\",\"message\":\"too "
		  "many large") != NULL,
	   "when no thread takes a large answer the template hears of it");
	client_end(&a);
	end_large();
}

int main(void)
{
	set_up_server();
	large();
	large_in_vain();
	large_refused();
	asked_when_there_is_room();
	runs_free(ctx.runs);
	return done();
}
