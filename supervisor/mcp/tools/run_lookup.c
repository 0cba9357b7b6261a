/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_lookup.c - finds a run by its id, for the tools and methods which name a
 * run. A remote run is asked for through the store: read the row, write to the
 * owner, read again until the row has the answer or the patience ends. Failures
 * are passed to the request.
 */
#include "supervisor/mcp/tools/run_lookup.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/context.h"
#include "supervisor/run/exec/runs.h"

/* first wait between reads, then doubled up to LOOK_LAST_MS */
#define LOOK_FIRST_MS 10
#define LOOK_LAST_MS 250
#define FOREVER INT64_MAX

static const struct want {
	/* owners read each second; 0: do not ask the owner */
	int64_t patience_ms;
	enum store_mail mail;
	bool whole; /* read the row with view and log */
} wants[] = {
    [RUN_LOOKUP_ROW] = {.whole = false},
    [RUN_LOOKUP_WHOLE] = {.whole = true},
    [RUN_LOOKUP_TASK] = {1500, STORE_MAIL_WATCH, false},
    [RUN_LOOKUP_VIEW] = {1500, STORE_MAIL_WATCH, true},
    [RUN_LOOKUP_LOG] = {2500, STORE_MAIL_LOG, true},
    [RUN_LOOKUP_CANCEL] = {5000, STORE_MAIL_CANCEL, false},
};

struct waiting {		   /* request.state */
	struct run_row_lookup row; /* for reading the row; owns its id */
	struct request *request;
	struct run_query ask;
	bool asked, died;
	int sent_rc;	 /* result of the last message to the owner */
	int64_t look_ms; /* ms between the reads; 0: before the first */
	/* monotonic end of the patience; 0: the owner was not asked */
	int64_t until_ms;
};

static void waiting_free(void *state)
{
	struct waiting *w = state;

	w->row.ctx->lookups--;
	free((char *)(uintptr_t)w->row.id);
	free(w);
}

static const struct request_ops waiting_ops = {.free = waiting_free};

/* End the wait of REQ and pass F to the asker, who answers REQ. */
static void finish_lookup(struct request *req, struct run_found *f)
{
	struct waiting *w = request_take_state(req);

	f->asked = w->asked;
	f->died = w->died;
	w->ask.found(req, f);
	waiting_free(w);
}

/* The owner did not answer in time: RES has what is known. */
static void fail_lookup(struct request *req, const struct store_result *res)
{
	const struct waiting *w = req->state;
	char errmsg[256] = "the server that runs this does not answer now";

	if (w->sent_rc != 0)
		snprintf(errmsg, sizeof(errmsg),
			 "the server that runs this cannot be asked now, since "
			 "this one cannot write to it: %s",
			 store_says(w->sent_rc));
	finish_lookup(req, &(struct run_found){.res = res, .silent = errmsg});
}

bool run_lookup_owner_died(struct context *ctx, const struct store_run *row)
{
	if (row->owner != STORE_OWNER_DEAD)
		return false;
	runs_recover(ctx->runs);
	return true;
}

/* Return until when ROW is fresh enough for WANT; 0: not fresh. */
static int64_t fresh_until(const struct store_run *row,
			   enum run_lookup_want want)
{
	if (row->status > STORE_RUNNING ||
	    (want == RUN_LOOKUP_CANCEL && row->cancelling) ||
	    (want != RUN_LOOKUP_CANCEL && row->owner == STORE_OWNER_QUEUE))
		return FOREVER;
	if (want == RUN_LOOKUP_CANCEL || row->owner == STORE_OWNER_DEAD)
		return 0;
	return want == RUN_LOOKUP_LOG ? row->log_until_ms : row->shown_until_ms;
}

static void look_at_remote(evutil_socket_t fd, short what, void *arg);

static void look_later(struct request *req)
{
	struct waiting *w = req->state;

	w->look_ms = backoff_ms(w->look_ms, LOOK_FIRST_MS, LOOK_LAST_MS);
	request_set_timer(req, w->look_ms, look_at_remote);
}

static void on_sent(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct waiting *w = req->state;

	if (!request_unref(req))
		return;
	w->sent_rc = res->rc;
	if (res->rc == 0)
		look_later(req);
	else if (w->ask.want == RUN_LOOKUP_CANCEL)
		fail_lookup(req, res);
	else { /* the row is used as it is */
		w->until_ms = 1;
		look_at_remote(-1, 0, req);
	}
}

