/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_listen.h - Streamable HTTP: a TCP listener, the paths served, and the
 * requestors admitted.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_LISTEN_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_LISTEN_H

#include <stddef.h>

#include "supervisor/context.h"

#define HTTP_CONNECTIONS_MAX 2048 /* connections; fewer with few descriptors */
/* bytes kept by the kernel for a slow client */
#define HTTP_SOCKET_BYTES 262144

struct http_listener;

/*
 * Listen at the address of the configuration. Connections are accepted at once,
 * but MCP requests wait until http_listen_ready(). Returns 0, or the exit
 * status with ERRMSG (SIZE bytes).
 */
int http_listen_open(struct http_listener **out, struct context *ctx,
		     char *errmsg, size_t size);
/*
 * Check whether a listener could start: what C says, and if BIND whether the
 * port can be bound (the port is released again). Returns 0, or the exit status
 * with which such a start would end, with ERRMSG.
 */
int http_listen_try(const struct config *c, bool bind, char *errmsg,
		    size_t size);
/* The functions below accept NULL: no HTTP is served. */
void http_listen_ready(struct http_listener *h);
/* End the sessions of requestors whom a reload has locked out. */
void http_listen_recheck(struct http_listener *h);
/* Requests under way are still answered. */
void http_listen_drain(struct http_listener *h);
void http_listen_close(struct http_listener *h);

/* Return the URL of the endpoint, or "" if H is NULL. */
const char *http_listen_url(const struct http_listener *h);
size_t http_listen_connections(const struct http_listener *h);
size_t http_listen_sessions(const struct http_listener *h);

#endif
