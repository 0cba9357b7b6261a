/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_digest.c - digests of a call, for large calls on a thread. By them
 * tool_run_idempotent.c and tool_run_retry.c tell whether two calls are the
 * same. With too many jobs of the requestor the call is refused.
 */
#include "supervisor/mcp/tools/tool_run_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/mcp/input/input_required.h"
#include "supervisor/run/requestor/admission.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"

/* A digest under way; the request is held, and *lends* its message. */
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
				   ask->template->secret ? ask->seal : NULL);
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

	if (!d->told) /* the server ends; no client waits */
		request_unref(d->request);
	free(d);
}

#define DIGEST_CPU_MS 5000 /* far above the time for 16 MiB */

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

/* ---- the key for secret inputs ---- */

static bool needs_seal(const struct request *c)
{
	const struct tool_run_args *ask = c->state;

	return ask->wish.idem_key != NULL && ask->template->secret;
}

/* Is the seal key unknown? The database has it, and is not open yet. */
static bool is_unsealed(const struct request *c)
{
	unsigned char key[STORE_SEAL_BYTES];

	return c->ctx->cluster != NULL && !store_seal_key(c->ctx->store, key);
}

struct reaching {
	struct request *request;
	void (*then)(struct request *c);
};

static void on_reached(void *arg, const struct store_result *res)
{
	struct reaching *a = arg;
	struct request *c = a->request;
	void (*then)(struct request * c) = a->then;
	struct tool_error e = {0};

	free(a);
	if (!request_unref(c))
		return;
	if (res->rc == 0 && !is_unsealed(c)) {
		tool_run_digest(c, then);
		return;
	}
	tool_error_set(&e, "STORE_UNAVAILABLE", admission_store_details(),
		       "no run can be started now, since the server cannot "
		       "read which there are: %s",
		       store_says(res->rc));
	request_tool_error(c, &e);
}

static void reach(struct request *c, void (*then)(struct request *c))
{
	struct reaching *a = xcalloc(1, sizeof(*a));

	*a = (struct reaching){c, then};
	request_ref(c);
	store_open(c->ctx->store, on_reached, a);
}

void tool_run_digest(struct request *c, void (*then)(struct request *c))
{
	struct tool_run_args *ask = c->state;

	_Static_assert(INPUTS_DIGEST_KEY == STORE_SEAL_BYTES, "one key");
	if (needs_seal(c) && is_unsealed(c)) {
		reach(c, then);
		return;
	}
	if (needs_seal(c))
		memcpy(ask->seal, input_seal_key(c->ctx), sizeof(ask->seal));
	if (rpc_async_is_large(c->msg.bytes)) {
		digest_large(c, then);
		return;
	}
	digest(c);
	then(c);
}
