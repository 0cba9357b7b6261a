/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "proto/json.h"
#include "supervisor/call_make.h"
#include "supervisor/elsewhere.h"
#include "supervisor/own_uri.h"
#include "supervisor/page.h"
#include "supervisor/placeholder.h"
#include "supervisor/runs.h"
#include "supervisor/tools.h"
#include "supervisor/view.h"

#define RPC_RESOURCE_NOT_FOUND (-32002) /* MCP, server/resources, errors */

/* ---- lists ---- */

struct entry {
	const char *uri, *name, *description, *mime_type;
};

static const struct entry listed[] = {
    {OWN_URI_ISOLATION, "isolation",
     "How well runs are isolated here, as measured", "application/json"},
};

static const struct entry templates[] = {
    {OWN_URI_RUNS "{runId}", "run", "A run, as get_task_run shows it",
     "application/json"},
    {OWN_URI_RUNS "{runId}/log", "run_log",
     "What a run has logged, a line each", "text/plain"},
    {OWN_URI_RUNS "{runId}/artifacts/{artifactId}", "artifact",
     "The bytes of an artifact", NULL},
};

static void add(struct json_object *o, const char *key, const char *text)
{
	if (text != NULL)
		json_object_object_add(o, key, json_object_new_string(text));
}

static void page_own(struct page *p, const char *uri_key,
		     const struct entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct json_object *o;

		if (!page_wants(p, "", i))
			continue;
		o = json_object_new_object();
		add(o, uri_key, entries[i].uri);
		add(o, "name", entries[i].name);
		add(o, "description", entries[i].description);
		add(o, "mimeType", entries[i].mime_type);
		json_object_array_add(p->list, o);
	}
}

static void page_offers(struct page *p, const char *uri_key,
			const struct offer_list *list)
{
	const struct session *s = p->call->session;

	for (size_t i = 0; i < list->n; i++) {
		const struct offer *offer = &list->all[i];
		struct json_object *o;

		if (tools_offer(s, list, offer->key) != offer ||
		    !page_wants(p, offer->template->id, offer->index))
			continue;
		o = json_object_new_object();
		add(o, uri_key, offer->key);
		add(o, "name", json_member_str(offer->def, "name"));
		if (mcp_has(s->revision, MCP_TITLES))
			add(o, "title", json_member_str(offer->def, "title"));
		add(o, "description",
		    json_member_str(offer->def, "description"));
		add(o, "mimeType", json_member_str(offer->def, "mimeType"));
		json_object_array_add(p->list, o);
	}
}

void resources_list(struct call *c)
{
	struct page p;

	if (!page_begin(&p, c, PAGE_ENTRIES))
		return;
	page_own(&p, "uri", listed, ARRAY_LEN(listed));
	page_offers(&p, "uri", &c->session->server->catalogue->offers->resources);
	page_end(&p, "resources");
}

void resources_templates(struct call *c)
{
	struct page p;

	if (!page_begin(&p, c, PAGE_ENTRIES))
		return;
	page_own(&p, "uriTemplate", templates, ARRAY_LEN(templates));
	page_offers(&p, "uriTemplate",
		    &c->session->server->catalogue->offers->patterns);
	page_end(&p, "resourceTemplates");
}

/* ---- answers ---- */

void resources_not_found(struct call *c, const char *uri)
{
	struct json_object *data = json_object_new_object();

	requestor_missed(c->session->requestor);
	add(data, "uri", uri);
	call_error(c, RPC_RESOURCE_NOT_FOUND, data, "Resource not found");
}

static const char *uri_of(const struct call *c)
{
	return json_member_str(c->msg.params, "uri");
}

/* True: the store has no answer, and C has got one. */
static bool none(struct call *c, const struct store_result *res)
{
	if (res->rc == -ENOENT)
		resources_not_found(c, uri_of(c));
	else if (res->rc != 0)
		call_error(c, RPC_INTERNAL_ERROR, NULL,
			   "the store cannot be read now: %s",
			   store_says(res->rc));
	return res->rc != 0;
}

