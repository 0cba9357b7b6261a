/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - browser sessions: made when a call needs one, found by id or run,
 * closed by calls, ends of runs, time, or the end of Chromium. A session that
 * cannot be made or found is the call's fault.
 */
#include "browser/browser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "browser/chromium.h"
#include "browser/session_access.h"
#include "browser/process/chromium_launch.h"
#include "proto/json/json_pack.h"

/*
 * Addresses from 127.1.0.0 on: the proxy knows a session by the address that a
 * connection comes to.
 */
#define PROXY_IP_FIRST 0x7F010000u
#define PROXY_IPS 0xFE0000u

void session_used(struct session *s)
{
	s->used = clock_mono_ms();
	s->used_wall = clock_wall_ms();
}

/* ---- the end ---- */

void session_close(struct session *s, const char *code, const char *errmsg,
		   bool tell)
{
	struct tab *t;
	struct call *c;

	while ((t = TAILQ_FIRST(&s->tabs)) != NULL)
		tab_close(t, code, errmsg, false);
	TAILQ_FOREACH(c, &s->b->calls, link)
		if (c->session == s)
			call_abort(c, code, errmsg);
	if (tell && s->context != NULL)
		send_cdp(s->b, NULL, "Target.disposeBrowserContext",
			 json_pack("browserContextId:s", s->context));
	log_info("session", "session=%s closed=\"%s\"", s->id, errmsg);
	TAILQ_REMOVE(&s->b->sessions, s, link);
	s->b->n_sessions--;
	session_access_fini(s);
	free(s->requestor);
	free(s->of_run);
	free(s->context);
	free(s);
}

static unsigned close_sessions(struct browser *b,
			       bool (*match)(const struct session *s,
					     const char *word),
			       const char *word, const char *errmsg)
{
	struct session *s, *next;
	unsigned n = 0;

	for (s = TAILQ_FIRST(&b->sessions); s != NULL; s = next) {
		next = TAILQ_NEXT(s, link);
		if (!match(s, word))
			continue;
		session_close(s, "SESSION_NOT_FOUND", errmsg, true);
		n++;
	}
	return n;
}

static bool ends_with_run(const struct session *s, const char *run)
{
	return !s->kept && s->of_run != NULL && strcmp(s->of_run, run) == 0;
}

static bool is_requestors(const struct session *s, const char *requestor)
{
	return strcmp(s->requestor, requestor) == 0;
}

unsigned sessions_run_ended(struct browser *b, const char *run)
{
	return close_sessions(b, ends_with_run, run, "its run ended");
}

unsigned sessions_requestor_gone(struct browser *b, const char *requestor)
{
	return close_sessions(b, is_requestors, requestor,
			      "its requestor is gone");
}

void sessions_lost(struct browser *b)
{
	struct session *s;

	while ((s = TAILQ_FIRST(&b->sessions)) != NULL)
		session_close(s, chromium_death_code(b->chromium),
			      "the browser ended", false);
}

static bool busy(const struct session *s)
{
	const struct call *c;

	TAILQ_FOREACH(c, &s->b->calls, link)
		if (c->session == s)
			return true;
	return false;
}

static bool expired(const struct session *s, const char *word)
{
	const struct limits *l = &s->b->limits;
	int64_t now = clock_mono_ms();

	(void)word;
	return now - s->created >= l->session_max_ms ||
	       (s->kept && !busy(s) && now - s->used >= l->session_idle_ms);
}

void sessions_sweep(struct browser *b)
{
	close_sessions(b, expired, NULL, "its time is over");
}

/* ---- the beginning ---- */

static struct session *session_new(struct call *c)
{
	struct session *s = xcalloc(1, sizeof(*s));
	struct browser *b = c->b;

	s->b = b;
	id_new(s->id, BROWSER_PROTO_SESSION);
	s->requestor = xstrdup(c->requestor);
	s->of_run = xstrdup_opt(c->of_run);
	s->trust = c->trust;
	s->kept = c->of_run == NULL;
	s->created = clock_mono_ms();
	s->created_wall = clock_wall_ms();
	s->proxy_ip = PROXY_IP_FIRST + 1 + b->n_proxy_ips++ % (PROXY_IPS - 2);
	TAILQ_INIT(&s->tabs);
	LIST_INIT(&s->joined_runs);
	TAILQ_INIT(&s->reached);
	session_access_enter(s, c);
	session_used(s);
	TAILQ_INSERT_TAIL(&b->sessions, s, link);
	b->n_sessions++;
	return s;
}

static int make_context(struct call *c)
{
	struct session *s = c->session;
	struct json_object *r;
	char proxy[64];

	snprintf(proxy, sizeof(proxy), "socks5://%u.%u.%u.%u:%u",
		 s->proxy_ip >> 24, s->proxy_ip >> 16 & 255,
		 s->proxy_ip >> 8 & 255, s->proxy_ip & 255,
		 CHROMIUM_LAUNCH_PORT);
	r = call_cdp(
	    c, NULL, "Target.createBrowserContext",
	    json_pack("disposeOnDetach:b proxyServer:s proxyBypassList:s", 1,
		      proxy, "<-loopback>"));
	if (r == NULL)
		return -1;
	s->context = xstrdup_opt(json_member_str(r, "browserContextId"));
	json_object_put(r);
	if (s->context == NULL)
		return call_fault(c, "EXECUTION_ERROR", NULL,
				  "Chromium made no context");
	/* pages get no permissions and no downloads */
	send_cdp(
	    c->b, NULL, "Browser.setDownloadBehavior",
	    json_pack("behavior:s browserContextId:s", "deny", s->context));
	send_cdp(c->b, NULL, "Browser.grantPermissions",
		 json_pack("permissions:o browserContextId:s",
			   json_object_new_array(), s->context));
	log_info("session", "session=%s requestor=%s run=%s trust=%s", s->id,
		 s->requestor, s->of_run == NULL ? "-" : s->of_run,
		 s->trust == URL_LOCAL ? "local" : "remote");
	calls_wake(s->b, s, NULL);
	return 0;
}

