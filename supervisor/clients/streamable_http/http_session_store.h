/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session_store.h - the row by which a session survives its server: after
 * a restart a client goes on without noticing. Existing clients do not
 * initialize again when a session is gone.
 *
 * The row has the SHA-256 of the id, the requestor, the terms negotiated, the
 * level of logging and the subscriptions; no streams, requests or tokens. A row
 * lasts as long as an idle session. Without a store, or while the store fails,
 * a session works as well, and ends with its server.
 */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_STORE_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_STORE_H

#include "supervisor/clients/streamable_http/http_session.h"
#include "supervisor/store/store.h"

/* bytes of the client's capabilities; also of all URIs */
#define HTTP_SESSION_STORE_TEXT 4096

void http_session_store_init(struct http_sessions *all);
void http_session_store_fini(struct http_sessions *all);

/* Write the key of the row of session ID. */
void http_session_store_key(char key[HTTP_SESSION_KEY_SIZE], const char *id);

/*
 * Return the store which keeps sessions, or NULL: no store, or a failing store.
 */
struct store *http_session_store_get(const struct http_sessions *all);

/*
 * Write the row of S as S is now, and call DONE. False: S cannot be kept, and
 * DONE is not called.
 */
bool http_session_store(struct http_session *s, enum store_urgency urgency,
			store_done done, void *arg);
/*
 * Write the row of SESSION (a struct http_session) again soon: a stored part
 * has changed.
 */
void http_session_store_changed(void *session);
/*
 * Delete the row of S, which ends for good. DONE is called if S had a row and
 * the row can be deleted (http_session_delete()).
 */
bool http_session_store_delete(struct http_session *s, store_done done,
			       void *arg);
/*
 * Forget the row of S, which ends in this process alone: another process may go
 * on with the session.
 */
void http_session_store_leave(struct http_session *s);

/*
 * Write the rows of used sessions again in time, so that no such row expires.
 */
void http_session_store_tick(struct http_sessions *all);
/* Write the rows of all changed or used sessions, before the server ends. */
void http_session_store_all(struct http_sessions *all);

/* May Q go on with the session of ROW? */
bool http_session_store_is_of(const struct store_session *row,
			      const struct requestor *q);
/* Restore S, a new session with the id of ROW, from ROW. */
void http_session_store_restore(struct http_session *s,
				const struct store_session *row);

/*
 * Rows of ended sessions, until the store has deleted the rows: on a full disk
 * only when room is made there. Until then such a row can be read, but no
 * client may go on with the session.
 */

/* of all requestors; each has a share */
#define HTTP_SESSION_DELETES_MAX 4096

/*
 * Delete the row KEY of Q and call DONE. False: too many deletions of Q are
 * pending; the row stays until it expires, and DONE is not called.
 */
bool http_session_delete(struct http_sessions *all, struct requestor *q,
			 const char *key, store_done done, void *arg);

/* Has the session of KEY ended, though the store may still have its row? */
bool http_session_delete_pending(const struct http_sessions *all,
				 const char *key);

#endif
