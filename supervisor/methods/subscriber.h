/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriber.h - who is told when what a URI names has changed: a session that
 * subscribed, or a request that listens.
 *
 * A run changes with its state and progress, its log with each line, and what
 * a template offers with a reload. What cannot change (an artifact, a run that
 * has ended) can be waited for, and nothing comes.
 */
#ifndef SUPERVISOR_METHODS_SUBSCRIBER_H
#define SUPERVISOR_METHODS_SUBSCRIBER_H

#include "supervisor/session/request.h"

#define SUBSCRIPTIONS_MAX 256	  /* of one session, or request that listens */
#define SUBSCRIPTION_EVERY_MS 100 /* no more often is one URI told of */

/* Who is told of URIs: a session, or a request that listens. */
struct subscriber; /* opaque */

struct subscriber_ops {
	/* URI has changed: tell it. False: it is not to be told now, but later. */
	bool (*tell)(void *arg, const char *uri);
};

/* One of S, which outlives it. */
struct subscriber *subscriber_new(struct session *s,
				  const struct subscriber_ops *ops, void *arg);
void subscriber_free(struct subscriber *o); /* NULL is fine */

enum subscribed {
	SUBSCRIBED,
	SUBSCRIBED_NOT_FOUND, /* or not C's requestor's */
	SUBSCRIBED_TOO_MANY,
};
typedef void (*subscriber_added)(struct request *c, enum subscribed what);

/*
 * O, which lives as long as C is not dropped, is to be told of URI, which C's
 * params have. DONE is called now or later, unless C is dropped before.
 */
void subscriber_add(struct subscriber *o, struct request *c, const char *uri,
		    subscriber_added done);

/* URI is no longer told of; whether it was. */
bool subscriber_drop(struct subscriber *o, const char *uri);

/* There is a way now: what may have changed when there was none is told. */
void subscriber_tell_missed(struct subscriber *o);

/* There are other templates now. */
void subscribers_reloaded(struct context *ctx);

/* Its URIs, BYTES of them at most; the caller's. */
struct json_object *subscriber_list(const struct subscriber *o, size_t bytes);
/*
 * O, which has no URI twice, has URI as a server before had it: what may have
 * changed since is told as soon as there is a way, and of what is gone nothing.
 */
void subscriber_restore(struct subscriber *o, const char *uri);

#endif
