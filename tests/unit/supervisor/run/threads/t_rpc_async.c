/* SPDX-License-Identifier: Apache-2.0 */
/* t_rpc_async.c - large messages are read and let go on a thread. */
#include "supervisor/run/threads/rpc_async.h"

#include <event2/event.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/run/threads/thread_pool.h"
#include "tests/unit/tap.h"

#define LARGE ((size_t)200000)

static struct event_base *base;
static struct thread_pool *thread_pool;
static struct rpc_msg got[4];
static size_t n_got;

static void on_parsed(void *arg, struct rpc_msg *m)
{
	(void)arg;
	got[n_got++] = *m;
}

static void wait_for(size_t n)
{
	while (n_got < n)
		event_base_loop(base, EVLOOP_ONCE);
}

/* Until the threads have nothing more to do. */
static void settle(void)
{
	struct thread_pool_stats count;

	for (thread_pool_stats(thread_pool, &count); count.jobs > 0;
	     thread_pool_stats(thread_pool, &count))
		event_base_loop(base, EVLOOP_ONCE);
}

/* Parse FMT, with LARGE bytes in place of "$". */
static struct rpc_async *take(const char *fmt)
{
	char *many = xcalloc(LARGE + 1, 1), *text;
	struct rpc_async *in;

	memset(many, 'x', LARGE);
	text = xcalloc(strlen(fmt) + LARGE + 1, 1);
	memcpy(text, fmt, strcspn(fmt, "$"));
	strcat(text, many);
	strcat(text, fmt + strcspn(fmt, "$") + 1);
	free(many);
	in = rpc_async_parse(thread_pool, NULL, text, strlen(text), on_parsed,
			     NULL);
	return in;
}

static void begin(void)
{
	n_got = 0;
	memset(got, 0, sizeof(got));
	base = event_base_new();
	thread_pool = thread_pool_new(base, 2);
}

static void end(void)
{
	for (size_t i = 0; i < n_got; i++)
		rpc_async_free(thread_pool, NULL, &got[i]);
	settle();
	thread_pool_free(thread_pool);
	event_base_free(base);
}

static const struct {
	const char *name, *text, *inputs; /* NULL: no inputs are kept */
} requests[] = {
    {"a template's own tool",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
     "\"name\":\"t\",\"arguments\": {\"a\" : [1, 2e0,-0],\"b\":\"$\"} }}",
     "{\"a\" : [1, 2e0,-0],\"b\":\""},
    {"run_task_template",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
     "\"arguments\":{\"templateId\":\"t\",\"inputs\":{\"z\":\"$\"}},"
     "\"name\":\"run_task_template\"}}",
     "{\"z\":\""},
    {"run_task_template without inputs",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
     "\"name\":\"run_task_template\",\"arguments\":{\"a\":\"$\"}}}",
     NULL},
    {"tasks/update",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/update\",\"params\":{"
     "\"taskId\":\"t\",\"inputResponses\": {\"a\" : {\"b\":\"$\"}}}}",
     "{\"a\" : {\"b\":\""},
    {"another method",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{"
     "\"name\":\"t\",\"arguments\":{\"a\":\"$\"}}}",
     NULL},
    {"a call without arguments",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
     "\"name\":\"t\",\"a\":\"$\"}}",
     NULL},
};

TEST(inputs)
{
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		struct json_object *again = NULL, *args;
		struct rpc_msg *m = &got[0];

		begin();
		take(requests[i].text);
		is_int((long long)n_got, 0, "%s: it is read later",
		       requests[i].name);
		wait_for(1);
		is_int(m->kind, RPC_REQUEST, "%s: and then a request",
		       requests[i].name);
		ok(requests[i].inputs == NULL
		       ? m->inputs == NULL
		       : m->inputs != NULL &&
			     strncmp(m->inputs, requests[i].inputs,
				     strlen(requests[i].inputs)) == 0,
		   "%s: its inputs as they came, or none", requests[i].name);
		if (m->inputs != NULL) {
			args = json_member(m->params, "arguments");
			if (args == NULL)
				args = json_member(m->params, "inputResponses");
			if (json_member(args, "inputs") != NULL)
				args = json_member(args, "inputs");
			json_parse(&again, m->inputs, m->inputs_len, NULL);
			ok(json_object_equal(again, args),
			   "%s: and they are what the tree has",
			   requests[i].name);
			json_object_put(again);
		}
		end();
	}
}

TEST(broken)
{
	begin();
	take("{\"a\":\"$\"");
	wait_for(1);
	is_int(got[0].kind, RPC_BROKEN, "what is no message is told as such");
	is_int(got[0].code, RPC_PARSE_ERROR,
	       "a broken message has the code of a parse error");
	end();

	begin();
	take(
	    "[{\"jsonrpc\":\"2.0\",\"method\":\"a\"},"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"b\",\"params\":{\"a\":\"$\"}}]");
	wait_for(1);
	ok(got[0].kind == RPC_BATCH && got[0].n_parts == 2 &&
	       got[0].parts[1].kind == RPC_NOTIFICATION,
	   "a batch comes with its parts");
	end();
}

