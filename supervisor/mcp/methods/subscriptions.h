/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriptions.h - resources/subscribe: a session is told when the resource of
 * a URI has changed (subscriber.h).
 */
#ifndef SUPERVISOR_METHODS_SUBSCRIPTIONS_H
#define SUPERVISOR_METHODS_SUBSCRIPTIONS_H

#include "supervisor/session/request.h"

void subscriptions_add(struct request *req);  /* resources/subscribe */
void subscriptions_drop(struct request *req); /* resources/unsubscribe */

/* Return the URIs of S's subscriptions, BYTES of them at most; the caller's. */
struct json_object *subscriptions_list(const struct session *s, size_t bytes);
/*
 * Subscribe S, without subscriptions yet, to URIS (*lent*) as before a restart:
 * possible changes are told as soon as there is a stream.
 */
void subscriptions_restore(struct session *s, struct json_object *uris);

#endif
