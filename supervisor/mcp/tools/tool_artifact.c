/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_artifact.c - get_artifact, called through contract_tools.c: bytes of an
 * artifact in base64, with a picture, sound or text as content for a model. An
 * artifact that cannot be read is refused with the reason.
 */
#include "supervisor/mcp/tools/contract_tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/base64.h"
#include "base/text/media.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/session/result/resource_uri.h"
#include "supervisor/session/response.h"
#include "supervisor/store/store.h"

static void refuse_unread(struct request *req, const char *id,
			  const struct store_result *res)
{
	struct tool_error r = {0};
	struct schema_error err = {.pointer = "/offset", .keyword = "maximum"};

	switch (res->rc) {
	case -ENOENT:
		requestor_missed(req->session->requestor);
		tool_error_set(&r, "ARTIFACT_NOT_FOUND", NULL,
			       "you have no artifact \"%.64s\"", id);
		break;
	case -ESTALE:
		tool_error_set(
		    &r, "ARTIFACT_EXPIRED", NULL,
		    "the artifact %s has passed its time and is gone", id);
		break;
	case -ERANGE:
		snprintf(err.expected, sizeof(err.expected), "at most %lld",
			 (long long)res->artifact->size);
		snprintf(err.text, sizeof(err.text),
			 "/offset is beyond the artifact's %lld bytes",
			 (long long)res->artifact->size);
		contract_tools_invalid(&r, "", &err);
		break;
	default:
		tool_error_set(
		    &r, "STORE_UNAVAILABLE", admission_store_details(),
		    "the artifact cannot be read now: %s", store_says(res->rc));
	}
	request_tool_error(req, &r);
}

/* ---- the type of an artifact ---- */

