/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_waitq.h - requests that are whole, and cannot be served yet: their
 * clients wait, as they would on stdio, instead of being sent away. How many
 * wait is bounded, of one requestor and in all; how long, its caller bounds.
 */
#ifndef SUPERVISOR_HTTP_HTTP_WAITQ_H
#define SUPERVISOR_HTTP_HTTP_WAITQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "supervisor/http/http_conn.h"

#define HTTP_WAITS_MAX 256

struct http_waits {
	TAILQ_HEAD(http_waiting, http_wait) all; /* the longest first */
	size_t n;
};

void http_waits_init(struct http_waits *w);
/*
 * C's request waits: http_waits_go() tells it again. False: too many do, and C
 * is to be refused.
 */
bool http_waits_add(struct http_waits *w, struct http_conn *c);
/* All of them are told again, each in its turn. */
void http_waits_go(struct http_waits *w);
/* Those that have waited for MS are refused: not now, because of WHY. */
void http_waits_refuse(struct http_waits *w, int64_t ms, const char *why);

/* The refusal of C, which may come again soon. */
void http_wait_not(struct http_conn *c, const char *why);

#endif
