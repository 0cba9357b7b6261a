/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc_async.c - parses large messages of clients on the threads of
 * thread_pool.c; stream_conn.c and http_exchange.c hand messages in. The thread
 * also copies the text of a call's inputs. The caller refuses a message that no
 * thread takes; a message whose tree no thread can free is freed on the loop.
 */
#include "supervisor/run/threads/rpc_async.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/run/threads/thread_pool.h"

#define CPU_MS 5000 /* deadline, far above the time of 16 MiB */
#define TRIM_BYTES (1u << 20)

struct rpc_async {
	struct thread_pool *o;
	struct requestor *who;
	struct thread_pool_job *job;
	char *text;
	size_t len;
	struct rpc_msg m;
	rpc_async_done done;
	void *arg;
};

/* ---- what a message costs ---- */

/* Bytes of memory for a request that gives nothing to a template. */
#define LITTLE_MAX (1u << 20)

#define FEW_BYTES 8192	       /* most bytes that cannot make a large tree */
#define LOOP_COST (512u << 10) /* the largest tree that the loop makes */

bool rpc_async_takes_thread(const char *text, size_t len)
{
	return rpc_async_is_large(len) ||
	       (len > FEW_BYTES && json_cost_most(text, len) > LOOP_COST);
}

static struct memory_account *parse_account(struct requestor *q)
{
	return q != NULL ? &q->memory : NULL;
}

/*
 * May M be large, as it gives something to a template, a client or the store?
 */
static bool may_be_much(const struct rpc_msg *m)
{
	static const char *const methods[] = {
	    "tools/call", "tasks/update", "prompts/get", "paddock/deleteRuns",
	    "paddock/deleteArtifacts"};

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (strcmp(m->method, methods[i]) == 0)
			return true;
	return false;
}

/* Refuse M when M is larger than its method needs. */
static void let_excess_go(struct rpc_msg *m)
{
	char errmsg[200];

	if (m->method == NULL || m->cost <= LITTLE_MAX || may_be_much(m))
		return;
	snprintf(errmsg, sizeof(errmsg),
		 "%.40s came with what takes %zu bytes of "
		 "memory; at most %u are taken with that method",
		 m->method, m->cost, LITTLE_MAX);
	utf8_mend(errmsg);
	rpc_refuse(m, RPC_INVALID_PARAMS, errmsg);
}

static void settle_memory(struct memory_account *a, struct rpc_msg *m)
{
	let_excess_go(m);
	if (m->kind == RPC_BROKEN) /* answered at once, so never refused */
		memory_add(a, m->cost);
	if (m->kind == RPC_BROKEN || memory_take(a, m->cost))
		m->held += m->cost;
	else
		rpc_refuse(m, RPC_RATE_LIMITED, MEMORY_NO_ROOM);
	for (size_t i = 0; m->parts != NULL && i < m->n_parts; i++)
		settle_memory(a, &m->parts[i]);
}

static size_t held_of(const struct rpc_msg *m)
{
	size_t bytes = m->held;

	for (size_t i = 0; m->parts != NULL && i < m->n_parts; i++)
		bytes += held_of(&m->parts[i]);
	return bytes;
}

static void let_message_go(struct requestor *q, struct rpc_msg *m)
{
	size_t bytes = held_of(m);

	rpc_fini(m);
	memory_give(parse_account(q), bytes); /* the memory is free only now */
}

void rpc_async_parse_now(struct requestor *q, struct rpc_msg *m,
			 const char *text, size_t len)
{
	rpc_parse(m, text, len);
	settle_memory(parse_account(q), m);
}

struct json_object *rpc_async_refusal(const struct rpc_msg *m)
{
	return m->code == RPC_RATE_LIMITED
		   ? json_pack("errorCode:s retryAfterMs:i", "QUOTA_EXCEEDED",
			       MEMORY_RETRY_MS)
		   : NULL;
}

/* ---- on a thread ---- */

/*
 * Move SPAN of TEXT to the member KEY of the object there; false: there is no
 * such member.
 */
static bool enter_member(struct json_span *span, const char *text,
			 const char *key)
{
	struct json_span in = {0};

	if (json_find(&in, text + span->off, span->len, key) < 0)
		return false;
	span->off += in.off;
	span->len = in.len;
	return true;
}