TEST(cancel)
{
	struct rpc_async *first, *second;

	begin();
	first = take("{\"a\":\"$\"}");
	second = take("{\"a\":\"$\"}");
	rpc_async_cancel(second); /* the second waits */
	rpc_async_cancel(first);  /* the first may have begun */
	rpc_async_cancel(NULL);
	settle();
	is_int((long long)n_got, 0, "what nobody waits for is told to nobody");
	end();

	begin();
	take("{\"a\":\"$\"}");
	take("{\"b\":\"$\"}");
	thread_pool_free(thread_pool);
	is_int((long long)n_got, 0,
	       "a message parsed at the server's end is told to nobody");
	thread_pool = thread_pool_new(base, 1);
	end();
}

/* Messages beyond a requestor's bound are refused, and no memory leaks. */
TEST(full)
{
	size_t n = 0;

	begin();
	while (n < THREAD_POOL_JOBS_MAX + 1 && take("{\"a\":\"$\"}") != NULL) {
		n++;
		if (n_got > 0)
			break;
	}
	is_int((long long)n, THREAD_POOL_JOBS_MAX, "there is a bound");
	thread_pool_free(thread_pool);
	thread_pool = thread_pool_new(base, 1);
	end();
}

/* A job which keeps the lane until released. */
struct gate {
	sem_t begun, open;
};

static void hold_lane(struct thread_pool_job *j, void *arg)
{
	struct gate *gate = arg;

	(void)j;
	sem_post(&gate->begun);
	sem_wait(&gate->open);
}

static void told(void *arg, const struct thread_pool_result *end)
{
	(void)arg, (void)end;
}

static void dropped(void *arg)
{
	(void)arg;
}

static const struct thread_pool_kind holding = {.name = "hold",
						.cpu_ms = 60000,
						.work = hold_lane,
						.done = told,
						.drop = dropped};

static void close_gate(struct gate *gate, struct requestor *q)
{
	thread_pool_submit(thread_pool, q, &holding, gate);
	sem_wait(&gate->begun);
}

/* Without room for a copy, the inputs are not copied, and no message is refused. */
TEST(inputs_without_room)
{
	struct requestors all = {0};
	struct config *config = config_new(0);
	struct requestor *q;
	struct rpc_msg *m = &got[0];
	char *text = xcalloc(LARGE + 200, 1);
	size_t n;

	requestors_apply(&all, config);
	q = requestors_of_uid(&all, 7);
	strcpy(text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
		     "\"tools/call\",\"params\":{\"name\":\"t\","
		     "\"arguments\":{\"a\":\"");
	n = strlen(text);
	memset(text + n, 'x', LARGE);
	strcpy(text + n + LARGE, "\"}}}");
	n = strlen(text);
	/* half for one account: room for the tree beside the text */
	all.memory.most = (int64_t)(2 * (json_cost_most(text, n) + n));
	begin();
	rpc_async_parse(thread_pool, q, text, n, on_parsed, NULL);
	wait_for(1);
	settle();
	is_int(m->kind, RPC_REQUEST,
	       "a message with room for its tree is read");
	ok(m->inputs == NULL,
	   "a message with room for the tree has no copy of the inputs");
	is_int((int64_t)q->memory.refused, 0,
	       "a message with room for the tree counts as no refusal");
	rpc_async_free(thread_pool, q, m);
	settle();
	is_int(q->memory.held, 0, "no memory of a freed message is left");
	n_got = 0;
	end();
	requestors_fini(&all);
	config_free(config);
}

/* Memory which a thread has yet to free is counted. */
TEST(held_until_free)
{
	struct requestors all = {0};
	struct config *config = config_new(0);
	struct requestor *q;
	struct json_object *tree;
	struct rpc_msg *m = &got[0];
	char *text = xcalloc(LARGE + 200, 1);
	int64_t held;
	struct gate gate;

	requestors_apply(&all, config);
	q = requestors_of_uid(&all, 7);
	sem_init(&gate.begun, 0, 0);
	sem_init(&gate.open, 0, 0);
	strcpy(text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
		     "\"tools/call\",\"params\":{\"name\":\"t\","
		     "\"arguments\":{\"a\":[1");
	for (size_t i = 0, n = strlen(text); i < LARGE / 4; i++)
		memcpy(text + n + 2 * i, ",1", 2);
	strcat(text, "]}}}");
	begin();
	rpc_async_parse(thread_pool, q, text, strlen(text), on_parsed, NULL);
	wait_for(1);
	settle();
	held = q->memory.held;
	ok(held > (int64_t)(LARGE / 4 * 48), "a tree costs its nodes: %lld",
	   (long long)held);
	tree = json_object_get(json_member(m->params, "arguments"));
	json_object_object_del(m->params, "arguments");
	close_gate(&gate, q);
	rpc_async_put_inputs(thread_pool, q, m, tree);
	is_int(q->memory.held, held,
	       "a tree of inputs counts until the tree is let go");
	sem_post(&gate.open);
	settle();
	ok(q->memory.held < 8192, "then little is counted: %lld",
	   (long long)q->memory.held);
	close_gate(&gate, q);
	rpc_async_free(thread_pool, q, m);
	ok(q->memory.held > 0, "the rest of the message likewise");
	sem_post(&gate.open);
	settle();
	is_int(q->memory.held, 0,
	       "no memory of the message's rest is left in the end");
	n_got = 0;
	end();
	requestors_fini(&all);
	config_free(config);
}
