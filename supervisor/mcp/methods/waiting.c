/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.c - paddock/waiting: the workers which wait for runs, and how often a
 * worker was ready. methods.c calls it. The answer shows other requestors'
 * runs, so a client who is not an operator gets an error.
 */
#include "supervisor/mcp/methods/waiting.h"

#include "proto/json/json_pack.h"
#include "supervisor/run/warm/warm.h"

void waiting_get(struct request *req)
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
