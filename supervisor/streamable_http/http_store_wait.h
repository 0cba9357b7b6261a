/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_store_wait.h - requests that wait for the store's word on a session: whose
 * session is not here, but may be kept; and answers that promise one which is
 * to be kept, or that one is gone. Bounded in number, and in time.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_STORE_WAIT_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_STORE_WAIT_H

#include "supervisor/http/http_conn.h"
#include "supervisor/streamable_http/http_session.h"

#define HTTP_STORE_WAITS_MAX 1024
#define HTTP_STORE_WAIT_MS 10000     /* for a session that is not here */
#define HTTP_STORE_WAIT_SAVE_MS 2000 /* for the disk: then it is told without */

/*
 * Another server on the store may have ended S, which is here: is that looked up now?
 * Then C's request is told again, or C is refused. At most once a second of S.
 */
bool http_store_wait_looks(struct http_session *s, struct http_conn *c);
/* May the store have the session ID? Then http_store_wait(). */
bool http_store_wait_may(const struct http_sessions *all, const char *id);
/*
 * C's request is told again once the session ID of REQUESTOR is back; or C is
 * refused.
 */
void http_store_wait(struct http_sessions *all, struct requestor *requestor,
		     struct http_conn *c, const char *id);

/* C's answer, which has the id of S: it leaves when S is kept. */
void http_store_wait_created(struct http_session *s, struct http_conn *c,
			     const char *text, size_t len);
/* C has asked for the end of S: it ends, and C is told when it is gone. */
void http_store_wait_deleted(struct http_session *s, struct http_conn *c);

/* It is NOW_MS (monotonic): who has waited for too long does no more. */
void http_store_waits_tick(struct http_sessions *all, int64_t now_ms);
/* The server ends: nobody waits any more. */
void http_store_waits_fini(struct http_sessions *all);

#endif
