/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_templates.c - list_task_templates. Thousands of templates may have long
 * schemas, so the list is printed piece by piece in turns, and a thread makes
 * the answer. If the call is dropped meanwhile, the pieces are freed.
 */
#include "supervisor/mcp/tools/contract_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/limits.h"
#include "supervisor/browser/browser.h"
#include "supervisor/session/response.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/worker/programs.h"
#include "supervisor/mcp/tools/tools.h"

#define PIECE_BYTES 131072 /* bytes of text, which take 1 ms */

/* A list being made; request.state. */
struct listing {
	struct request *request;
	struct template **all; /* references: a reload may come between */
	size_t n, next;
	bool whole;   /* a single template was asked for */
	size_t first; /* the first index of the list */
	struct buf text;
	struct fair_queue_turn turn;
};

/* ---- a single template ---- */

static struct json_object *trusts(const struct template *t)
{
	struct json_object *list = json_object_new_array();

	for (unsigned bit = TRUST_LOCAL; bit <= TRUST_REMOTE; bit <<= 1)
		if ((t->trust & bit) != 0)
			json_object_array_add(
			    list, json_text_new(
				      trust_name((enum template_trust)bit)));
	return list;
}

static struct json_object *or_empty(struct json_object *o)
{
	return o != NULL ? json_object_get(o) : json_object_new_object();
}

/* Add whether T may be run with TRUST, and if not, why. */
static void add_available(struct json_object *v, const struct context *ctx,
			  const struct template *t, enum template_trust trust)
{
	struct tool_error no = {0};
	const char *errmsg = NULL;

	if ((t->trust & trust) == 0)
		errmsg = "it does not list this connection's trust level";
	else if (!grants_allow(t, ctx->config, &no) ||
		 !programs_allow(t, ctx->config, ctx->isolation, &no) ||
		 !browser_allow(t, ctx->config, &no))
		errmsg = no.message;
	json_add(v, "available:b unavailableReason?s", errmsg == NULL, errmsg);
	tool_error_fini(&no);
}

/* Add the MEMBER of T's manifest, without contents. */
static void add_offers(struct json_object *v, const struct template *t,
		       const char *member)
{
	static const char *const shown[] = {
	    "uri",	   "uriTemplate", "name",     "title",
	    "description", "mimeType",	  "arguments"};
	struct json_object *offers = json_member(t->manifest, member), *list;

	if (offers == NULL)
		return;
	list = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(offers); i++) {
		struct json_object *def = json_object_array_get_idx(offers, i);
		struct json_object *o = json_object_new_object(), *value;

		for (size_t j = 0; j < ARRAY_LEN(shown); j++)
			if ((value = json_member(def, shown[j])) != NULL)
				json_object_object_add(o, shown[j],
						       json_object_get(value));
		json_object_array_add(list, o);
	}
	json_object_object_add(v, member, list);
}

static struct json_object *template_view(const struct context *ctx,
					 const struct template *t,
					 enum template_trust trust)
{
	static const char *const modes[] = {
	    [MODE_SYNC] = "sync", [MODE_ASYNC] = "async", [MODE_AUTO] = "auto"};
	struct json_object *v =
	    json_pack("templateId:s version:s name:s description:s "
		      "trustLevelSupport:o limits:o inputsSchema:O "
		      "outputsSchema:o supportsPartialSuccess:b "
		      "executionMode:s",
		      t->id, t->version_text, t->name, t->description,
		      trusts(t), or_empty(t->limits_json), t->inputs_json,
		      or_empty(t->outputs_json), t->partial, modes[t->mode]);

	add_offers(v, t, "resources");
	add_offers(v, t, "prompts");
	/* the names of the operator's grants are for local clients */
	if (grants_asks(t))
		json_add(v, "permissions:o",
			 grants_view(t, ctx->config, trust == TRUST_LOCAL));
	add_available(v, ctx, t, trust);
	/* names files of the operator */
	if (t->broken != NULL && trust == TRUST_LOCAL)
		json_add(v, "notReloaded:s", t->broken);
	return v;
}

/* ---- the list ---- */

static void listing_free(void *arg)
{
	struct listing *l = arg;

	fair_queue_cancel(&l->turn);
	for (size_t i = 0; i < l->n; i++)
		template_unref(l->all[i]);
	free(l->all);
	buf_fini(&l->text);
	free(l);
}

static const struct request_ops listing_ops = {.free = listing_free};

/* Is the answer full? A longer answer would be cut short. */
static bool listing_is_full(const struct listing *l)
{
	return l->next == l->n ||
	       (l->next > 0 &&
		buf_len(&l->text) > request_max_bytes(l->request) / 4);
}

/* Add a piece of the list. */
static void continue_listing(struct listing *l)
{
	const struct session *s = l->request->session;
	size_t until = buf_len(&l->text) + PIECE_BYTES, len;

	for (; !listing_is_full(l) && buf_len(&l->text) < until; l->next++) {
		const struct template *t = l->all[l->next];
		struct json_object *v =
		    template_view(s->ctx, t, session_trust(s));
		const char *text;

		/* too long for the whole list, above all for models */
		if (l->whole)
			json_add(v, "effectiveLimits:o",
				 limits_preview(t, l->request->requestor,
						s->ctx->config));
		text = json_text(v, &len);
		buf_add(&l->text, ",", l->next > 0);
		buf_add(&l->text, text, len);
		json_object_put(v);
	}
}

static void answer_listing(struct listing *l)
{
	size_t len;
	char *text;

	if (l->next < l->n)
		buf_printf(&l->text, "],\"nextOffset\":%zu}",
			   l->first + l->next);
	else
		buf_add_str(&l->text, "]}");
	text = buf_take(&l->text, &len);
	response_tool_text(l->request, text, len);
}

static void take_turn(void *arg)
{
	struct listing *l = arg;
	struct request *req = l->request;

	continue_listing(l);
	if (!listing_is_full(l))
		fair_queue_requeue(req->ctx->turns, &req->requestor->turns,
				   &l->turn);
	else
		answer_listing(l);
}

void tool_templates_list(struct request *req, struct json_object *args)
{
	const struct catalogue *cat = req->ctx->catalogue;
	const char *only = json_member_str(args, "templateId");
	int64_t skip = json_member_int(args, "offset");
	struct listing *l = xcalloc(1, sizeof(*l));

	*l = (struct listing){
	    .request = req,
	    .first = (size_t)skip,
	    .all = xcalloc(cat->n + 1, sizeof(struct template *)),
	    .whole = only != NULL,
	    .turn = {.take = take_turn, .arg = l}};
	for (size_t i = 0; i < cat->n; i++)
		if (requestor_sees(req->requestor, cat->all[i]->id) &&
		    (only == NULL || strcmp(only, cat->all[i]->id) == 0) &&
		    skip-- <= 0)
			l->all[l->n++] = template_ref(cat->all[i]);
	request_set_state(req, &listing_ops, l);
	buf_add_str(&l->text, "{\"templates\":[");
	continue_listing(l);
	if (listing_is_full(l)) {
		answer_listing(l);
		return;
	}
	request_mark_large(req);
	fair_queue_requeue(req->ctx->turns, &req->requestor->turns, &l->turn);
}
