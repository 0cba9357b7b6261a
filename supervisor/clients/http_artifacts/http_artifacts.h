/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_artifacts.h - PUT /artifacts, GET and DELETE /artifacts/ID: files over
 * HTTP, for requestors admitted by http_routes.c.
 */
#ifndef SUPERVISOR_HTTP_ARTIFACTS_HTTP_ARTIFACTS_H
#define SUPERVISOR_HTTP_ARTIFACTS_HTTP_ARTIFACTS_H

#include "supervisor/context.h"
#include "supervisor/clients/http/http_conn.h"
#include "supervisor/requestor/requestor.h"

#define HTTP_ARTIFACTS "/artifacts"

/*
 * Begin a PUT of Q, whose head R has come: the body is stored as it comes.
 * False: C was refused.
 */
bool http_artifacts_begin(struct context *ctx, struct requestor *q,
			  struct http_conn *c, const struct http_request *r);
/*
 * End the PUT, whose body is complete, for Q (NULL: Q may no longer, and C was
 * refused).
 */
void http_artifacts_whole(struct requestor *q, struct http_conn *c);

/* Send the artifact in R's path to C, if the artifact is Q's. */
void http_artifacts_get(struct context *ctx, struct requestor *q,
			struct http_conn *c, const struct http_request *r);

/* Delete the upload in R's path, if the upload is Q's: 204, or C is refused. */
void http_artifacts_delete(struct context *ctx, struct requestor *q,
			   struct http_conn *c, const struct http_request *r);

/*
 * Return the decoded NAME of QUERY ("a=b&name=x%20y"), which the caller frees,
 * or NULL if missing or not a text. Pure; public for tests.
 */
char *http_artifacts_name(const char *query);
/*
 * Read the SHA-256 of a Content-Digest (RFC 9530) as hex (65 bytes). Returns 0,
 * -ENOENT if FIELD has no SHA-256, or -EINVAL if the SHA-256 is malformed.
 */
int http_artifacts_digest(const char *field, char hex[65]);

#endif
