/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_access.c - the hosts that pages of a session may reach, by the grants
 * of the runs using it. Calls, tabs, ends of runs and the proxy ask. For a host
 * without a grant the answer is a static text with the reason.
 */
#include "browser/session_access.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "browser/net/host_grants.h"

/* A run with past or present use of a session made by another run or client. */
struct joined_run {
	char *run;
	bool over;
	struct host_grants *hosts;
	LIST_ENTRY(joined_run) link;
};

/* A host reached by a session before any run joined; the latest is first. */
struct reached {
	char *host;
	unsigned port;
	TAILQ_ENTRY(reached) link;
};

/* ---- joined runs ---- */

static struct joined_run *find_joined_run(const struct session *s,
					  const char *run)
{
	struct joined_run *g;

	LIST_FOREACH(g, &s->joined_runs, link)
		if (strcmp(g->run, run) == 0)
			return g;
	return NULL;
}

static void leave_session(struct joined_run *g)
{
	LIST_REMOVE(g, link);
	host_grants_unref(g->hosts);
	free(g->run);
	free(g);
}

/*
 * Forget a run that is over, unless a tab still shows a page it navigated to.
 */
static void check_reached(const struct session *s, struct joined_run *g)
{
	const struct tab *t;

	if (!g->over)
		return;
	TAILQ_FOREACH(t, &s->tabs, link)
		if (t->led_by != NULL && strcmp(t->led_by, g->run) == 0)
			return;
	leave_session(g);
}

static void look_at_all(const struct session *s)
{
	struct joined_run *g, *next;

	for (g = LIST_FIRST(&s->joined_runs); g != NULL; g = next) {
		next = LIST_NEXT(g, link);
		check_reached(s, g);
	}
}

static bool made(const struct session *s, const struct call *c)
{
	return s->of_run != NULL && strcmp(s->of_run, c->of_run) == 0;
}

void session_access_enter(struct session *s, const struct call *c)
{
	struct host_grants **hosts;
	struct joined_run *g;

	if (c->of_run == NULL || c->aborted) /* the call's run may be over */
		return;
	hosts = &s->hosts;
	if (!made(s, c)) {
		g = find_joined_run(s, c->of_run);
		if (g == NULL) {
			g = xcalloc(1, sizeof(*g));
			g->run = xstrdup(c->of_run);
			LIST_INSERT_HEAD(&s->joined_runs, g, link);
		}
		hosts = &g->hosts;
	}
	if (*hosts == c->hosts)
		return;
	host_grants_unref(*hosts); /* a reload may have changed the grant */
	*hosts = host_grants_ref(c->hosts);
}

void session_access_led(const struct call *c, bool anew)
{
	struct tab *t = c->tab;
	bool has_joined = c->of_run != NULL && !made(c->session, c);

	if (!anew && (!has_joined || t->led_by != NULL))
		return;
	free(t->led_by);
	t->led_by = has_joined ? xstrdup(c->of_run) : NULL;
	look_at_all(c->session);
}

void session_access_tab_gone(struct tab *t)
{
	free(t->led_by);
	t->led_by = NULL;
	look_at_all(t->session);
}

void session_access_run_ended(struct browser *b, const char *run)
{
	struct session *s;
	struct joined_run *g;

	TAILQ_FOREACH(s, &b->sessions, link) {
		g = find_joined_run(s, run);
		if (g == NULL)
			continue;
		g->over = true;
		check_reached(s, g);
	}
}

/* ---- hosts reached ---- */

static struct reached *reached(const struct session *s, const char *host,
			       unsigned port)
{
	struct reached *r;

	TAILQ_FOREACH(r, &s->reached, link)
		if (r->port == port && strcasecmp(r->host, host) == 0)
			return r;
	return NULL;
}

static void forget_reached(struct session *s, struct reached *r)
{
	TAILQ_REMOVE(&s->reached, r, link);
	s->n_reached--;
	free(r->host);
	free(r);
}

static void note_reached(struct session *s, const char *host, unsigned port)
{
	struct reached *r = reached(s, host, port);

	if (r != NULL) {
		TAILQ_REMOVE(&s->reached, r, link);
		TAILQ_INSERT_HEAD(&s->reached, r, link);
		return;
	}
	if (s->n_reached == SESSION_REACHED_MAX)
		forget_reached(s, TAILQ_LAST(&s->reached, reached_list));
	r = xcalloc(1, sizeof(*r));
	r->host = xstrdup(host);
	r->port = port;
	TAILQ_INSERT_HEAD(&s->reached, r, link);
	s->n_reached++;
}

void session_access_sent(const struct call *c, const char *host, unsigned port)
{
	if (c->of_run == NULL)
		note_reached(c->session, host, port);
}

/* ---- the decision ---- */

static const char *may(const struct host_grants *g, const char *host,
		       unsigned port, const struct sockaddr *address)
{
	const char *errmsg = host_grants_host(g, host, port);

	if (errmsg == NULL && address != NULL)
		errmsg = host_grants_address(g, host, port, address);
	return errmsg;
}

const char *session_access_reach(struct session *s, const char *host,
				 unsigned port, const struct sockaddr *address)
{
	const char *errmsg = NULL;
	struct joined_run *g;

	if (s->hosts != NULL)
		errmsg = may(s->hosts, host, port, address);
	if (errmsg != NULL)
		return errmsg;
	if (LIST_EMPTY(&s->joined_runs)) {
		if (address != NULL)
			note_reached(s, host, port);
		return NULL;
	}
	LIST_FOREACH(g, &s->joined_runs, link)
		if (errmsg == NULL)
			errmsg = may(g->hosts, host, port, address);
	return errmsg != NULL && reached(s, host, port) != NULL ? NULL : errmsg;
}

void session_access_fini(struct session *s)
{
	struct joined_run *g, *after;
	struct reached *r, *older;

	for (g = LIST_FIRST(&s->joined_runs); g != NULL; g = after) {
		after = LIST_NEXT(g, link);
		leave_session(g);
	}
	for (r = TAILQ_FIRST(&s->reached); r != NULL; r = older) {
		older = TAILQ_NEXT(r, link);
		forget_reached(s, r);
	}
	host_grants_unref(s->hosts);
	s->hosts = NULL;
}
