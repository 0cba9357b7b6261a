/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_conn_fixture.h - a pool of connections with a client: what the client says and
 * hears. The test's main() is http_conn_main().
 */
#ifndef TESTS_UNIT_HTTP_CONN_FIXTURE_H
#define TESTS_UNIT_HTTP_CONN_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/clients/http/http_conn.h"
#include "tests/unit/tap.h"

#define SOON_MS 30     /* a limit which the test reaches */
#define LATE_MS 600000 /* a limit which the test never reaches */
#define PATIENCE_MS 20000
#define LARGE ((size_t)4 << 20)

#define HEAD "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"

extern struct event_base *base;
extern struct http_pool pool;
extern struct http_conn *asked; /* the connection with a complete request */
extern int client;
extern char seen[65536]; /* by the client */

/* Operations: a connection with a complete request is ASKED. */
bool on_head(void *arg, struct http_conn *c, const struct http_request *r);
void on_request(void *arg, struct http_conn *c, const struct http_request *r);
void on_closed(void *arg, struct http_conn *c);

void connect_one(void);
/* A server with far limits, except *LIMIT, and a client of the server. */
void begin(int64_t *limit);
void end(void);
void say(const char *text);
/* Read until the server closes the connection, or until TEXT arrives (if given). */
bool hears(const char *text);
int http_conn_main(void);

#endif
