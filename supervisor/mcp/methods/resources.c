/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.c - resources/read: runs, logs, results and artifacts by
 * paddock://, and resources of manifests. methods.c calls it by its table. A
 * resource which is unknown, another requestor's or expired is not found; a
 * long resource is read in parts.
 */
#include "supervisor/mcp/methods/resources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "supervisor/session/response.h"
#include "supervisor/mcp/tools/run_lookup.h"
#include "supervisor/session/result/resource_uri.h"
#include "supervisor/packages/package/placeholder.h"
#include "supervisor/mcp/methods/asks.h"
#include "supervisor/mcp/tools/tools.h"
#include "supervisor/run/record/run_json.h"
#include "supervisor/packages/templates/catalogue.h"

/* ---- answers ---- */

void resources_not_found(struct request *req, const char *uri)
{
	requestor_missed(req->session->requestor);
	request_error(req, RPC_RESOURCE_NOT_FOUND, json_pack("uri?s", uri),
		      "Resource not found");
}

static const char *uri_of(const struct request *req)
{
	return json_member_str(req->msg.params, "uri");
}

/* Answer REQ if the store failed to find the resource. Returns whether so. */
static bool none(struct request *req, const struct store_result *res)
{
	if (res->rc == -ENOENT)
		resources_not_found(req, uri_of(req));
	else if (res->rc != 0)
		request_unreadable(req, res->rc);
	return res->rc != 0;
}

/* UTF-8 bytes become a text, other bytes a blob. */
struct json_object *resources_contents(const char *uri, const char *mime_type,
				       const char *bytes, size_t len)
{
	struct json_object *o = json_pack("uri?s mimeType?s", uri, mime_type);

	if (utf8_ok(bytes, len)) {
		json_add(o, "text:S", bytes, len);
	} else {
		char *blob = xcalloc(1, BASE64_LEN(len) + 1);

		base64_encode(blob, bytes, len);
		json_add(o, "blob?s", blob);
		free(blob);
	}
	return o;
}

static struct json_object *contents_result(const struct response *m,
					   struct json_object *contents)
{
	struct json_object *list = json_object_new_array_ext(1), *result;

	json_object_array_add(list, contents);
	result = json_pack("contents:o", list);
	mcp_add_cache_hint(result, m->revision, MCP_CACHE_READ);
	return result;
}

static struct json_object *make_contents(struct response *m)
{
	return contents_result(
	    m, resources_contents(m->uri, m->mime_type, m->text, m->len));
}

static void answer_bytes(struct request *req, const char *mime_type,
			 const char *bytes, size_t len)
{
	response_send(req, &(struct response){.make = make_contents,
					      .uri = uri_of(req),
					      .mime_type = mime_type,
					      .text = bytes,
					      .len = len});
}

/* ---- a part of a long resource ---- */

/* Add the place of a part, N bytes of ALL from OFFSET on, and the next URI. */
static void add_place(struct json_object *contents, const struct response *m,
		      size_t offset, size_t n, size_t all)
{
	char *next = NULL, limit[40] = "";

	if (m->piece.limit > 0)
		snprintf(limit, sizeof(limit), "&limit=%lld",
			 (long long)m->piece.limit);
	if (offset + n < all)
		next = xasprintf("%.*s?offset=%zu%s", (int)strcspn(m->uri, "?"),
				 m->uri, offset + n, limit);
	json_add(contents, "_meta:o",
		 json_pack("paddock/offset:i paddock/size:i paddock/next?s",
			   offset, all, next));
	free(next);
}

/* Return AT, moved back to the beginning of a character. */
static size_t at_character(const char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80)
		at--;
	return at;
}

/*
 * Make the part asked for, of LEN bytes at TEXT, as long as allowed. Beyond the
 * end, where a log may soon have more, the part is empty.
 */
static struct json_object *make_piece(struct response *m, const char *text,
				      size_t len)
{
	size_t from = (size_t)m->piece.offset, left, n;
	size_t most = RESOURCE_URI_RANGE_BYTES(m->max) >> m->level;
	struct json_object *contents;

	from = from < len ? at_character(text, from) : len;
	left = len - from;
	if (m->piece.limit > 0 && (size_t)m->piece.limit < most)
		most = (size_t)m->piece.limit;
	n = left <= most ? left : at_character(text, from + most) - from;
	if (n == 0 && left > 0) /* the limit is less than a character */
		utf8_decode(text + from, left, &n);
	contents = resources_contents(m->uri, m->mime_type, text + from, n);
	if (mcp_has(m->revision, MCP_CONTENT_META))
		add_place(contents, m, from, n, len);
	return contents_result(m, contents);
}

/* Make the whole resource, or its part, or a fault. */
static struct json_object *make_own(struct response *m)
{
	struct json_span at = {.len = m->len};

