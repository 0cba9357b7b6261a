/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - the conversation of a client: the terms negotiated, the requests
 * under way, the observers. How bytes travel is not known here.
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

#define SESSION_REQUESTS_MAX 2048   /* requests under way at the same time */
#define REQUESTOR_REQUESTS_MAX 4096 /* of all sessions of a requestor */
#define REQUESTS_TOLD_MAX 64 /* that await one run, and hear of its log */
#define SESSION_COST 8192    /* bytes of memory of a session with its parts */
#define SESSION_READS_MAX 8  /* large answers awaited; more are made later */
/* large answers awaited by all sessions of a requestor */
#define REQUESTOR_READS_MAX 16

/* For a transport which has a status beside the answer. */
struct reply_hint {
	int status;	  /* as in HTTP; 0 means 200 */
	int64_t retry_ms; /* of Retry-After, after too many requests; or 0 */
};

/* Takes bytes which are no messages. */
struct session_bytes {
	/*
	 * Return where to put *N bytes; *N is 0: no room until
	 * session_ops.bytes_room().
	 */
	char *(*room)(void *arg, size_t *n);
	void (*wrote)(void *arg, size_t n); /* N bytes were put there */
	void (*end)(void *arg);		    /* all bytes have come */
};

struct artifact_source; /* defined in supervisor/run/artifacts */
struct run_result_source;

/*
 * How messages reach the client. TEXT is a message without a newline, *lent*.
 * STREAM is the transport's pointer for the request of a message; NULL: no
 * request.
 */
#define SESSION_KEY_SIZE 65 /* SHA-256 in hex, with NUL */

struct session_ops {
	void (*send)(void *arg, void *stream, const char *text, size_t len);
	/*
	 * Send the last message of STREAM: the answer, or all answers of a
	 * batch. TEXT NULL: no answer, since the request was cancelled. STREAM
	 * is not used any more.
	 */
	void (*answer)(void *arg, void *stream, const char *text, size_t len,
		       struct reply_hint hint);
	/*
	 * As answer(), but *takes* the bytes of a large ANSWER. NULL: answer()
	 * copies.
	 */
	void (*answer_taken)(void *arg, void *stream, struct buf *answer,
			     struct reply_hint hint);
	/* Is there a stream for messages without a request? NULL: always. */
	bool (*has_push_stream)(void *arg);
	/*
	 * Answer STREAM with the run A, in place of answer(). NULL: answer() gets the
	 * tool result of A.
	 */
	void (*take_run)(void *arg, void *stream,
			 const struct run_result_source *a);
	/* Have the client fetch STREAM's messages later. NULL: impossible. */
	void (*detach)(void *arg, void *stream);
	/* Does the client read STREAM now? NULL: always. */
	bool (*has_reader)(void *arg, void *stream);
	/* Is too much of what was sent unread? Then send answers alone. */
	bool (*backlogged)(void *arg);
	/*
	 * Would the next answer wait behind many unread bytes, which share its
	 * stream? Then send no log lines. NULL: as backlogged().
	 */
	bool (*lags)(void *arg);
	/*
	 * A large answer is no longer awaited, or a batch was taken: go on with
	 * the next message. NULL: nothing waits.
	 */
	void (*read_done)(void *arg);
	/*
	 * Return the header field NAME of the request, in any case of letters,
	 * *lent*; NULL: absent. A NULL function: requests have no heads.
	 */
	const char *(*field)(void *arg, const char *name);
	/*
	 * Write the hash of the session's name, SESSION_KEY_SIZE, by which
	 * another server takes the session over. NULL: impossible.
	 */
	void (*key)(void *arg, char *out);
	/*
	 * The client's log level or subscriptions have changed. NULL: not kept.
	 */
	void (*changed)(void *arg);
	/*
	 * take_bytes(): the client's next SIZE bytes (above 0) are no messages,
	 * but go to TO; false: earlier bytes are still due. bytes_room(): TO
	 * has room again. NULL: not supported.
	 */
	bool (*take_bytes)(void *arg, int64_t size,
			   const struct session_bytes *to, void *to_arg);
	void (*bytes_room)(void *arg);
	/*
	 * Send the bytes of SOURCE (*taken*) after the messages sent so far.
	 * False: other bytes are being sent. NULL: not supported.
	 */
	bool (*send_bytes)(void *arg, struct artifact_source *source);
	/* Are bytes being sent? NULL only if send_bytes() is NULL. */
	bool (*sends_bytes)(void *arg);
};

