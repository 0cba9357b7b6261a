/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - a client, as seen by its transport and by observers: requests,
 * tasks, subscriptions. Transports begin and end sessions; dispatch.c takes the
 * messages. A message which cannot be sent now is sent later, or never.
 */
#include "supervisor/session/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

void sessions_init(struct sessions *all)
{
	*all = (struct sessions){0};
	LIST_INIT(&all->all);
	LIST_INIT(&all->subscribers);
	LIST_INIT(&all->observers);
	TAILQ_INIT(&all->to_tell);
	TAILQ_INIT(&all->waiting);
	LIST_INIT(&all->reading);
}

void sessions_fini(struct sessions *all)
{
	fair_queue_cancel(&all->telling);
	if (all->read_on != NULL)
		event_free(all->read_on);
}

static void on_lists_changed(struct server_observer *o);

static const struct server_observer_ops server_ops = {.on_lists_changed =
							  on_lists_changed};

void session_init(struct session *s, struct context *ctx,
		  struct requestor *requestor, const struct session_ops *ops,
		  void *arg)
{
	*s = (struct session){.ctx = ctx,
			      .requestor = requestor,
			      .ops = ops,
			      .arg = arg,
			      .via = TRUST_LOCAL,
			      .terms = {.revision = MCP_LATEST_SESSION,
					.log_level = MCP_LEVEL_INFO}};
	TAILQ_INIT(&s->backlog);
	LIST_INIT(&s->observers);
	LIST_INSERT_HEAD(&ctx->sessions->all, s, link);
	memory_add(&requestor->memory, SESSION_COST);
	sessions_observe(ctx->sessions, &s->server, &server_ops);
}

/* ---- sessions which wait to read more ---- */

static void wait_no_more(struct session *s)
{
	if (s->waits)
		TAILQ_REMOVE(&s->ctx->sessions->waiting, s, wait);
	s->waits = false;
}

void session_wait_to_read(struct session *s)
{
	if (s->waits)
		return;
	s->waits = true;
	TAILQ_INSERT_TAIL(&s->ctx->sessions->waiting, s, wait);
}

/*
 * Wake each session which waits now, once. A session still over its limit waits
 * again.
 */
static void on_read_on(evutil_socket_t fd, short what, void *arg)
{
	struct sessions *all = arg;
	struct session *s, *last = TAILQ_LAST(&all->waiting, waiting_sessions);

	(void)fd, (void)what;
	do {
		s = TAILQ_FIRST(&all->waiting);
		if (s == NULL)
			return;
		wait_no_more(s);
		if (s->wake != NULL)
			s->wake(s);
		if (s->ops->read_done != NULL)
			s->ops->read_done(s->arg);
	} while (s != last);
}

void sessions_read_on(struct context *ctx)
{
	struct sessions *all = ctx->sessions;

	if (TAILQ_EMPTY(&all->waiting))
		return;
	if (all->read_on == NULL)
		all->read_on = evtimer_new(ctx->base, on_read_on, all);
	if (!evtimer_pending(all->read_on, NULL))
		evtimer_add(all->read_on, CLOCK_TIMEVAL(0));
}

bool sessions_owe_answers(const struct sessions *all)
{
	const struct session *s;

	LIST_FOREACH(s, &all->all, link)
		if (!TAILQ_EMPTY(&s->backlog) && !session_is_backlogged(s))
			return true;
	return false;
}

/* ---- observers of a session ---- */

void session_observe(struct session *s, struct session_observer *o,
		     const struct session_observer_ops *ops)
{
	o->ops = ops;
	LIST_INSERT_HEAD(&s->observers, o, link);
}

/*
 * A place in the list of observers. An observer being told may remove itself
 * and others, so session_unobserve() moves NEXT on.
 */
struct session_walk {
	struct session_observer *next;
	struct session_walk *outer;
};

void session_unobserve(struct session *s, struct session_observer *o)
{
	for (struct session_walk *w = s->walk; w != NULL; w = w->outer)
		if (w->next == o)
			w->next = LIST_NEXT(o, link);
	LIST_REMOVE(o, link);
}

static void begin_walk(struct session *s, struct session_walk *w)
{
	*w = (struct session_walk){LIST_FIRST(&s->observers), s->walk};
	s->walk = w;
}

/* Return the next observer to tell; NULL: the walk is over. */
static struct session_observer *walk_on(struct session *s,
					struct session_walk *w)
{
	struct session_observer *o = w->next;

	if (o == NULL)
		s->walk = w->outer;
	else
		w->next = LIST_NEXT(o, link);
	return o;
}

void session_fini(struct session *s)
{
	struct session_observer *o;

	s->over = true;
	while ((o = LIST_FIRST(&s->observers)) != NULL)
		o->ops->on_gone(o);
	sessions_unobserve(s->ctx->sessions, &s->server);
	wait_no_more(s);
	LIST_REMOVE(s, link);
	session_set_capabilities(s, NULL);
	memory_give(&s->requestor->memory, SESSION_COST);
}

void session_set_capabilities(struct session *s, struct json_object *taken)
{
	json_object_put(s->terms.capabilities);
	s->terms.capabilities = taken;
}

void session_tell(struct session *s, void *stream, const char *method,
		  struct json_object *params)
{
	struct buf out = {0};

	rpc_put_notification(&out, method, params);
	s->ops->send(s->arg, stream, buf_data(&out), buf_len(&out));
	buf_fini(&out);
}

