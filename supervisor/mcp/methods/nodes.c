/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c - paddock/nodes: the servers which share a database, or the single
 * server. methods.c calls it. Machine names are for operators only: any other
 * client gets an error, as does a failing store.
 */
#include "supervisor/mcp/methods/nodes.h"

#include <string.h>

#include "proto/json/json_pack.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/store/store.h"

static struct json_object *node_view(const struct context *ctx,
				     const struct store_node *n)
{
	return json_pack("name:s instance:s version:s startedAt?i running:i "
			 "queued:i draining:b heartbeatAgeMs:i self:b",
			 n->name, n->id, n->version, n->started_ms,
			 n->load.running, n->load.queued, n->load.draining,
			 n->silent_ms > 0 ? n->silent_ms : 0,
			 strcmp(n->id, ctx->instance) == 0);
}

/*
 * Describe the single server: without a shared store there are no heartbeats.
 */
static struct json_object *own(const struct context *ctx)
{
	return json_pack(
	    "name:s instance:s version:s startedAt:i running:i queued:i "
	    "draining:b self:b",
	    store_node_name(ctx->store), ctx->instance, PADDOCK_VERSION,
	    ctx->started_ms, runs_running(ctx->runs), runs_queued(ctx->runs),
	    ctx->draining, true);
}

static void on_nodes(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct json_object *list;

	if (!request_unref(req))
		return;
	if (res->rc != 0) {
		request_unreadable(req, res->rc);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < res->n_nodes; i++)
		json_object_array_add(list,
				      node_view(req->ctx, &res->nodes[i]));
	if (res->n_nodes == 0)
		json_object_array_add(list, own(req->ctx));
	request_result(req, json_pack("nodes:o", list));
}

void nodes_get(struct request *req)
{
	if (!request_is_operator(req)) {
		request_error(req, RPC_INVALID_REQUEST, NULL,
			      "which servers there are is told to root and to "
			      "the user who runs this server, when they are "
			      "here as local users");
		return;
	}
	request_ref(req);
	store_nodes(req->ctx->store, on_nodes, req);
}
