/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriptions.h - resources/subscribe, and what subscriptions/listen has of it:
 * a client is told when what it reads by a URI has changed.
 *
 * A run changes with its state and progress, its log with each line, and what
 * a template offers with a reload. What cannot change (an artifact, a run that
 * has ended) can be subscribed to, and nothing comes.
 */
#ifndef SUPERVISOR_METHODS_SUBSCRIPTIONS_H
#define SUPERVISOR_METHODS_SUBSCRIPTIONS_H

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

void subscriptions_add(struct request *c);  /* resources/subscribe */
void subscriptions_drop(struct request *c); /* resources/unsubscribe */

/* There are other templates now. */
void subscriptions_reloaded(struct context *ctx);

/* Their URIs, BYTES of them at most; the caller's. */
struct json_object *subscriptions_list(const struct session *s, size_t bytes);
/*
 * S, which has none, has those of URIS (lent) again, as a server before had
 * them: what may have changed since is told as soon as there is a way.
 */
void subscriptions_restore(struct session *s, struct json_object *uris);

#endif
