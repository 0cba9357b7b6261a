/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session_store.h - what of a session survives its server: a row in the
 * store, by which a client goes on after a restart as if nothing had been.
 * Clients that exist do not initialize again when their session is gone.
 *
 * The row has the id's SHA-256, whose it is, what was negotiated, the level of
 * logging and the subscriptions; nothing of streams, requests or tokens. It lasts
 * as an idle session does. Without a store, or while that fails, a session
 * works all the same, and ends with its server.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_STORE_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_STORE_H

#include "supervisor/streamable_http/http_session.h"
#include "supervisor/store/store.h"

/* bytes of its capabilities; and of all its URIs */
#define HTTP_SESSION_STORE_TEXT 4096

void http_session_store_init(struct http_sessions *all);
void http_session_store_fini(struct http_sessions *all);

/* The key of the row of the session ID. */
void http_session_store_key(char key[HTTP_SESSION_KEY_SIZE], const char *id);

/* The store that keeps sessions; NULL: there is none, or it fails just now. */
struct store *http_session_store_get(const struct http_sessions *all);

/*
 * Keep S as it is now; DONE is told. False: it cannot be kept, and DONE
 * is not called.
 */
bool http_session_store(struct http_session *s, enum store_urgency urgency,
			store_done done, void *arg);
/* What is kept of the session (a http_session) has changed: so it is, soon. */
void http_session_store_changed(void *session);
/* S ends, and is not to be had again. DONE as above, if S was kept and can be
   dropped (http_session_delete()). */
bool http_session_store_delete(struct http_session *s, store_done done,
			       void *arg);
/* S ends here alone: another process may go on with it. */
void http_session_store_leave(struct http_session *s);

/* Time has passed: who was used lasts longer. */
void http_session_store_tick(struct http_sessions *all);
/* All are kept as they are now; for the end. */
void http_session_store_all(struct http_sessions *all);
/* Q is gone: what is kept for it is dropped. */
void http_session_store_requestor_gone(struct http_sessions *all,
				       const struct requestor *q);

/* Does Q go on with the session of ROW? */
bool http_session_store_is_of(const struct store_session *row,
			      const struct requestor *q);
/* S, a new one with the id of ROW, is again as that has it. */
void http_session_store_restore(struct http_session *s,
				const struct store_session *row);

/*
 * Rows of sessions that are over, until the store has let go of them: on a disk
 * that is full that takes as long as nobody makes room there. Until then they
 * can be read, and yet nobody goes on with them.
 */

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
