/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resident_methods.c - paddock/residents lists programs which stay between runs,
 * and paddock/endResident ends such a program. methods.c calls both. A client
 * reaches the programs of the client's requestor, an operator those of every
 * requestor; a missing name and a run under way are answered by an error.
 */
#include "supervisor/mcp/methods/methods.h"

#include <errno.h>
#include <string.h>

#include "proto/json/json_pack.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/run/warm/residents.h"

void resident_methods_list(struct request *req)
{
	bool is_operator = request_is_operator(req);
	const struct requestor *q = is_operator ? NULL : req->requestor;
	struct json_object *list = residents_view(req->ctx->residents, q);

	if (req->ctx->cluster != NULL)
		req->ctx->cluster->list_residents(req, q, is_operator, list);
	else
		request_result(req, json_pack("residents:o", list));
}

/*
 * Return the requestor of the meant resident, by params.requestor; NULL: REQ was
 * answered, or *NOBODY: an operator named a requestor that never came.
 */
static const struct requestor *owner_of(struct request *req, bool *nobody)
{
	struct json_object *given = json_member(req->msg.params, "requestor");
	const char *name = json_member_str(req->msg.params, "requestor");
	const struct requestor *q = req->requestor;

	*nobody = false;
	if (given == NULL || (name != NULL && strcmp(name, q->name) == 0))
		return q;
	if (name == NULL) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "params.requestor has to be a string");
		return NULL;
	}
	if (!request_is_operator(req)) {
		request_error(req, RPC_INVALID_REQUEST, NULL,
			      "params.requestor is for root and the user who "
			      "runs this server, when they are here as local "
			      "users; leave it out for a notebook of your own");
		return NULL;
	}
	q = requestors_find(req->ctx->requestors, name);
	*nobody = q == NULL;
	return q;
}

/* Answer REQ, whose resident NAME of template ID was to end: RC is how. */
static void answer_end(struct request *req, int rc, const char *id,
		       const char *name)
{
	if (rc == 0)
		request_result(req, json_pack("ended:b", true));
	else if (rc == -ETIMEDOUT)
		request_error(req, RPC_INTERNAL_ERROR,
			      json_pack("errorCode:s", "STORE_UNAVAILABLE"),
			      "the server that has the notebook \"%.64s\" of "
			      "%.64s has not answered; call again",
			      name, id);
	else if (rc == -EBUSY)
		request_error(req, RPC_INVALID_REQUEST,
			      json_pack("errorCode:s", "NOTEBOOK_BUSY"),
			      "the notebook \"%.64s\" of %.64s has a run under "
			      "way; cancel that run, or wait for its end",
			      name, id);
	else
		request_error(req, RPC_INVALID_PARAMS,
			      json_pack("errorCode:s", "NOTEBOOK_NOT_FOUND"),
			      "there is no notebook \"%.64s\" of %.64s", name,
			      id);
}

void resident_methods_end(struct request *req)
{
	const char *id = json_member_str(req->msg.params, "templateId");
	const char *name = json_member_str(req->msg.params, "name");
	const struct requestor *q;
	bool nobody;
	int rc;

	if (id == NULL || name == NULL) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "paddock/endResident needs params.templateId and "
			      "params.name, strings");
		return;
	}
	q = owner_of(req, &nobody);
	if (q == NULL && !nobody)
		return;
	rc = nobody ? -ENOENT : residents_end(req->ctx->residents, q, id, name);
	if (rc == -ENOENT && !nobody && req->ctx->cluster != NULL)
		req->ctx->cluster->end_resident(req, q, id, name, answer_end);
	else
		answer_end(req, rc, id, name);
}
