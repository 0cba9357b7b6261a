/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_store_wait.h - requests which wait for the store: for a session not in
 * memory, but perhaps stored; and answers which wait until a session's row is
 * written or deleted. Bounded in number and in time.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_STORE_WAIT_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_STORE_WAIT_H

#include "supervisor/clients/http/http_conn.h"
#include "supervisor/clients/http/sse.h"
#include "supervisor/clients/streamable_http/http_session.h"

#define HTTP_STORE_WAITS_MAX 1024
#define HTTP_STORE_WAIT_MS 10000     /* for a session not in memory */
#define HTTP_STORE_WAIT_SAVE_MS 2000 /* for the disk; then answer without */

/*
 * Look whether another server on the store has ended S, a session in memory:
 * read the row of S, at most once a second. True: the row is being read; then
 * C's request is served again, or C is refused.
 */
bool http_store_wait_looks(struct http_session *s, struct http_conn *c);
/* May the store have the session ID? If so, call http_store_wait(). */
bool http_store_wait_may(const struct http_sessions *all, const char *id);
/*
 * Have C's request served again once the session ID of REQUESTOR is restored;
 * else C is refused.
 */
void http_store_wait(struct http_sessions *all, struct requestor *requestor,
		     struct http_conn *c, const char *id);

/*
 * C wants to resume a stream of another instance, by event ID. While the
 * instance lives, C is refused: its proxy has to bring C there. When the
 * instance is gone, so is the stream; only for a stream without a request C
 * gets a new stream.
 */
void http_store_wait_owner(struct http_session *s, struct http_conn *c,
			   const struct sse_id *id);

/* Send TEXT to C, the answer with the id of S, once the row of S is written. */
void http_store_wait_created(struct http_session *s, struct http_conn *c,
			     const char *text, size_t len);
/* End S, as C's client asks, and answer C once the row is deleted. */
void http_store_wait_deleted(struct http_session *s, struct http_conn *c);

/* End the waits which are too long at NOW_MS (monotonic). */
void http_store_waits_tick(struct http_sessions *all, int64_t now_ms);
/* End all waits: the server ends. */
void http_store_waits_fini(struct http_sessions *all);

#endif
