/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources_list.c - resources/list and resources/templates/list: paddock's
 * resources, then the resources of manifests for the requestor. methods.c calls
 * both by a table; an invalid cursor is refused.
 */
#include "supervisor/mcp/methods/methods.h"

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/session/result/resource_uri.h"
#include "supervisor/session/pagination.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/mcp/tools/tools.h"

struct entry {
	const char *uri, *name, *description, *mime_type;
};

static const struct entry listed[] = {
    {RESOURCE_URI_ISOLATION, "isolation",
     "How well runs are isolated here, as measured", "application/json"},
};

static const struct entry templates[] = {
    {RESOURCE_URI_RUNS "{runId}", "run", "A run, as get_task_run shows it",
     "application/json"},
    {RESOURCE_URI_RUNS "{runId}/log", "run_log",
     "What a run has logged, a line each", "text/plain"},
    {RESOURCE_URI_RUNS "{runId}/result{?offset,limit}", "run_result",
     "What a run gave, as JSON; a large one is read in parts, by bytes",
     "application/json"},
    {RESOURCE_URI_RUNS "{runId}/artifacts/{artifactId}", "artifact",
     "The bytes of an artifact", NULL},
};

static void page_own(struct pagination *p, const char *uri_key,
		     const struct entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct json_object *o;

		if (!pagination_wants(p, "", i))
			continue;
		o = json_object_new_object();
		json_object_object_add(o, uri_key,
				       json_text_new(entries[i].uri));
		json_add(o, "name?s description?s mimeType?s", entries[i].name,
			 entries[i].description, entries[i].mime_type);
		json_object_array_add(p->list, o);
	}
}

static void page_offers(struct pagination *p, const char *uri_key,
			const struct catalogue_index_list *list)
{
	const struct session *s = p->request->session;

	for (size_t i = 0; i < list->n; i++) {
		const struct catalogue_entry *offer = &list->all[i];
		struct json_object *o;

		if (tools_offer(s, list, offer->key) != offer ||
		    !pagination_wants(p, offer->template->id, offer->index))
			continue;
		o = json_object_new_object();
		json_object_object_add(o, uri_key, json_text_new(offer->key));
		json_add(o, "name?s title?s description?s mimeType?s",
			 json_member_str(offer->def, "name"),
			 mcp_has(p->request->terms->revision, MCP_TITLES)
			     ? json_member_str(offer->def, "title")
			     : NULL,
			 json_member_str(offer->def, "description"),
			 json_member_str(offer->def, "mimeType"));
		json_object_array_add(p->list, o);
	}
}

void resources_list(struct request *req)
{
	struct pagination p;

	if (!pagination_begin(&p, req, PAGINATION_ENTRIES))
		return;
	page_own(&p, "uri", listed, ARRAY_LEN(listed));
	page_offers(&p, "uri",
		    &req->session->ctx->catalogue->offers->resources);
	pagination_end(&p, "resources");
}

void resources_list_templates(struct request *req)
{
	struct pagination p;

	if (!pagination_begin(&p, req, PAGINATION_ENTRIES))
		return;
	page_own(&p, "uriTemplate", templates, ARRAY_LEN(templates));
	page_offers(&p, "uriTemplate",
		    &req->session->ctx->catalogue->offers->patterns);
	pagination_end(&p, "resourceTemplates");
}
