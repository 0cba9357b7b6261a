/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session_store.c - writes sessions to rows and reads them back, and has a
 * bounded table of rows being deleted. http_session.c and http_session_ops.c
 * report ends and changes of sessions, http_store_wait.c restores sessions not
 * in memory. A failure of the store does no harm to sessions in memory.
 */
#include "supervisor/clients/streamable_http/http_session_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "base/sha256.h"
#include "proto/json/json.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/session/dispatch.h"

struct http_session_delete {
	struct http_sessions *all; /* NULL: the sessions are gone */
	struct requestor *requestor;
	char key[HTTP_SESSION_KEY_SIZE];
	store_done done;
	void *arg;
	UT_hash_handle hh; /* in all.drops */
};

static void on_dropped(void *arg, const struct store_result *res)
{
	struct http_session_delete *d = arg;

	if (d->all != NULL)
		HASH_DEL(d->all->drops, d);
	d->requestor->http_session_deletes--;
	if (d->done != NULL)
		d->done(d->arg, res);
	free(d);
}

bool http_session_delete(struct http_sessions *all, struct requestor *q,
			 const char *key, store_done done, void *arg)
{
	struct http_session_delete *d;
	size_t own = q->http_session_deletes;

	if (http_session_delete_pending(all, key) ||
	    (int64_t)own >=
		admission_share(HTTP_SESSION_DELETES_MAX,
				(int64_t)(HASH_COUNT(all->drops) - own))) {
		log_rarely("http", "requestor=%s dropped=no drops=%zu", q->name,
			   q->http_session_deletes);
		return false;
	}
	d = xcalloc(1, sizeof(*d));
	d->all = all;
	d->requestor = q;
	memcpy(d->key, key, sizeof(d->key));
	d->done = done;
	d->arg = arg;
	HASH_ADD_STR(all->drops, key, d);
	q->http_session_deletes++;
	store_drop_session(all->ctx->store, key,
			   done != NULL ? STORE_SYNC : STORE_DEFERRED,
			   on_dropped, d);
	return true;
}

bool http_session_delete_pending(const struct http_sessions *all,
				 const char *key)
{
	struct http_session_delete *d;

	HASH_FIND_STR(all->drops, key, d);
	return d != NULL;
}

#define KEEP_MS 20	/* changes within this time become a single row */
#define KEPT_AT_ONCE 64 /* rows in a turn of the loop */

static void write_changed(evutil_socket_t fd, short what, void *sessions);

void http_session_store_init(struct http_sessions *all)
{
	TAILQ_INIT(&all->changed);
	TAILQ_INIT(&all->rows);
	all->keep = evtimer_new(all->ctx->base, write_changed, all);
}

void http_session_store_fini(struct http_sessions *all)
{
	struct http_session_delete *d, *next;

	event_free(all->keep);
	/* the store's results are ignored from now on */
	HASH_ITER(hh, all->drops, d, next) {
		HASH_DEL(all->drops, d);
		d->all = NULL;
	}
}

struct store *http_session_store_get(const struct http_sessions *all)
{
	struct store *store = all->ctx->store;

	return store != NULL && store_failing_message(store) == NULL ? store
								     : NULL;
}

/* ---- to a row ---- */

void http_session_store_key(char key[HTTP_SESSION_KEY_SIZE], const char *id)
{
	struct sha256 sha;

	sha256_begin(&sha);
	sha256_add(&sha, id, strlen(id));
	sha256_end(&sha, key);
}

/*
 * Write the SHA-256 of Q's token, which paddockd knows by its digest: the row
 * has the digest of the digest.
 */
static void credential_of(char out[HTTP_SESSION_KEY_SIZE],
			  const struct requestor *q)
{
	struct sha256 sha;

	out[0] = '\0';
	if (!q->has_token)
		return;
	sha256_begin(&sha);
	sha256_add(&sha, q->token, sizeof(q->token));
	sha256_end(&sha, out);
}

/* Return the age at which the row of a session in use is written again. */
static int64_t old_ms(const struct http_sessions *all)
{
	return all->ctx->config->session_idle_ms / 4;
}

/*
 * Return when S was last used by the wall clock: the next server may have
 * another monotonic clock.
 */
static int64_t used_ms(const struct http_session *s)
{
	return http_session_is_idle(s)
		   ? clock_wall_ms() - (clock_mono_ms() - s->used_ms)
		   : clock_wall_ms();
}

static void put_session_row(struct http_session *s, const char *client,
			    enum store_urgency urgency, store_done done,
			    void *arg)
{
	struct json_object *uris = s->all->ctx->methods->subscriptions(
	    &s->session, HTTP_SESSION_STORE_TEXT);
	const struct requestor *q = s->session.requestor;
	char key[HTTP_SESSION_KEY_SIZE], credential[HTTP_SESSION_KEY_SIZE];
	int64_t used = used_ms(s);

	http_session_store_key(key, s->id);
	credential_of(credential, q);
	store_put_session(
	    s->all->ctx->store,
	    &(struct store_session){
		.key = key,
		.requestor = q->name,
		.credential = credential,
		.revision = mcp_revision_name(s->session.terms.revision),
		.client = client,
		.uris = json_text(uris, NULL),
		.log_level = s->session.terms.log_level,
		.used_ms = used,
		.expires_ms = used + s->all->ctx->config->session_idle_ms +
			      old_ms(s->all),
		.was_there = s->recorded && s->all->ctx->cluster != NULL},
	    urgency, done, arg);
	json_object_put(uris);
}

