/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proposal_methods.c - paddock/proposals lists proposed grants or shows a proposal, and
 * paddock/decide notes an operator's decision. methods.c calls both. A client sees the
 * client's own proposals, an operator all. The server grants nothing: "paddock grant
 * approve" writes the file that a reload reads. The draft is made anew from the package
 * and the grants of now, and a changed package has no draft.
 */
#include "supervisor/mcp/proposals/proposals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/context.h"
#include "supervisor/packages/grants/grants_draft.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/audit.h"
#include "supervisor/store/store.h"

/* Return the template of P's package; NULL: the package has changed, or is gone. */
static const struct template *package_of(const struct context *ctx,
					 const struct store_proposal *p)
{
	const struct catalogue *all = ctx->catalogue;

	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->all[i]->id, p->template_id) == 0 &&
		    strcmp(all->all[i]->digest, p->digest) == 0)
			return all->all[i];
	return NULL;
}

/* ---- paddock/proposals ---- */

/* Describe P; WHOLE: with the draft. */
static struct json_object *proposal_view(const struct request *req,
					 const struct store_proposal *p,
					 bool whole)
{
	const struct template *t = package_of(req->ctx, p);
	struct json_object *body = json_unpack(p->body, strlen(p->body));
	struct json_object *v = json_pack(
	    "proposalId:s requestor:s templateId:s version?s digest:s "
	    "state:s reason?s madeAt:i expiresAt:i approvedAt?i",
	    p->id, p->requestor, p->template_id,
	    t != NULL ? t->version_text : NULL, p->digest,
	    t == NULL		 ? "changed"
	    : p->approved_ms > 0 ? "approved"
				 : "waiting",
	    json_member_str(body, "reason"), p->made_ms, p->expires_ms,
	    p->approved_ms);

	if (whole && t != NULL)
		json_add(v, "draft:o",
			 grants_draft(t, req->ctx->config, body,
				      request_is_operator(req)
					  ? 0
					  : GRANTS_DRAFT_BLIND));
	if (whole && request_is_operator(req))
		json_add(v, "grantsDir?s", req->ctx->config->grants_dir);
	json_object_put(body);
	return v;
}

static const char *id_of(const struct request *req)
{
	return json_member_str(req->msg.params, "proposalId");
}

static void no_proposal(struct request *req)
{
	requestor_missed(req->requestor);
	request_error(req, RPC_INVALID_PARAMS,
		      json_pack("errorCode:s", "PROPOSAL_NOT_FOUND"),
		      "there is no proposal \"%.64s\" here",
		      id_of(req) != NULL ? id_of(req) : "");
}

static void on_listed(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct json_object *list;

	if (!request_unref(req))
		return;
	if (res->rc != 0) {
		request_unreadable(req, res->rc);
		return;
	}
	if (id_of(req) != NULL && res->n_proposals == 0) {
		no_proposal(req);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < res->n_proposals; i++)
		json_object_array_add(
		    list,
		    proposal_view(req, &res->proposals[i], id_of(req) != NULL));
	request_result(req, json_pack("proposals:o", list));
}

static void look_up(struct request *req, store_done done)
{
	request_ref(req);
	store_list_proposals(req->ctx->store,
			     request_is_operator(req) ? NULL
						      : req->requestor->name,
			     id_of(req), clock_wall_ms(), done, req);
}

void proposal_methods_list(struct request *req)
{
	look_up(req, on_listed);
}

/* ---- paddock/decide ---- */

static bool approves(const struct request *req)
{
	return json_member_bool(req->msg.params, "approve");
}

/* request.state: the audit's words on the proposal that is decided on */
struct decision {
	char *owner, *template_id, *digest;
};

static void decision_free(void *state)
{
	struct decision *d = state;

	free(d->owner);
	free(d->template_id);
	free(d->digest);
	free(d);
}

static const struct request_ops decision_ops = {.free = decision_free};

static void on_decided(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct decision *d;

	if (!request_unref(req))
		return;
	if (res->rc == -ENOENT) {
		no_proposal(req);
		return;
	}
	if (res->rc != 0) {
		request_unreadable(req, res->rc);
		return;
	}
	d = request_take_state(req);
	audit_grant(approves(req) ? "grant_approved" : "grant_rejected",
		    req->requestor, id_of(req), d->owner, d->template_id,
		    d->digest);
	decision_free(d);
	request_result(req, json_pack("proposalId:s state:s", id_of(req),
				      approves(req) ? "approved" : "rejected"));
}

static void on_found(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	const struct store_proposal *p = res->proposals;
	struct decision *d;

	if (!request_unref(req))
		return;
	if (res->rc != 0) {
		request_unreadable(req, res->rc);
	} else if (res->n_proposals == 0) {
		no_proposal(req);
	} else if (approves(req) && package_of(req->ctx, p) == NULL) {
		request_error(req, RPC_INVALID_REQUEST,
			      json_pack("errorCode:s", "PACKAGE_CHANGED"),
			      "the package of %s has changed since the "
			      "proposal, or is gone, so the proposal can only "
			      "be rejected",
			      p->template_id);
	} else {
		d = xcalloc(1, sizeof(*d));
		*d = (struct decision){xstrdup(p->requestor),
				       xstrdup(p->template_id),
				       xstrdup(p->digest)};
		request_set_state(req, &decision_ops, d);
		request_ref(req);
		store_end_proposal(req->ctx->store, id_of(req),
				   approves(req) ? clock_wall_ms() : 0,
				   on_decided, req);
	}
}

void proposal_methods_decide(struct request *req)
{
	struct json_object *approve = json_member(req->msg.params, "approve");

	if (!request_is_operator(req))
		request_error(req, RPC_INVALID_REQUEST, NULL,
			      "proposals are decided on by root and the user "
			      "who runs this server, when they are here as "
			      "local users");
	else if (id_of(req) == NULL ||
		 !json_object_is_type(approve, json_type_boolean))
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "params.proposalId is a string, and "
			      "params.approve true or false");
	else
		look_up(req, on_found);
}