	if (m->part != NULL && json_find(&at, m->text, m->len, m->part) < 0) {
		snprintf(
		    m->fault, sizeof(m->fault),
		    "this run gave no %s; without /%s at its end the URI is "
		    "the run, with what became of it",
		    m->part, m->part);
		return NULL;
	}
	if (m->piece.asked)
		return make_piece(m, m->text + at.off, at.len);
	if (m->level == 0)
		return contents_result(
		    m, resources_contents(m->uri, m->mime_type,
					  m->text + at.off, at.len));
	snprintf(
	    m->fault, sizeof(m->fault),
	    "this has %zu bytes, and no message of this server has more than "
	    "%zu (its max_answer_bytes): read it in parts, %.200s?offset=0, "
	    "and so on from where each ends",
	    at.len, m->max, m->uri);
	return NULL;
}

/* Answer with PART of LEN bytes of JSON (NULL: all), or the piece for U. */
static void answer_own(struct request *req, const struct resource_uri *u,
		       const char *mime_type, const char *part,
		       const char *text, size_t len)
{
	response_send(req, &(struct response){.make = make_own,
					      .gives_way = true,
					      .uri = uri_of(req),
					      .mime_type = mime_type,
					      .part = part,
					      .piece = u->piece,
					      .text = text,
					      .len = len});
}

/* ---- paddock's resources ---- */

static void read_isolation(struct request *req, const struct resource_uri *u)
{
	size_t len;
	const char *text = json_text(req->session->ctx->isolation->view, &len);

	(void)u;
	answer_bytes(req, "application/json", text, len);
}

/* Answer with VIEW of a run, or the result in it, as REQ's URI asks. */
static void answer_view(struct request *req, const char *view)
{
	struct resource_uri u = resource_uri_parse(uri_of(req));

	answer_own(req, &u, "application/json",
		   u.kind == RESOURCE_URI_IS_RESULT ? "result" : NULL, view,
		   strlen(view));
}

/* Answer for a run of STATUS, which goes on and has no result. */
static void answer_going(struct request *req, const char *status,
			 const char *view)
{
	if (resource_uri_parse(uri_of(req)).kind == RESOURCE_URI_IS_RESULT)
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "this run has no result: it is %s", status);
	else
		answer_view(req, view);
}

/* Answer with VIEW (*taken*). */
static void give_tree(struct request *req, struct json_object *view)
{
	answer_going(req, json_member_str(view, "status"),
		     json_text(view, NULL));
	json_object_put(view);
}

static void give_run(struct request *req, const struct run_found *f)
{
	const struct store_run *row;
	const struct run *r = f->run;
	char *view;

	if (r != NULL && r->view != NULL) { /* ended, and being recorded */
		answer_view(req, r->view);
		return;
	}
	if (r != NULL) {
		view = run_json_text(r, req->ctx->isolation);
		answer_going(req, run_status(r), view);
		free(view);
		return;
	}
	if (none(req, f->res))
		return;
	row = f->res->runs;
	if (row->status <= STORE_RUNNING)
		give_tree(req, run_json_open_row(row, f->silent));
	else if (row->view != NULL)
		answer_view(req, row->view);
	else
		give_tree(req, run_json_row(row));
}

static void read_run(struct request *req, const struct resource_uri *u)
{
	run_lookup(req, &(struct run_query){.want = RUN_LOOKUP_VIEW,
					    .id = u->run_id,
					    .found = give_run});
}

static void answer_log(struct request *req, const char *log, size_t len)
{
	struct resource_uri u = resource_uri_parse(uri_of(req));

	answer_own(req, &u, "text/plain", NULL, log, len);
}

static void give_log(struct request *req, const struct run_found *f)
{
	const struct store_run *row;
	const struct buf *text;
	const char *log;

	if (f->run != NULL) {
		text = f->run->log.text;
		if (text != NULL && buf_len(text) > 0)
			answer_log(req, buf_data(text), buf_len(text));
		else
			answer_log(req, "", 0);
		return;
	}
	if (none(req, f->res))
		return;
	row = f->res->runs;
	if (f->silent != NULL) {
		request_error(req, RPC_INTERNAL_ERROR, NULL,
			      "the log of %s is not to be had until it ends: "
			      "%s",
			      row->id, f->silent);
		return;
	}
	log = row->log != NULL ? row->log : "";
	answer_log(req, log, strlen(log));
}

static void read_log(struct request *req, const struct resource_uri *u)
{
	run_lookup(req, &(struct run_query){.want = RUN_LOOKUP_LOG,
					    .id = u->run_id,
					    .found = give_log});
}

static struct json_object *make_artifact_piece(struct response *m)
{
	size_t from = (size_t)m->piece.offset, n = m->len >> m->level;
	size_t good = utf8_valid_len(m->text, n);
	struct json_object *contents;

	/* a piece of a text ends at a character */
	if (from + n < m->all && n - good < 4 && good > 0)
		n = good;
	contents = resources_contents(m->uri, m->mime_type, m->text, n);
	if (mcp_has(m->revision, MCP_CONTENT_META))
		add_place(contents, m, from, n, m->all);
	return contents_result(m, contents);
}

