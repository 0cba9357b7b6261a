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

/* AT is "127.0.0.1:PORT/PATH". Initializes a session, which all CONNS share. */
struct http *http_open(const char *at, int conns);
void http_close(struct http *h);

/* The answer to initialize, NUL-ended, lent. */
const char *http_hello(const struct http *h);

/* POST BODY on connection I, which has nothing under way. */
void http_post(struct http *h, int i, const char *body, size_t len);

/* Wait for an answer: its connection, and the body, NUL-ended, until the next
 * http_post() there. */
int http_next(struct http *h, const char **body);

#endif
