/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_artifacts.c - files over HTTP: a body that becomes an artifact, and an
 * artifact as a body; http_routes.c calls it. A refusal is a status with {error,
 * errorCode, details?}. A client that goes leaves nothing behind; what cannot be
 * sent to its end closes the connection.
 */
#include "supervisor/streamable_http/http_artifacts.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "base/text/hex.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "supervisor/http/http_field.h"
#include "supervisor/state/state_file.h"
#include "supervisor/store/store.h"
#include "supervisor/uploads/upload.h"

#define JSON "application/json"
#define PIECE_BYTES (256u << 10)
#define SHA256_BYTES 32

/* ---- what a head says ---- */

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

/* "sha-256=:BASE64:", of a list with others. */
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

static int status_of(const char *code)
{
	static const struct {
		const char *code;
		int status;
	} all[] = {{"RESOURCE_LIMIT", 413},	{"STORE_UNAVAILABLE", 507},
		   {"QUOTA_EXCEEDED", 429},	{"RATE_LIMITED", 429},
		   {"ARTIFACT_NOT_FOUND", 404}, {"ARTIFACT_EXPIRED", 410}};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (strcmp(all[i].code, code) == 0)
			return all[i].status;
	return 400;
}

/* E (let go) is C's answer, and its last where more of what it sends may come. */
static void refuse(struct http_conn *c, struct tool_error *e)
{
	struct json_object *o = json_pack("error:s errorCode:s details?O",
					  e->message, e->code, e->details);
	int status = status_of(e->code);
	const char *text;
	size_t len;

	text = json_text(o, &len);
	if (status == 429)
		http_conn_retry_after(c, HTTP_RETRY_SOON_MS);
	http_conn_reply(c, status, JSON, text, len);
	json_object_put(o);
	tool_error_fini(e);
}

