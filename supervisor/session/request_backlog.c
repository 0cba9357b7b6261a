/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_backlog.c - answers that wait until the client has read earlier answers, or
 * until the next turn of the loop, and then read the row of the run, once for all
 * requests of a requestor about one run. request.c and the tools call the functions.
 * A row that cannot be read is answered with an error of the tool.
 */
#include "supervisor/session/request_backlog.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "supervisor/requestor/admission.h"

/* answers of a requestor made in a turn of the loop, about ends of runs */
#define ANSWERS_AT_ONCE 32
/* Answers of the backlog need more room: earlier answers may be unsent. */
#define BACKLOG_READS_MAX (SESSION_READS_MAX / 2)

void request_backlog_leave(struct request *req)
{
	if (!req->backlogged)
		return;
	req->backlogged = false;
	TAILQ_REMOVE(&req->session->backlog, req, backlog);
	/* the next request waited for REQ */
	if (!TAILQ_EMPTY(&req->session->backlog)) {
		session_wait_to_read(req->session);
		sessions_read_on(req->session->ctx);
	}
}

static bool is_full(const struct session *s, size_t reads_max)
{
	/* a first answer is always made, and frees its request */
	return session_over_read_limit(s) || s->n_reads >= reads_max ||
	       (s->n_reads > 0 && memory_is_over(&s->requestor->memory));
}

/* Let the first request of S's backlog try again. */
static void wake_backlog(struct session *s)
{
	struct request *req = TAILQ_FIRST(&s->backlog);

	if (req != NULL && is_full(s, BACKLOG_READS_MAX))
		session_wait_to_read(s);
	else if (req != NULL)
		evtimer_add(req->timer, CLOCK_TIMEVAL(0));
}

/*
 * Were ANSWERS_AT_ONCE answers of Q made since the loop looked at its
 * descriptors? If not, one more is counted.
 */
static bool had_turn(struct requestor *q, struct event_base *base)
{
	struct timeval now;

	event_base_gettimeofday_cached(base, &now);
	if (timercmp(&now, &q->looked, !=)) {
		q->looked = now;
		q->n_answers = 0;
	}
	if (q->n_answers >= ANSWERS_AT_ONCE)
		return true;
	q->n_answers++;
	return false;
}

/* Is the row of the run of REQ being read? Then REQ is answered from the same row. */
static bool is_being_read(const struct request *req)
{
	const struct request *other;

	if (req->deferred_id[0] == '\0')
		return false;
	LIST_FOREACH(other, &req->ctx->sessions->reading, reading)
		if (other->requestor == req->requestor &&
		    strcmp(other->deferred_id, req->deferred_id) == 0)
			return true;
	return false;
}

/* May REQ be answered now? CROWD: not, since other requests were, in this turn. */
static bool may_answer(struct request *req, bool *crowd)
{
	const struct session *s = req->session;

	if (is_being_read(req))
		return false;
	if (req->backlogged
		? is_full(s, BACKLOG_READS_MAX)
		: is_full(s, SESSION_READS_MAX) || !TAILQ_EMPTY(&s->backlog))
		return false;
	*crowd = had_turn(req->requestor, req->ctx->base);
	return !*crowd;
}

bool request_backlog_holds(struct request *req, event_callback_fn again)
{
	struct session *s = req->session;
	bool crowd = false, now = may_answer(req, &crowd);

	if (!req->backlogged) {
		if (now)
			return false;
		req->backlogged = true;
		TAILQ_INSERT_TAIL(&s->backlog, req, backlog);
		request_set_timer(req, 0,
				  again); /* wake_backlog() starts the timer */
		request_stop_timer(req);
	} else if (now) {
		request_backlog_leave(req);
		return false;
	}
	s->wake = wake_backlog;
	session_wait_to_read(s);
	if (crowd)
		sessions_read_on(req->ctx);
	return true;
}

static void look_again(evutil_socket_t fd, short what, void *arg);

/* Return a request of Q that waits to be answered about the run ID, or NULL. */
static struct request *next_alike(const struct context *ctx,
				  const struct requestor *q, const char *id)
{
	struct session *s;

	TAILQ_FOREACH(s, &ctx->sessions->waiting, wait) {
		struct request *req = TAILQ_FIRST(&s->backlog);

		if (s->requestor == q && req != NULL &&
		    strcmp(req->deferred_id, id) == 0)
			return req;
	}
	return NULL;
}

static void on_deferred(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	const struct context *ctx = req->ctx;
	const struct requestor *q = req->requestor;
	const struct store_run *row = &res->runs[0];
	struct tool_error tool_error = {0};

	LIST_REMOVE(req, reading);
	if (!request_unref(req))
		return;
	if (res->rc == 0) {
		req->ops->run_stored(req, row);
		/* as many requests of Q about the run as a turn takes; the rest
		   reads the row again */
		while ((req = next_alike(ctx, q, row->id)) != NULL &&
		       !request_backlog_holds(req, look_again))
			req->ops->run_stored(req, row);
		return;
	}
	tool_error_set(&tool_error, "STORE_UNAVAILABLE",
		       admission_store_details(),
		       "the run ended, but its outcome cannot be read now: %s",
		       store_says(res->rc));
	request_tool_error(req, &tool_error);
}

static void look_again(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;

	(void)fd, (void)what;
	if (request_backlog_holds(req, look_again))
		return;
	request_ref_large(req);
	LIST_INSERT_HEAD(&req->ctx->sessions->reading, req, reading);
	store_get_run(req->session->ctx->store, req->session->requestor->name,
		      req->deferred_id, on_deferred, req);
}

bool request_backlog_defer(struct request *req, const struct run *r)
{
	if (!request_backlog_holds(req, look_again))
		return false;
	memcpy(req->deferred_id, r->id, sizeof(req->deferred_id));
	return true;
}

void request_backlog_present(struct request *req, const char *run_id)
{
	snprintf(req->deferred_id, sizeof(req->deferred_id), "%s", run_id);
	look_again(-1, 0, req);
}