/* Take S off the list of changes: later changes need a new row. */
static void no_change(struct http_session *s)
{
	if (s->changed)
		TAILQ_REMOVE(&s->all->changed, s, changes);
	s->changed = false;
}

static void stamp(struct http_session *s)
{
	if (s->has_row)
		TAILQ_REMOVE(&s->all->rows, s, row);
	TAILQ_INSERT_TAIL(&s->all->rows, s, row);
	s->has_row = true;
	s->row_ms = clock_mono_ms();
}

bool http_session_store(struct http_session *s, enum store_urgency urgency,
			store_done done, void *arg)
{
	const char *client;
	size_t len;

	if (s->all->ctx->store == NULL || !s->session.greeted)
		return false;
	client = json_text(s->session.terms.capabilities, &len);
	if (len > HTTP_SESSION_STORE_TEXT) {
		log_info("http",
			 "session=%.8s requestor=%s kept=no "
			 "why=\"its capabilities have %zu bytes\"",
			 s->id, s->session.requestor->name, len);
		return false;
	}
	put_session_row(s, client, urgency, done, arg);
	no_change(s);
	stamp(s);
	return true;
}

/* ---- changes ---- */

static void write_soon(struct http_sessions *all)
{
	if (!TAILQ_EMPTY(&all->changed) && !evtimer_pending(all->keep, NULL))
		evtimer_add(all->keep, CLOCK_TIMEVAL(KEEP_MS));
}

static void write_changed(evutil_socket_t fd, short what, void *sessions)
{
	struct http_sessions *all = sessions;
	struct http_session *s;

	(void)fd, (void)what;
	for (int n = 0;
	     n < KEPT_AT_ONCE && (s = TAILQ_FIRST(&all->changed)) != NULL; n++)
		http_session_store(s, STORE_DEFERRED, NULL, NULL);
	write_soon(all);
}

void http_session_store_changed(void *session)
{
	struct http_session *s = session;

	if (!s->has_row || s->changed)
		return;
	s->changed = true;
	TAILQ_INSERT_TAIL(&s->all->changed, s, changes);
	write_soon(s->all);
}

void http_session_store_leave(struct http_session *s)
{
	no_change(s);
	if (s->has_row)
		TAILQ_REMOVE(&s->all->rows, s, row);
	s->has_row = false;
}

bool http_session_store_delete(struct http_session *s, store_done done,
			       void *arg)
{
	char key[HTTP_SESSION_KEY_SIZE];

	if (!s->has_row)
		return false;
	http_session_store_key(key, s->id);
	http_session_store_leave(s);
	return http_session_delete(s->all, s->session.requestor, key, done,
				   arg);
}

/* Is S's row older than S's last use? */
static bool is_behind(const struct http_session *s)
{
	return s->used_ms >= s->row_ms || !http_session_is_idle(s);
}

void http_session_store_tick(struct http_sessions *all)
{
	int64_t since = clock_mono_ms() - old_ms(all);
	struct http_session *s;

	for (int n = 0;
	     n < KEPT_AT_ONCE && (s = TAILQ_FIRST(&all->rows)) != NULL &&
	     s->row_ms <= since;
	     n++) {
		if (is_behind(s))
			http_session_store(s, STORE_DEFERRED, NULL, NULL);
		else
			stamp(s); /* check the row again later */
	}
}

void http_session_store_all(struct http_sessions *all)
{
	struct http_session *s;

	TAILQ_FOREACH(s, &all->by_use, link)
		if (s->changed || (s->has_row && is_behind(s)))
			http_session_store(s, STORE_DEFERRED, NULL, NULL);
}

/* ---- back ---- */

bool http_session_store_is_of(const struct store_session *row,
			      const struct requestor *q)
{
	char credential[HTTP_SESSION_KEY_SIZE];

	credential_of(credential, q);
	return strcmp(row->requestor, q->name) == 0 &&
	       strcmp(row->credential, credential) == 0 &&
	       mcp_revision_of(row->revision) >= 0 &&
	       mcp_revision_of(row->revision) <= MCP_LATEST_SESSION;
}

/*
 * Restore S. The client is told to read its lists again: the lists the client
 * knows, and the templates of the earlier server, are unknown here.
 */
void http_session_store_restore(struct http_session *s,
				const struct store_session *row)
{
	struct json_object *client = NULL, *uris = NULL;

	s->session.terms.revision =
	    (enum mcp_revision)mcp_revision_of(row->revision);
	s->session.greeted = s->session.initialized = s->told_id = true;
	s->session.stale = true;
	s->session.terms.log_level = row->log_level;
	json_parse(&client, row->client, strlen(row->client), NULL);
	session_set_capabilities(&s->session, mcp_known_capabilities(client));
	json_object_put(client);
	json_parse(&uris, row->uris, strlen(row->uris), NULL);
	s->all->ctx->methods->resubscribe(&s->session, uris);
	json_object_put(uris);
	stamp(s);
	s->recorded = true;
	s->looked_ms = clock_mono_ms();
	http_session_store_changed(s); /* the row expires later now */
	log_info("http", "session=%.8s requestor=%s begun=again", s->id,
		 s->session.requestor->name);
}
