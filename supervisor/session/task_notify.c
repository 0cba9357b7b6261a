/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_notify.c - notifications for the session which made a task: status,
 * progress and log lines. tool_run_task.c starts them after the
 * CreateTaskResult. Notifications without a stream are dropped or sent once a
 * stream is there; clients poll as well and do not rely on them.
 */
#include "supervisor/session/task_notify.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/session/progress.h"
#include "supervisor/run/record/task_json.h"

#define STATUS_EVERY_MS 100 /* the end is told at once */

struct task_notify {
	struct run_watch watch; /* watch of RUN */
	struct run *run;
	struct session *session;
	struct session_observer observer;
	struct progress progress; /* owns the token */
	enum task_json_status told;
	int64_t told_ms;
	struct event *later; /* sends a status held back by the rate */
};

static void feed_free(struct task_notify *f)
{
	run_watch_del(&f->watch);
	f->run->task.feed = NULL;
	session_unobserve(f->session, &f->observer);
	progress_fini(&f->progress);
	json_object_put(f->progress.token);
	event_free(f->later);
	free(f);
}

static void tell_status(struct task_notify *f)
{
	struct json_object *task;

	f->told = task_json_status(f->run);
	f->told_ms = clock_mono_ms();
	if (!session_has_push_stream(f->session) ||
	    session_is_backlogged(f->session))
		return; /* not told: clients poll as well */
	task = task_json_make(f->run);
	session_tell(f->session, NULL, "notifications/tasks/status", task);
	json_object_put(task);
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
	struct task_notify *f = arg;

	(void)fd, (void)what;
	/* an end not yet recorded is not told */
	if (!run_terminal(f->run) && task_json_status(f->run) != f->told)
		tell_status(f);
}

static void on_progress(struct task_notify *f)
{
	if (session_has_push_stream(f->session))
		progress_news(&f->progress, f->run);
}

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct task_notify *f = CONTAINER(w, struct task_notify, watch);
	enum task_json_status status = task_json_status(r);
	int64_t wait_ms = f->told_ms + STATUS_EVERY_MS - clock_mono_ms();

	if (n->kind > NOTICE_LOG && n->kind != NOTICE_RECORDED)
		return;
	if (!task_json_is_live(r) || n->unrecorded != NULL) {
		feed_free(f);
	} else if (n->kind == NOTICE_LOG) {
		if (session_has_push_stream(f->session))
			progress_log(&f->progress, r, n);
	} else if (n->kind == NOTICE_PROGRESS) {
		on_progress(f);
	} else if (task_json_is_over(status)) { /* recorded, or cancelled */
		progress_stop(&f->progress, true);
		tell_status(f);
		feed_free(f);
	} else if (status != f->told && wait_ms <= 0) {
		tell_status(f);
	} else if (status != f->told && !evtimer_pending(f->later, NULL)) {
		evtimer_add(f->later, CLOCK_TIMEVAL(wait_ms));
	}
}

static void on_gone(struct session_observer *o)
{
	feed_free(CONTAINER(o, struct task_notify, observer));
}

/*
 * The client can be reached: tell the run, whose question may be refused now,
 * which is news of the run and may end the feed.
 */
static void on_push_open(struct session_observer *o)
{
	run_tell_waiter(CONTAINER(o, struct task_notify, observer)->run,
			WAITER_CAME, NULL);
}

static void on_reader_lost(struct session_observer *o, void *stream)
{
	if (stream == NULL)
		run_tell_waiter(CONTAINER(o, struct task_notify, observer)->run,
				WAITER_UNREAD, NULL);
}

static const struct session_observer_ops observer_ops = {on_gone, on_push_open,
							 on_reader_lost};

void task_notify_start(struct session *s, struct run *r,
		       struct json_object *token)
{
	struct task_notify *f = xcalloc(1, sizeof(*f));

	f->run = r;
	f->session = s;
	f->progress = (struct progress){.session = s,
					.terms = &s->terms,
					.token = json_object_get(token),
					.task_id = r->id};
	f->told = TASK_WORKING;
	f->watch.on_notice = on_notice;
	f->later = evtimer_new(s->ctx->base, on_later, f);
	r->task.feed = f;
	session_observe(s, &f->observer, &observer_ops);
	run_watch_add(r, &f->watch);
	/* progress came before the feed */
	if (r->progress.told || r->steps.n > 0)
		on_progress(f);
	on_later(-1, 0, f);
}

struct session *task_notify_session(const struct run *r)
{
	return r->task.feed != NULL ? r->task.feed->session : NULL;
}
