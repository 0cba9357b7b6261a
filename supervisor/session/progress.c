/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - notifications about a run: progress for a client which gave a
 * token, at most one in EVERY_MS, and log lines. request.c and task_notify.c
 * feed it. Nothing is sent to a client which does not read, and no log line
 * behind which answers would wait; the last progress is sent at the end.
 */
#include "supervisor/session/progress.h"

#include "base/clock.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/record/task_json.h"

#define EVERY_MS 20

static void notify_progress(struct progress *p, struct run *r)
{
	bool told = r->progress.told;
	uint64_t done = told ? r->progress.done : run_steps_done(&r->steps);
	uint64_t total = told ? r->progress.total : r->steps.n;
	bool messages = mcp_has(p->terms->revision, MCP_PROGRESS_MESSAGE);
	struct json_object *params;

	if (session_is_backlogged(p->session) ||
	    (p->told && done <= p->told_done))
		return; /* progress must increase, and the client must read */
	params = mcp_progress(p->token, done, total,
			      messages ? r->progress.message : NULL);
	if (p->task_id != NULL)
		json_add(params, "_meta:o", task_json_related(p->task_id));
	session_tell(p->session, p->stream, "notifications/progress", params);
	json_object_put(params);
	p->told = true;
	p->told_done = done;
	p->told_ms = clock_mono_ms();
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
	struct progress *p = arg;

	(void)fd, (void)what;
	notify_progress(p, p->run);
}

/* Send progress, at most every EVERY_MS; the latest is sent after the wait. */
void progress_news(struct progress *p, struct run *r)
{
	int64_t wait = p->told_ms + EVERY_MS - clock_mono_ms();

	if (p->token == NULL)
		return;
	p->run = r;
	if (!p->told || wait <= 0) {
		notify_progress(p, r);
		return;
	}
	if (p->later == NULL)
		p->later = evtimer_new(p->session->ctx->base, on_later, p);
	if (!evtimer_pending(p->later, NULL))
		evtimer_add(p->later, CLOCK_TIMEVAL(wait));
}

void progress_stop(struct progress *p, bool now)
{
	if (p->later == NULL || !evtimer_pending(p->later, NULL))
		return;
	evtimer_del(p->later);
	if (now)
		notify_progress(p, p->run);
}

void progress_fini(struct progress *p)
{
	if (p->later != NULL)
		event_free(p->later);
	p->later = NULL;
}

void progress_log(struct progress *p, const struct run *r,
		  const struct run_notice *said)
{
	const char *task_id = p->task_id;
	struct json_object *o;

	if ((int)said->level > p->terms->log_level || session_lags(p->session))
		return;
	o = json_pack("level:s logger:s data:S _meta?o",
		      mcp_level_name(said->level), r->template->id, said->text,
		      said->len,
		      task_id != NULL ? task_json_related(task_id) : NULL);
	session_tell(p->session, p->stream, "notifications/message", o);
	json_object_put(o);
}
