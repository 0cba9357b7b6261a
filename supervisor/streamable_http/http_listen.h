/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_listen.h - Streamable HTTP: one TCP listener, what it serves at which path,
 * and who may come.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_LISTEN_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_LISTEN_H

#include <stddef.h>

#include "supervisor/server.h"

#define HTTP_CONNECTIONS_MAX 2048 /* fewer with few descriptors */
#define HTTP_SOCKET_BYTES 262144 /* that the kernel keeps for a slow client */

struct http;

/*
 * Listen where the configuration says; it accepts at once, but who asks for MCP
 * waits for http_ready(). 0, or the exit status with WHY (SIZE bytes).
 */
int http_open(struct http **out, struct server *srv, char *why, size_t size);
/*
 * Could it? By what C says, and when BIND by the port, which is let go again.
 * 0, or the status of a start that ends by it, with WHY.
 */
int http_try(const struct config *c, bool bind, char *why, size_t size);
/* For each of these NULL is fine: then there is no HTTP. */
void http_ready(struct http *h);
/* End the sessions of requestors that a reload has locked out. */
void http_look(struct http *h);
void http_drain(struct http *h); /* what is under way is still answered */
void http_close(struct http *h);

const char *http_url(const struct http *h); /* "" without */
size_t http_connections(const struct http *h);
size_t http_sessions(const struct http *h);

#endif
