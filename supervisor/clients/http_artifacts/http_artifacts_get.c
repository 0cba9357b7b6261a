/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_artifacts_get.c - downloads over HTTP: sends an artifact, or a part of
 * it, as a body; deletes uploads. http_routes.c calls it. If the bytes end too
 * soon, or a reload withdraws the token, the connection is closed. An id of another requestor is answered as an
 * unknown id is.
 */
#include "supervisor/clients/http_artifacts/http_artifacts_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "base/text/hex.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/artifacts/artifact_source.h"
#include "supervisor/clients/http/http_field.h"
#include "supervisor/store/store.h"
#include "supervisor/mcp/uploads/download.h"
#include "supervisor/mcp/uploads/upload.h"

#define PIECE_BYTES (256u << 10)
#define SHA256_BYTES ((size_t)32)

struct sending {
	struct http_conn *conn; /* NULL: the client has gone */
	char id[ID_SIZE];
	struct context *ctx; /* the configuration may change meanwhile */
	const struct requestor *requestor;
	unsigned tokens; /* of the requestor, at the request */
	int64_t at, end; /* the bytes to send: [at, end) */
	bool part;	 /* a Range was asked for */
	bool again;	 /* the row is read a second time */
	struct artifact_source *source;
};

static void sending_free(struct sending *v)
{
	artifact_source_close(v->source);
	free(v);
}

/* Has no reload withdrawn the token of V's request? */
static bool is_allowed(const struct sending *v)
{
	const struct requestor *q = v->requestor;

	return requestor_is_anonymous(q)
		   ? requestors_anonymous(v->ctx->requestors) != NULL
		   : v->tokens == q->tokens;
}

/*
 * Send a piece, while little is unsent. Without bytes at hand, the source calls
 * again later.
 */
static void send_more(void *watcher)
{
	struct sending *v = watcher;
	struct http_conn *c = v->conn;
	const char *piece;
	ssize_t n =
	    is_allowed(v) ? artifact_source_peek(v->source, &piece) : -EACCES;

	if (n == 0)
		return;
	if (n > (ssize_t)PIECE_BYTES)
		n = (ssize_t)PIECE_BYTES;
	if (n > 0) {
		http_conn_put_body(c, piece, (size_t)n);
		artifact_source_drop(v->source, (size_t)n);
	} else {
		http_conn_last(c); /* a body that is too short is cut off */
	}
	if (n > 0 && artifact_source_left(v->source) > 0)
		return;
	http_conn_end(c);
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

/*
 * Add the fields of a download. The browser is to save the file under its name,
 * not to open it. Beside a part the digest, which is of the whole, goes into
 * Repr-Digest (RFC 9530).
 */
static void put_fields(struct http_conn *c, const struct store_artifact *a,
		       const struct sending *v)
{
	unsigned char sum[SHA256_BYTES] = {0};
	char digest[BASE64_LEN(SHA256_BYTES) + 1] = "";
	struct buf b = {0};

	for (size_t i = 0; i < SHA256_BYTES && strlen(a->sha256) == 64; i++)
		sum[i] = (unsigned char)hex_read(a->sha256 + (size_t)2 * i, 2);
	base64_encode(digest, sum, sizeof(sum));
	if (v->part)
		buf_printf(&b, "Content-Range: bytes %lld-%lld/%lld\r\n",
			   (long long)v->at, (long long)v->end - 1,
			   (long long)a->size);
	buf_printf(&b,
		   "%s-Digest: sha-256=:%s:\r\nAccept-Ranges: bytes\r\n"
		   "Cache-Control: private, no-store\r\n"
		   "Content-Security-Policy: sandbox\r\n"
		   "Content-Disposition: attachment; filename*=UTF-8''",
		   v->part ? "Repr" : "Content", digest);
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
	buf_add(&b, "\r\n", 3); /* three bytes: CR, LF and NUL */
	http_conn_fields(c, buf_data(&b));
	buf_fini(&b);
}

/*
 * Set the part of A wanted by R. Returns 0 or -ERANGE. Artifacts have no
 * validators for If-Range, so If-Range gets the whole.
 */
static int take_range(struct sending *v, const struct http_request *r,
		      const struct store_artifact *a)
{
	const char *range = r->field[HTTP_RANGE];
	int64_t n = a->size;
	int rc = -ENOENT;

	if (range != NULL && r->method == HTTP_IS_GET &&
	    r->field[HTTP_IF_RANGE] == NULL)
		rc = http_range(range, a->size, &v->at, &n);
	v->part = rc == 0;
	v->end = v->at + n;
	return rc == -ERANGE ? rc : 0;
}

static void refuse_range(struct sending *v, const struct store_artifact *a)
{
	struct http_conn *c = v->conn;
	struct tool_error e = {0};
	char field[64];

	tool_error_set(
	    &e, "RANGE_NOT_SATISFIABLE", json_pack("bytes:i", a->size),
	    "Range is \"%.80s\", and the artifact has %lld bytes; "
	    "ask for some of those, or without Range for all",
	    http_conn_request(c)->field[HTTP_RANGE], (long long)a->size);
	snprintf(field, sizeof(field), "Content-Range: bytes */%lld\r\n",
		 (long long)a->size);
	http_conn_watch(c, NULL, NULL);
	sending_free(v);
	http_conn_fields(c, field);
	http_artifacts_refuse(c, &e);
}

/*
 * Refuse the request V for RC. RUN: the run which made the artifact (-EPERM).
 */
static void refuse_get(struct sending *v, int rc, const char *run)
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
	} else if (rc == -EMFILE) {
		download_refuse(http_conn_user(c), &e);
	} else if (rc == -EPERM) {
		tool_error_set(&e, "ARTIFACT_OF_RUN", NULL,
			       "the run %s made the artifact %s, and it goes "
			       "with that one",
			       run, v->id);
	} else {
		tool_error_set(&e, "STORE_UNAVAILABLE", NULL,
			       "the artifact cannot be read now: %s",
			       store_says(rc));
	}
	http_conn_watch(c, NULL, NULL);
	sending_free(v);
	http_artifacts_refuse(c, &e);
}

