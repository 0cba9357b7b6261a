/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriptions.h - resources/subscribe: a session is told when what it reads by a
 * URI has changed (subscriber.h).
 */
#ifndef SUPERVISOR_METHODS_SUBSCRIPTIONS_H
#define SUPERVISOR_METHODS_SUBSCRIPTIONS_H

#include "supervisor/session/request.h"

void subscriptions_add(struct request *c);  /* resources/subscribe */
void subscriptions_drop(struct request *c); /* resources/unsubscribe */

/* Their URIs, BYTES of them at most; the caller's. */
struct json_object *subscriptions_list(const struct session *s, size_t bytes);
/*
 * S, which has none, has those of URIS (lent) again, as a server before had
 * them: what may have changed since is told as soon as there is a way.
 */
void subscriptions_restore(struct session *s, struct json_object *uris);

#endif
