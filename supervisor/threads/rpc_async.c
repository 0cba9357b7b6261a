/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large messages of clients, on the threads of thread_pool.c; stream_conn.c and
 * http_stream.c hand them in. What a call needs of the text, its inputs as
 * they came, is copied on the thread as well. A message that cannot be taken
 * is the caller's to refuse; one that cannot be let go on a thread is let go
 * here.
 */
#include "supervisor/threads/rpc_async.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/threads/thread_pool.h"

#define CPU_MS 5000 /* far above what 16 MiB can take */
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

/* ---- on a thread ---- */

/* The member KEY of the object that is SPAN of TEXT; false: there is none. */
static bool enter(struct json_span *span, const char *text, const char *key)
{
	struct json_span in = {0};

	if (json_find(&in, text + span->off, span->len, key) < 0)
		return false;
	span->off += in.off;
	span->len = in.len;
	return true;
}

/* Where it is in IN's text what a call gives to a template, or answers; false: nowhere. */
static bool find_inputs(const struct rpc_async *in, struct json_span *at)
{
	const char *tool = json_member_str(in->m.params, "name");

	if (!enter(at, in->text, "params"))
		return false;
	if (strcmp(in->m.method, "tasks/update") == 0)
		return enter(at, in->text, "inputResponses");
	if (tool == NULL || strcmp(in->m.method, "tools/call") != 0 ||
	    !enter(at, in->text, "arguments"))
		return false;
	return strcmp(tool, "run_task_template") != 0 ||
	       enter(at, in->text, "inputs");
}

/* That text, which need not be made again. */
static void keep_inputs(struct rpc_async *in)
{
	struct json_span at = {0, in->len};

	if (!find_inputs(in, &at))
		return;
	in->m.inputs = xstrndup(in->text + at.off, at.len);
	in->m.inputs_len = at.len;
}

/* A tree of BYTES of text was many times as large; it is given back. */
static void trim(size_t bytes)
{
	if (bytes > TRIM_BYTES)
		malloc_trim(0);
}

/* M came as the LEN bytes at TEXT. */
static void keep_text(struct rpc_msg *m, const char *text, size_t len)
{
	if (m->kind != RPC_RESPONSE || !rpc_async_is_large(len) ||
	    len > RPC_ASYNC_TEXT_MAX)
		return;
	m->inputs = xstrndup(text, len);
	m->inputs_len = len;
}

static void keep_texts(struct rpc_async *in)
{
	struct json_span span;
	size_t at = 0;

	keep_text(&in->m, in->text, in->len);
	for (size_t i = 0; in->m.parts != NULL && i < in->m.n_parts; i++) {
		json_next(&span, in->text, in->len, &at);
		keep_text(&in->m.parts[i], in->text + span.off, span.len);
	}
}

/* It cannot be interrupted, but takes a time that its length bounds. */
static void parse(struct thread_pool_job *j, void *arg)
{
	struct rpc_async *in = arg;

	rpc_parse(&in->m, in->text, in->len);
	if (!thread_pool_may_continue(j)) /* nobody waits for it */
		rpc_fini(&in->m);
	else if (in->m.kind == RPC_REQUEST)
		keep_inputs(in);
	else
		keep_texts(in);
	free(in->text);
	in->text = NULL;
	if (in->m.root == NULL)
		trim(in->len); /* what there was of it is gone already */
}

void rpc_async_fini(struct rpc_msg *m)
{
	size_t bytes = m->bytes;

	rpc_fini(m);
	trim(bytes);
}

static void let_go(struct thread_pool_job *j, void *arg)
{
	(void)j;
	rpc_async_fini(arg);
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

static void drop(void *arg)
{
	struct rpc_async *in = arg;

	rpc_async_free(in->o, in->who, &in->m); /* when it was cancelled late */
	free(in->text);
	free(in);
}

static const struct thread_pool_kind parsing = {.name = "parse",
						.cpu_ms = CPU_MS,
						.work = parse,
						.done = on_parsed,
						.drop = drop};

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
	in->job = thread_pool_submit(o, q, &parsing, in);
	if (in->job != NULL)
		return in;
	drop(in);
	return NULL;
}

void rpc_async_cancel(struct rpc_async *in)
{
	if (in != NULL)
		thread_pool_cancel(in->job);
}

static void gone(void *arg, const struct thread_pool_result *end)
{
	(void)arg, (void)end;
}

static void drop_rest(void *arg)
{
	rpc_fini(arg); /* when it was not begun */
	free(arg);
}

static const struct thread_pool_kind discarding = {.name = "discard",
						   .cpu_ms = CPU_MS,
						   .work = let_go,
						   .done = gone,
						   .drop = drop_rest};

void rpc_async_free(struct thread_pool *o, struct requestor *q,
		    struct rpc_msg *m)
{
	struct rpc_msg *copy;

	if (!rpc_async_is_large(m->bytes)) {
		rpc_fini(m);
		return;
	}
	copy = xcalloc(1, sizeof(*copy));
	*copy = *m;
	*m = (struct rpc_msg){0};
	if (thread_pool_submit(o, q, &discarding, copy) == NULL &&
	    thread_pool_submit(o, NULL, &discarding, copy) == NULL)
		drop_rest(copy);
}

/* ---- a tree alone ---- */

static void put_tree(struct thread_pool_job *j, void *arg)
{
	(void)j;
	json_object_put(arg);
}

static void nothing(void *arg)
{
	(void)arg; /* it is put: a job of this kind is never cancelled */
}

static const struct thread_pool_kind putting = {.name = "put",
						.cpu_ms = CPU_MS,
						.work = put_tree,
						.done = gone,
						.drop = nothing};

void rpc_async_put(struct thread_pool *o, struct requestor *q,
		   struct json_object *tree)
{
	if (tree != NULL && thread_pool_submit(o, q, &putting, tree) == NULL &&
	    thread_pool_submit(o, NULL, &putting, tree) == NULL)
		json_object_put(tree);
}
