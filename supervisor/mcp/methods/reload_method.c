/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload_method.c - paddock/reload: reads the configuration and all templates
 * again, as on SIGHUP, and answers what was taken and refused. methods.c calls
 * it; daemon.c reloads. A client who is not an operator, and a client of a
 * server which is ending, get an error.
 */
#include "supervisor/mcp/methods/reload_method.h"

#include <stdlib.h>

#include "proto/json/json_pack.h"
#include "supervisor/context.h"

/* Copy REPORT: each answer gets members by its revision. */
static struct json_object *copy_report(struct json_object *report)
{
	struct json_object *copy = NULL;

	if (json_object_deep_copy(report, &copy, NULL) < 0)
		abort(); /* out of memory */
	return copy;
}

/* Answer with REPORT (*lent*); NULL: the server ends before the reload. */
static void on_report(void *arg, struct json_object *report)
{
	struct request *req = arg;

	if (!request_unref(req))
		return;
	if (report != NULL)
		request_result(req, copy_report(report));
	else
		request_error(req, RPC_INTERNAL_ERROR, NULL,
			      "nothing was loaded again, for this server is "
			      "ending; the next one reads everything anew");
}

void reload_method(struct request *req)
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
