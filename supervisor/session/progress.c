/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - progress notifications for a client that gave a token, at most
 * one in a while. request.c and task_notify.c feed it. What nobody reads is not
 * sent, and the last one is told at the end.
 */
#include "supervisor/session/progress.h"

#include "base/clock.h"
#include "supervisor/run/task_json.h"
#include "proto/json/json_pack.h"

#define EVERY_MS 20

static void tell(struct progress *p, struct run *r)
{
	bool told = r->told_progress;
	uint64_t done = told ? r->done : run_steps_done(&r->steps);
	uint64_t total = told ? r->total : r->steps.n;
	bool messages = mcp_has(p->session->revision, MCP_PROGRESS_MESSAGE);
	struct json_object *params;

	if (session_is_backlogged(p->session) ||
	    (p->told && done <= p->told_done))
		return; /* it must increase, and nobody reads it now */
	params =
	    mcp_progress(p->token, done, total, messages ? r->message : NULL);
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
	tell(p, p->run);
}

/* At most one in EVERY_MS; what is held back is told last. */
void progress_news(struct progress *p, struct run *r)
{
	int64_t wait = p->told_ms + EVERY_MS - clock_mono_ms();

	if (p->token == NULL)
		return;
	p->run = r;
	if (!p->told || wait <= 0) {
		tell(p, r);
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
		tell(p, p->run);
}

void progress_fini(struct progress *p)
{
	if (p->later != NULL)
		event_free(p->later);
	p->later = NULL;
}
