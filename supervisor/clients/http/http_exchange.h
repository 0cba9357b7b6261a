/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_exchange.h - exchanges of HTTP: a request, and what its client hears: a
 * plain answer, or a stream of events, which in a session of MCP outlives the
 * connection. The requests of both eras of MCP are exchanges. A struct
 * http_exchange is the STREAM of session.h.
 */
#ifndef SUPERVISOR_HTTP_HTTP_EXCHANGE_H
#define SUPERVISOR_HTTP_HTTP_EXCHANGE_H

#include "proto/mcp/rpc.h"
#include "supervisor/clients/http/http_conn.h"
#include "supervisor/clients/http/http_share.h"
#include "supervisor/clients/http/sse.h"
#include "supervisor/session/session.h"

#define HTTP_RETRY_MS 500 /* time after which a client reconnects */

enum http_exchange_state {
	EXCHANGE_NONE, /* no state: the event is refused */
	EXCHANGE_NEW,
	EXCHANGE_WAITING,   /* a plain answer is awaited */
	EXCHANGE_DEFERRED,  /* the request waits: the session reads too much */
	EXCHANGE_PARSING,   /* a thread reads the large request */
	EXCHANGE_UPGRADING, /* as WAITING; events begin at HTTP_PLAIN_MS */
	EXCHANGE_EVENTS,    /* the answer is awaited, as the last event */
	/*
	 * has all its events: not all are put yet, or the exchange is kept for
	 * a client which missed some
	 */
	EXCHANGE_LAST,
	EXCHANGE_PUSH, /* a GET stream: its events belong to no request */
	EXCHANGE_CLOSED,
	EXCHANGE_STATES
};

enum http_exchange_event {
	EXCHANGE_ON_REQUEST, /* a request came */
	EXCHANGE_ON_LISTEN,  /* a GET came */
	EXCHANGE_ON_DEFER,   /* the request has to wait */
	EXCHANGE_ON_PARSE,   /* the request goes to a thread */
	EXCHANGE_ON_DELIVER, /* the request goes to the session */
	EXCHANGE_ON_SLOW,    /* the answer may take long */
	EXCHANGE_ON_BEGIN,   /* events are sent instead of a plain answer */
	EXCHANGE_ON_LAST,    /* the last event was added */
	EXCHANGE_ON_LOST,    /* the connection of a resumable one was lost */
	EXCHANGE_ON_CLOSE,   /* the client is gone, or cannot resume any more */
	EXCHANGE_ON_EVENTS
};

/* The differences between the eras. */
struct http_exchange_ops {
	/* X is closed: free X, now or soon. */
	void (*closed)(struct http_exchange *x);
	/* X is about to leave its state (MORE -1), or entered it (1), or NULL. */
	void (*counted)(struct http_exchange *x, int more);
	/* X has no connection any more. May be NULL. */
	void (*detached)(struct http_exchange *x);
	/* May X be read, or become a stream? False: X was closed. NULL: always. */
	bool (*may_begin)(struct http_exchange *x);
};

/* The exchanges of a server. */
struct http_exchanges {
	struct context *ctx; /* borrowed */
	struct http_share share;
	/* Called with the large request of X; the callee takes M. */
	void (*parsed)(struct http_exchange *x, struct rpc_msg *m);
	struct http_exchange_list upgrading; /* oldest first */
	struct event *upgrade; /* timer: due with the oldest of UPGRADING */
	/* sessions with deferred requests which may begin now */
	TAILQ_HEAD(http_ready, http_conversation) ready;
	struct event *go_on; /* event: begins the requests of READY */
};

/* The exchanges of a session. */
struct http_conversation {
	struct http_exchanges *all; /* borrowed, as is SESSION */
	struct session *session;
	size_t n_read; /* number of exchanges with a connection */
	struct http_exchange_list deferred; /* oldest first */
	bool is_ready;
	TAILQ_ENTRY(http_conversation) ready; /* in all.ready, while IS_READY */
};

