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
#include "supervisor/mcp/input/input.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"

/* A digest under way; the request is held, and *lends* its message. */
struct digesting {
	struct request *request;
	void (*then)(struct request *req);
	bool told;
};

static void digest_request(struct request *req)
{
	struct tool_run_args *ask = req->state;

	if (ask->wish.idem_key != NULL || ask->journaled)
		inputs_digest_json(ask->digest, ask->inputs,
				   ask->template->secret ? ask->seal : NULL);
	if (mcp_has(req->terms->revision, MCP_STATELESS))
		tool_run_digest_call(req);
}

static void on_thread(struct thread_pool_job *j, void *arg)
{
	const struct digesting *d = arg;

	(void)j;
	digest_request(d->request);
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

/* ---- the key for secret inputs ---- */

static bool needs_seal(const struct request *req)
{
	const struct tool_run_args *ask = req->state;

	return ask->wish.idem_key != NULL && ask->template->secret;
}

/* Is the seal key unknown? The database has it, and is not open yet. */
static bool is_unsealed(const struct request *req)
{
	unsigned char key[STORE_SEAL_BYTES];

	return req->ctx->cluster != NULL &&
	       !store_seal_key(req->ctx->store, key);
}

struct reaching {
	struct request *request;
	void (*then)(struct request *req);
};

static void on_reached(void *arg, const struct store_result *res)
{
	struct reaching *a = arg;
	struct request *req = a->request;
	void (*then)(struct request * req) = a->then;
	struct tool_error e = {0};

	free(a);
	if (!request_unref(req))
		return;
	if (res->rc == 0 && !is_unsealed(req)) {
		tool_run_digest(req, then);
		return;
	}
	tool_error_set(&e, "STORE_UNAVAILABLE", admission_store_details(),
		       "no run can be started now, since the server cannot "
		       "read which there are: %s",
		       store_says(res->rc));
	request_tool_error(req, &e);
}

void tool_run_digest(struct request *req, void (*then)(struct request *req))
{
	struct tool_run_args *ask = req->state;
	struct reaching *a;
	struct digesting *d;

	_Static_assert(INPUTS_DIGEST_KEY == STORE_SEAL_BYTES, "one key");
	if (needs_seal(req) && is_unsealed(req)) {
		a = xcalloc(1, sizeof(*a));
		*a = (struct reaching){req, then};
		request_ref(req);
		store_open(req->ctx->store, on_reached, a);
		return;
	}
	if (needs_seal(req))
		memcpy(ask->seal, input_seal_key(req->ctx), sizeof(ask->seal));
	if (!rpc_async_is_large(req->msg.bytes)) {
		digest_request(req);
		then(req);
		return;
	}
	d = xcalloc(1, sizeof(*d));
	d->request = req;
	d->then = then;
	request_ref(req);
	if (thread_pool_submit(req->ctx->thread_pool, req->requestor,
			       &digest_kind, d) != NULL)
		return;
	free(d);
	request_unref(req);
	request_error(req, RPC_INTERNAL_ERROR, NULL, RPC_ASYNC_FULL);
}
