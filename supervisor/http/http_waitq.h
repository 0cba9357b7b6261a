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

#define HTTP_WAITQ_MAX 256

struct http_waitq {
	TAILQ_HEAD(http_waitq_list, http_waitq_entry)
	all; /* the longest first */
	size_t n;
};

void http_waitq_init(struct http_waitq *w);
/*
 * C's request waits: http_waitq_resume() tells it again. False: too many do, and C
 * is to be refused.
 */
bool http_waitq_add(struct http_waitq *w, struct http_conn *c);
/* All of them are told again, each in its turn. */
void http_waitq_resume(struct http_waitq *w);
/* Those that have waited for MS are refused: not now, because of ERRMSG. */
void http_waitq_expire(struct http_waitq *w, int64_t ms, const char *errmsg);

/* The refusal of C, which may come again soon. */
void http_waitq_refuse_one(struct http_conn *c, const char *errmsg);

#endif
