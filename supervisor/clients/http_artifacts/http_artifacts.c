/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_artifacts.c - uploads over HTTP: a body becomes an artifact.
 * http_routes.c calls it. A refusal has the form of all refusals over HTTP, and
 * its code in error.data. When the client goes, the upload is cancelled.
 */
#include "supervisor/clients/http_artifacts/http_artifacts.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "base/text/hex.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/rpc.h"
#include "supervisor/clients/http/http_field.h"
#include "supervisor/clients/http_artifacts/http_artifacts_private.h"
#include "supervisor/mcp/uploads/upload.h"

#define JSON "application/json"
#define SHA256_BYTES ((size_t)32)

/* ---- the head ---- */

static bool unescape(struct buf *out, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int c = p[i] == '+' ? ' ' : (unsigned char)p[i];
		unsigned char byte;

		if (c == '%') {
			c = i + 2 < n ? hex_read(p + i + 1, 2) : -1;
			i += 2;
		}
		if (c <= 0)
			return false;
		byte = (unsigned char)c;
		buf_add(out, &byte, 1);
	}
	buf_add(out, "", 1);
	return utf8_ok(buf_data(out), buf_len(out) - 1);
}

char *http_artifacts_name(const char *query)
{
	static const char key[] = "name=";

	while (query != NULL && *query != '\0') {
		size_t n = strcspn(query, "&");
		struct buf out = {0};

		if (n > strlen(key) && strncmp(query, key, strlen(key)) == 0) {
			if (unescape(&out, query + strlen(key),
				     n - strlen(key)))
				return buf_take(&out, NULL);
			buf_fini(&out);
			return NULL;
		}
		query += n + (query[n] == '&');
	}
	return NULL;
}

/* Find "sha-256=:BASE64:" in the list FIELD. */
int http_artifacts_digest(const char *field, char hex[65])
{
	static const char kind[] = "sha-256=";
	unsigned char sum[SHA256_BYTES + 2];
	size_t len = 0, n;

	for (; *field != '\0'; field += n + (field[n] == ',')) {
		const char *v;

		field += strspn(field, " \t");
		n = strcspn(field, ",");
		if (strncmp(field, kind, strlen(kind)) != 0)
			continue;
		v = field + strlen(kind);
		if (*v != ':' ||
		    strcspn(v + 1, ":") != BASE64_LEN(SHA256_BYTES) ||
		    v[1 + BASE64_LEN(SHA256_BYTES)] != ':' ||
		    base64_decode(sum, &len, v + 1, BASE64_LEN(SHA256_BYTES)) <
			0 ||
		    len != SHA256_BYTES)
			return -EINVAL;
		for (size_t i = 0; i < SHA256_BYTES; i++)
			snprintf(hex + (size_t)2 * i, 3, "%02x", sum[i]);
		return 0;
	}
	return -ENOENT;
}

/* ---- refusals ---- */

static int error_status(const char *code)
{
	static const struct {
		const char *code;
		int status;
	} all[] = {{"RESOURCE_LIMIT", 413},	{"STORE_UNAVAILABLE", 507},
		   {"QUOTA_EXCEEDED", 429},	{"RATE_LIMITED", 429},
		   {"ARTIFACT_NOT_FOUND", 404}, {"ARTIFACT_EXPIRED", 410},
		   {"ARTIFACT_OF_RUN", 409},	{"RANGE_NOT_SATISFIABLE", 416}};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (strcmp(all[i].code, code) == 0)
			return all[i].status;
	return 400;
}

void http_artifacts_refuse(struct http_conn *c, struct tool_error *e)
{
	struct json_object *data =
	    json_pack("errorCode:s details?O", e->code, e->details);
	int status = error_status(e->code);
	struct buf out = {0};

	rpc_put_error(&out, NULL,
		      status < 500 ? RPC_INVALID_REQUEST : RPC_INTERNAL_ERROR,
		      e->message, data);
	if (status == 429)
		http_conn_retry_after(c, HTTP_RETRY_SOON_MS);
	http_conn_reply(c, status, JSON, buf_data(&out), buf_len(&out));
	buf_fini(&out);
	json_object_put(data);
	tool_error_fini(e);
}

bool http_artifacts_in_rate(struct requestor *q, struct http_conn *c)
{
	struct tool_error e = {0};
	int64_t wait_ms;

	if (requestor_take(q, &wait_ms))
		return true;
	tool_error_set(&e, "RATE_LIMITED", json_pack("retryAfterMs:i", wait_ms),
		       "you ask too often; try again in %lld ms",
		       (long long)wait_ms);
	http_artifacts_refuse(c, &e);
	return false;
}

