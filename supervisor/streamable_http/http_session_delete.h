/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session_delete.h - rows of sessions that are over, until the store has let
 * go of them: on a disk that is full that takes as long as nobody makes room
 * there. Until then they can be read, and yet nobody goes on with them.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_DELETE_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_DELETE_H

#include "supervisor/store/store.h"
#include "supervisor/streamable_http/http_session.h"

/* of all requestors; each has its share */
#define HTTP_SESSION_DELETES_MAX 4096

/*
 * The row KEY, of Q, goes; DONE is told. False: too many of Q's wait
 * already. Then it stays until it expires, and DONE is not called.
 */
bool http_session_delete(struct http_sessions *all, struct requestor *q,
			 const char *key, store_done done, void *arg);

/* Is the session of KEY over, whatever the store says of it? */
bool http_session_delete_pending(const struct http_sessions *all,
				 const char *key);

/* ALL goes: what the store says later is let go. */
void http_session_deletes_fini(struct http_sessions *all);

#endif