struct http_exchange {
	const struct http_exchange_ops *ops; /* borrowed, as is OF */
	struct http_conversation *of;
	struct http_conn *conn; /* borrowed; NULL: no connection now */
	struct sse sse;
	uint64_t sent; /* the newest event given to CONN */
	enum http_exchange_state state;
	struct rpc_async *parsing;	 /* while EXCHANGE_PARSING */
	int64_t since_ms;		 /* when EXCHANGE_UPGRADING began */
	TAILQ_ENTRY(http_exchange) link; /* in a list of the era */
	/* in the queue of STATE; see http_exchange_apply() */
	TAILQ_ENTRY(http_exchange) queue;
};

/* *Lends* CTX, and CONNS: the bytes held by all connections. */
void http_exchanges_init(struct http_exchanges *all, struct context *ctx,
			 const struct http_usage *conns,
			 void (*parsed)(struct http_exchange *x,
					struct rpc_msg *m));
void http_exchanges_fini(struct http_exchanges *all); /* none is left */

void http_conversation_init(struct http_conversation *of,
			    struct http_exchanges *all, struct session *s);
/* Begin the deferred requests of OF soon: the session may have room to read. */
void http_conversation_read_on(struct http_conversation *of);

/* ---- states ---- */

/* Return the state after EV in STATE; EXCHANGE_NONE: EV is refused. */
enum http_exchange_state http_exchange_next(enum http_exchange_state state,
					    enum http_exchange_event ev);
/*
 * Apply EV to the state of X. Only this function writes the state, and by it
 * keeps X counted and in the queue of its state: deferred, upgrading, or
 * requestor.http_ended. A refused event is a bug and ends the server.
 */
void http_exchange_apply(struct http_exchange *x, enum http_exchange_event ev);
/* Is X a stream of events, so that no plain answer can be sent? */
bool http_exchange_is_begun(const struct http_exchange *x);
/* Can a client resume X after it lost the connection? */
bool http_exchange_is_resumable(const struct http_exchange *x);

/* ---- life ---- */

/* NUMBER is the number of X in a session, or 0: X cannot be resumed. */
void http_exchange_init(struct http_exchange *x, struct http_conversation *of,
			const struct http_exchange_ops *ops, uint64_t number);
void http_exchange_attach(struct http_exchange *x, struct http_conn *conn);
void http_exchange_detach(struct http_exchange *x);
/* End the HTTP response of X, which is closed if it cannot be resumed. */
void http_exchange_hang_up(struct http_exchange *x);
/* Close X; return the connection (or NULL), which is the caller's to answer. */
struct http_conn *http_exchange_close(struct http_exchange *x);
/*
 * Close X. The client is told STATUS and why (ERRMSG, or NULL), unless a stream
 * has begun.
 */
void http_exchange_end(struct http_exchange *x, int status, const char *errmsg);

/* ---- the request ---- */

/*
 * May M (NULL: a large message, not parsed yet) take long, so that its answer
 * may be a stream?
 */
bool http_exchange_is_slow(const struct context *ctx, const struct rpc_msg *m,
			   enum mcp_revision revision);
/*
 * Pass M, the message of X, to the session; M is emptied. NULL: a large message
 * is read on a thread first, for http_exchanges.parsed(). X may be closed then.
 */
void http_exchange_deliver(struct http_exchange *x, struct rpc_msg *m);
/*
 * Pass the request M on as http_exchange_deliver() does, now or, if the session
 * reads too much, later; then M is left, and the body of the request parsed
 * again.
 */
void http_exchange_request(struct http_exchange *x, struct rpc_msg *m);

/* ---- what the client hears ---- */

/* Answer by a stream of events from now on. False: X was closed. */
bool http_exchange_begin(struct http_exchange *x);
/* Send the first event, by which a client resumes, to a client which knows it. */
void http_exchange_prime(struct http_exchange *x);
/* Send as many events as the connection takes now; X may be closed then. */
void http_exchange_pump(struct http_exchange *x);
/* Add an event; X becomes a stream of events. */
void http_exchange_send(struct http_exchange *x, const char *text, size_t len,
			enum sse_kind kind);
/*
 * The functions of session_ops of the same names, but for the session's own
 * part; ARG is not used.
 */
void http_exchange_answer(void *arg, void *exchange, const char *text,
			  size_t len, struct reply_hint hint);
void http_exchange_answer_taken(void *arg, void *exchange, struct buf *answer,
				struct reply_hint hint);
bool http_exchange_has_reader(void *arg, void *exchange);

#endif
