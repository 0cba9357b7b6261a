/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_listen.h - Streamable HTTP: one TCP listener, what it serves at which path,
 * and who may come.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_LISTEN_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_LISTEN_H

#include <stddef.h>

#include "supervisor/context.h"

#define HTTP_CONNECTIONS_MAX 2048 /* fewer with few descriptors */
#define HTTP_SOCKET_BYTES 262144  /* that the kernel keeps for a slow client */

struct http_listener;

/*
 * Listen where the configuration says; it accepts at once, but who asks for MCP
 * waits for http_listen_ready(). 0, or the exit status with ERRMSG (SIZE bytes).
 */
int http_listen_open(struct http_listener **out, struct context *ctx,
		     char *errmsg, size_t size);
/*
 * Could it? By what C says, and when BIND by the port, which is let go again.
 * 0, or the status of a start that ends by it, with ERRMSG.
 */
int http_listen_try(const struct config *c, bool bind, char *errmsg,
		    size_t size);
/* For each of these NULL is fine: then there is no HTTP. */
void http_listen_ready(struct http_listener *h);
/* End the sessions of requestors that a reload has locked out. */
void http_listen_recheck(struct http_listener *h);
/* what is under way is still answered */
void http_listen_drain(struct http_listener *h);
void http_listen_close(struct http_listener *h);

const char *http_listen_url(const struct http_listener *h); /* "" without */
size_t http_listen_connections(const struct http_listener *h);
size_t http_listen_sessions(const struct http_listener *h);

#endif
