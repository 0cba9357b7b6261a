/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session.h - MCP sessions over HTTP: made by initialize, named by
 * Mcp-Session-Id, each its requestor's alone. An id says which conversation,
 * never who asks.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_H

#include "supervisor/http/http_conn.h"
#include "supervisor/http/http_share.h"
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uthash.h>

#include "supervisor/context.h"
#include "supervisor/session/session.h"
#include "supervisor/stateless_http/http_call.h"

#define HTTP_SESSIONS_MAX 4096
#define HTTP_SESSIONS_EACH 2048	 /* of one requestor */
#define HTTP_SESSION_ID_SIZE 41	 /* 160 random bits in hex, with NUL */
#define HTTP_SESSION_KEY_SIZE 65 /* of an id's SHA-256, with NUL */

struct http_stream;
struct http_store_wait; /* of http_store_wait.c */

/* All sessions of a server. */
struct http_sessions {
	struct context *ctx;
	const struct session_ops *ops; /* of each session; borrowed */
	struct http_session *by_id;
	size_t n;
	TAILQ_HEAD(http_by_use, http_session) by_use; /* longest idle first */
	size_t ended_bytes; /* of all requestor.http_ended */
	struct http_share share;
	TAILQ_HEAD(http_deferring, http_session) deferring; /* have some held */
	struct event *go_on;				    /* with those */
	struct http_streams upgrading;			    /* oldest first */
	struct event *upgrade;	 /* due when the first of them is */
	struct http_calls calls; /* that have no session of these */
	TAILQ_HEAD(http_changed, http_session) changed; /* …since it was kept */
	struct event *keep;				/* due for those */
	TAILQ_HEAD(http_rows, http_session) rows; /* kept; longest ago first */
	/* that wait for it */
	TAILQ_HEAD(http_store_waits, http_store_wait) store_waits;
	size_t n_store_waits;
	/* rows of sessions that are over, by key */
	struct http_session_delete *drops;
	bool closing; /* the server ends, the sessions go on */
};

struct http_session {
	char id[HTTP_SESSION_ID_SIZE];
	struct http_sessions *all;
	struct session session;
	bool told_id;	 /* the client knows ID */
	unsigned tokens; /* of the requestor, when it began */
	int64_t used_ms;
	uint64_t last_stream; /* number of the newest */
	uint64_t lost; /* streams up to this number were a server's before */
	bool has_row;  /* the store has it, or was asked to keep it */
	bool recorded; /* the row was there… */
	int64_t looked_ms; /* …and was looked at; monotonic */
	bool changed;	   /* since then */
	int64_t row_ms;	   /* when the store was asked last; monotonic */
	TAILQ_ENTRY(http_session) changes; /* in all.changed, while CHANGED */
	TAILQ_ENTRY(http_session) row;	   /* in all.rows, while it has one */
	/* of what belongs to no request: whom a client asked for last is first */
	struct http_streams push;
	size_t n_push;
	struct http_streams open;	/* their answers are to come */
	struct http_streams replayable; /* ended, for replay */
	size_t n_open, n_replayable, replayable_bytes;
	size_t n_read;		      /* streams that have a connection */
	struct http_streams deferred; /* requests not begun */
	TAILQ_ENTRY(http_session)
	deferring;			/* in all.deferring, while it has any */
	UT_hash_handle hh;		/* in all.by_id */
	TAILQ_ENTRY(http_session) link; /* in all.by_use */
};

/* REQUESTOR's session ID, now used; NULL: there is none, whoever's. */
struct http_session *http_session_find(struct http_sessions *all,
				       const struct requestor *requestor,
				       const char *id);
void http_session_used(struct http_session *s);
/* Nobody waits for anything in it, and it waits for no task of its client's. */
bool http_session_is_idle(const struct http_session *s);

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
