/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_remote.c - what other instances on this state ask of our runs: to end one,
 * or to show how it goes. What they asked is a row (store_mail.c); a nudge says
 * that there is one, and while we have runs we look by ourselves as well. Shown
 * is what changed, once a second at most, and only while somebody asks for it.
 */
#include "supervisor/exec/runs_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/state/disk_space.h"
#include "supervisor/run/task_json.h"
#include "supervisor/run/run_json.h"

#define SHOW_EVERY_MS 1000
#define SHOW_BYTES (1u << 20) /* each time; after more, it is longer */

enum part { PART_VIEW, PART_LOG, PARTS };

struct run_shown {
	struct run_watch watch;
	struct runs_remote *mail;
	struct {
		int64_t until_ms; /* wall: somebody asks until then */
		bool renewed;	  /* UNTIL_MS has moved on */
		bool changed;
		bool given; /* it was shown once */
	} part[PARTS];
	TAILQ_ENTRY(run_shown) link; /* in mail.shown */
};

struct runs_remote {
	struct runs *runs;
	struct event *nudged; /* NULL: nudges are not to be had */
	struct event *look;
	int64_t look_ms; /* mono: when it is due */
	struct event *show;
	int64_t show_ms; /* mono: not before that */
	bool reading;	 /* the mail is being read… */
	bool again;	 /* …and has to be once more */
	TAILQ_HEAD(shown_list, run_shown)
	shown; /* who waits longest is first */
};

/* ---- showing ---- */

static void show_soon(struct runs_remote *m)
{
	int64_t ms = m->show_ms - clock_mono_ms();

	if (!evtimer_pending(m->show, NULL) || ms <= 0)
		evtimer_add(m->show, CLOCK_TIMEVAL(ms > 0 ? ms : 0));
}

static void drop(struct run_shown *e);

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct run_shown *e = CONTAINER(w, struct run_shown, watch);
	enum part p = n->kind == NOTICE_LOG ? PART_LOG : PART_VIEW;

	if (n->kind == NOTICE_RELEASED) {
		drop(e);
		return;
	}
	if (n->kind > NOTICE_LOG && n->kind != NOTICE_ASKED)
		return; /* its row says all */
	e->part[p].changed = true;
	if (e->part[p].until_ms <= clock_wall_ms())
		return;
	if (n->kind == NOTICE_ASKED && r->guests != NULL)
		e->mail->show_ms = 0; /* a client waits for no more than this */
	show_soon(e->mail);
}

/* The owned text of P, which others may have; NULL: not now. */
static char *text_of(const struct runs *s, const struct run *r, enum part p)
{
	char *text;

	if (p == PART_LOG) {
		text = r->log == NULL
			   ? xstrdup("")
			   : xstrndup(buf_data(r->log), buf_len(r->log));
	} else {
		text = run_json_text(r, s->ctx->isolation);
	}
	if (strlen(text) < DISK_SPACE_LARGE_BYTES ||
	    disk_space_lately(s->ctx->config) == DISK_SPACE_OK)
		return text;
	free(text);
	return NULL;
}

