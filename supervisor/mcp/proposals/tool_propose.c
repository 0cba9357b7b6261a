/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_propose.c - propose_grant: keeps a client's proposal of a grant until an operator
 * decides (proposal_methods.c). Off unless the operator wants proposals. Words of
 * the client are checked, bounded and never become words of the server; nothing is granted
 * here. The id of a proposal is a digest of all but the reason, so that the same proposal
 * is one.
 */
#include "supervisor/mcp/proposals/proposals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "proto/json/json_pack.h"
#include "supervisor/packages/grants/grants_draft.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/audit.h"
#include "supervisor/session/response.h"
#include "supervisor/store/store.h"

#define LIFE_MS (INT64_C(7) * 24 * 3600 * 1000)
#define ID_DIGITS 24 /* of the digest, in a proposal's id */

bool tool_propose_serves(const struct context *ctx, const char *tool)
{
	return ctx->config->proposals || strcmp(tool, "propose_grant") != 0;
}

static void release_draft(void *draft)
{
	json_object_put(draft);
}

static const struct request_ops propose_ops = {.free = release_draft};

static void refuse(struct request *req, const char *code, const char *why)
{
	struct tool_error r = {0};

	tool_error_set(&r, code, NULL, "%s", why);
	request_tool_error(req, &r);
}

static void refuse_full(struct request *req)
{
	struct tool_error r = {0};

	tool_error_set(
	    &r, "QUOTA_EXCEEDED",
	    json_pack("limit:s allowed:i unit:s whoCanRaise:s", "proposals",
		      STORE_PROPOSALS_EACH, "proposals",
		      "nobody: the operator decides on those that wait"),
	    "%d proposals of yours, or %d of all, wait for the operator "
	    "already; this one is taken when some were decided on",
	    STORE_PROPOSALS_EACH, STORE_PROPOSALS_MAX);
	request_tool_error(req, &r);
}

static void on_kept(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	const struct store_proposal *p = res->proposals;
	struct json_object *draft;

	if (!request_unref(req))
		return;
	if (res->rc == -EDQUOT) {
		refuse_full(req);
		return;
	}
	if (res->rc != 0) {
		refuse(req, "STORE_UNAVAILABLE", store_says(res->rc));
		return;
	}
	draft = request_take_state(req);
	audit_grant("grant_proposed", req->requestor, p->id, p->requestor,
		    p->template_id, p->digest);
	json_add(draft, "proposalId:s state:s expiresAt:i", p->id,
		 p->approved_ms > 0 ? "approved" : "waiting", p->expires_ms);
	json_object_object_del(draft, "section");
	response_tool_result(req, draft, false);
}

/* Write the id of Q's proposal DRAFT into P. */
static void make_id(struct store_proposal *p, const struct requestor *q,
		    struct json_object *draft)
{
	const char *const parts[] = {q->name, json_member_str(draft, "digest"),
				     json_member_str(draft, "section")};
	struct sha256 s;
	char hex[65];

	sha256_begin(&s);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		sha256_add(&s, parts[i], strlen(parts[i]) + 1);
	sha256_end(&s, hex);
	snprintf(p->id, sizeof(p->id), "prp_%.*s", ID_DIGITS, hex);
}

/* Return the client's words for the row: {grant?, limits?, reason}; the caller's. */
static struct json_object *body_of(struct json_object *args)
{
	struct json_object *hosts = json_member(args, "hosts");
	struct json_object *grant =
	    hosts != NULL ? json_pack("hosts:O", hosts) : NULL;

	return json_pack("grant?o limits?O reason:O", grant,
			 json_member(args, "limits"),
			 json_member(args, "reason"));
}

/* Keep the proposal BODY of REQ for T, whose draft is DRAFT (taken). */
static void keep(struct request *req, const struct template *t,
		 struct json_object *body, struct json_object *draft)
{
	int64_t now = clock_wall_ms();
	struct store_proposal p = {.requestor = req->requestor->name,
				   .template_id = t->id,
				   .digest = t->digest,
				   .body = json_text(body, NULL),
				   .made_ms = now,
				   .expires_ms = now + LIFE_MS};

	make_id(&p, req->requestor, draft);
	request_set_state(req, &propose_ops, draft);
	request_ref(req);
	store_add_proposal(req->ctx->store, &p, on_kept, req);
}

/* Find the template that ARGS name; NULL: REQ was answered. */
static const struct template *wanted(struct request *req,
				     struct json_object *args)
{
	const char *id = json_member_str(args, "templateId");
	const struct template *t = NULL;
	struct tool_error r = {0};

	if (requestor_sees(req->requestor, id))
		t = catalogue_find(req->ctx->catalogue, id,
				   json_member_str(args, "templateVersion"));
	if (t != NULL)
		return t;
	tool_error_set(&r, "TEMPLATE_NOT_FOUND", NULL,
		       "there is no template \"%.64s\" of that version", id);
	request_tool_error(req, &r);
	return NULL;
}

void tool_propose(struct request *req, struct json_object *args)
{
	struct json_object *body, *draft;
	const struct template *t;
	char errmsg[512];

	if (!req->ctx->config->proposals) {
		refuse(req, "CALL_NOT_ALLOWED",
		       "this server takes no proposals of grants: proposals in "
		       "[server] of paddock.conf, the operator's");
		return;
	}
	t = wanted(req, args);
	if (t == NULL)
		return;
	body = body_of(args);
	if (!grants_draft_check(body, errmsg, sizeof(errmsg))) {
		refuse(req, "INVALID_PARAMETER", errmsg);
		json_object_put(body);
		return;
	}
	draft = grants_draft(t, req->ctx->config, body,
			     session_trust(req->session) == TRUST_LOCAL
				 ? 0
				 : GRANTS_DRAFT_BLIND);
	if (json_member_is(draft, "section", "")) {
		refuse(req, "INVALID_PARAMETER",
		       "the template lacks no permission that it asks for, and "
		       "neither hosts nor limits were given, so there is "
		       "nothing to propose");
		json_object_put(draft);
	} else {
		keep(req, t, body, draft);
	}
	json_object_put(body);
}
