/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_waitq.c - a list of connections with requests that wait. http_routes.c
 * keeps a list of requests that come before the server is ready. A connection
 * leaves the list when the client hangs up.
 */
#include "supervisor/clients/http/http_waitq.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/requestor/admission.h"

struct http_waitq_entry {
	struct http_waitq *owner;
	struct http_conn *conn; /* borrowed, until the connection is gone */
	int64_t since_ms;
	TAILQ_ENTRY(http_waitq_entry) link;
};

void http_waitq_init(struct http_waitq *w)
{
	TAILQ_INIT(&w->all);
	w->n = 0;
}

static void leave_queue(struct http_waitq_entry *one)
{
	TAILQ_REMOVE(&one->owner->all, one, link);
	one->owner->n--;
	free(one);
}

static void on_gone(void *watcher)
{
	leave_queue(watcher);
}

static const struct http_watch watch = {.gone = on_gone};

bool http_waitq_add(struct http_waitq *w, struct http_conn *c)
{
	const void *user = http_conn_user(c);
	struct http_waitq_entry *one;
	size_t own = 0;

	TAILQ_FOREACH(one, &w->all, link)
		own += http_conn_user(one->conn) == user;
	/* the entries of a requestor leave room for other requestors */
	if ((int64_t)own >=
	    admission_share(HTTP_WAITQ_MAX, (int64_t)(w->n - own)))
		return false;
	one = xcalloc(1, sizeof(*one));
	*one = (struct http_waitq_entry){
	    .owner = w, .conn = c, .since_ms = clock_mono_ms()};
	TAILQ_INSERT_TAIL(&w->all, one, link);
	w->n++;
	http_conn_watch(c, &watch, one);
	return true;
}

/* Remove the first entry and return the connection. */
static struct http_conn *take_first(struct http_waitq *w)
{
	struct http_waitq_entry *one = TAILQ_FIRST(&w->all);
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): entries are unlinked */
	struct http_conn *c = one->conn;

	http_conn_watch(c, NULL, NULL);
	leave_queue(one);
	return c;
}

void http_waitq_resume(struct http_waitq *w)
{
	while (!TAILQ_EMPTY(&w->all))
		http_conn_again(take_first(w));
}

void http_waitq_refuse_one(struct http_conn *c, const char *errmsg)
{
	http_conn_retry_after(c, HTTP_RETRY_SOON_MS);
	http_conn_refuse(c, 503, "%s", errmsg);
}

void http_waitq_expire(struct http_waitq *w, int64_t ms, const char *errmsg)
{
	int64_t before_ms = clock_mono_ms() - ms;

	while (!TAILQ_EMPTY(&w->all) &&
	       TAILQ_FIRST(&w->all)->since_ms <= before_ms)
		http_waitq_refuse_one(take_first(w), errmsg);
}
