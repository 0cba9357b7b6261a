/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.c - paddock/usage: runs, CPU time and bytes by requestor and template,
 * and uploads. methods.c calls it. A local user who runs the machine or
 * paddockd sees the use of all requestors, any other client the use of its own
 * requestor alone.
 */
#include "supervisor/mcp/methods/usage.h"

#include "proto/json/json_pack.h"

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

void usage_get(struct request *req)
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