/*
 * Find in IN's text the inputs for a template, or answers; false: there are
 * none.
 */
static bool find_inputs(const struct rpc_async *in, struct json_span *at)
{
	const char *tool = json_member_str(in->m.params, "name");

	if (!enter_member(at, in->text, "params"))
		return false;
	if (strcmp(in->m.method, "tasks/update") == 0)
		return enter_member(at, in->text, "inputResponses");
	if (tool == NULL || strcmp(in->m.method, "tools/call") != 0 ||
	    !enter_member(at, in->text, "arguments"))
		return false;
	return strcmp(tool, "run_task_template") != 0 ||
	       enter_member(at, in->text, "inputs");
}

/* Copy the text of the inputs, so that the text need not be made again. */
static void keep_inputs(struct rpc_async *in)
{
	struct json_span at = {0, in->len};

	if (!find_inputs(in, &at))
		return;
	if (!memory_take_spare(parse_account(in->who), at.len))
		return; /* the text is made of the tree when needed */
	in->m.held += at.len;
	in->m.inputs = xstrndup(in->text + at.off, at.len);
	in->m.inputs_len = at.len;
}

/*
 * Give memory back to the system: a tree of BYTES of text was many times as
 * large.
 */
static void trim(size_t bytes)
{
	if (bytes > TRIM_BYTES)
		malloc_trim(0);
}

/*
 * Copy the LEN bytes at TEXT, from which M was parsed, if M is a large
 * response.
 */
static void keep_text(struct requestor *q, struct rpc_msg *m, const char *text,
		      size_t len)
{
	if (m->kind != RPC_RESPONSE || !rpc_async_is_large(m->bytes) ||
	    len > RPC_ASYNC_TEXT_MAX)
		return;
	memory_add(parse_account(q), len);
	m->held += len;
	m->inputs = xstrndup(text, len);
	m->inputs_len = len;
}

static void keep_texts(struct rpc_async *in)
{
	struct json_span span;
	size_t at = 0;

	keep_text(in->who, &in->m, in->text, in->len);
	for (size_t i = 0; in->m.parts != NULL && i < in->m.n_parts; i++) {
		json_next(&span, in->text, in->len, &at);
		keep_text(in->who, &in->m.parts[i], in->text + span.off,
			  span.len);
	}
}

/*
 * Parse the message after reserving room for the largest tree that its text can
 * make.
 */
static void parse_within(struct rpc_async *in)
{
	struct memory_account *a = parse_account(in->who);
	size_t most = json_cost_most(in->text, in->len);

	if (!memory_take(a, most)) {
		rpc_parse_refused(&in->m, in->text, in->len, RPC_RATE_LIMITED,
				  MEMORY_NO_ROOM);
		return;
	}
	rpc_parse(&in->m, in->text, in->len);
	memory_give(a, most);
	settle_memory(a, &in->m);
}

/*
 * Parse a message. Parsing cannot be interrupted, but the length bounds the
 * time.
 */
static void parse_on_thread(struct thread_pool_job *j, void *arg)
{
	struct rpc_async *in = arg;

	parse_within(in);
	if (!rpc_async_is_large(in->m.bytes)) /* large for its many values */
		in->m.bytes = RPC_ASYNC_LARGE + 1;
	if (!thread_pool_may_continue(j)) /* cancelled, or too slow */
		let_message_go(in->who, &in->m);
	else if (in->m.kind == RPC_REQUEST)
		keep_inputs(in);
	else
		keep_texts(in);
	free(in->text);
	in->text = NULL;
	memory_give(parse_account(in->who), in->len);
	if (in->m.root == NULL)
		trim(in->len); /* the tree is freed already */
}

void rpc_async_fini(struct requestor *q, struct rpc_msg *m)
{
	size_t bytes = m->bytes;

	let_message_go(q, m);
	trim(bytes);
}

struct discarded {
	struct requestor *who;
	struct rpc_msg m;
};

static void free_on_thread(struct thread_pool_job *j, void *arg)
{
	struct discarded *d = arg;

	(void)j;
	rpc_async_fini(d->who, &d->m);
}

/* ---- on the loop ---- */

