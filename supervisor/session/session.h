/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one client's conversation: what was negotiated, what is under way,
 * and who observes it. It knows nothing of how bytes travel.
 */
#ifndef SUPERVISOR_SESSION_SESSION_H
#define SUPERVISOR_SESSION_SESSION_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "proto/mcp/mcp.h"
#include "proto/mcp/rpc.h"
#include "supervisor/run/run.h"
#include "supervisor/context.h"

#define SESSION_REQUESTS_MAX 2048 /* under way at once */
#define SESSION_READS_MAX 8    /* large answers awaited: then read on later */
#define REQUESTOR_READS_MAX 16 /* by all sessions of a requestor */

/* For a transport that has a status beside the answer itself. */
struct reply_hint {
	int status;	  /* as HTTP has it; 0: 200 */
	int64_t retry_ms; /* too much came: more may come after so long; or 0 */
};

/* Who gets bytes that are no messages. */
struct session_bytes {
	/* Where to put *N of them; 0: nowhere, until session_ops.bytes_room(). */
	char *(*room)(void *arg, size_t *n);
	void (*wrote)(void *arg, size_t n); /* so many were put there… */
	void (*end)(void *arg);		    /* …and these were the last */
};

struct artifact_source; /* supervisor/artifacts has it */

/*
 * How messages reach the client. TEXT is one message without a newline, lent.
 * A STREAM is what the transport gave with the request that a message belongs
 * to; NULL: it belongs to none.
 */
#define SESSION_KEY_SIZE 65 /* SHA-256 in hex, with NUL */

struct session_ops {
	void (*send)(void *arg, void *stream, const char *text, size_t len);
	/*
	 * The last of STREAM: the answer, or all answers of a batch. TEXT NULL:
	 * there will be none, for it was cancelled. STREAM is used no more.
	 */
	void (*answer)(void *arg, void *stream, const char *text, size_t len,
		       struct reply_hint hint);
	/* The same, of a large one whose bytes are taken. NULL: answer() copies. */
	void (*answer_taken)(void *arg, void *stream, struct buf *answer);
	/* Is there a way for what belongs to no request? NULL: always. */
	bool (*has_push_stream)(void *arg);
	/* Let the client fetch what STREAM brings, later. NULL: it cannot. */
	void (*detach)(void *arg, void *stream);
	/* Does anybody read what STREAM brings, now? NULL: always. */
	bool (*has_reader)(void *arg, void *stream);
	/* Is too much unread of what was sent? Then send answers alone. */
	bool (*backlogged)(void *arg);
	/*
	 * A large answer is awaited no more, or a batch has been taken: what
	 * comes next may be. NULL: nothing waits for that.
	 */
	void (*read_done)(void *arg);
	/*
	 * The field NAME of the head that the request came with, in whatever
	 * case, lent; NULL: it has none. NULL: there are no heads.
	 */
	const char *(*field)(void *arg, const char *name);
	/*
	 * The hash of the session's name, SESSION_KEY_SIZE, by which another
	 * machine that takes it over knows it. NULL: none does.
	 */
	void (*key)(void *arg, char *out);
	/* The client's level or subscriptions are others. NULL: not kept. */
	void (*changed)(void *arg);
	/*
	 * The next SIZE bytes (above 0) that its client sends are no messages, but
	 * TO's (false: they are another's already); and there is room for some
	 * again. NULL: there is no such way.
	 */
	bool (*take_bytes)(void *arg, int64_t size,
			   const struct session_bytes *to, void *to_arg);
	void (*bytes_room)(void *arg);
	/*
	 * After what was sent the bytes of SOURCE (taken) leave. False: others
	 * are on their way. NULL: no such way.
	 */
	bool (*send_bytes)(void *arg, struct artifact_source *source);
};

/* Who is told what becomes of a session; NULL: nothing is done then. */
struct session_observer {
	const struct session_observer_ops {
		/* It ends: O drops out. Never NULL. */
		void (*on_gone)(struct session_observer *o);
		/* There is a way (again) for what belongs to no request. */
		void (*on_push_open)(struct session_observer *o);
		/* STREAM (NULL: that way) is read no more, but may be again. */
		void (*on_reader_lost)(struct session_observer *o,
				       void *stream);
	} * ops;
	LIST_ENTRY(session_observer) link; /* in session.observers */
};

/* Who is told what becomes of the server; NULL: nothing is done then. */
struct server_observer {
	const struct server_observer_ops {
		/* The templates are others, and so may be any list of them. */
		void (*on_lists_changed)(struct server_observer *o);
		/* It ends: soon while it drains, or with what is sent now. */
		void (*on_end)(struct server_observer *o);
	} * ops;
	LIST_ENTRY(server_observer) link; /* in sessions.observers */
	bool to_tell; /* of lists, in its turn: it is in sessions.to_tell */
	TAILQ_ENTRY(server_observer) tell;
};

/*
 * What a client says of itself: by initialize, for its session; from 2026-07-28
 * on with each request, for that alone.
 */
