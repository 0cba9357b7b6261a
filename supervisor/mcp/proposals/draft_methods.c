/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft_methods.c - paddock/draft: the draft of a grant for what a run was found to lack.
 * methods.c calls it. Whoever may see a template may have a draft, which grants nothing.
 */
#include "supervisor/mcp/proposals/proposals.h"

#include "proto/json/json_pack.h"
#include "supervisor/context.h"
#include "supervisor/packages/grants/grants_draft.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/requestor/requestor.h"

static unsigned how_of(const struct request *req)
{
	bool whole = json_member_bool(req->msg.params, "whole");
	bool is_local = session_trust(req->session) == TRUST_LOCAL;

	return (whole ? GRANTS_DRAFT_WHOLE : 0) |
	       (is_local ? 0 : GRANTS_DRAFT_BLIND);
}

void draft_methods_draft(struct request *req)
{
	struct json_object *params = req->msg.params;
	const char *id = json_member_str(params, "templateId");
	const struct template *t = NULL;
	char errmsg[512];

	if (id != NULL && requestor_sees(req->requestor, id))
		t = catalogue_find(req->ctx->catalogue, id,
				   json_member_str(params, "version"));
	if (t == NULL)
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "params.templateId, with params.version when it "
			      "is there, names no template here");
	else if (!grants_draft_check(params, errmsg, sizeof(errmsg)))
		request_error(req, RPC_INVALID_PARAMS, NULL, "%s", errmsg);
	else
		request_result(req, grants_draft(t, req->ctx->config, params,
						 how_of(req)));
}