/* ---- PUT ---- */

struct receiving {
	struct http_conn *conn;
	struct upload *upload;
};

static void on_bytes(void *arg, const char *data, size_t n)
{
	struct receiving *v = arg;

	while (n > 0) {
		size_t room;
		char *to = upload_room(v->upload, &room);

		if (upload_failed(v->upload))
			return; /* on_done() reports the failure */
		/* wants() was asked before these bytes were read */
		assert(room > 0);
		room = room < n ? room : n;
		memcpy(to, data, room);
		upload_wrote(v->upload, room);
		data += room;
		n -= room;
	}
}

static bool wants(void *arg)
{
	const struct receiving *v = arg;

	return upload_wants(v->upload);
}

static const struct http_sink sink = {on_bytes, wants};

static void on_room(void *arg)
{
	const struct receiving *v = arg;

	http_conn_read_on(v->conn);
}

static void on_done(void *arg, struct json_object *artifact,
		    struct tool_error *err)
{
	struct receiving *v = arg;
	struct http_conn *c = v->conn;
	char *line;
	const char *text;
	size_t len;

	free(v);
	http_conn_watch(c, NULL, NULL);
	if (artifact == NULL) {
		struct tool_error e = *err;

		*err = (struct tool_error){0};
		http_conn_last(c);
		http_artifacts_refuse(c, &e);
		return;
	}
	line = xasprintf("Location: " HTTP_ARTIFACTS "/%s\r\n",
			 json_member_str(artifact, "artifactId"));
	text = json_text(artifact, &len);
	http_conn_fields(c, line);
	http_conn_reply(c, 201, JSON, text, len);
	free(line);
}

static const struct upload_ops upload_ops = {on_room, on_done};

static void on_gone(void *watcher)
{
	struct receiving *v = watcher;

	upload_cancel(v->upload);
	free(v);
}

static const struct http_watch watch_put = {.gone = on_gone};

static bool check_put_head(struct http_conn *c, const struct http_request *r,
			   char sha256[65])
{
	int rc;

	if (!r->has_length && !r->chunked) {
		http_conn_refuse(c, 411,
				 "a file comes with its Content-Length, or "
				 "chunked");
		return false;
	}
	if (r->has_length && r->length > INT64_MAX / 2) {
		http_conn_refuse(c, 413, "no disk has so many bytes");
		return false;
	}
	if (r->field[HTTP_CONTENT_RANGE] != NULL) {
		http_conn_refuse(c, 400,
				 "a file comes as a whole; a part of one, as "
				 "Content-Range says, is not taken");
		return false;
	}
	sha256[0] = '\0';
	rc = r->field[HTTP_DIGEST] != NULL
		 ? http_artifacts_digest(r->field[HTTP_DIGEST], sha256)
		 : -ENOENT;
	if (rc == -EINVAL)
		http_conn_refuse(c, 400,
				 "Content-Digest is \"%.80s\"; a SHA-256 in it "
				 "is sha-256=:BASE64: (RFC 9530)",
				 r->field[HTTP_DIGEST]);
	return rc != -EINVAL;
}

bool http_artifacts_begin(struct context *ctx, struct requestor *q,
			  struct http_conn *c, const struct http_request *r)
{
	struct receiving *v;
	struct tool_error err = {0};
	char sha256[65];
	char *name;

	if (!http_artifacts_in_rate(q, c) || !check_put_head(c, r, sha256))
		return false;
	name = http_artifacts_name(r->query);
	v = xcalloc(1, sizeof(*v));
	v->conn = c;
	v->upload = upload_begin(
	    ctx, q,
	    &(struct upload_ask){.name = name,
				 .mime_type = r->field[HTTP_CONTENT_TYPE],
				 .size = r->has_length ? (int64_t)r->length
						       : UPLOAD_UNKNOWN,
				 .sha256 = sha256[0] != '\0' ? sha256 : NULL},
	    &upload_ops, v, &err);
	free(name);
	if (v->upload == NULL) {
		free(v);
		http_artifacts_refuse(c, &err);
		return false;
	}
	http_conn_watch(c, &watch_put, v);
	http_conn_sink(c, &sink, v);
	return true;
}

void http_artifacts_whole(struct requestor *q, struct http_conn *c)
{
	struct receiving *v = http_conn_watcher(c);

	if (q != NULL)
		upload_end(v->upload);
	else /* C was refused, which has ended the watch */
		on_gone(v);
}