struct client_terms {
	enum mcp_revision revision;
	/* what it declared; NULL: nothing. A session owns it, a request does not */
	struct json_object *capabilities;
	int log_level; /* of proto/mcp/mcp.h: what is as grave is told; -1: none */
};

struct client_request;
struct request;
struct session_walk;	      /* session.c */
struct subscriber;	      /* methods/subscriber.c */
struct session_subscriptions; /* methods/subscriptions.c */

struct session {
	struct context *ctx;	     /* borrowed */
	struct requestor *requestor; /* borrowed */
	enum template_trust via;     /* local; set by a remote transport */
	const struct session_ops *ops;
	void *arg;
	bool greeted;	  /* initialize was answered */
	bool initialized; /* and the client took note: it may be asked */
	bool stale;	  /* its lists have changed: it could not be told */
	struct server_observer server;
	struct client_terms terms; /* of initialize */
	LIST_ENTRY(session) link;  /* in sessions.all */
	struct request *requests;  /* under way, by their ids */
	size_t n_requests;	   /* these, and what is refused just now */
	/* Not taken to their end yet: over lines nothing else is, then. */
	size_t n_batches;
	size_t n_reads; /* of these, those that await a large answer */
	TAILQ_HEAD(, request) backlog;	 /* and those that wait for a turn */
	void (*wake)(struct session *s); /* the first of these looks again */
	bool waits;			 /* it is in sessions.waiting */
	TAILQ_ENTRY(session) wait;
	struct client_request *client_requests; /* ours to it, by their ids */
	uint64_t last_asked;			/* the id of the newest */
	size_t n_client_tasks;			/* its own, for us */
	struct session_subscriptions *subscriptions; /* or NULL */
	LIST_HEAD(, session_observer) observers;
	struct session_walk *walk; /* while they are told something */
	bool over; /* it is ending: nothing more is to be asked of it */
};

/* All of one instance: context.sessions. */
struct sessions {
	LIST_HEAD(, session) all; /* each is its connection's */
	LIST_HEAD(, subscriber) subscribers;
	LIST_HEAD(, server_observer) observers;
	struct server_observer *next; /* of these, while they are told */
	TAILQ_HEAD(, server_observer) to_tell; /* that lists have changed… */
	struct fair_queue_turn telling;	       /* …in this turn */
	TAILQ_HEAD(waiting_sessions, session) waiting; /* to read more */
	struct event *read_on;			       /* those may */
};

void sessions_init(struct sessions *all);
void sessions_fini(struct sessions *all);

/* O, which is lent with its OPS, observes the server until it drops out. */
void sessions_observe(struct sessions *all, struct server_observer *o,
		      const struct server_observer_ops *ops);
void sessions_unobserve(struct sessions *all, struct server_observer *o);
/* The server ends, or begins to: who observes it is told. */
void sessions_end(struct sessions *all);

void session_init(struct session *s, struct context *ctx,
		  struct requestor *requestor, const struct session_ops *ops,
		  void *arg);

/* The client is gone: what it asked for is dropped; its runs go on. */
void session_fini(struct session *s);

/* O, which is lent with its OPS, observes S until it is gone, or drops out. */
void session_observe(struct session *s, struct session_observer *o,
		     const struct session_observer_ops *ops);
void session_unobserve(struct session *s, struct session_observer *o);

/* The notification METHOD, with PARAMS (lent, or NULL). */
void session_tell(struct session *s, void *stream, const char *method,
		  struct json_object *params);
/* A set of lists; other templates may bring any of these. */
#define SESSION_LIST_TOOLS 1u
#define SESSION_LIST_RESOURCES 2u
#define SESSION_LIST_PROMPTS 4u
#define SESSION_LISTS 7u
/* That those of the set LISTS have changed, with PARAMS (lent, or NULL). */
void session_tell_lists(struct session *s, void *stream, unsigned lists,
			struct json_object *params);
/*
 * The templates are others: each client that has asked to be told, by initialize
 * or by a request that listens, is told so, a few in a turn, once there is a way.
 */
void session_lists_changed(struct context *ctx);
/* What a client has set for S is something else now. */
void session_changed(struct session *s);
bool session_has_push_stream(const struct session *s);
/* Its client does not read what was sent to it. */
bool session_is_backlogged(const struct session *s);
/* That, or it awaits enough large answers: no more of these for now. */
bool session_over_read_limit(const struct session *s);
/* S is over that: it is told, once, when a large answer has left or was read. */
void session_wait_to_read(struct session *s);
/* One has: who waits for that looks again, soon. */
void sessions_read_on(struct context *ctx);
/* The transport has a way again for what belongs to no request. */
void session_push_opened(struct session *s);
/* Is STREAM (NULL: what belongs to no request) read now? */
bool session_has_reader(const struct session *s, void *stream);
/* It is read no more, but may be again. */
void session_reader_lost(struct session *s, void *stream);
/* What STREAM brings is fetched later, where the transport knows such a thing. */
void session_detach(struct session *s, void *stream);

/* A message that could not even be read: answered without an id. */
void session_refuse(struct session *s, void *stream, int code,
		    const char *errmsg);

/* What its client is trusted with, now. */
enum template_trust session_trust(const struct session *s);

#endif
