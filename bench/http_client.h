/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client.h - keep-alive HTTP/1.1 connections to one MCP endpoint, one
 * request under way on each; answers as JSON or as a stream of events. Anything
 * unexpected ends the program.
 */
#ifndef BENCH_HTTP_CLIENT_H
#define BENCH_HTTP_CLIENT_H

#include <stddef.h>

#define HTTP_CONNS_MAX 64

struct http;

/* AT is "127.0.0.1:PORT/PATH". All CONNS share a session of 2025-11-25, which
 * this initializes... */
struct http *http_open(const char *at, int conns);
/* ...or there is none, and each request has the terms of 2026-07-28, with
 * CAPABILITIES (a JSON object, lent until http_close()). */
struct http *http_open_stateless(const char *at, int conns,
				 const char *capabilities);
void http_close(struct http *h);

/* POST a request on connection I, which has nothing under way. NAME is what
 * Mcp-Name has, or NULL; PARAMS are the members of its params. */
void http_ask(struct http *h, int i, const char *method, const char *name,
	      const char *params);

/* Wait for an answer: its connection, and the body, NUL-ended, until the next
 * http_ask() there. */
int http_next(struct http *h, const char **body);

/* Wait until TEXT has come on connection I, whose answer need not end; no other
 * has anything under way. */
void http_wait(struct http *h, int i, const char *text);

/* What is under way on connection I is given up: it is closed, and another is
 * opened for it. */
void http_leave(struct http *h, int i);

#endif
