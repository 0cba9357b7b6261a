/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resident_homes.c - the server where each resident lives, by a row of the database:
 * residents.c asks before the first run, and tells of changes; the mail asks for an end. A
 * question is repeated until the database answers. A run whose resident lives at another
 * server goes back to the shared queue.
 */
#include "supervisor/cluster/cluster_private.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/run/warm/residents.h"

#define SHOW_MS 1000 /* between two writes of changed views */
#define AGAIN_MS 50  /* between two questions, while a resident has no room */

static bool is_shared(void *arg)
{
	return shared_queue_is_used(arg);
}

/* A question for the home of a resident, in cluster.homes_asked until the answer. */
struct home_asked {
	struct runs *runs;
	struct resident *resident;
	struct event *again;
	LIST_ENTRY(home_asked) link;
};

static void asked_free(struct home_asked *a)
{
	LIST_REMOVE(a, link);
	event_free(a->again);
	free(a);
}

static void on_home(void *arg, const struct store_result *res)
{
	struct home_asked *a = arg;
	struct resident *x = a->resident;

	if (res->rc != 0)
		log_debug("resident", "home=no err=\"%s\"", res->errmsg);
	if (res->rc == -EINPROGRESS && resident_is_wanted(x)) {
		/* a resident of this server may be asked to end */
		runs_remote_read(a->runs);
		evtimer_add(a->again, CLOCK_TIMEVAL(AGAIN_MS));
		return;
	}
	asked_free(a);
	residents_homed(x, res->rc, res->text);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct home_asked *a = arg;
	const struct resident *x = a->resident;

	(void)fd, (void)what;
	store_home_resident(a->runs->ctx->store, resident_owner(x)->name,
			    resident_text(x), resident_most(x), on_home, a);
}

static void ask(void *arg, struct resident *x)
{
	struct runs *s = arg;
	struct home_asked *a = xcalloc(1, sizeof(*a));

	a->runs = s;
	a->resident = x;
	a->again = evtimer_new(s->ctx->base, on_again, a);
	LIST_INSERT_HEAD(&s->cluster->homes_asked, a, link);
	on_again(-1, 0, a);
}

static void start(void *arg, struct run *r)
{
	struct runs *s = arg;

	if (r->job.queued.lane == NULL || !r->job.queued.aside)
		return;
	sched_remove(&s->sched, &r->job.queued);
	runs_enqueue(s, r);
	runs_pump(s);
}

/* R cannot go to the server of the notebook. */
static void fail(struct runs *s, struct run *r)
{
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	r->remote.place = RUN_HERE;
	run_set_error(r, "NOTEBOOK_ELSEWHERE", NULL,
		      "the notebook \"%s\" lives at another server, where this "
		      "run cannot go, since %s; take another name, or end the "
		      "notebook first",
		      r->notebook.name,
		      r->session_id != NULL
			  ? "its browser session is here"
			  : "its inputs may be secret and are in no database");
	runs_finish(s, r, EV_FAIL);
}

static void give_back(void *arg, struct run *r, bool is_elsewhere)
{
	if (is_elsewhere && r->remote.pinned)
		fail(arg, r);
	else
		shared_queue_give_back(arg, r);
}

static void leave(void *arg, const struct resident *x, const char *lost)
{
	const struct runs *s = arg;

	store_leave_resident(s->ctx->store, resident_owner(x)->name,
			     resident_text(x), lost);
}

/* ---- views ---- */

static void changed(void *arg)
{
	const struct runs *s = arg;

	if (!evtimer_pending(s->cluster->show_residents, NULL))
		evtimer_add(s->cluster->show_residents, CLOCK_TIMEVAL(SHOW_MS));
}

/* A view that could not be written is written again later. */
static void on_shown(void *arg, const struct store_result *res)
{
	const struct runs *s = arg;

	if (res->rc != 0)
		residents_show_again(s->ctx->residents);
}

static void show(void *arg, const struct resident *x, const char *view)
{
	struct runs *s = arg;

	store_show_resident(s->ctx->store, resident_owner(x)->name,
			    resident_text(x), view, on_shown, s);
}

static void on_show(evutil_socket_t fd, short what, void *arg)
{
	const struct runs *s = arg;

	(void)fd, (void)what;
	residents_show_changed(s->ctx->residents);
}

/* ---- an end that another server asks for ---- */

void resident_homes_end_asked(struct runs *s, const struct store_message *l)
{
	const struct requestor *q =
	    requestors_find(s->ctx->requestors, l->requestor);
	bool for_room = l->kind == STORE_MAIL_EVICT_RESIDENT;
	int rc = q != NULL ? residents_end_asked(s->ctx->residents, q, l->body,
						 for_room)
			   : -ENOENT;

	if (rc == -EBUSY)
		store_keep_resident(s->ctx->store, l->requestor, l->body);
	else if (rc == -ENOENT) /* at most the row is left */
		store_leave_resident(s->ctx->store, l->requestor, l->body,
				     NULL);
}

/* ---- start and end ---- */

void resident_homes_init(struct runs *s)
{
	static const struct resident_homes homes = {
	    .is_shared = is_shared,
	    .ask = ask,
	    .start = start,
	    .give_back = give_back,
	    .leave = leave,
	    .changed = changed,
	    .show = show,
	};

	s->cluster->show_residents = evtimer_new(s->ctx->base, on_show, s);
	residents_share(s->ctx->residents, &homes, s);
}

void resident_homes_fini(struct runs *s)
{
	residents_share(s->ctx->residents, NULL, NULL);
	while (!LIST_EMPTY(&s->cluster->homes_asked))
		asked_free(LIST_FIRST(&s->cluster->homes_asked));
	event_free(s->cluster->show_residents);
}
