/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session.h - MCP sessions over HTTP: made by initialize, named by
 * Mcp-Session-Id, each for a single requestor. The id says which conversation a
 * request belongs to, never who asks.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_H

#include "supervisor/clients/http/http_conn.h"
#include "supervisor/clients/http/http_exchange.h"
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uthash.h>

#include "base/id.h"
#include "supervisor/context.h"
#include "supervisor/session/session.h"
#include "supervisor/clients/stateless_http/http_call.h"

#define HTTP_SESSIONS_MAX 4096
#define HTTP_SESSIONS_EACH 2048	 /* sessions of a requestor */
#define HTTP_SESSION_ID_SIZE 41	 /* 160 random bits in hex, with NUL */
#define HTTP_SESSION_KEY_SIZE 65 /* hex SHA-256 of an id, with NUL */

struct http_store_wait; /* defined in http_store_wait.c */

/* The sessions of a server. */
struct http_sessions {
	struct context *ctx;
	const struct session_ops *ops; /* functions of each session; borrowed */
	struct http_session *by_id;
	size_t n;
	/* sessions, longest idle first */
	TAILQ_HEAD(http_by_use, http_session) by_use;
	size_t ended_bytes;		 /* sum of requestor.http_ended_bytes */
	struct http_exchanges exchanges; /* in and outside of sessions */
	struct http_calls calls;	 /* requests without a session */
	/* sessions changed since their row was written */
	TAILQ_HEAD(http_changed, http_session) changed;
	struct event *keep; /* timer: write rows of CHANGED */
	/* sessions with a row; oldest row first */
	TAILQ_HEAD(http_rows, http_session) rows;
	/* requests which wait for the store */
	TAILQ_HEAD(http_store_waits, http_store_wait) store_waits;
	size_t n_store_waits;
	/* rows being deleted, by key */
	struct http_session_delete *drops;
	bool closing; /* the server ends; sessions are kept in the store */
};

struct http_session {
	char id[HTTP_SESSION_ID_SIZE];
	struct http_sessions *all;
	struct session session;
	struct http_conversation conversation;
	/* named in the ids of streams; "" if the store is not shared */
	char instance[ID_SIZE];
	bool told_id;	 /* the client knows ID */
	unsigned tokens; /* requestor.tokens when the session began */
	int64_t used_ms;
	uint64_t last_stream; /* number of the newest stream */
	uint64_t lost;	      /* streams up to LOST were an earlier server's */
	bool has_row;	      /* the store has S, or was asked to keep S */
	bool recorded;	      /* the store has confirmed the row */
	int64_t looked_ms;    /* when the row was last read; monotonic */
	bool changed;	/* the session changed since its row was written */
	int64_t row_ms; /* when the row was last written; monotonic */
	TAILQ_ENTRY(http_session) changes; /* in all.changed, while CHANGED */
	TAILQ_ENTRY(http_session) row;	   /* in all.rows, while HAS_ROW */
	/* streams without a request; the latest asked for is first */
	struct http_exchange_list push;
	size_t n_push;
	struct http_exchange_list open; /* streams awaiting their answer */
	struct http_exchange_list
	    replayable; /* ended streams, kept for replay */
	size_t n_open, n_replayable, replayable_bytes;
	UT_hash_handle hh;		/* in all.by_id */
	TAILQ_ENTRY(http_session) link; /* in all.by_use */
};

/*
 * Return the session ID of REQUESTOR and mark it as used. NULL: unknown, or a
 * session of another requestor.
 */
struct http_session *http_session_find(struct http_sessions *all,
				       const struct requestor *requestor,
				       const char *id);
void http_session_used(struct http_session *s);
/*
 * Is S idle: no stream open or read, no request, and no task of the client
 * awaited?
 */
bool http_session_is_idle(const struct http_session *s);

/*
 * Make a session for REQUESTOR. A requestor at the allowed number (a share of
 * what others leave) loses its longest idle session first; if there are too
 * many sessions in all, the requestor with the most loses one. NULL: no session
 * is idle.
 */
struct http_session *http_session_new(struct http_sessions *all,
				      struct requestor *requestor);
/*
 * Make the session ID again, which an earlier server began: the client knows
 * ID.
 */
struct http_session *http_session_again(struct http_sessions *all,
					struct requestor *requestor,
					const char *id);
/* End S: drop its requests (the runs go on), end its streams. */
void http_session_end(struct http_session *s, const char *errmsg);

/*
 * End the sessions whose token, or whose anonymous access, is no longer valid.
 */
void http_sessions_recheck(struct http_sessions *all);
/* End the sessions idle for IDLE_MS. */
void http_sessions_sweep(struct http_sessions *all, int64_t idle_ms);

/* Refuse C: no such session exists, or no room is left for a session. */
void http_sessions_refuse_unknown(struct http_conn *c);
void http_sessions_refuse_full(const struct http_sessions *all,
			       const struct requestor *requestor,
			       struct http_conn *c);

#endif
