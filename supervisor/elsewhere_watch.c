/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/elsewhere_watch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/elsewhere.h"

#define LOOK_S 1

/* What changes of a row when what is watched for changes. */
struct mark {
	enum store_status status;
	bool cancelling, awaiting;
	int64_t seq;
};

struct elsewhere_watch {
	struct elsewhere_watcher w;
	struct mark seen;
	struct event *look; /* NULL: no more */
	bool reading;	    /* a look is under way… */
	bool gone;	    /* …and nobody waits for it */
};

static struct mark mark_of(const struct elsewhere_watch *e,
			   const struct store_run *row)
{
	bool log = e->w.kind == STORE_MAIL_LOG;

	if (log) /* nothing else is its log's */
		return (struct mark){.seq = row->log_seq};
	return (struct mark){.status = row->status,
			     .cancelling = row->cancelling,
			     .awaiting = row->awaiting,
			     .seq = row->shown_seq};
}

static bool differ(const struct mark *a, const struct mark *b)
{
	return a->status != b->status || a->cancelling != b->cancelling ||
	       a->awaiting != b->awaiting || a->seq != b->seq;
}

static void stop_looking(struct elsewhere_watch *e)
{
	if (e->look != NULL)
		event_free(e->look);
	e->look = NULL;
}

static void keep_asking(struct elsewhere_watch *e, const struct store_run *row)
{
	int64_t until = e->w.kind == STORE_MAIL_LOG ? row->log_until_ms
						    : row->shown_until_ms;

	if (!elsewhere_died(e->w.server, row) &&
	    until < clock_wall_ms() + ELSEWHERE_RENEW_MS)
		store_send_mail(e->w.server->store, e->w.requestor->name,
				e->w.run_id, e->w.kind,
				clock_wall_ms() + ELSEWHERE_WATCH_MS, NULL, NULL);
}

static void last(struct elsewhere_watch *e, enum elsewhere_news news,
		 struct run *r)
{
	stop_looking(e);
	e->w.on_news(e->w.arg, news, r);
}

static void on_look(void *arg, const struct store_result *res)
{
	struct elsewhere_watch *e = arg;
	const struct store_run *row = res->runs;
	struct mark now;
	struct run *r;

	e->reading = false;
	if (e->gone) {
		free(e);
		return;
	}
	r = runs_find(e->w.server->runs, e->w.requestor, e->w.run_id);
	if (r != NULL) {
		last(e, ELSEWHERE_OURS, r);
	} else if (res->rc == -ENOENT ||
		   (res->rc == 0 && row->status > STORE_RUNNING)) {
		last(e, ELSEWHERE_OVER, NULL);
	} else if (res->rc == 0) {
		now = mark_of(e, row);
		keep_asking(e, row);
		if (!differ(&now, &e->seen))
			return;
		e->seen = now;
		e->w.on_news(e->w.arg, ELSEWHERE_CHANGED, NULL);
	}
}

static void look(evutil_socket_t fd, short what, void *arg)
{
	struct elsewhere_watch *e = arg;

	(void)fd, (void)what;
	if (e->reading)
		return;
	e->reading = true;
	store_get_task(e->w.server->store, e->w.requestor->name, e->w.run_id,
		       on_look, e);
}

struct elsewhere_watch *elsewhere_watch_new(const struct elsewhere_watcher *w,
					    const struct store_run *row)
{
	static const struct timeval every = {.tv_sec = LOOK_S};
	struct elsewhere_watch *e = xcalloc(1, sizeof(*e));

	e->w = *w;
	e->seen = mark_of(e, row);
	e->look = event_new(w->server->base, -1, EV_PERSIST, look, e);
	event_add(e->look, &every);
	keep_asking(e, row);
	return e;
}

void elsewhere_watch_free(struct elsewhere_watch *w)
{
	if (w == NULL)
		return;
	stop_looking(w);
	w->gone = true;
	if (!w->reading)
		free(w);
}