static void on_found(void *arg, const struct store_result *res);

/*
 * The file is missing: read the row again, which may say why by now; the second
 * time the file is lost.
 */
static void answer_missing(struct sending *v)
{
	const struct requestor *q = http_conn_user(v->conn);

	if (v->again) {
		refuse_get(v, -ENOMEDIUM, "");
		return;
	}
	v->again = true;
	store_read_artifact(v->ctx->store, q->name, v->id, 0, 0, on_found, v);
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
	if (rc == 0 && take_range(v, http_conn_request(c), a) != 0) {
		refuse_range(v, a);
		return;
	}
	if (rc == 0)
		v->source = download_open(v->ctx, http_conn_user(c), a, v->at,
					  v->end - v->at, &rc);
	if (rc == -ENOENT && res->rc == 0) {
		answer_missing(v);
		return;
	}
	if (rc != 0) {
		refuse_get(v, rc, "");
		return;
	}
	head = http_conn_request(c)->method == HTTP_IS_HEAD;
	put_fields(c, a, v);
	http_conn_begin_body(c, v->part ? 206 : 200,
			     utf8_printable(a->mime_type, strlen(a->mime_type))
				 ? a->mime_type
				 : "application/octet-stream",
			     v->end - v->at);
	if (head || a->size == 0) {
		http_conn_end(c);
		sending_free(v);
		return;
	}
	http_conn_watch(c, &watch_send, v);
	artifact_source_watch(v->source, send_more, v);
	send_more(v);
}

/*
 * Begin to serve the request R on C, whose path names an artifact of Q. NULL: the
 * request was refused.
 */
static struct sending *seek(struct context *ctx, struct requestor *q,
			    struct http_conn *c, const struct http_request *r)
{
	const char *id = r->path + strlen(HTTP_ARTIFACTS "/");
	struct sending *v;

	if (!http_artifacts_in_rate(q, c))
		return NULL;
	v = xcalloc(1, sizeof(*v));
	*v = (struct sending){
	    .conn = c, .ctx = ctx, .requestor = q, .tokens = q->tokens};
	snprintf(v->id, sizeof(v->id), "%s", id);
	if (!id_ok(id, "art")) {
		refuse_get(v, -ENOENT, "");
		return NULL;
	}
	http_conn_watch(c, &watch_seek, v);
	return v;
}

void http_artifacts_get(struct context *ctx, struct requestor *q,
			struct http_conn *c, const struct http_request *r)
{
	struct sending *v = seek(ctx, q, c, r);

	if (v != NULL)
		store_read_artifact(ctx->store, q->name, v->id, 0, 0, on_found,
				    v);
}

/* ---- DELETE ---- */

static void on_deleted(void *arg, const struct store_result *res)
{
	struct sending *v = arg;
	struct http_conn *c = v->conn;

	if (c == NULL) {
		sending_free(v);
	} else if (res->rc != 0) {
		refuse_get(v, res->rc,
			   res->artifact != NULL ? res->artifact->run_id : "");
	} else {
		http_conn_watch(c, NULL, NULL);
		sending_free(v);
		http_conn_reply(c, 204, NULL, NULL, 0);
	}
}

void http_artifacts_delete(struct context *ctx, struct requestor *q,
			   struct http_conn *c, const struct http_request *r)
{
	struct sending *v = seek(ctx, q, c, r);

	if (v != NULL)
		upload_delete(ctx, q, v->id, on_deleted, v);
}