/* Is told of changes of a session; NULL functions are not called. */
struct session_observer {
	const struct session_observer_ops {
		/* The session ends: O has to leave. Never NULL. */
		void (*on_gone)(struct session_observer *o);
		/* There is a stream (again) for messages without a request. */
		void (*on_push_open)(struct session_observer *o);
		/*
		 * STREAM (NULL: the stream without a request) is not read any
		 * more, but may be again.
		 */
		void (*on_reader_lost)(struct session_observer *o,
				       void *stream);
	} * ops;
	LIST_ENTRY(session_observer) link; /* in session.observers */
};

/* Is told of changes of the server; NULL functions are not called. */
struct server_observer {
	const struct server_observer_ops {
		/* The templates have changed, and so perhaps their lists. */
		void (*on_lists_changed)(struct server_observer *o);
		/*
		 * The server ends: soon, while it drains, or after the messages
		 * sent now.
		 */
		void (*on_end)(struct server_observer *o);
	} * ops;
	LIST_ENTRY(server_observer) link; /* in sessions.observers */
	bool to_tell; /* in sessions.to_tell, for on_lists_changed() */
	TAILQ_ENTRY(server_observer) tell;
};

/*
 * The terms of a client: from initialize, for the session; since 2026-07-28
 * from each request, for the request alone.
 */
struct client_terms {
	enum mcp_revision revision;
	/* as declared, or NULL; owned by a session, not by a request */
	struct json_object *capabilities;
	/* of proto/mcp/mcp.h: the least grave level to send; -1: none */
	int log_level;
};

struct client_request;
struct request;
struct session_walk;	      /* defined in session.c */
struct subscriber;	      /* defined in methods/subscriber.c */
struct session_subscriptions; /* defined in methods/subscriptions.c */

struct session {
	struct context *ctx;	     /* borrowed */
	struct requestor *requestor; /* borrowed */
	enum template_trust via; /* local, unless a remote transport sets it */
	/* the run whose calls of templates are the requests; NULL: a client's session */
	struct run *caller;
	const struct session_ops *ops;
	void *arg;
	bool greeted; /* initialize was answered */
	/* the client has sent notifications/initialized, and may be asked */
	bool initialized;
	bool stale; /* the lists have changed, and the client was not told */
	struct server_observer server;
	struct client_terms terms; /* the client's, from initialize */
	LIST_ENTRY(session) link;  /* in sessions.all */
	struct request *requests;  /* under way, by their ids */
	size_t n_requests;	   /* of REQUESTS, and requests being refused */
	/*
	 * Batches being taken; on a stream of lines nothing else is read
	 * meanwhile.
	 */
	size_t n_batches;
	size_t n_reads; /* requests which await a large answer */
	/* requests whose large answer waits for a turn */
	TAILQ_HEAD(, request) backlog;
	void (*wake)(struct session *s); /* wakes the first of BACKLOG */
	bool waits; /* the session is in sessions.waiting */
	TAILQ_ENTRY(session) wait;
	/* the server's requests to the client, by id */
	struct client_request *client_requests;
	uint64_t last_asked;   /* number in the id of the newest such request */
	size_t n_client_tasks; /* tasks which the client runs for the server */
	/* NULL: no subscriptions yet */
	struct session_subscriptions *subscriptions;
	LIST_HEAD(, session_observer) observers;
	struct session_walk *walk; /* set while observers are told */
	bool over; /* the session is ending: ask the client nothing more */
};

