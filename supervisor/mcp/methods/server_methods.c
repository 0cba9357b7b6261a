/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_methods.c - paddock's own methods about the server, which methods.c calls:
 * the use of runs, the nodes, the workers that wait, and a reload. Other requestors'
 * runs, names of machines and reloads are for operators: any other client gets an
 * error, or its own use. A failing store is an error, too, and so is a reload of a
 * server that ends.
 */
#include "supervisor/mcp/methods/methods.h"

#include <stdlib.h>
#include <string.h>

#include "proto/json/json_pack.h"
#include "supervisor/context.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/run/warm/warm.h"
#include "supervisor/store/store.h"

/* ---- paddock/usage ---- */

static int64_t since_of(const struct request *req)
{
	return json_member_int(req->msg.params, "since") / STORE_USE_HOUR_MS *
	       STORE_USE_HOUR_MS;
}

/* Describe U; the uploads of a requestor have no template. */
static struct json_object *usage_view(const struct store_use *u)
{
	if (u->template_id[0] == '\0')
		return json_pack("requestor:s uploads:i bytes:i", u->requestor,
				 u->runs, u->bytes);
	return json_pack("requestor:s templateId:s runs:i cpuMs:i bytes:i",
			 u->requestor, u->template_id, u->runs, u->cpu_ms,
			 u->bytes);
}

static void on_used(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct json_object *rows;

	if (!request_unref(req))
		return;
	if (res->rc != 0) {
		request_unreadable(req, res->rc);
		return;
	}
	rows = json_object_new_array();
	for (size_t i = 0; i < res->n_uses; i++)
		json_object_array_add(rows, usage_view(&res->uses[i]));
	request_result(req, json_pack("since:i rows:o more:b", since_of(req),
				      rows, res->n_uses == STORE_USES_MAX));
}

void server_methods_usage(struct request *req)
{
	struct json_object *since = json_member(req->msg.params, "since");

	if (since != NULL && (!json_object_is_type(since, json_type_int) ||
			      json_object_get_int64(since) < 0)) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "params.since has to be milliseconds since 1970");
		return;
	}
	request_ref(req);
	store_used(req->ctx->store,
		   request_is_operator(req) ? NULL : req->requestor->name,
		   since_of(req), on_used, req);
}

/* ---- paddock/nodes ---- */

static void on_nodes(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	const struct context *ctx = req->ctx;
	struct json_object *list;

	if (!request_unref(req))
		return;
	if (res->rc != 0) {
		request_unreadable(req, res->rc);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < res->n_nodes; i++) {
		const struct store_node *n = &res->nodes[i];

		json_object_array_add(
		    list,
		    json_pack("name:s instance:s version:s startedAt?i "
			      "running:i queued:i draining:b heartbeatAgeMs:i "
			      "self:b",
			      n->name, n->id, n->version, n->started_ms,
			      n->load.running, n->load.queued, n->load.draining,
			      n->silent_ms > 0 ? n->silent_ms : 0,
			      strcmp(n->id, ctx->instance) == 0));
	}
	if (res->n_nodes == 0)
		/* a single server: without a shared store there are no heartbeats */
		json_object_array_add(
		    list,
		    json_pack("name:s instance:s version:s startedAt:i "
			      "running:i queued:i draining:b self:b",
			      store_node_name(ctx->store), ctx->instance,
			      PADDOCK_VERSION, ctx->started_ms,
			      runs_running(ctx->runs), runs_queued(ctx->runs),
			      ctx->draining, true));
	request_result(req, json_pack("nodes:o", list));
}

void server_methods_nodes(struct request *req)
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

/* ---- paddock/waiting ---- */

void server_methods_waiting(struct request *req)
{
	if (!request_is_operator(req)) {
		request_error(
		    req, RPC_INVALID_REQUEST, NULL,
		    "which workers wait is told to root and to the "
		    "user who runs this server, when they are here as "
		    "local users");
		return;
	}
	request_result(req, json_pack("workers:o", warm_view(req->ctx->warm)));
}

/* ---- paddock/reload ---- */

/* Answer with REPORT (*lent*); NULL: the server ends before the reload. */
static void on_report(void *arg, struct json_object *report)
{
	struct request *req = arg;
	struct json_object *copy = NULL; /* gets members by the revision */

	if (!request_unref(req))
		return;
	if (report == NULL)
		request_error(req, RPC_INTERNAL_ERROR, NULL,
			      "nothing was loaded again, for this server is "
			      "ending; the next one reads everything anew");
	else if (json_object_deep_copy(report, &copy, NULL) < 0)
		abort(); /* out of memory */
	else
		request_result(req, copy);
}

void server_methods_reload(struct request *req)
{
	if (!request_is_operator(req)) {
		request_error(req, RPC_INVALID_REQUEST, NULL,
			      "a reload is for root and the user who runs this "
			      "server, when they are here as local users");
		return;
	}
	request_ref(req);
	req->ctx->reload_ask(req->ctx->reload, on_report, req);
}
