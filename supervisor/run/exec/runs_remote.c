/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_remote.c - reads the mail of other instances about runs of this
 * instance: cancel a run, or show a run's progress (run_shown.c). A message is a
 * row (store_mail.c). A wake-up announces a message, and while this instance has
 * runs a timer reads as well, so a lost wake-up only delays.
 */
#include "supervisor/run/exec/runs_private.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/run/record/run_shown.h"
#include "supervisor/run/warm/residents.h"

struct runs_remote {
	struct runs *runs;
	struct event *nudged; /* NULL: no wake-ups are available */
	struct event *look;
	int64_t look_ms; /* CLOCK_MONOTONIC: the time of the next look */
	struct run_shows *shows;
	bool reading; /* the mail is being read */
	bool again;   /* the mail has to be read once more */
};

/* ---- mail ---- */

static void take_message(struct runs *s, const struct store_message *l)
{
	struct run *r = runs_by_id(s, l->run_id);

	if (l->kind == STORE_MAIL_CLAIMED || l->kind == STORE_MAIL_OVER) {
		if (s->ctx->cluster != NULL)
			s->ctx->cluster->message(s, r, l);
		return;
	}
	if (l->kind == STORE_MAIL_END_RESIDENT ||
	    l->kind == STORE_MAIL_EVICT_RESIDENT) {
		if (s->ctx->cluster != NULL)
			s->ctx->cluster->end_asked(s, l);
		return;
	}
	if (r == NULL || run_terminal(r))
		return; /* the run's end, on its way to the store, deletes L */
	if (l->kind == STORE_MAIL_CANCEL)
		runs_cancel(s, r);
	else if (l->kind != STORE_MAIL_ANSWER)
		run_show(s->mail->shows, r,
			 l->kind == STORE_MAIL_LOG ? RUN_SHOWN_LOG
						   : RUN_SHOWN_VIEW,
			 l->until_ms);
}

static void read_mail(struct runs_remote *m);

static void on_mail(void *arg, const struct store_result *res)
{
	struct runs_remote *m = arg;
	const struct cluster *c = m->runs->ctx->cluster;
	bool again = m->again; /* messages may cause another read, too */

	m->reading = false;
	for (size_t i = 0; res->rc == 0 && i < res->n_mail; i++)
		take_message(m->runs, &res->mail[i]);
	if (res->rc == 0 && res->n_mail > 0 && c != NULL)
		c->answers(m->runs->ctx, res);
	if (again && !m->reading)
		read_mail(m);
	else if (!again && res->rc == 0 && c != NULL)
		c->messages_read(m->runs);
}

static void read_mail(struct runs_remote *m)
{
	struct context *ctx = m->runs->ctx;

	m->again = m->reading;
	if (m->reading)
		return;
	m->reading = true;
	store_read_mail(ctx->store,
			ctx->cluster != NULL &&
			    ctx->cluster->wants_answers(ctx),
			on_mail, m);
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
	if (m->runs->by_id == NULL && m->runs->ctx->client_requests == 0 &&
	    residents_count(m->runs->ctx->residents) == 0)
		return; /* no instance can send mail to this server */
	read_mail(m);
	runs_remote_poll(m->runs);
}

/* Read the mail sooner, since no instance wakes this server any more. */
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
	if (s->ctx->cluster != NULL)
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
	m->look = evtimer_new(s->ctx->base, on_look, m);
	m->shows = run_shows_new(s->ctx, s->ctx->cluster != NULL
					     ? s->ctx->cluster->shown_questions
					     : NULL);
	s->mail = m;
}

void runs_remote_open(struct runs *s)
{
	int fd = store_nudge_fd(s->ctx->store);

	if (s->ctx->cluster != NULL)
		s->ctx->cluster->open(s);
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
	run_shows_free(s->mail->shows);
	free(s->mail);
}