/* The sessions of an instance: context.sessions. */
struct sessions {
	LIST_HEAD(, session) all; /* each session is owned by its connection */
	LIST_HEAD(, subscriber) subscribers;
	LIST_HEAD(, server_observer) observers;
	/* next observer to tell, in sessions_end() */
	struct server_observer *next;
	/* observers to tell of changed lists */
	TAILQ_HEAD(, server_observer) to_tell;
	struct fair_queue_turn telling; /* the turn for telling TO_TELL */
	/* sessions which wait to read more */
	TAILQ_HEAD(waiting_sessions, session) waiting;
	struct event *read_on; /* event: wakes the sessions of WAITING */
	/* requests for whose answer the row of a run is read */
	LIST_HEAD(, request) reading;
};

void sessions_init(struct sessions *all);
void sessions_fini(struct sessions *all);

/* Have O, *lent* with OPS, observe the server until sessions_unobserve(). */
void sessions_observe(struct sessions *all, struct server_observer *o,
		      const struct server_observer_ops *ops);
void sessions_unobserve(struct sessions *all, struct server_observer *o);
/* Tell the observers: the server ends, or begins to end. */
void sessions_end(struct sessions *all);

void session_init(struct session *s, struct context *ctx,
		  struct requestor *requestor, const struct session_ops *ops,
		  void *arg);

/* Set the capabilities of S's client, of mcp_known_capabilities(); *taken*. */
void session_set_capabilities(struct session *s, struct json_object *taken);

/* End S, whose client is gone: drop its requests; its runs go on. */
void session_fini(struct session *s);

/* Have O, *lent* with OPS, observe S until S ends or session_unobserve(). */
void session_observe(struct session *s, struct session_observer *o,
		     const struct session_observer_ops *ops);
void session_unobserve(struct session *s, struct session_observer *o);

/* Send the notification METHOD, with PARAMS (*lent*, or NULL). */
void session_tell(struct session *s, void *stream, const char *method,
		  struct json_object *params);
/* A set of lists; a change of templates may change any list. */
#define SESSION_LIST_TOOLS 1u
#define SESSION_LIST_RESOURCES 2u
#define SESSION_LIST_PROMPTS 4u
#define SESSION_LISTS 7u
/*
 * Tell S's client that the LISTS have changed, with PARAMS (*lent*, or NULL).
 */
void session_tell_lists(struct session *s, void *stream, unsigned lists,
			struct json_object *params);
/*
 * The templates have changed: tell each client which has asked for it, by
 * initialize or by a listening request, a few in a turn, once a stream is
 * there.
 */
void session_lists_changed(struct context *ctx);
/* Report that S's client has changed a setting of S. */
void session_changed(struct session *s);
bool session_has_push_stream(const struct session *s);
/* Does S's client leave too much unread? */
bool session_is_backlogged(const struct session *s);
/* Would log lines to S's client delay the answers to S's requests? */
bool session_lags(const struct session *s);
/*
 * Is S backlogged, or awaiting enough large answers, so that no more are made
 * now?
 */
bool session_over_read_limit(const struct session *s);
/*
 * Wake S once, when a large answer was sent or read: S is over its read limit.
 */
void session_wait_to_read(struct session *s);
/* A large answer was sent or read: wake the waiting sessions soon. */
void sessions_read_on(struct context *ctx);
/* Does an answer wait for its turn, whose client reads? */
bool sessions_owe_answers(const struct sessions *all);
/* The transport has a stream again for messages without a request. */
void session_push_opened(struct session *s);
/* Is STREAM (NULL: the stream without a request) being read? */
bool session_has_reader(const struct session *s, void *stream);
/* STREAM is not read any more, but may be again. */
void session_reader_lost(struct session *s, void *stream);
/* Have STREAM's messages fetched later, if the transport can. */
void session_detach(struct session *s, void *stream);

/* Answer a message which could not be read, by an error without an id. */
void session_refuse(struct session *s, void *stream, int code,
		    const char *errmsg);

/* Return the trust in S's client, now. */
enum template_trust session_trust(const struct session *s);

#endif
