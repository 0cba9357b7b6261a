/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_digest.c - digests of what a call asks for, on a thread when that is
 * large: by them tool_run_idempotent.c and tool_run_retry.c see whether another
 * call is the same one. When too much is read for the requestor already the call
 * is refused.
 */
#include "supervisor/tools/tool_run_private.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/threads/rpc_async.h"
#include "supervisor/threads/thread_pool.h"

/* The request is held, and lends its message to the thread. */
struct digesting {
	struct request *request;
	void (*then)(struct request *c);
	bool told;
};

void tool_run_digest_call(struct request *c)
{
	struct tool_run_args *ask = c->state;

	request_state_call(ask->call, c->msg.method,
			   json_member_str(c->msg.params, "name"),
			   json_member(c->msg.params, "arguments"));
	ask->has_call = true;
}

static void digest(struct request *c)
{
	struct tool_run_args *ask = c->state;

	if (ask->wish.idem_key != NULL)
		inputs_digest_json(ask->digest, ask->inputs,
				   ask->template->secret);
	if (mcp_has(c->terms->revision, MCP_STATELESS))
		tool_run_digest_call(c);
}

static void on_thread(struct thread_pool_job *j, void *arg)
{
	const struct digesting *d = arg;

	(void)j;
	digest(d->request);
}

static void on_digested(void *arg, const struct thread_pool_result *end)
{
	struct digesting *d = arg;

	(void)end;
	d->told = true;
	if (request_unref(d->request))
		d->then(d->request);
}

static void drop_digesting(void *arg)
{
	struct digesting *d = arg;

	if (!d->told) /* the server ends, and nobody waits */
		request_unref(d->request);
	free(d);
}

#define DIGEST_CPU_MS 5000 /* far above what 16 MiB can take */

static const struct thread_pool_kind digest_kind = {.name = "digest",
						    .cpu_ms = DIGEST_CPU_MS,
						    .work = on_thread,
						    .done = on_digested,
						    .drop = drop_digesting};

static void digest_large(struct request *c, void (*then)(struct request *c))
{
	struct digesting *d = xcalloc(1, sizeof(*d));

	d->request = c;
	d->then = then;
	request_ref(c);
	if (thread_pool_submit(c->ctx->thread_pool, c->requestor, &digest_kind,
			       d) != NULL)
		return;
	free(d);
	request_unref(c);
	request_error(c, RPC_INTERNAL_ERROR, NULL, RPC_ASYNC_FULL);
}

void tool_run_digest(struct request *c, void (*then)(struct request *c))
{
	if (rpc_async_is_large(c->msg.bytes)) {
		digest_large(c, then);
		return;
	}
	digest(c);
	then(c);
}
