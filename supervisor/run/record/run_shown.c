/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_shown.c - writes rows of runs here for other instances: changes only, at
 * most once a second, and only while another instance asks. runs_remote.c
 * brings requests. A row that cannot be written now is written the next time,
 * with later changes.
 */
#include "supervisor/run/record/run_shown.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/run/record/run_json.h"
#include "supervisor/run/record/task_json.h"
#include "supervisor/store/state/disk_space.h"

#define SHOW_EVERY_MS 1000
/* most bytes of one writing before the next pause gets longer */
#define SHOW_BYTES (1u << 20)
/*
 * A shorter pause, while a client at another server waits for questions. Any
 * number of clients may ask, so many bytes lengthen this pause, too.
 */
#define EARLY_MS 20
#define EARLY_BYTES (32u << 10)

struct run_shown {
	struct run_watch watch;
	struct run_shows *all;
	struct {
		int64_t until_ms; /* wall: an instance asks until then */
		bool renewed;	  /* UNTIL_MS has moved on */
		bool changed;
		bool given; /* the part was written at least once */
	} part[RUN_SHOWN_PARTS];
	TAILQ_ENTRY(run_shown) link; /* entry in all.shown */
};

struct run_shows {
	struct context *ctx;
	char *(*asked)(const struct run *r);
	struct event *show;
	int64_t show_ms;  /* mono: no writing before then */
	int64_t early_ms; /* as show_ms, while a client waits for questions */
	TAILQ_HEAD(shown_list, run_shown)
	shown; /* shown runs, the longest waiting first */
};

static void show_soon(struct run_shows *m)
{
	int64_t ms = m->show_ms - clock_mono_ms();

	/* the timer may be set for later */
	evtimer_add(m->show, CLOCK_TIMEVAL(ms > 0 ? ms : 0));
}

static void drop_view(struct run_shown *e)
{
	TAILQ_REMOVE(&e->all->shown, e, link);
	e->watch.run->shown = NULL;
	run_watch_del(&e->watch);
	free(e);
}

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct run_shown *e = CONTAINER(w, struct run_shown, watch);
	enum run_shown_part p =
	    n->kind == NOTICE_LOG ? RUN_SHOWN_LOG : RUN_SHOWN_VIEW;

	if (n->kind == NOTICE_RELEASED) {
		drop_view(e);
		return;
	}
	if (n->kind > NOTICE_LOG && n->kind != NOTICE_ASKED)
		return; /* the run's own row has the rest */
	e->part[p].changed = true;
	if (e->part[p].until_ms <= clock_wall_ms())
		return;
	if (n->kind == NOTICE_ASKED &&
	    (r->remote.waiters != NULL || r->family.caller_at[0] != '\0') &&
	    e->all->show_ms > e->all->early_ms)
		e->all->show_ms = e->all->early_ms;
	show_soon(e->all);
}

/* Return the text of P for other instances, the caller's; NULL: not now. */
static char *part_text(const struct run_shows *m, const struct run *r,
		       enum run_shown_part p)
{
	char *text;

	if (p == RUN_SHOWN_LOG) {
		text = r->log.text == NULL ? xstrdup("")
					   : xstrndup(buf_data(r->log.text),
						      buf_len(r->log.text));
	} else {
		text = run_json_text(r, m->ctx->isolation);
	}
	if (strlen(text) < DISK_SPACE_LARGE_BYTES ||
	    disk_space_lately(m->ctx->config) == DISK_SPACE_OK)
		return text;
	free(text);
	return NULL;
}

/*
 * Write the parts of E that have changed and are asked for. Returns how many
 * bytes.
 */