/* Bytes that are UTF-8 go as text; any others as a blob. */
struct json_object *resources_contents(const char *uri, const char *mime_type,
				       const char *bytes, size_t len)
{
	struct json_object *o = json_object_new_object();

	add(o, "uri", uri);
	add(o, "mimeType", mime_type);
	if (utf8_ok(bytes, len)) {
		json_object_object_add(
		    o, "text", json_object_new_string_len(bytes, (int)len));
	} else {
		char *blob = xcalloc(1, BASE64_LEN(len) + 1);

		base64_encode(blob, bytes, len);
		add(o, "blob", blob);
		free(blob);
	}
	return o;
}

static struct json_object *make_contents(struct making *m)
{
	struct json_object *result = json_object_new_object();
	struct json_object *contents = json_object_new_array_ext(1);

	json_object_array_add(contents,
			      resources_contents(m->uri, m->mime_type, m->text,
						 m->len));
	json_object_object_add(result, "contents", contents);
	return result;
}

static void answer_bytes(struct call *c, const char *mime_type,
			 const char *bytes, size_t len)
{
	call_make(c, &(struct making){.make = make_contents,
				      .uri = uri_of(c),
				      .mime_type = mime_type,
				      .text = bytes,
				      .len = len});
}

/* ---- paddock's own ---- */

static void read_isolation(struct call *c, const struct own_uri *u)
{
	size_t len;
	const char *text =
	    json_text(c->session->server->isolation.view, &len);

	(void)u;
	answer_bytes(c, "application/json", text, len);
}

/* OBJ is taken. */
static void answer_json(struct call *c, struct json_object *obj)
{
	size_t len;
	const char *text = json_text(obj, &len);

	answer_bytes(c, "application/json", text, len);
	json_object_put(obj);
}

static void give_run(struct call *c, const struct elsewhere_end *end)
{
	const struct store_run *row = end->res->runs;

	if (none(c, end->res))
		return;
	if (row->status <= STORE_RUNNING)
		answer_json(c, view_open_row(row, end->silent));
	else if (row->view != NULL)
		answer_bytes(c, "application/json", row->view,
			     strlen(row->view));
	else
		answer_json(c, view_row(row));
}

static void give_our_run(struct call *c, struct run *r)
{
	answer_json(c, view_run(r, &c->server->isolation));
}

/* The run that U names, from who has it. */
static void read_of_run(struct call *c, const struct own_uri *u,
			const struct elsewhere *ask)
{
	struct elsewhere whole = *ask;
	struct run *r = runs_find(server_runs(c->server), c->session->requestor,
				  u->run_id);

	whole.id = u->run_id;
	if (r != NULL)
		ask->ours(c, r);
	else
		elsewhere_ask(c, &whole);
}

static void read_run(struct call *c, const struct own_uri *u)
{
	read_of_run(c, u, &(struct elsewhere){.want = ELSEWHERE_VIEW,
					      .done = give_run,
					      .ours = give_our_run});
}

static void give_log(struct call *c, const struct elsewhere_end *end)
{
	const struct store_run *row = end->res->runs;
	const char *log;

	if (none(c, end->res))
		return;
	if (end->silent != NULL) {
		call_error(c, RPC_INTERNAL_ERROR, NULL,
			   "the log of %s is not to be had until it ends: %s",
			   row->id, end->silent);
		return;
	}
	log = row->log != NULL ? row->log : "";
	answer_bytes(c, "text/plain", log, strlen(log));
}

static void give_our_log(struct call *c, struct run *r)
{
	if (r->log != NULL)
		answer_bytes(c, "text/plain", buf_data(r->log),
			     buf_len(r->log));
	else
		answer_bytes(c, "text/plain", "", 0);
}

static void read_log(struct call *c, const struct own_uri *u)
{
	read_of_run(c, u, &(struct elsewhere){.want = ELSEWHERE_LOG,
					      .done = give_log,
					      .ours = give_our_log});
}