/* ---- observers of the server ---- */

void sessions_observe(struct sessions *all, struct server_observer *o,
		      const struct server_observer_ops *ops)
{
	o->ops = ops;
	o->to_tell = false;
	LIST_INSERT_HEAD(&all->observers, o, link);
}

static void leave_untold(struct sessions *all, struct server_observer *o)
{
	if (o->to_tell)
		TAILQ_REMOVE(&all->to_tell, o, tell);
	o->to_tell = false;
}

void sessions_unobserve(struct sessions *all, struct server_observer *o)
{
	leave_untold(all, o);
	if (all->next == o)
		all->next = LIST_NEXT(o, link);
	LIST_REMOVE(o, link);
}

/* Tell the observers; an observer being told may remove itself and others. */
void sessions_end(struct sessions *all)
{
	struct server_observer *o;

	all->next = LIST_FIRST(&all->observers);
	while ((o = all->next) != NULL) {
		all->next = LIST_NEXT(o, link);
		if (o->ops->on_end != NULL)
			o->ops->on_end(o);
	}
}

static const struct {
	unsigned list;
	const char *method;
} lists[] = {
    {SESSION_LIST_TOOLS, "notifications/tools/list_changed"},
    {SESSION_LIST_RESOURCES, "notifications/resources/list_changed"},
    {SESSION_LIST_PROMPTS, "notifications/prompts/list_changed"},
};

void session_tell_lists(struct session *s, void *stream, unsigned which,
			struct json_object *params)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if ((which & lists[i].list) != 0)
			session_tell(s, stream, lists[i].method, params);
}

static void tell_lists(struct session *s)
{
	s->stale = !session_has_push_stream(s);
	if (!s->stale)
		session_tell_lists(s, NULL, SESSION_LISTS, NULL);
}

static void on_lists_changed(struct server_observer *o)
{
	struct session *s = CONTAINER(o, struct session, server);

	if (s->greeted)
		tell_lists(s);
}

#define TOLD_IN_A_TURN 32

static void tell_some(void *arg)
{
	struct context *ctx = arg;
	struct sessions *all = ctx->sessions;
	struct server_observer *o;

	for (int i = 0;
	     i < TOLD_IN_A_TURN && (o = TAILQ_FIRST(&all->to_tell)) != NULL;
	     i++) {
		leave_untold(all, o);
		o->ops->on_lists_changed(o);
	}
	if (!TAILQ_EMPTY(&all->to_tell))
		fair_queue_requeue(ctx->turns, ctx->chores, &all->telling);
}

void session_lists_changed(struct context *ctx)
{
	struct sessions *all = ctx->sessions;
	struct server_observer *o;

	LIST_FOREACH(o, &all->observers, link) {
		if (o->ops->on_lists_changed == NULL || o->to_tell)
			continue;
		o->to_tell = true;
		TAILQ_INSERT_TAIL(&all->to_tell, o, tell);
	}
	all->telling.take = tell_some;
	all->telling.arg = ctx;
	if (all->telling.lane == NULL && !TAILQ_EMPTY(&all->to_tell))
		fair_queue_submit(ctx->turns, ctx->chores, &all->telling);
}

void session_changed(struct session *s)
{
	if (s->ops->changed != NULL && !s->over)
		s->ops->changed(s->arg);
}

void session_push_opened(struct session *s)
{
	struct session_observer *o;
	struct session_walk w;

	if (s->stale)
		tell_lists(s);
	begin_walk(s, &w);
	while ((o = walk_on(s, &w)) != NULL)
		if (o->ops->on_push_open != NULL)
			o->ops->on_push_open(o);
}

bool session_has_reader(const struct session *s, void *stream)
{
	if (stream == NULL)
		return session_has_push_stream(s);
	return s->ops->has_reader == NULL || s->ops->has_reader(s->arg, stream);
}

void session_reader_lost(struct session *s, void *stream)
{
	struct session_observer *o;
	struct session_walk w;

	begin_walk(s, &w);
	while ((o = walk_on(s, &w)) != NULL)
		if (o->ops->on_reader_lost != NULL)
			o->ops->on_reader_lost(o, stream);
}

bool session_has_push_stream(const struct session *s)
{
	return s->ops->has_push_stream == NULL ||
	       s->ops->has_push_stream(s->arg);
}

bool session_is_backlogged(const struct session *s)
{
	return s->ops->backlogged != NULL && s->ops->backlogged(s->arg);
}

bool session_lags(const struct session *s)
{
	return s->ops->lags != NULL ? s->ops->lags(s->arg)
				    : session_is_backlogged(s);
}

bool session_over_read_limit(const struct session *s)
{
	return s->n_reads >= SESSION_READS_MAX ||
	       s->requestor->n_reads >= REQUESTOR_READS_MAX ||
	       session_is_backlogged(s);
}

void session_detach(struct session *s, void *stream)
{
	if (s->ops->detach != NULL)
		s->ops->detach(s->arg, stream);
}

void session_refuse(struct session *s, void *stream, int code,
		    const char *errmsg)
{
	struct buf out = {0};

	rpc_put_error(&out, NULL, code, errmsg, NULL);
	s->ops->answer(s->arg, stream, buf_data(&out), buf_len(&out),
		       (struct reply_hint){.status = 400});
	buf_fini(&out);
}

enum template_trust session_trust(const struct session *s)
{
	return s->caller != NULL ? s->caller->trust
				 : requestor_trust(s->requestor, s->via);
}
