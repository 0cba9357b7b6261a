/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_waitq.h - a queue of whole requests that cannot be served yet: the
 * clients wait, as on stdio, instead of being refused. The number of waiting
 * requests is bounded, of a requestor and in all; the caller bounds the time.
 */
#ifndef SUPERVISOR_HTTP_HTTP_WAITQ_H
#define SUPERVISOR_HTTP_HTTP_WAITQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "supervisor/clients/http/http_conn.h"

#define HTTP_WAITQ_MAX 256

struct http_waitq {
	/* requests, the longest waiting first */
	TAILQ_HEAD(http_waitq_list, http_waitq_entry) all;
	size_t n;
};

void http_waitq_init(struct http_waitq *w);
/*
 * Have C's request wait until http_waitq_resume(). False: too many requests
 * wait, and the caller has to refuse C.
 */
bool http_waitq_add(struct http_waitq *w, struct http_conn *c);
/*
 * Have on_request() called again for all waiting requests, in the turns of
 * their connections.
 */
void http_waitq_resume(struct http_waitq *w);
/* Refuse the requests that have waited for MS, with ERRMSG. */
void http_waitq_expire(struct http_waitq *w, int64_t ms, const char *errmsg);

/* Refuse C with 503 and ERRMSG; the client may come again soon. */
void http_waitq_refuse_one(struct http_conn *c, const char *errmsg);

#endif