/* What of E has changed and is asked for; the bytes of that. */
static size_t show(struct run_shown *e, int64_t now)
{
	const struct runs *s = e->mail->runs;
	const struct run *r = e->watch.run;
	struct store_run row = {.requestor = r->requestor->name,
				.awaiting = r->state == RUN_AWAITING_INPUT};
	char *text[PARTS] = {NULL}, *note, *asked = NULL;
	bool renewed = false;
	size_t bytes = 0;

	for (size_t p = 0; p < PARTS; p++) {
		if (e->part[p].until_ms <= now)
			continue;
		if (e->part[p].changed)
			text[p] = text_of(s, r, (enum part)p);
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
	row.view = text[PART_VIEW];
	row.log = text[PART_LOG];
	row.shown_until_ms =
	    e->part[PART_VIEW].given ? e->part[PART_VIEW].until_ms : 0;
	row.log_until_ms =
	    e->part[PART_LOG].given ? e->part[PART_LOG].until_ms : 0;
	if (s->ops->asked != NULL && store_is_shared(s->ctx->store))
		row.asked = asked = s->ops->asked(r);
	store_show(s->ctx->store, &row);
	free(asked);
	free(text[PART_VIEW]);
	free(text[PART_LOG]);
	free(note);
	return bytes;
}

static bool is_asked_for(const struct run_shown *e, int64_t now)
{
	return e->part[PART_VIEW].until_ms > now ||
	       e->part[PART_LOG].until_ms > now;
}

static void drop(struct run_shown *e)
{
	TAILQ_REMOVE(&e->mail->shown, e, link);
	e->watch.run->shown = NULL;
	run_watch_del(&e->watch);
	free(e);
}

/* Whom there was no more room for this time is the first one next time. */
static void on_show(evutil_socket_t fd, short what, void *arg)
{
	struct runs_remote *m = arg;
	struct run_shown *e, *after, *last = TAILQ_LAST(&m->shown, shown_list);
	int64_t now = clock_wall_ms();
	size_t bytes = 0;

	(void)fd, (void)what;
	for (e = TAILQ_FIRST(&m->shown); e != NULL; e = after) {
		after = e == last ? NULL : TAILQ_NEXT(e, link);
		if (!is_asked_for(e, now)) {
			drop(e);
			continue;
		}
		if (bytes >= SHOW_BYTES)
			break;
		bytes += show(e, now);
		TAILQ_REMOVE(&m->shown, e, link);
		TAILQ_INSERT_TAIL(&m->shown, e, link);
	}
	m->show_ms =
	    clock_mono_ms() + SHOW_EVERY_MS * (int64_t)(1 + bytes / SHOW_BYTES);
	if (e != NULL)
		show_soon(m);
}

static void show_until(struct runs *s, struct run *r, enum part p,
		       int64_t until_ms)
{
	struct run_shown *e = r->shown;

	if (until_ms <= clock_wall_ms())
		return;
	if (e == NULL) {
		e = r->shown = xcalloc(1, sizeof(*e));
		e->mail = s->mail;
		e->part[PART_VIEW].changed = e->part[PART_LOG].changed = true;
		e->watch.on_notice = on_notice;
		run_watch_add(r, &e->watch);
		TAILQ_INSERT_HEAD(&s->mail->shown, e, link);
	}
	if (until_ms <= e->part[p].until_ms)
		return;
	e->part[p].until_ms = until_ms;
	e->part[p].renewed = true;
	show_soon(s->mail);
}

/* ---- what is asked ---- */

static void take(struct runs *s, const struct store_letter *l)
{
	struct run *r;

	HASH_FIND_STR(s->by_id, l->run_id, r);
	if (r == NULL && l->kind == STORE_MAIL_OVER)
		store_heard(s->ctx->store, l->run_id);
	if (l->kind == STORE_MAIL_ANSWER)
		store_drop_answer(s->ctx->store, l);
	if (l->kind == STORE_MAIL_ANSWER && r == NULL &&
	    s->ops->on_letter != NULL)
		s->ops->on_letter(s->ctx, l->body);
	if (r == NULL || run_terminal(r))
		return; /* its end, on its way to the store, takes L away */
	if (l->kind == STORE_MAIL_CLAIMED)
		runs_abroad_claimed(s, r);
	else if (l->kind == STORE_MAIL_OVER)
		runs_abroad_look(s, r);
	else if (l->kind == STORE_MAIL_CANCEL)
		runs_cancel(s, r);
	else if (l->kind == STORE_MAIL_ANSWER && s->ops->on_answer != NULL)
		s->ops->on_answer(s->ctx, r, l->body);
	else
		show_until(s, r,
			   l->kind == STORE_MAIL_LOG ? PART_LOG : PART_VIEW,
			   l->until_ms);
}

static void read_mail(struct runs_remote *m);

static void on_mail(void *arg, const struct store_result *res)
{
	struct runs_remote *m = arg;

	m->reading = false;
	for (size_t i = 0; res->rc == 0 && i < res->n_mail; i++)
		take(m->runs, &res->mail[i]);
	if (m->again)
		read_mail(m);
	else if (res->rc == 0)
		runs_lease_heard(m->runs);
}

static void read_mail(struct runs_remote *m)
{
	m->again = m->reading;
	if (m->reading)
		return;
	m->reading = true;
	store_read_mail(m->runs->ctx->store, on_mail, m);
}

static void on_nudge(evutil_socket_t fd, short what, void *arg)
{
	char events[1024];

	(void)what;
	while (read(fd, events, sizeof(events)) > 0)
		;
	read_mail(arg);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct runs_remote *m = arg;

	(void)fd, (void)what;
	if (m->runs->by_id == NULL && m->runs->ctx->client_requests == 0)
		return; /* nothing can be asked of us, or answered */
	read_mail(m);
	runs_remote_poll(m->runs);
}

/* Sooner than it was due, when nobody wakes us any more. */
void runs_remote_poll(struct runs *s)
{
	struct runs_remote *m = s->mail;
	int64_t ms = store_poll_ms(s->ctx->store), now = clock_mono_ms();

	if (evtimer_pending(m->look, NULL) && m->look_ms <= now + ms)
		return;
	m->look_ms = now + ms;
	evtimer_add(m->look, CLOCK_TIMEVAL(ms));
}

void runs_expect_mail(struct runs *s)
{
	if (store_is_shared(s->ctx->store))
		runs_remote_poll(s);
}

void runs_remote_read(struct runs *s)
{
	read_mail(s->mail);
	runs_remote_poll(s);
}

void runs_remote_init(struct runs *s)
{
	struct runs_remote *m = xcalloc(1, sizeof(*m));

	m->runs = s;
	TAILQ_INIT(&m->shown);
	m->look = evtimer_new(s->ctx->base, on_look, m);
	m->show = evtimer_new(s->ctx->base, on_show, m);
	s->mail = m;
}

void runs_remote_open(struct runs *s)
{
	int fd = store_nudge_fd(s->ctx->store);

	runs_claim_open(s);
	runs_share_open(s);
	if (fd < 0)
		return;
	s->mail->nudged = event_new(s->ctx->base, fd, EV_READ | EV_PERSIST,
				    on_nudge, s->mail);
	event_add(s->mail->nudged, NULL);
}

void runs_remote_deaf(struct runs *s)
{
	if (s->mail->nudged != NULL)
		event_free(s->mail->nudged);
	s->mail->nudged = NULL;
}

void runs_remote_fini(struct runs *s)
{
	runs_remote_deaf(s);
	event_free(s->mail->look);
	event_free(s->mail->show);
	free(s->mail);
}
