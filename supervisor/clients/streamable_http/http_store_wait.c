/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_store_wait.c - requests which wait for the store, for http_mcp.c and
 * http_session_ops.c. When a client hangs up, its wait ends and the store's
 * result is dropped. A store which fails or is slow is reported to clients of a
 * session not in memory, and to no other client.
 */
#include "supervisor/clients/streamable_http/http_store_wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/clients/streamable_http/http_session_store.h"
#include "supervisor/clients/streamable_http/http_session.h"
#include "supervisor/clients/streamable_http/http_stream.h"
#include "supervisor/clients/http/http_waitq.h"

#define LATE "this server cannot read its sessions just now; try again"
#define ENDS "the server is about to end"

struct http_store_wait {
	struct http_sessions *all; /* valid while CONN is set */
	struct http_conn *conn;	   /* borrowed; NULL: the wait has ended */
	const struct store_wait_kind *kind;
	struct requestor *requestor;
	int64_t since_ms;
	char id[HTTP_SESSION_ID_SIZE];
	struct sse_id event; /* the event to resume after */
	char *body;	     /* of an answer, or NULL */
	size_t len;
	TAILQ_ENTRY(http_store_wait) link; /* in all.store_waits, with CONN */
};

/*
 * A kind of wait: LATE is called after LATE_MS, GONE when the client hangs up.
 */
struct store_wait_kind {
	int64_t late_ms;
	void (*late)(struct http_store_wait *r, struct http_conn *conn);
	void (*gone)(struct http_store_wait *r);
};

/* ---- waits ---- */

/*
 * End the wait R. Returns the connection, which is the caller's again, or NULL.
 */
static struct http_conn *leave_wait(struct http_store_wait *r)
{
	struct http_conn *conn = r->conn;

	if (conn == NULL)
		return NULL;
	http_conn_watch(conn, NULL, NULL);
	TAILQ_REMOVE(&r->all->store_waits, r, link);
	r->all->n_store_waits--;
	r->requestor->http_store_waits--;
	r->conn = NULL;
	return conn;
}

static void on_gone(void *watcher)
{
	struct http_store_wait *r = watcher;

	leave_wait(r);
	if (r->kind->gone != NULL)
		r->kind->gone(r);
}

static const struct http_watch watch = {.gone = on_gone};

static struct http_store_wait *enter_wait(struct http_sessions *all,
					  struct requestor *q,
					  struct http_conn *c, const char *id,
					  const struct store_wait_kind *kind)
{
	struct http_store_wait *r = xcalloc(1, sizeof(*r));

	r->all = all;
	r->conn = c;
	r->kind = kind;
	r->requestor = q;
	r->since_ms = clock_mono_ms();
	memcpy(r->id, id, sizeof(r->id));
	TAILQ_INSERT_TAIL(&all->store_waits, r, link);
	all->n_store_waits++;
	q->http_store_waits++;
	http_conn_watch(c, &watch, r);
	return r;
}

/* Free R after the store's result, which comes once. */
static void free_wait(struct http_store_wait *r)
{
	free(r->body);
	free(r);
}

static void refuse_late(struct http_store_wait *r, struct http_conn *conn)
{
	(void)r;
	http_waitq_refuse_one(conn, LATE);
}

static const struct store_wait_kind lookup = {.late_ms = HTTP_STORE_WAIT_MS,
					      .late = refuse_late};

/* ---- a session in memory, perhaps ended by another server ---- */

#define LOOK_MS 1000 /* between two reads of a session's row */
#define LOOK_LATE_MS 1000

/* Have C's request of session S served. */
static void serve_waiting(struct http_session *s, struct http_conn *c)
{
	s->looked_ms = clock_mono_ms();
	http_conn_again(c);
}

/* Serve CONN without the store: a session in memory works alone. */
static void serve_late(struct http_store_wait *r, struct http_conn *conn)
{
	struct http_session *s = http_session_find(r->all, r->requestor, r->id);

	if (s != NULL)
		serve_waiting(s, conn);
	else
		http_sessions_refuse_unknown(conn);
}

static const struct store_wait_kind relook = {.late_ms = LOOK_LATE_MS,
					      .late = serve_late};

static void on_looked(void *arg, const struct store_result *res)
{
	struct http_store_wait *r = arg;
	struct http_sessions *all = r->all;
	struct http_conn *c = leave_wait(r);
	struct http_session *s =
	    c != NULL ? http_session_find(all, r->requestor, r->id) : NULL;

	if (s != NULL && res->rc == -ENOENT && s->recorded) {
		http_session_store_leave(s); /* the row is deleted already */
		http_session_end(s, "another server ended it");
		s = NULL;
	}
	if (s != NULL) {
		s->recorded |= res->rc == 0;
		serve_waiting(s, c);
	} else if (c != NULL) {
		http_sessions_refuse_unknown(c);
	}
	free_wait(r);
}

