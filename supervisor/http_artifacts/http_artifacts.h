/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_artifacts.h - PUT /artifacts, GET and DELETE /artifacts/ID: files over HTTP,
 * for who has come past http_routes.c.
 */
#ifndef SUPERVISOR_HTTP_ARTIFACTS_HTTP_ARTIFACTS_H
#define SUPERVISOR_HTTP_ARTIFACTS_HTTP_ARTIFACTS_H

#include "supervisor/context.h"
#include "supervisor/http/http_conn.h"
#include "supervisor/requestor/requestor.h"

#define HTTP_ARTIFACTS "/artifacts"

/*
 * The head of a PUT of Q's has come: its body is taken as it comes. False: it has
 * been refused.
 */
bool http_artifacts_begin(struct context *ctx, struct requestor *q,
			  struct http_conn *c, const struct http_request *r);
/* All of it has come, and Q still may (else NULL: C was refused). */
void http_artifacts_whole(struct requestor *q, struct http_conn *c);

/* C gets the artifact that R's path names, if it is Q's. */
void http_artifacts_get(struct context *ctx, struct requestor *q,
			struct http_conn *c, const struct http_request *r);

/* The same of one that Q uploaded, which is forgotten: 204, or C is refused. */
void http_artifacts_delete(struct context *ctx, struct requestor *q,
			   struct http_conn *c, const struct http_request *r);

/*
 * Pure, for tests: NAME of a QUERY ("a=b&name=x%20y"), decoded; the caller's, or NULL:
 * there is none, or it is no text.
 */
char *http_artifacts_name(const char *query);
/*
 * The SHA-256 that a Content-Digest (RFC 9530) says, in hex (65 bytes). 0; -ENOENT:
 * it says none of that kind; -EINVAL: it is none.
 */
int http_artifacts_digest(const char *field, char hex[65]);

#endif
