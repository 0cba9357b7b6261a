/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_auth.h - who asks, by the bearer token of the request (RFC 6750).
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_AUTH_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_AUTH_H

#include <stdbool.h>

#include "supervisor/http/http_conn.h"
#include "supervisor/context.h"

/*
 * The requestor of R, borrowed. On LOOPBACK one who shows no token may be
 * anonymous, as long as no requestor has one. NULL: C has been told so.
 */
struct requestor *http_auth(struct context *ctx, bool loopback,
			    struct http_conn *c, const struct http_request *r);

/* Does any requestor have a token? */
bool http_auth_possible(const struct config *config);

#endif