static void send_mail(struct request *req, bool wait)
{
	const struct waiting *w = req->state;
	int64_t until = w->ask.want == RUN_LOOKUP_CANCEL
			    ? FOREVER /* the mail is valid until the run ends */
			    : clock_wall_ms() + RUN_LOOKUP_WATCH_MS;

	if (wait)
		request_ref(req);
	store_send_mail(req->ctx->store, req->requestor->name, w->row.id,
			wants[w->ask.want].mail, until, wait ? on_sent : NULL,
			req);
}

/* ROW is of an open run and not fresh: ask its owner. */
static void ask_owner(struct request *req, const struct store_run *row)
{
	struct waiting *w = req->state;

	if (w->until_ms == 0)
		w->until_ms = clock_mono_ms() + wants[w->ask.want].patience_ms;
	/* whoever takes over a queued run needs the mail to cancel it */
	if (w->asked || (row->owner == STORE_OWNER_DEAD &&
			 (row->status == STORE_RUNNING ||
			  w->ask.want != RUN_LOOKUP_CANCEL))) {
		w->died |= run_lookup_owner_died(req->ctx, row);
		look_later(req);
	} else {
		w->asked = true;
		send_mail(req, true);
	}
}

/* Is the run left to a server which takes over, with nothing more to know? */
static bool is_left(const struct context *ctx, const struct waiting *w,
		    const struct store_run *row)
{
	return row->owner == STORE_OWNER_DEAD && row->status == STORE_QUEUED &&
	       ctx->passing && w->ask.want != RUN_LOOKUP_CANCEL;
}

static void on_look(struct run_row_lookup *l, struct run *r,
		    const struct store_result *res)
{
	struct waiting *w = CONTAINER(l, struct waiting, row);
	struct request *req = w->request;
	const struct store_run *row = res->runs;
	int64_t until, now = clock_wall_ms();

	if (!request_unref(req))
		return;
	if (res->rc == 0 && runs_leaving(req->ctx->runs, w->row.id)) {
		look_later(req);
		return;
	}
	if (r != NULL || res->rc != 0 || wants[w->ask.want].patience_ms == 0 ||
	    (w->ask.fits != NULL && !w->ask.fits(row))) {
		finish_lookup(req, &(struct run_found){.run = r, .res = res});
		return;
	}
	until = fresh_until(row, w->ask.want);
	if (until > now && until < now + RUN_LOOKUP_RENEW_MS)
		send_mail(req, false);
	/*
	 * owned by this server but not asked: claimed just now, and the mail is
	 * read soon
	 */
	if (until > now || (row->owner == STORE_OWNER_SELF && !w->asked) ||
	    is_left(req->ctx, w, row))
		finish_lookup(req, &(struct run_found){.res = res});
	else if (w->until_ms == 0 || clock_mono_ms() < w->until_ms)
		ask_owner(req, row);
	else
		fail_lookup(req, res);
}

static void look_at_remote(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;
	struct waiting *w = req->state;
	bool whole = wants[w->ask.want].whole;

	(void)fd, (void)what;
	(whole ? request_ref_large : request_ref)(req);
	run_lookup_row(&w->row, whole);
}

static void on_row(void *arg, const struct store_result *res)
{
	struct run_row_lookup *l = arg;

	/* the run may have been taken over by this server */
	l->found(l, runs_find(l->ctx->runs, l->requestor, l->id), res);
}

void run_lookup_row(struct run_row_lookup *l, bool whole)
{
	(whole ? store_get_run : store_get_task)(
	    l->ctx->store, l->requestor->name, l->id, on_row, l);
}

struct run *run_lookup_ours(const struct request *req, const char *id)
{
	return runs_find(req->ctx->runs, req->requestor, id);
}

void run_lookup(struct request *req, const struct run_query *q)
{
	struct run *r = run_lookup_ours(req, q->id);
	struct waiting *w;
	/*
	 * the run is in the shared queue, where another server may just claim
	 * it
	 */
	bool cancels = r != NULL && q->want == RUN_LOOKUP_CANCEL &&
		       r->remote.place == RUN_QUEUE;

	if (r != NULL && !cancels) {
		q->found(req, &(struct run_found){.run = r});
		return;
	}
	if (cancels) /* the row will show the outcome */
		runs_cancel(req->ctx->runs, r);
	w = xcalloc(1, sizeof(*w));
	*w = (struct waiting){.row = {.ctx = req->ctx,
				      .requestor = req->requestor,
				      .id = xstrdup(q->id),
				      .found = on_look},
			      .request = req,
			      .asked = cancels,
			      .ask = *q};
	request_set_state(req, &waiting_ops, w);
	req->ctx->lookups++;
	look_at_remote(-1, 0, req);
}