/* One that is larger than may go inline is read by get_artifact, in pieces. */
static void on_artifact(void *arg, const struct store_result *res)
{
	struct call *c = arg;

	if (!call_release(c))
		return;
	if (res->rc != 0 ||
	    strcmp(own_uri_parse(uri_of(c)).run_id, res->artifact->run_id) != 0)
		resources_not_found(c, uri_of(c));
	else if ((int64_t)res->len < res->artifact->size)
		call_error(c, RPC_INVALID_PARAMS, NULL,
			   "the artifact has %lld bytes, but at most %lld are "
			   "given inline; get_artifact reads it in pieces",
			   (long long)res->artifact->size,
			   (long long)c->session->server->config
			       ->max_artifact_inline_bytes);
	else
		answer_bytes(c, res->artifact->mime_type, res->data, res->len);
}

static void read_artifact(struct call *c, const struct own_uri *u)
{
	struct server *srv = c->session->server;

	server_runs(srv);
	call_hold_read(c);
	store_read_artifact(srv->store, c->session->requestor->name,
			    u->artifact_id, 0,
			    srv->config->max_artifact_inline_bytes, on_artifact,
			    c);
}

/* ---- what templates offer ---- */

const struct offer *resources_find(const struct session *s, const char *uri,
				   struct json_object **values)
{
	const struct offers *offers = s->server->catalogue->offers;
	const struct offer *o;

	*values = NULL;
	if (strlen(uri) > RESOURCES_URI_MAX)
		return NULL;
	o = tools_offer(s, &offers->resources, uri);
	if (o != NULL)
		return o;
	for (size_t i = 0; i < offers->patterns.n; i++) {
		o = &offers->patterns.all[i];
		if (tools_offers(s, o->template))
			*values = placeholder_uri_match(o->key, uri);
		if (*values != NULL)
			return o;
	}
	return NULL;
}

static void answer_filled(struct call *c, const char *mime_type,
			  const char *text, struct json_object *values)
{
	struct buf out = {.max = RESOURCES_FILLED_MAX};

	if (placeholder_fill(&out, PLACEHOLDER_URI, text, values) < 0)
		call_error(c, RPC_INVALID_PARAMS, NULL,
			   "with what this URI says the resource has more than "
			   "%zu bytes",
			   RESOURCES_FILLED_MAX);
	else
		answer_bytes(c, mime_type, buf_len(&out) > 0 ? buf_data(&out) : "",
			     buf_len(&out));
	buf_fini(&out);
}

static void read_offer(struct call *c, const struct own_uri *u)
{
	struct json_object *values;
	const struct offer *o = resources_find(c->session, uri_of(c), &values);
	const struct template_file *f;
	const char *mime_type, *text;

	(void)u;
	if (o == NULL) {
		resources_not_found(c, uri_of(c));
		return;
	}
	mime_type = json_member_str(o->def, "mimeType");
	text = json_member_str(o->def, "text");
	if (text == NULL) {
		f = template_file(o->template, json_member_str(o->def, "file"));
		answer_bytes(c, mime_type, f->data, f->len);
	} else if (values != NULL) {
		answer_filled(c, mime_type, text, values);
	} else {
		answer_bytes(c, mime_type, text, strlen(text));
	}
	json_object_put(values);
}

static void (*const readers[])(struct call *c, const struct own_uri *u) = {
    [OWN_URI_NONE] = read_offer,
    [OWN_URI_IS_ISOLATION] = read_isolation,
    [OWN_URI_IS_RUN] = read_run,
    [OWN_URI_IS_LOG] = read_log,
    [OWN_URI_IS_ARTIFACT] = read_artifact,
};

void resources_read(struct call *c)
{
	const char *uri = uri_of(c);
	struct own_uri u;

	if (uri == NULL) {
		call_error(c, RPC_INVALID_PARAMS, NULL,
			   "resources/read needs params.uri, a string");
		return;
	}
	u = own_uri_parse(uri);
	readers[u.kind](c, &u);
}