/* Answer with an artifact; a large artifact has to be read in pieces. */
static void on_artifact(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct resource_uri u;

	if (!request_unref(req))
		return;
	u = resource_uri_parse(uri_of(req));
	if (res->rc == -ERANGE)
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "offset is beyond the artifact's %lld bytes",
			      (long long)res->artifact->size);
	else if (res->rc != 0 || strcmp(u.run_id, res->artifact->run_id) != 0)
		resources_not_found(req, uri_of(req));
	else if (u.piece.asked)
		response_send(req, &(struct response){
				       .make = make_artifact_piece,
				       .gives_way = true,
				       .uri = uri_of(req),
				       .mime_type = res->artifact->mime_type,
				       .piece = u.piece,
				       .all = (size_t)res->artifact->size,
				       .text = res->len > 0 ? res->data : "",
				       .len = res->len});
	else if ((int64_t)res->len < res->artifact->size)
		request_error(
		    req, RPC_INVALID_PARAMS, NULL,
		    "the artifact has %lld bytes, but at most %lld are "
		    "given inline; get_artifact reads it in pieces, and so "
		    "does this URI with ?offset=0, and so on",
		    (long long)res->artifact->size,
		    (long long)config_inline_bytes(req->session->ctx->config));
	else
		answer_own(req, &u, res->artifact->mime_type, NULL,
			   res->len > 0 ? res->data : "", res->len);
}

static void read_artifact(struct request *req, const struct resource_uri *u)
{
	struct context *ctx = req->session->ctx;
	int64_t most = config_inline_bytes(ctx->config);

	if (u->piece.limit > 0 && u->piece.limit < most)
		most = u->piece.limit;
	request_ref_large(req);
	store_read_artifact(ctx->store, req->session->requestor->name,
			    u->artifact_id, u->piece.offset, most, on_artifact,
			    req);
}

/* ---- resources of templates ---- */

const struct catalogue_entry *resources_find(const struct session *s,
					     const char *uri,
					     struct json_object **values)
{
	const struct catalogue_index *offers = s->ctx->catalogue->offers;
	const struct catalogue_entry *o;

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

/* Fill in the values of the URI's names and the user's answers. */
static void answer_values(struct request *req, const struct catalogue_entry *o,
			  const char *text, struct json_object *answers)
{
	struct json_object *values = placeholder_uri_match(o->key, uri_of(req));

	enum placeholder_style style =
	    answers != NULL ? PLACEHOLDER_ANSWERS : PLACEHOLDER_URI;
	struct buf out = {.max = RESOURCES_FILLED_MAX};

	asks_add(values, answers);
	if (placeholder_fill(&out, style, text, values) < 0)
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "with what %s the resource has more than "
			      "%zu bytes",
			      style == PLACEHOLDER_URI ? "this URI says"
						       : "was answered",
			      RESOURCES_FILLED_MAX);
	else
		answer_bytes(req, json_member_str(o->def, "mimeType"),
			     buf_len(&out) > 0 ? buf_data(&out) : "",
			     buf_len(&out));
	buf_fini(&out);
	json_object_put(values);
}

static void give_offer(struct request *req, const struct catalogue_entry *o,
		       struct json_object *answers)
{
	const char *mime_type = json_member_str(o->def, "mimeType");
	const char *text = json_member_str(o->def, "text");
	const struct template_file *f;

	if (text == NULL) {
		f = template_file(o->template, json_member_str(o->def, "file"));
		answer_bytes(req, mime_type, f->data, f->len);
	} else if (answers != NULL ||
		   json_member(o->def, "uriTemplate") != NULL) {
		answer_values(req, o, text, answers);
	} else {
		answer_bytes(req, mime_type, text, strlen(text));
	}
}

static void read_offer(struct request *req, const struct resource_uri *u)
{
	struct json_object *values;
	const struct catalogue_entry *o =
	    resources_find(req->session, uri_of(req), &values);

	(void)u;
	json_object_put(values);
	if (o == NULL)
		resources_not_found(req, uri_of(req));
	else
		asks_before(req, o, give_offer);
}

static void (*const readers[])(struct request *req,
			       const struct resource_uri *u) = {
    [RESOURCE_URI_NONE] = read_offer,
    [RESOURCE_URI_IS_ISOLATION] = read_isolation,
    [RESOURCE_URI_IS_RUN] = read_run,
    [RESOURCE_URI_IS_LOG] = read_log,
    [RESOURCE_URI_IS_RESULT] = read_run,
    [RESOURCE_URI_IS_ARTIFACT] = read_artifact,
};

void resources_read(struct request *req)
{
	const char *uri = uri_of(req);
	struct resource_uri u;

	if (uri == NULL) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "resources/read needs params.uri, a string");
		return;
	}
	u = resource_uri_parse(uri);
	readers[u.kind](req, &u);
}
