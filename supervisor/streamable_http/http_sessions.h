/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_sessions.h - how sessions over HTTP begin, and when they end: there are
 * so many at most, each requestor has its share, and an idle one makes room.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSIONS_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSIONS_H

#include "supervisor/http/http_conn.h"
#include "supervisor/streamable_http/http_session.h"

/*
 * A new one for REQUESTOR. When it has as many as it may (what others have
 * leaves it that) its own longest idle one ends first; when it has none, and
 * there are too many, that of whoever has the most. NULL: none is idle.
 */
struct http_session *http_session_new(struct http_sessions *all,
				      struct requestor *requestor);
/* The same, whose client knows its ID: it was begun at a server before. */
struct http_session *http_session_again(struct http_sessions *all,
					struct requestor *requestor,
					const char *id);
/* Its requests are dropped, their runs go on; its streams end. */
void http_session_end(struct http_session *s, const char *errmsg);

/* Ends those whose token, or want of one, was good and is so no more. */
void http_sessions_recheck(struct http_sessions *all);
/* Ends those that have been idle for IDLE_MS. */
void http_sessions_sweep(struct http_sessions *all, int64_t idle_ms);

/* Refusals of C: there is no such session, whoever's; or no room for one. */
void http_sessions_refuse_unknown(struct http_conn *c);
void http_sessions_refuse_full(const struct http_sessions *all,
			       const struct requestor *requestor,
			       struct http_conn *c);

#endif
