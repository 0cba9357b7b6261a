/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client.h - keep-alive HTTP/1.1 connections to an MCP endpoint, with a single
 * request under way on each; answers as JSON or as a stream of events. An unexpected
 * answer ends the program.
 */
#ifndef BENCH_HTTP_CLIENT_H
#define BENCH_HTTP_CLIENT_H

#include <stddef.h>

#define HTTP_CONNS_MAX 64

struct http;

/* AT is "127.0.0.1:PORT/PATH". All CONNS share a session of 2025-11-25, which
 * the call initializes. */
struct http *http_open(const char *at, int conns);
/* As http_open(), without a session: each request has the terms of 2026-07-28, with
 * CAPABILITIES (a JSON object, lent until http_close()). */
struct http *http_open_stateless(const char *at, int conns,
				 const char *capabilities);
void http_close(struct http *h);

/* POST a request on the idle connection I. NAME is the value of Mcp-Name, or NULL;
 * PARAMS are the members of params. */
void http_ask(struct http *h, int i, const char *method, const char *name,
	      const char *params);

/* Wait for an answer: its connection, and the body, NUL-ended, until the next
 * http_ask() there. */
int http_next(struct http *h, const char **body);

/* Wait until TEXT has come on connection I, even before the answer's end; all other
 * connections are idle. */
void http_wait(struct http *h, int i, const char *text);

/* Give up the request on connection I: close the connection, and open a new
 * connection in its place. */
void http_leave(struct http *h, int i);

#endif