static void on_parsed(void *arg, const struct thread_pool_result *end)
{
	struct rpc_async *in = arg;
	struct rpc_msg m = in->m;

	if (end->overdue)
		m = (struct rpc_msg){.kind = RPC_BROKEN,
				     .code = RPC_INTERNAL_ERROR,
				     .text = "it took too long to read this "
					     "message"};
	in->m = (struct rpc_msg){0};
	in->job = NULL;
	in->done(in->arg, &m);
}

static void drop_message(void *arg)
{
	struct rpc_async *in = arg;

	/* the message of a job that was cancelled late */
	rpc_async_free(in->o, in->who, &in->m);
	if (in->text != NULL)
		memory_give(parse_account(in->who), in->len);
	free(in->text);
	free(in);
}

static const struct thread_pool_kind parsing = {.name = "parse",
						.cpu_ms = CPU_MS,
						.work = parse_on_thread,
						.done = on_parsed,
						.drop = drop_message};

struct rpc_async *rpc_async_parse(struct thread_pool *o, struct requestor *q,
				  char *text, size_t len, rpc_async_done done,
				  void *arg)
{
	struct rpc_async *in = xcalloc(1, sizeof(*in));

	*in = (struct rpc_async){.o = o,
				 .who = q,
				 .text = text,
				 .len = len,
				 .done = done,
				 .arg = arg};
	memory_add(parse_account(q), len);
	in->job = thread_pool_submit(o, q, &parsing, in);
	if (in->job != NULL)
		return in;
	drop_message(in);
	return NULL;
}

void rpc_async_cancel(struct rpc_async *in)
{
	if (in != NULL)
		thread_pool_cancel(in->job);
}

static void on_freed(void *arg, const struct thread_pool_result *end)
{
	(void)arg, (void)end;
}

static void drop_rest(void *arg)
{
	struct discarded *d = arg;

	let_message_go(d->who, &d->m); /* for a job that never began */
	free(d);
}

static const struct thread_pool_kind discarding = {.name = "discard",
						   .cpu_ms = CPU_MS,
						   .owed = true,
						   .first = true,
						   .work = free_on_thread,
						   .done = on_freed,
						   .drop = drop_rest};

void rpc_async_free(struct thread_pool *o, struct requestor *q,
		    struct rpc_msg *m)
{
	struct discarded *copy;

	if (!rpc_async_is_large(m->bytes)) {
		let_message_go(q, m);
		return;
	}
	copy = xcalloc(1, sizeof(*copy));
	*copy = (struct discarded){.who = q, .m = *m};
	*m = (struct rpc_msg){0};
	if (thread_pool_submit(o, q, &discarding, copy) == NULL)
		drop_rest(copy);
}

/* ---- a tree alone ---- */

struct tree {
	struct json_object *root;
	struct requestor *who;
	size_t held; /* bytes counted as WHO's until the tree is put */
};

static void put_now(struct tree *t)
{
	json_object_put(t->root);
	memory_give(parse_account(t->who), t->held);
	t->root = NULL;
	t->held = 0;
}

static void put_tree_on_thread(struct thread_pool_job *j, void *arg)
{
	(void)j;
	put_now(arg);
}

static void drop_tree(void *arg)
{
	put_now(arg); /* for a job that never began */
	free(arg);
}

static const struct thread_pool_kind putting = {.name = "put",
						.cpu_ms = CPU_MS,
						.owed = true,
						.first = true,
						.work = put_tree_on_thread,
						.done = on_freed,
						.drop = drop_tree};

static void put_held(struct thread_pool *o, struct requestor *q,
		     struct json_object *root, size_t held)
{
	struct tree *t = xcalloc(1, sizeof(*t));

	*t = (struct tree){root, q, held};
	if (thread_pool_submit(o, q, &putting, t) == NULL)
		drop_tree(t);
}

void rpc_async_put(struct thread_pool *o, struct requestor *q,
		   struct json_object *tree)
{
	if (tree != NULL)
		put_held(o, q, tree, 0);
}

#define REST_COST                                                              \
	4096 /* cost of a message without inputs: names, ids and options */

void rpc_async_put_inputs(struct thread_pool *o, struct requestor *q,
			  struct rpc_msg *m, struct json_object *tree)
{
	size_t held = m->held > REST_COST ? m->held - REST_COST : 0;

	m->held -= held;
	put_held(o, q, tree, held);
}
