/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_run.c - a call that waits for another instance's word: look at the row,
 * write to its owner, look again until the row says it or patience ends. Of
 * tool_runs.c, tasks.c and resources.c; what fails is told to the call.
 */
#include "supervisor/tools/remote_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/context.h"
#include "supervisor/exec/runs.h"

#define LOOK_FIRST_MS 10 /* then twice as long each time, up to… */
#define LOOK_LAST_MS 250
#define FOREVER INT64_MAX

static const struct want {
	enum store_mail mail;
	bool bulk;	     /* view and log are wanted, too */
	int64_t patience_ms; /* an owner looks each second, if not before */
} wants[] = {
    [REMOTE_RUN_TASK] = {STORE_MAIL_WATCH, false, 1500},
    [REMOTE_RUN_VIEW] = {STORE_MAIL_WATCH, true, 1500},
    [REMOTE_RUN_LOG] = {STORE_MAIL_LOG, true, 2500},
    [REMOTE_RUN_CANCEL] = {STORE_MAIL_CANCEL, false, 5000},
};

struct waiting { /* request.state */
	struct remote_run_query ask;
	char *id;
	bool asked, died;
	int sent_rc;	  /* of the last request to its owner */
	int64_t look_ms;  /* until the next look */
	int64_t until_ms; /* mono; 0: nobody was asked yet */
};

static void waiting_free(void *state)
{
	struct waiting *w = state;

	free(w->id);
	free(w);
}

static const struct request_ops waiting_ops = {.free = waiting_free};

/* C's state is its own again. */
static struct waiting leave(struct request *c)
{
	struct waiting *w = request_take_state(c), was = *w;

	free(w); /* but for its id, which is WAS's */
	return was;
}

static void finish(struct request *c, const struct store_result *res,
		   bool silent)
{
	struct waiting w = leave(c);
	char errmsg[256] = "the server that runs this does not answer now";

	if (w.sent_rc != 0)
		snprintf(errmsg, sizeof(errmsg),
			 "the server that runs this cannot be "
			 "asked now, since this one cannot "
			 "write to it: %s",
			 store_says(w.sent_rc));
	w.ask.done(c,
		   &(struct remote_run_reply){.res = res,
					      .asked = w.asked,
					      .silent = silent ? errmsg : NULL,
					      .died = w.died});
	free(w.id);
}

bool remote_run_owner_died(struct context *ctx, const struct store_run *row)
{
	if (row->owner != STORE_OWNER_DEAD)
		return false;
	runs_recover(ctx->runs);
	return true;
}

/* Until when ROW says what WANT wants; 0: it does not. */
static int64_t fresh_until(const struct store_run *row,
			   enum remote_run_want want)
{
	if (row->status > STORE_RUNNING ||
	    (want == REMOTE_RUN_CANCEL && row->cancelling))
		return FOREVER;
	if (want == REMOTE_RUN_CANCEL || row->owner == STORE_OWNER_DEAD)
		return 0;
	return want == REMOTE_RUN_LOG ? row->log_until_ms : row->shown_until_ms;
}

static void look(evutil_socket_t fd, short what, void *arg);

static void look_later(struct request *c)
{
	struct waiting *w = c->state;
	int64_t ms = w->look_ms;

	w->look_ms = ms * 2 < LOOK_LAST_MS ? ms * 2 : LOOK_LAST_MS;
	request_set_timer(c, ms, look);
}

static void on_sent(void *arg, const struct store_result *res)
{
	struct request *c = arg;
	struct waiting *w = c->state;

	if (!request_unref(c))
		return;
	w->sent_rc = res->rc;
	if (res->rc == 0)
		look_later(c);
	else if (w->ask.want == REMOTE_RUN_CANCEL)
		finish(c, res, true);
	else { /* what can be read is told */
		w->until_ms = 1;
		look(-1, 0, c);
	}
}

static void send_mail(struct request *c, bool wait)
{
	const struct waiting *w = c->state;
	int64_t until = w->ask.want == REMOTE_RUN_CANCEL
			    ? FOREVER /* the run's end ends it */
			    : clock_wall_ms() + REMOTE_RUN_WATCH_MS;

	if (wait)
		request_ref(c);
	store_send_mail(c->ctx->store, c->requestor->name, w->id,
			wants[w->ask.want].mail, until, wait ? on_sent : NULL,
			c);
}

/* ROW is open and does not say what is wanted. */
static void ask_owner(struct request *c, const struct store_run *row)
{
	struct waiting *w = c->state;

	if (w->until_ms == 0)
		w->until_ms = clock_mono_ms() + wants[w->ask.want].patience_ms;
	/* what waits is cancelled by who takes over, who has to know of it */
	if (w->asked || (row->owner == STORE_OWNER_DEAD &&
			 (row->status == STORE_RUNNING ||
			  w->ask.want != REMOTE_RUN_CANCEL))) {
		w->died |= remote_run_owner_died(c->ctx, row);
		look_later(c);
	} else {
		w->asked = true;
		send_mail(c, true);
	}
}

/* It waits for a server that takes it over, and nobody knows more of it. */
static bool is_left(const struct context *ctx, const struct waiting *w,
		    const struct store_run *row)
{
	return row->owner == STORE_OWNER_DEAD && row->status == STORE_QUEUED &&
	       ctx->passing && w->ask.want != REMOTE_RUN_CANCEL;
}

static bool is_patient(const struct waiting *w)
{
	return w->until_ms == 0 || clock_mono_ms() < w->until_ms;
}

static void on_look(void *arg, const struct store_result *res)
{
	struct request *c = arg;
	const struct store_run *row = res->runs;
	struct waiting *w = c->state;
	int64_t until, now = clock_wall_ms();
	struct run *r;

	if (!request_unref(c))
		return;
	r = runs_find(c->ctx->runs, c->requestor, w->id);
	if (r != NULL) {
		struct waiting was = leave(c);

		was.ask.ours(c, r);
		free(was.id);
		return;
	}
	if (res->rc != 0 || (w->ask.fits != NULL && !w->ask.fits(row))) {
		finish(c, res, false);
		return;
	}
	until = fresh_until(row, w->ask.want);
	if (until > now && until < now + REMOTE_RUN_RENEW_MS)
		send_mail(c, false);
	if (until > now || row->owner == STORE_OWNER_SELF ||
	    is_left(c->ctx, w, row))
		finish(c, res, false);
	else if (is_patient(w))
		ask_owner(c, row);
	else
		finish(c, res, true);
}

static void look(evutil_socket_t fd, short what, void *arg)
{
	struct request *c = arg;
	const struct waiting *w = c->state;
	struct store *store = c->ctx->store;

	(void)fd, (void)what;
	if (wants[w->ask.want].bulk) {
		request_ref_large(c);
		store_get_run(store, c->requestor->name, w->id, on_look, c);
	} else {
		request_ref(c);
		store_get_task(store, c->requestor->name, w->id, on_look, c);
	}
}

void remote_run_ask(struct request *c, const struct remote_run_query *ask)
{
	struct waiting *w = xcalloc(1, sizeof(*w));

	w->ask = *ask;
	w->id = xstrdup(ask->id);
	w->look_ms = LOOK_FIRST_MS;
	request_set_state(c, &waiting_ops, w);
	look(-1, 0, c);
}
