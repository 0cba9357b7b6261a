/*
 * session.h - one client's conversation: what was negotiated, and the calls
 * that are under way. It knows nothing of how bytes travel.
 */
#ifndef SUPERVISOR_SESSION_H
#define SUPERVISOR_SESSION_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "proto/mcp.h"
#include "supervisor/run.h"
#include "supervisor/server.h"

#define SESSION_CALLS_MAX 2048 /* under way at once */
#define SESSION_BATCH_MAX 128  /* messages */
#define SESSION_READS_MAX 8    /* large answers awaited: then read on later */

struct session {
	struct server *server;	     /* borrowed */
	struct requestor *requestor; /* borrowed */
	/* Takes one message to the client: TEXT without a newline, lent. */
	void (*send)(void *arg, const char *text, size_t len);
	void *arg;
	/* A large answer is awaited no more; set by who reads, or NULL. */
	void (*eased)(void *arg);
	bool behind;  /* what was sent is not read: send answers alone */
	bool greeted; /* initialize was answered */
	enum mcp_revision revision;
	LIST_ENTRY(session) link; /* in server.sessions */
	LIST_HEAD(calls, call) calls;
	size_t n_calls;
	size_t n_reads; /* of these, those that await a large answer */
};

void session_init(struct session *s, struct server *server,
		  struct requestor *requestor,
		  void (*send)(void *, const char *, size_t), void *arg);

/* The client is gone: calls are dropped; their runs go on. */
void session_fini(struct session *s);

/* METHOD, a notification without params, to all that have been greeted. */
void session_tell_all(struct server *srv, const char *method);

/* One message (or a batch) of LEN bytes came. */
void session_receive(struct session *s, const char *text, size_t len);

/* A message that could not even be read: answered without an id. */
void session_refuse(struct session *s, int code, const char *why);

/* Are these two ids (raw JSON text) the same one? */
bool session_same_id(const char *a, const char *b);

#endif