/* Is MIME_TYPE, without its parameters, a type of text? */
static bool is_text_type(const char *mime_type)
{
	static const char *const others[] = {
	    "application/json",	      "application/xml",
	    "application/javascript", "application/x-ndjson",
	    "application/yaml",	      "application/sql"};
	size_t n = strcspn(mime_type, "; ");

	if (strncmp(mime_type, "text/", 5) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (strlen(others[i]) == n &&
		    memcmp(others[i], mime_type, n) == 0)
			return true;
	return n > 4 && (memcmp(mime_type + n - 4, "+xml", 4) == 0 ||
			 (n > 5 && memcmp(mime_type + n - 5, "+json", 5) == 0));
}

/*
 * Return the end of a piece of N > 0 bytes of a text at P: before a character
 * that is cut, so that the next piece begins with the character.
 */
static size_t end_of_piece(const char *p, size_t n)
{
	size_t at = n - 1;

	while (at > 0 && n - at < 4 && ((unsigned char)p[at] & 0xC0) == 0x80)
		at--;
	return at > 0 && !utf8_ok(p + at, n - at) ? at : n;
}

/* ---- the answer ---- */

/*
 * Return the content of an artifact: HEAD as text, then the picture, sound or text.
 * NULL: an artifact of another kind.
 */
static struct json_object *
show_piece(const struct response *m, struct json_object *head, const char *data)
{
	const char *type = json_member_str(head, "mimeType");
	bool whole = json_member_int(head, "offset") == 0 &&
		     json_object_get_boolean(json_member(head, "complete"));
	enum media kind = whole ? media_claimed(type) : MEDIA_NONE;
	const char *found = media_type(kind, m->text, m->len), *text;
	struct json_object *item = NULL, *content;
	size_t len;

	if (found != NULL)
		item = json_pack("type:s data:s mimeType:s",
				 kind == MEDIA_SOUND ? "audio" : "image", data,
				 found);
	else if (is_text_type(type) && m->len > 0 && utf8_ok(m->text, m->len) &&
		 memchr(m->text, '\0', m->len) == NULL)
		item = json_pack("type:s text:S", "text", m->text, m->len);
	if (item == NULL)
		return NULL;
	text = json_text(head, &len);
	content = json_object_new_array();
	json_object_array_add(content,
			      json_pack("type:s text:S", "text", text, len));
	json_object_array_add(content, mcp_block_for(item, m->revision));
	json_object_put(item);
	return content;
}

static struct json_object *make_artifact(struct response *m)
{
	char *data = xcalloc(1, BASE64_LEN(m->len) + 1);
	struct json_object *v = m->head, *result, *content;
	bool structured = mcp_has(m->revision, MCP_STRUCTURED);
	const char *text;
	size_t len;

	base64_encode(data, m->text, m->len);
	content = m->level == 0 ? show_piece(m, v, data) : NULL;
	json_add(v, "data:s", data);
	free(data);
	text = json_text(v, &len);
	result =
	    mcp_tool_result(text, len, structured ? text : NULL, len, false);
	if (content != NULL)
		json_object_object_add(result, "content", content);
	json_object_object_del(v, "data");
	return result;
}

/* Return how many bytes to give without a limit: pictures and sounds whole. */
static int64_t most_of(const struct request *req, const char *mime_type,
		       int64_t size)
{
	const struct config *c = req->session->ctx->config;
	int64_t most = config_inline_bytes(c);
	/* the answer has the bytes twice, in base64 */
	int64_t room = (int64_t)request_max_bytes(req) / 4;

	return media_claimed(mime_type) != MEDIA_NONE &&
		       size <= c->inline_image_bytes && size <= room
		   ? most > size ? most : size
		   : most;
}

/* Return the artifact's id, also from its URI, copied to OUT. */
static const char *id_of(struct json_object *args, char out[ID_SIZE])
{
	const char *given = json_member_str(args, "artifactId");
	struct resource_uri uri = resource_uri_parse(given);

	if (uri.kind != RESOURCE_URI_IS_ARTIFACT)
		return given;
	memcpy(out, uri.artifact_id, ID_SIZE);
	return out;
}

static void on_artifact(void *arg, const struct store_result *res)
{
	const struct store_artifact *a = res->artifact;
	struct request *req = arg;
	struct json_object *v, *args;
	int64_t offset, most;
	size_t len = res->len;
	char id[ID_SIZE];

	if (!request_unref(req))
		return;
	args = json_member(req->msg.params, "arguments");
	if (res->rc != 0) {
		refuse_unread(req, id_of(args, id), res);
		return;
	}
	offset = json_member_int(args, "offset");
	most = most_of(req, a->mime_type, a->size);
	if ((int64_t)len > most)
		len = (size_t)most;
	/* a limit by the client holds to the byte */
	if (json_member(args, "limit") == NULL && len > 0 &&
	    offset + (int64_t)len < a->size && is_text_type(a->mime_type))
		len = end_of_piece(res->data, len);
	v = json_pack("artifactId:s name:s mimeType:s size:i sha256:s "
		      "offset:i bytesReturned:i complete:b",
		      a->id, a->name, a->mime_type, a->size, a->sha256, offset,
		      len, offset + (int64_t)len >= a->size);
	response_send(req, &(struct response){.make = make_artifact,
					      .gives_way = true,
					      .text = len > 0 ? res->data : "",
					      .len = len,
					      .head = v});
}

void tool_artifact_get(struct request *req, struct json_object *args)
{
	struct context *ctx = req->session->ctx;
	struct json_object *given = json_member(args, "limit");
	int64_t most = config_inline_bytes(ctx->config);
	int64_t shown = ctx->config->inline_image_bytes;
	int64_t limit = given != NULL  ? json_object_get_int64(given)
			: most > shown ? most
				       : shown;
	struct schema_error err = {.pointer = "/limit", .keyword = "maximum"};
	struct tool_error r = {0};
	char id[ID_SIZE];

	if (given != NULL && limit > most) {
		snprintf(err.expected, sizeof(err.expected), "at most %lld",
			 (long long)most);
		snprintf(
		    err.text, sizeof(err.text),
		    "/limit is %lld, but this server gives at most %lld "
		    "bytes at once (its max_artifact_inline_bytes, as far as "
		    "max_answer_bytes has room for it)",
		    (long long)limit, (long long)most);
		contract_tools_invalid(&r, "", &err);
		request_tool_error(req, &r);
		return;
	}
	request_ref_large(req);
	store_read_artifact(ctx->store, req->session->requestor->name,
			    id_of(args, id), json_member_int(args, "offset"),
			    limit, on_artifact, req);
}