static bool has_lookup_wait_room(const struct http_sessions *all,
				 const struct requestor *q)
{
	size_t own = q->http_store_waits;

	return (int64_t)own <
	       admission_share(HTTP_STORE_WAITS_MAX,
			       (int64_t)(all->n_store_waits - own));
}

bool http_store_wait_looks(struct http_session *s, struct http_conn *c)
{
	struct http_sessions *all = s->all;
	struct requestor *q = s->session.requestor;
	char key[HTTP_SESSION_KEY_SIZE];

	if (!s->has_row || http_session_store_get(all) == NULL ||
	    all->ctx->cluster == NULL ||
	    clock_mono_ms() - s->looked_ms < LOOK_MS ||
	    !has_lookup_wait_room(all, q))
		return false;
	http_session_store_key(key, s->id);
	store_get_session(all->ctx->store, key, clock_wall_ms(), on_looked,
			  enter_wait(all, q, c, s->id, &relook));
	return true;
}

/* ---- a stream that another instance has ---- */

static bool is_among(const struct store_result *res, const char *instance)
{
	for (size_t i = 0; i < res->n_nodes; i++)
		if (strcmp(res->nodes[i].id, instance) == 0)
			return true;
	return false;
}

/* Answer C: the instance which had the stream of R's event is gone. */
static void go_on_without(struct http_store_wait *r, struct http_conn *c)
{
	struct http_session *s = http_session_find(r->all, r->requestor, r->id);

	if (s != NULL && r->event.push)
		http_stream_listen(s, c);
	else if (s != NULL)
		http_conn_refuse(c, 404,
				 "the server that had the stream of that "
				 "Last-Event-ID is gone, and nothing of it is "
				 "kept; initialize another session, or go on "
				 "with this one, whose call is lost");
	else
		http_sessions_refuse_unknown(c);
}

static void on_nodes(void *arg, const struct store_result *res)
{
	struct http_store_wait *r = arg;
	struct http_conn *c = leave_wait(r);

	if (c != NULL && res->rc != 0) {
		http_waitq_refuse_one(c, LATE);
	} else if (c != NULL && is_among(res, r->event.instance)) {
		http_conn_retry_after(c, HTTP_RETRY_SOON_MS);
		http_conn_refuse(
		    c, 503,
		    "the stream of that Last-Event-ID is at another server "
		    "of this service: the proxy between has to bring all "
		    "requests of a session to the same one, by "
		    "Mcp-Session-Id, which its operator can see to");
	} else if (c != NULL) {
		go_on_without(r, c);
	}
	free_wait(r);
}

void http_store_wait_owner(struct http_session *s, struct http_conn *c,
			   const struct sse_id *id)
{
	struct requestor *q = s->session.requestor;
	struct http_store_wait *r;

	if (!has_lookup_wait_room(s->all, q)) {
		http_waitq_refuse_one(c, LATE);
		return;
	}
	r = enter_wait(s->all, q, c, s->id, &lookup);
	r->event = *id;
	store_nodes(s->all->ctx->store, on_nodes, r);
}

/* ---- a session not in memory ---- */

/*
 * Act on the row of R's session, or its absence: restore the session, or refuse
 * C.
 */
static void read_session_row(struct http_store_wait *r, struct http_conn *c,
			     struct http_sessions *all,
			     const struct store_result *res)
{
	struct requestor *q = r->requestor;
	char key[HTTP_SESSION_KEY_SIZE];
	bool over, theirs;

	http_session_store_key(key, r->id);
	/* the session ended while its row was read */
	over = http_session_delete_pending(all, key);
	theirs =
	    res->rc == 0 && !over && http_session_store_is_of(res->session, q);
	/* the session was restored for an earlier request */
	if (http_session_find(all, q, r->id) != NULL) {
		http_conn_again(c);
	} else if (theirs) {
		struct http_session *s = http_session_again(all, q, r->id);

		if (s != NULL) {
			http_session_store_restore(s, res->session);
			http_conn_again(c);
		} else {
			http_sessions_refuse_full(all, q, c);
		}
	} else if (over || res->rc == 0 || res->rc == -ENOENT) {
		requestor_missed(q);
		http_sessions_refuse_unknown(c);
	} else {
		log_rarely("http",
			   "session=%.8s requestor=%s read=no "
			   "err=\"%s\"",
			   r->id, q->name, res->errmsg);
		http_waitq_refuse_one(c, LATE);
	}
}

static void on_row(void *arg, const struct store_result *res)
{
	struct http_store_wait *r = arg;
	struct http_sessions *all = r->all;
	struct http_conn *c = leave_wait(r);

	if (c != NULL)
		read_session_row(r, c, all, res);
	free_wait(r);
}

