/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session.c - begins, finds and ends sessions over HTTP, for the other
 * files of the folder. When no room can be made for a session, the client is
 * told to come later.
 */
#include "supervisor/clients/streamable_http/http_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/clients/streamable_http/http_session_store.h"
#include "supervisor/clients/streamable_http/http_stream.h"

struct http_session *http_session_find(struct http_sessions *all,
				       const struct requestor *requestor,
				       const char *id)
{
	struct http_session *s;

	HASH_FIND_STR(all->by_id, id, s);
	if (s == NULL || s->session.requestor != requestor)
		return NULL;
	http_session_used(s);
	return s;
}

void http_session_used(struct http_session *s)
{
	s->used_ms = clock_mono_ms();
	TAILQ_REMOVE(&s->all->by_use, s, link);
	TAILQ_INSERT_TAIL(&s->all->by_use, s, link);
}

bool http_session_is_idle(const struct http_session *s)
{
	return s->conversation.n_read == 0 && s->n_open == 0 &&
	       s->session.n_requests == 0 &&
	       s->session.client_requests == NULL &&
	       s->session.n_client_tasks == 0;
}

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses uthash's tables in session_new() */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* End the longest idle session of REQUESTOR. False: no session is idle. */
static bool end_oldest(struct http_sessions *all,
		       const struct requestor *requestor)
{
	struct http_session *s;

	TAILQ_FOREACH(s, &all->by_use, link)
		if (http_session_is_idle(s) &&
		    s->session.requestor == requestor)
			break;
	if (s != NULL)
		http_session_end(s, "room for another");
	return s != NULL;
}

/*
 * Return the requestor with the most sessions among those with an idle session,
 * or NULL.
 */
static const struct requestor *richest(const struct http_sessions *all)
{
	const struct requestor *most = NULL;
	const struct http_session *s;

	TAILQ_FOREACH(s, &all->by_use, link) {
		const struct requestor *q = s->session.requestor;

		if ((most == NULL || q->http_sessions > most->http_sessions) &&
		    http_session_is_idle(s))
			most = q;
	}
	return most;
}

/*
 * Is there room for a further session of Q? An idle session of Q, or of the
 * requestor with the most sessions, is ended if need be.
 */
static bool has_session_room(struct http_sessions *all,
			     const struct requestor *q)
{
	/* a share of what other requestors leave */
	int64_t most = admission_share(HTTP_SESSIONS_MAX,
				       (int64_t)(all->n - q->http_sessions));

	if (most > HTTP_SESSIONS_EACH)
		most = HTTP_SESSIONS_EACH;
	if (memory_room(&q->memory) < SESSION_COST)
		return end_oldest(all, q);
	if (q->http_sessions > 0 && (int64_t)q->http_sessions >= most)
		return end_oldest(all, q);
	return all->n < HTTP_SESSIONS_MAX || end_oldest(all, richest(all));
}

/* Make a session with the id ID. */
static struct http_session *session_new(struct http_sessions *all,
					struct requestor *requestor,
					const char *id)
{
	struct http_session *s;

	if (!has_session_room(all, requestor))
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->all = all;
	memcpy(s->id, id, sizeof(s->id));
	TAILQ_INIT(&s->open);
	TAILQ_INIT(&s->push);
	TAILQ_INIT(&s->replayable);
	session_init(&s->session, all->ctx, requestor, all->ops, s);
	http_conversation_init(&s->conversation, &all->exchanges, &s->session);
	s->session.via = TRUST_REMOTE;
	if (all->ctx->cluster != NULL)
		snprintf(s->instance, sizeof(s->instance), "%s",
			 all->ctx->instance);
	s->tokens = requestor->tokens;
	HASH_ADD_STR(all->by_id, id, s);
	TAILQ_INSERT_TAIL(&all->by_use, s, link);
	s->used_ms = clock_mono_ms();
	all->n++;
	requestor->http_sessions++;
	return s;
}

struct http_session *http_session_new(struct http_sessions *all,
				      struct requestor *requestor)
{
	unsigned char random[(HTTP_SESSION_ID_SIZE - 1) / 2];
	char id[HTTP_SESSION_ID_SIZE];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort();
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(id + 2 * i, 3, "%02x", random[i]);
	return session_new(all, requestor, id);
}

/*
 * Streams are numbered from the wall clock's microseconds on. No earlier server
 * has reached such a number, which would take a million streams a second, so a
 * number up to LOST names a stream of an earlier server.
 */
struct http_session *http_session_again(struct http_sessions *all,
					struct requestor *requestor,
					const char *id)
{
	struct http_session *s = session_new(all, requestor, id);

	if (s != NULL)
		s->lost = s->last_stream = (uint64_t)clock_wall_ms() * 1000;
	return s;
}

void http_session_end(struct http_session *s, const char *errmsg)
{
	struct http_sessions *all = s->all;

	if (s->told_id)
		log_info("http",
			 "session=%.8s requestor=%s ended=yes "
			 "why=\"%s\"",
			 s->id, s->session.requestor->name, errmsg);
	if (all->closing)
		http_session_store_leave(s);
	else
		http_session_store_delete(s, NULL, NULL);
	session_fini(&s->session);
	http_streams_end(s);
	HASH_DELETE(hh, all->by_id, s);
	TAILQ_REMOVE(&all->by_use, s, link);
	all->n--;
	s->session.requestor->http_sessions--;
	free(s);
}

void http_sessions_recheck(struct http_sessions *all)
{
	bool anybody = requestors_anonymous(all->ctx->requestors) != NULL;
	struct http_session *s, *after;
	struct requestor *gone, *next;

	for (s = TAILQ_FIRST(&all->by_use); s != NULL; s = after) {
		const struct requestor *q = s->session.requestor;

		after = TAILQ_NEXT(s, link);
		if (requestor_is_anonymous(q) ? !anybody
					      : s->tokens != q->tokens)
			http_session_end(s, "its token is good no more");
	}
	http_calls_recheck(&all->calls, anybody);
	/*
	 * drop the stored sessions of requestors who are gone; no client has come back
	 * for these sessions since the start
	 */
	if (all->ctx->store == NULL)
		return;
	HASH_ITER(hh, all->ctx->requestors->by_name, gone, next)
		if (requestor_is_anonymous(gone) ? !anybody
						 : requestor_gone(gone))
			store_drop_sessions(all->ctx->store, gone->name);
}

void http_sessions_sweep(struct http_sessions *all, int64_t idle_ms)
{
	int64_t since = clock_mono_ms() - idle_ms;
	struct http_session *s, *after;

	for (s = TAILQ_FIRST(&all->by_use); s != NULL && s->used_ms < since;
	     s = after) {
		after = TAILQ_NEXT(s, link);
		if (http_session_is_idle(s))
			http_session_end(s, "idle");
	}
}

void http_sessions_refuse_unknown(struct http_conn *c)
{
	http_conn_refuse(c, 404,
			 "there is no such session, or it has ended; "
			 "initialize another");
}

void http_sessions_refuse_full(const struct http_sessions *all,
			       const struct requestor *requestor,
			       struct http_conn *c)
{
	log_warn("http", "session=refused requestor=%s sessions=%zu",
		 requestor->name, all->n);
	http_conn_retry_after(c, HTTP_RETRY_SOON_MS);
	http_conn_refuse(c, 503,
			 "all sessions that this server has room for "
			 "are at work; end one, or try again later");
}