void session_undo(struct call *c, const char *id)
{
	struct session *s;

	c->session = NULL;
	TAILQ_FOREACH(s, &c->b->sessions, link)
		if (strcmp(s->id, id) == 0)
			break;
	if (s != NULL)
		session_close(s, "PAGE_CRASHED", "its session was not made",
			      true);
}

static int session_make(struct call *c)
{
	char id[ID_SIZE];

	if (quota_claim(c, QUOTA_SESSIONS) < 0)
		return -1;
	c->session = session_new(c);
	memcpy(id, c->session->id, sizeof(id));
	if (make_context(c) == 0)
		return 0;
	session_undo(c, id); /* fails all calls that wait for the session,
				too */
	return -1;
}

/* ---- finding ---- */

bool session_is_of(const struct session *s, const struct call *c)
{
	if (strcmp(s->requestor, c->requestor) != 0 ||
	    (s->trust == URL_LOCAL && c->trust != URL_LOCAL))
		return false;
	if (c->of_run == NULL)
		return s->kept;
	if (s->of_run != NULL && strcmp(s->of_run, c->of_run) == 0)
		return true;
	/* a template has no business with other sessions of the requestor */
	return s->kept && c->in_session != NULL &&
	       strcmp(s->id, c->in_session) == 0;
}

struct session *session_by_proxy_ip(struct browser *b, uint32_t proxy_ip)
{
	struct session *s;

	TAILQ_FOREACH(s, &b->sessions, link)
		if (s->proxy_ip == proxy_ip)
			return s;
	return NULL;
}

static struct session *session_of_run(struct call *c)
{
	struct session *s;

	TAILQ_FOREACH(s, &c->b->sessions, link)
		if (c->of_run != NULL && s->of_run != NULL &&
		    strcmp(s->of_run, c->of_run) == 0 && session_is_of(s, c))
			return s;
	return NULL;
}

int session_enter(struct call *c, const char *id, bool make)
{
	struct session *s;

	if (id == NULL)
		id = c->in_session;
	c->session = id == NULL ? session_of_run(c) : NULL;
	TAILQ_FOREACH(s, &c->b->sessions, link)
		if (id != NULL && strcmp(s->id, id) == 0 && session_is_of(s, c))
			c->session = s;
	if (c->session == NULL && id == NULL && make) {
		if (chromium_ready(c) < 0)
			return -1;
		/*
		 * meanwhile another call of the run may have made the session
		 */
		c->session = session_of_run(c);
		if (c->session == NULL)
			return session_make(c);
	}
	if (c->session == NULL)
		return call_fault(c, "SESSION_NOT_FOUND", NULL,
				  id == NULL ? "there is no session yet: "
					       "create_tab makes one"
					     : "there is no such session: it "
					       "was closed, or has expired, "
					       "or never was yours");
	while (c->session->context == NULL)
		if (call_wait(c, INT64_MAX) < 0)
			return -1;
	session_access_enter(c->session, c);
	session_used(c->session);
	return 0;
}

/* ---- failures to reach a host ---- */

void session_failed(struct session *s, const char *host, unsigned port,
		    const char *errmsg, bool policy)
{
	struct failure *f = &s->failures[s->n_failures++ % FAILURES_KEPT];

	snprintf(f->host, sizeof(f->host), "%s", host);
	snprintf(f->errmsg, sizeof(f->errmsg), "%s", errmsg);
	f->port = port;
	f->policy = policy;
	f->at = clock_mono_ms();
}

const struct failure *session_failure(const struct session *s, const char *host,
				      unsigned port, int64_t since)
{
	const struct failure *f;

	for (unsigned i = 1; i <= FAILURES_KEPT && i <= s->n_failures; i++) {
		f = &s->failures[(s->n_failures - i) % FAILURES_KEPT];
		if (f->at >= since && f->port == port &&
		    strcasecmp(f->host, host) == 0)
			return f;
	}
	return NULL;
}

/* ---- views ---- */

struct json_object *session_view(const struct session *s)
{
	const struct limits *l = &s->b->limits;
	struct json_object *tabs = json_object_new_array();
	const struct tab *t;
	int64_t end = s->created_wall + l->session_max_ms;
	int64_t idle = s->used_wall + l->session_idle_ms;

	TAILQ_FOREACH(t, &s->tabs, link)
		json_object_array_add(tabs, json_pack("tabId:s url:s title:s",
						      t->id, t->url, t->title));
	return json_pack(
	    "sessionId:s requestor:s trust:s run:s kept:b createdAt:i "
	    "lastUsedAt:i expiresAt:i tabs:o",
	    s->id, s->requestor, s->trust == URL_LOCAL ? "local" : "remote",
	    s->of_run, s->kept, s->created_wall, s->used_wall,
	    s->kept && idle < end ? idle : end, tabs);
}