bool http_store_wait_may(const struct http_sessions *all, const char *id)
{
	return all->ctx->store != NULL &&
	       strlen(id) == HTTP_SESSION_ID_SIZE - 1 &&
	       strspn(id, "0123456789abcdef") == HTTP_SESSION_ID_SIZE - 1;
}

void http_store_wait(struct http_sessions *all, struct requestor *q,
		     struct http_conn *c, const char *id)
{
	char key[HTTP_SESSION_KEY_SIZE];

	http_session_store_key(key, id);
	if (http_session_delete_pending(all, key)) {
		requestor_missed(q);
		http_sessions_refuse_unknown(c);
		return;
	}
	if (!has_lookup_wait_room(all, q)) {
		http_waitq_refuse_one(c, LATE);
		return;
	}
	store_get_session(all->ctx->store, key, clock_wall_ms(), on_row,
			  enter_wait(all, q, c, id, &lookup));
}

/* ---- answers which wait for a row ---- */

static void answer_waiting(struct http_store_wait *r, struct http_conn *conn)
{
	if (r->body != NULL)
		http_conn_reply(conn, 200, "application/json", r->body, r->len);
	else
		http_conn_reply(conn, 204, NULL, NULL, 0);
}

/* End the session of R: the client went before reading the session's id. */
static void end_unknown(struct http_store_wait *r)
{
	struct http_session *s = http_session_find(r->all, r->requestor, r->id);

	if (s != NULL)
		http_session_end(s, "its client went before it knew of it");
}

static const struct store_wait_kind promise = {.late_ms =
						   HTTP_STORE_WAIT_SAVE_MS,
					       .late = answer_waiting,
					       .gone = end_unknown};
static const struct store_wait_kind farewell = {
    .late_ms = HTTP_STORE_WAIT_SAVE_MS, .late = answer_waiting};

static void on_done(void *arg, const struct store_result *res)
{
	struct http_store_wait *r = arg;
	struct http_sessions *all = r->all;
	struct http_conn *c = leave_wait(r);
	struct http_session *s = NULL;

	if (c != NULL && r->kind == &promise && res->rc == 0)
		s = http_session_find(all, r->requestor, r->id);
	if (s != NULL) {
		s->recorded = true;
		s->looked_ms = clock_mono_ms();
	}

	if (res->rc != 0)
		log_rarely("http",
			   "session=%.8s requestor=%s kept=no "
			   "err=\"%s\"",
			   r->id, r->requestor->name, res->errmsg);
	if (c != NULL)
		answer_waiting(r, c);
	free_wait(r);
}

void http_store_wait_created(struct http_session *s, struct http_conn *c,
			     const char *text, size_t len)
{
	struct http_store_wait *r;

	if (http_session_store_get(s->all) == NULL) {
		http_session_store(s, STORE_DEFERRED, NULL,
				   NULL); /* for when the store works again */
		http_conn_reply(c, 200, "application/json", text, len);
		return;
	}
	r = enter_wait(s->all, s->session.requestor, c, s->id, &promise);
	r->body = xrealloc(NULL, len);
	memcpy(r->body, text, len);
	r->len = len;
	if (http_session_store(s, STORE_SYNC, on_done, r))
		return;
	answer_waiting(r, leave_wait(r));
	free_wait(r);
}

void http_store_wait_deleted(struct http_session *s, struct http_conn *c)
{
	struct http_store_wait *r = NULL;

	if (s->has_row && http_session_store_get(s->all) != NULL) {
		r = enter_wait(s->all, s->session.requestor, c, s->id,
			       &farewell);
		if (!http_session_store_delete(s, on_done, r)) {
			leave_wait(r);
			free_wait(r);
			r = NULL;
		}
	}
	http_session_end(s, "the client ended it");
	if (r == NULL)
		http_conn_reply(c, 204, NULL, NULL, 0);
}

/* ---- all of them ---- */

void http_store_waits_tick(struct http_sessions *all, int64_t now_ms)
{
	struct http_store_wait *r, *after;

	for (r = TAILQ_FIRST(&all->store_waits); r != NULL; r = after) {
		after = TAILQ_NEXT(r, link);
		if (r->since_ms + r->kind->late_ms <= now_ms)
			r->kind->late(r, leave_wait(r));
	}
}

void http_store_waits_fini(struct http_sessions *all)
{
	struct http_store_wait *r;

	while ((r = TAILQ_FIRST(&all->store_waits)) != NULL) {
		if (r->kind == &lookup || r->kind == &relook)
			http_waitq_refuse_one(leave_wait(r), ENDS);
		else
			answer_waiting(r, leave_wait(r));
	}
}