static bool in_rate(struct requestor *q, struct http_conn *c)
{
	struct tool_error e = {0};
	int64_t wait_ms;

	if (requestor_take(q, &wait_ms))
		return true;
	tool_error_set(&e, "RATE_LIMITED", json_pack("retryAfterMs:i", wait_ms),
		       "you ask too often; try again in %lld ms",
		       (long long)wait_ms);
	refuse(c, &e);
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
			return;	  /* that is about to be told */
		assert(room > 0); /* it was asked for before this was read */
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
		refuse(c, &e);
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

static bool check_head(struct http_conn *c, const struct http_request *r,
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

	if (!in_rate(q, c) || !check_head(c, r, sha256))
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
		refuse(c, &err);
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
	else /* C was refused, and with that is watched no more */
		on_gone(v);
}

/* ---- GET ---- */

struct sending {
	struct http_conn *conn; /* NULL: its client has gone */
	char id[ID_SIZE];
	const struct context *ctx; /* its configuration may change */
	int fd;
	int64_t at, size;
};

static void sending_free(struct sending *v)
{
	if (v->fd >= 0)
		close(v->fd);
	free(v);
}

/* Some more, while little is unsent. */
static void send_more(void *watcher)
{
	struct sending *v = watcher;
	struct http_conn *c = v->conn;
	char *piece = xcalloc(1, PIECE_BYTES);
	ssize_t n = pread(v->fd, piece, PIECE_BYTES, v->at);

	if (n > 0 && n > v->size - v->at)
		n = (ssize_t)(v->size - v->at);
	if (n > 0) {
		v->at += n;
		http_conn_put_body(c, piece, (size_t)n);
	} else {
		http_conn_last(c); /* a body that is too short is cut off */
		v->at = v->size;
	}
	free(piece);
	if (v->at < v->size)
		return;
	http_conn_end_body(c);
	sending_free(v);
}

static void on_sender_gone(void *watcher)
{
	sending_free(watcher);
}

static void on_seeker_gone(void *watcher)
{
	struct sending *v = watcher;

	v->conn = NULL; /* the store answers yet */
}

static const struct http_watch watch_seek = {.gone = on_seeker_gone};
static const struct http_watch watch_send = {.gone = on_sender_gone,
					     .drained = send_more};

/* What a browser is not to open by itself, with its name. */
static void put_fields(struct http_conn *c, const struct store_artifact *a)
{
	unsigned char sum[SHA256_BYTES] = {0};
	char digest[BASE64_LEN(SHA256_BYTES) + 1] = "";
	struct buf b = {0};

	for (size_t i = 0; i < SHA256_BYTES && strlen(a->sha256) == 64; i++)
		sum[i] = (unsigned char)hex_read(a->sha256 + (size_t)2 * i, 2);
	base64_encode(digest, sum, sizeof(sum));
	buf_printf(&b,
		   "Content-Digest: sha-256=:%s:\r\nCache-Control: private, "
		   "no-store\r\nContent-Security-Policy: sandbox\r\n"
		   "Content-Disposition: attachment; filename*=UTF-8''",
		   digest);
	for (const char *p = a->name; *p != '\0'; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') ||
			     (*p >= 'A' && *p <= 'Z') ||
			     (*p >= '0' && *p <= '9') || *p == '.' ||
			     *p == '-' || *p == '_';

		if (plain)
			buf_add(&b, p, 1);
		else
			buf_printf(&b, "%%%02X", (unsigned char)*p);
	}
	buf_add(&b, "\r\n", 3); /* with its NUL */
	http_conn_fields(c, buf_data(&b));
	buf_fini(&b);
}

static int open_file(struct sending *v, const struct store_artifact *a)
{
	char *path =
	    state_file_artifact(v->ctx->config->state_dir, a->run_id, a->id);
	struct stat st;

	v->fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	free(path);
	if (v->fd < 0 || fstat(v->fd, &st) != 0 || st.st_size != a->size)
		return -EIO;
	(void)posix_fadvise(v->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	v->size = a->size;
	return 0;
}

static void refuse_get(struct sending *v, int rc)
{
	struct http_conn *c = v->conn;
	struct tool_error e = {0};

	if (rc == -ENOENT) {
		requestor_missed(http_conn_user(c));
		tool_error_set(&e, "ARTIFACT_NOT_FOUND", NULL,
			       "you have no artifact \"%.64s\"", v->id);
	} else if (rc == -ESTALE) {
		tool_error_set(
		    &e, "ARTIFACT_EXPIRED", NULL,
		    "the artifact %s has passed its time and is gone", v->id);
	} else {
		tool_error_set(&e, "STORE_UNAVAILABLE", NULL,
			       "the artifact cannot be read now: %s",
			       store_says(rc));
	}
	http_conn_watch(c, NULL, NULL);
	sending_free(v);
	refuse(c, &e);
}

static bool is_text(const char *s)
{
	return utf8_printable(s, strlen(s));
}

static void on_found(void *arg, const struct store_result *res)
{
	const struct store_artifact *a = res->artifact;
	struct sending *v = arg;
	struct http_conn *c = v->conn;
	bool head;
	int rc = res->rc;

	if (c == NULL) {
		sending_free(v);
		return;
	}
	if (rc == 0)
		rc = open_file(v, a);
	if (rc != 0) {
		refuse_get(v, rc);
		return;
	}
	head = http_conn_request(c)->method == HTTP_IS_HEAD;
	put_fields(c, a);
	http_conn_begin_body(c,
			     is_text(a->mime_type) ? a->mime_type
						   : "application/octet-stream",
			     a->size);
	if (head || a->size == 0) {
		http_conn_end_body(c);
		sending_free(v);
		return;
	}
	http_conn_watch(c, &watch_send, v);
	send_more(v);
}

void http_artifacts_get(struct context *ctx, struct requestor *q,
			struct http_conn *c, const struct http_request *r)
{
	const char *id = r->path + strlen(HTTP_ARTIFACTS "/");
	struct sending *v;

	if (!in_rate(q, c))
		return;
	v = xcalloc(1, sizeof(*v));
	*v = (struct sending){.conn = c, .ctx = ctx, .fd = -1};
	snprintf(v->id, sizeof(v->id), "%s", id);
	if (!id_ok(id, "art")) {
		refuse_get(v, -ENOENT);
		return;
	}
	http_conn_watch(c, &watch_seek, v);
	store_read_artifact(ctx->store, q->name, id, 0, 0, on_found, v);
}
