/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_templates.c - list_task_templates: the entry of a template with schemas,
 * limits and permissions, and whether it may be run. contract_tools.c calls it;
 * tool_listing.c prints the list.
 */
#include "supervisor/mcp/tools/contract_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/limits.h"
#include "supervisor/browser/browser.h"
#include "supervisor/mcp/tools/tool_listing.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/worker/programs.h"
#include "supervisor/mcp/tools/tools.h"

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

bool tool_templates_may_run(const struct context *ctx, const struct template *t,
			    struct tool_error *no)
{
	return grants_allow(t, ctx->config, no) &&
	       programs_allow(t, ctx->config, ctx->isolation, no) &&
	       browser_allow(t, ctx->config, no);
}

/* Add whether T may be run with TRUST, and if not, why. */
static void add_available(struct json_object *v, const struct context *ctx,
			  const struct template *t, enum template_trust trust)
{
	struct tool_error no = {0};
	const char *errmsg = NULL;

	if ((t->trust & trust) == 0)
		errmsg = "it does not list this connection's trust level";
	else if (!tool_templates_may_run(ctx, t, &no))
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

/* Return T's entry; WHOLE: T alone was asked for. */
static struct json_object *entry(const struct request *req,
				 const struct template *t, bool whole)
{
	struct json_object *v =
	    template_view(req->ctx, t, session_trust(req->session));

	/* too long for the list of all templates, above all for models */
	if (whole)
		json_add(v, "effectiveLimits:o",
			 limits_preview(t, req->requestor, req->ctx->config));
	return v;
}

void tool_templates_list(struct request *req, struct json_object *args)
{
	const struct catalogue *cat = req->ctx->catalogue;
	const char *only = json_member_str(args, "templateId");
	int64_t skip = json_member_int(args, "offset");
	struct tool_listing l = {
	    .all = xcalloc(cat->n + 1, sizeof(struct template *)),
	    .most = SIZE_MAX,
	    .view = entry,
	    .whole = only != NULL,
	    .pages = true,
	    .in_turn = true,
	    .first = (size_t)skip};

	for (size_t i = 0; i < cat->n; i++)
		if (requestor_sees(req->requestor, cat->all[i]->id) &&
		    (only == NULL || strcmp(only, cat->all[i]->id) == 0) &&
		    skip-- <= 0)
			tool_listing_add(&l, cat->all[i]);
	tool_listing_answer(req, &l);
}
