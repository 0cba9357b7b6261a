/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.c - serves paddock/waiting: the workers that wait for runs, and how
 * often one was there. methods.c calls it. It tells of what others run, so that
 * who is no operator gets an error.
 */
#include "supervisor/methods/waiting.h"

#include "proto/json/json_pack.h"
#include "supervisor/warm/warm.h"

void waiting_get(struct request *c)
{
	if (!request_is_operator(c)) {
		request_error(
		    c, RPC_INVALID_REQUEST, NULL,
		    "which workers wait is told to root and to the "
		    "user who runs this server, when they are here as "
		    "local users");
		return;
	}
	request_result(c, json_pack("workers:o", warm_view(c->ctx->warm)));
}
