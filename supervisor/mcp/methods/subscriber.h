/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriber.h - a subscriber is told when the resource of a URI has changed: a
 * session with subscriptions, or a listening request.
 *
 * A run changes with its state and progress, its log with each line, a
 * template's resource with a reload. A resource which cannot change (an
 * artifact, an ended run) may be subscribed to, and is never told.
 */
#ifndef SUPERVISOR_METHODS_SUBSCRIBER_H
#define SUPERVISOR_METHODS_SUBSCRIBER_H

#include "supervisor/session/request.h"

#define SUBSCRIPTIONS_MAX 256 /* of a session or a listening request */
/* least time between two messages for a URI */
#define SUBSCRIPTION_EVERY_MS 100

/* A session or a listening request which is told of URIs. */
struct subscriber; /* opaque */

enum subscriber_told {
	SUBSCRIBER_TOLD,
	SUBSCRIBER_LATER, /* the client does not read now: try later */
	/* there is no stream: subscriber_tell_missed() follows */
	SUBSCRIBER_NO_STREAM,
};

struct subscriber_ops {
	/* Tell that URI has changed. */
	enum subscriber_told (*tell)(void *arg, const char *uri);
};

/* Make a subscriber of S, which outlives it. */
struct subscriber *subscriber_new(struct session *s,
				  const struct subscriber_ops *ops, void *arg);
void subscriber_free(struct subscriber *o); /* NULL is fine */

enum subscribed {
	SUBSCRIBED,
	SUBSCRIBED_NOT_FOUND, /* no such resource, or another requestor's */
	SUBSCRIBED_TOO_MANY,
};
typedef void (*subscriber_added)(struct request *req, enum subscribed what);

/*
 * Subscribe O to URI, which REQ's params *lend*; O lives until REQ is dropped. DONE
 * is called now or later, unless REQ is dropped before.
 */
void subscriber_add(struct subscriber *o, struct request *req, const char *uri,
		    subscriber_added done);

/* Unsubscribe O from URI. Returns whether O was subscribed. */
bool subscriber_drop(struct subscriber *o, const char *uri);

/* There is a stream now: tell the changes which may have been missed. */
void subscriber_tell_missed(struct subscriber *o);

/* Tell the changes of a reload: the templates have changed. */
void subscribers_reloaded(struct context *ctx);

/* Return O's URIs, BYTES of them at most; the caller's. */
struct json_object *subscriber_list(const struct subscriber *o, size_t bytes);
/*
 * Subscribe O, which has no URI twice, to URI as before a restart. A possible
 * change is told as soon as there is a stream; a missing resource is never
 * told.
 */
void subscriber_restore(struct subscriber *o, const char *uri);

#endif