static size_t show_part(struct run_shown *e, int64_t now)
{
	const struct run_shows *m = e->all;
	const struct run *r = e->watch.run;
	struct store_run row = {.requestor = r->requestor->name,
				.awaiting = r->state == RUN_AWAITING_INPUT};
	char *text[RUN_SHOWN_PARTS] = {NULL}, *note, *asked = NULL;
	bool renewed = false;
	size_t bytes = 0;

	for (size_t p = 0; p < RUN_SHOWN_PARTS; p++) {
		if (e->part[p].until_ms <= now)
			continue;
		if (e->part[p].changed)
			text[p] = part_text(m, r, (enum run_shown_part)p);
		if (text[p] != NULL) {
			bytes += strlen(text[p]);
			e->part[p].given = true;
			e->part[p].changed = false;
		}
		renewed |= e->part[p].given && e->part[p].renewed;
		e->part[p].renewed = false;
	}
	if (bytes == 0 && !renewed)
		return 0;
	memcpy(row.id, r->id, sizeof(row.id));
	row.task_note = note = task_json_message(r);
	row.view = text[RUN_SHOWN_VIEW];
	row.log = text[RUN_SHOWN_LOG];
	row.shown_until_ms = e->part[RUN_SHOWN_VIEW].given
				 ? e->part[RUN_SHOWN_VIEW].until_ms
				 : 0;
	row.log_until_ms =
	    e->part[RUN_SHOWN_LOG].given ? e->part[RUN_SHOWN_LOG].until_ms : 0;
	if (m->asked != NULL)
		row.asked = asked = m->asked(r);
	bytes += asked != NULL ? strlen(asked) : 0;
	store_show(m->ctx->store, &row);
	free(asked);
	free(text[RUN_SHOWN_VIEW]);
	free(text[RUN_SHOWN_LOG]);
	free(note);
	return bytes;
}

/*
 * Write changed runs, up to SHOW_BYTES: runs left over come first the next
 * time.
 */
static void on_show(evutil_socket_t fd, short what, void *arg)
{
	struct run_shows *m = arg;
	struct run_shown *e, *after, *last = TAILQ_LAST(&m->shown, shown_list);
	int64_t now = clock_wall_ms();
	size_t bytes = 0;

	(void)fd, (void)what;
	for (e = TAILQ_FIRST(&m->shown); e != NULL; e = after) {
		after = e == last ? NULL : TAILQ_NEXT(e, link);
		if (e->part[RUN_SHOWN_VIEW].until_ms <= now &&
		    e->part[RUN_SHOWN_LOG].until_ms <= now) {
			drop_view(e);
			continue;
		}
		if (bytes >= SHOW_BYTES)
			break;
		bytes += show_part(e, now);
		TAILQ_REMOVE(&m->shown, e, link);
		TAILQ_INSERT_TAIL(&m->shown, e, link);
	}
	m->show_ms =
	    clock_mono_ms() + SHOW_EVERY_MS * (int64_t)(1 + bytes / SHOW_BYTES);
	m->early_ms =
	    clock_mono_ms() + EARLY_MS * (int64_t)(1 + bytes / EARLY_BYTES);
	if (e != NULL)
		show_soon(m);
}

void run_show(struct run_shows *m, struct run *r, enum run_shown_part p,
	      int64_t until_ms)
{
	struct run_shown *e = r->shown;

	if (until_ms <= clock_wall_ms())
		return;
	if (e == NULL) {
		e = r->shown = xcalloc(1, sizeof(*e));
		e->all = m;
		e->part[RUN_SHOWN_VIEW].changed =
		    e->part[RUN_SHOWN_LOG].changed = true;
		e->watch.on_notice = on_notice;
		run_watch_add(r, &e->watch);
		TAILQ_INSERT_HEAD(&m->shown, e, link);
	}
	if (until_ms <= e->part[p].until_ms)
		return;
	e->part[p].until_ms = until_ms;
	e->part[p].renewed = true;
	show_soon(m);
}

struct run_shows *run_shows_new(struct context *ctx,
				char *(*asked)(const struct run *r))
{
	struct run_shows *m = xcalloc(1, sizeof(*m));

	m->ctx = ctx;
	m->asked = asked;
	TAILQ_INIT(&m->shown);
	m->show = evtimer_new(ctx->base, on_show, m);
	return m;
}

void run_shows_free(struct run_shows *m)
{
	event_free(m->show);
	free(m);
}
