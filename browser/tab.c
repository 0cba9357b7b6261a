/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tab.c - tabs of sessions: opened, found by id, closed, the tabs' DevTools
 * sessions, and the pending requests of the page. A tab that cannot be opened is
 * the call's fault, and is removed. Beyond TAB_REQUESTS_MAX requests no more are
 * tracked.
 */
#include "browser/browser.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/mem.h"
#include "browser/session_access.h"
#include "proto/json/json_pack.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses the elements of uthash's tables */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* A DevTools session of a tab, or of a frame in another process. */
struct hook {
	char *attached;
	struct tab *tab;
	UT_hash_handle hh;
};

/* ---- hooks ---- */

struct tab *tab_attached(struct browser *b, const char *attached)
{
	struct hook *h;

	HASH_FIND_STR(b->hooks, attached, h);
	return h == NULL ? NULL : h->tab;
}

void tab_hook(struct tab *t, const char *attached)
{
	struct hook *h = xcalloc(1, sizeof(*h));

	h->attached = xstrdup(attached);
	h->tab = t;
	HASH_ADD_KEYPTR(hh, t->session->b->hooks, h->attached,
			strlen(h->attached), h);
	send_cdp(t->session->b, attached, "Network.enable",
		 json_pack("maxTotalBufferSize:i maxResourceBufferSize:i "
			   "maxPostDataSize:i",
			   0, 0, 0));
}

static void unhook(struct browser *b, struct hook *h)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): HASH_DEL() unlinks */
	HASH_DEL(b->hooks, h);
	free(h->attached);
	free(h);
}

void tab_unhook(struct tab *t, const char *attached)
{
	struct browser *b = t->session->b;
	struct hook *h;

	HASH_FIND_STR(b->hooks, attached, h);
	if (h != NULL && h->tab == t)
		unhook(b, h);
}

/* ---- life ---- */

void tab_close(struct tab *t, const char *code, const char *errmsg, bool tell)
{
	struct browser *b = t->session->b;
	struct hook *h, *next;
	struct call *c;

	TAILQ_FOREACH(c, &b->calls, link)
		if (c->tab == t)
			call_abort(c, code, errmsg);
	if (tell && t->target != NULL)
		send_cdp(b, NULL, "Target.closeTarget",
			 json_pack("targetId:s", t->target));
	HASH_ITER(hh, b->hooks, h, next)
		if (h->tab == t)
			unhook(b, h);
	tab_requests_keep(t, NULL);
	TAILQ_REMOVE(&t->session->tabs, t, link);
	session_access_tab_gone(t);
	t->session->n_tabs--;
	b->n_tabs--;
	json_object_put(t->popups);
	free(t->target);
	free(t->attached);
	free(t->url);
	free(t->title);
	free(t->loader);
	free(t->asked_loader);
	free(t->asked_url);
	free(t->loaded);
	free(t);
}

static int make_target(struct call *c)
{
	struct tab *t = c->tab;
	struct json_object *r;

	r = call_cdp(c, NULL, "Target.createTarget",
		     json_pack("url:s browserContextId:s width:i height:i",
			       "about:blank", t->session->context, 1280, 800));
	if (r == NULL)
		return -1;
	t->target = xstrdup_opt(json_member_str(r, "targetId"));
	json_object_put(r);
	if (t->target == NULL)
		return call_fault(c, "EXECUTION_ERROR", NULL,
				  "Chromium made no tab");
	r = call_cdp(c, NULL, "Target.attachToTarget",
		     json_pack("targetId:s flatten:b", t->target, 1));
	if (r == NULL)
		return -1;
	t->attached = xstrdup_opt(json_member_str(r, "sessionId"));
	json_object_put(r);
	return t->attached != NULL ? 0
				   : call_fault(c, "EXECUTION_ERROR", NULL,
						"Chromium attached to no tab");
}

static int set_up(struct call *c)
{
	struct tab *t = c->tab;
	struct browser *b = c->b;

	tab_hook(t, t->attached);
	send_cdp(b, t->attached, "Target.setAutoAttach",
		 json_pack("autoAttach:b waitForDebuggerOnStart:b flatten:b", 1,
			   0, 1));
	send_cdp(b, t->attached, "Page.setLifecycleEventsEnabled",
		 json_pack("enabled:b", 1));
	send_cdp(
	    b, t->attached, "Page.addScriptToEvaluateOnNewDocument",
	    json_pack("source:s worldName:s", script_source(), SCRIPT_WORLD));
	return call_cdp_done(c, t->attached, "Page.enable", NULL);
}

void tab_undo(struct call *c, const char *id)
{
	struct session *s;
	struct tab *t = NULL;

	c->tab = NULL;
	TAILQ_FOREACH(s, &c->b->sessions, link) {
		TAILQ_FOREACH(t, &s->tabs, link)
			if (strcmp(t->id, id) == 0)
				break;
		if (t != NULL)
			break;
	}
	if (t != NULL)
		tab_close(t, "PAGE_CRASHED", "the tab was not made", true);
}

int tab_open(struct call *c)
{
	struct session *s = c->session;
	char id[ID_SIZE];
	struct tab *t;

	if (quota_claim(c, QUOTA_SESSION_TABS) < 0 ||
	    quota_claim(c, QUOTA_TABS) < 0)
		return -1;
	t = c->tab = xcalloc(1, sizeof(*t));
	t->session = s;
	id_new(t->id, BROWSER_PROTO_TAB);
	t->url = xstrdup("about:blank");
	t->title = xstrdup("");
	t->popups = json_object_new_array();
	TAILQ_INSERT_TAIL(&s->tabs, t, link);
	s->n_tabs++;
	s->b->n_tabs++;
	memcpy(id, t->id, sizeof(id));
	if (make_target(c) == 0 && set_up(c) == 0)
		return 0;
	tab_undo(c, id);
	return -1;
}

/* Return the last request's status, if for the present document; else 0. */
int tab_status(const struct tab *t)
{
	bool here = t->loader != NULL && t->asked_loader != NULL &&
		    strcmp(t->loader, t->asked_loader) == 0;

	return here ? t->status : 0;
}

int tab_take(struct call *c)
{
	const char *id = arg_str(c, "tabId");
	struct session *s;
	struct tab *t;

	TAILQ_FOREACH(s, &c->b->sessions, link) {
		if (!session_is_of(s, c))
			continue;
		TAILQ_FOREACH(t, &s->tabs, link) {
			if (strcmp(t->id, id) != 0 || t->attached == NULL)
				continue;
			c->session = s;
			c->tab = t;
			session_access_enter(s, c);
			session_used(s);
			return 0;
		}
	}
	return call_fault(c, "SESSION_NOT_FOUND", NULL,
			  "there is no such tab: it was closed, or its session "
			  "was, or it never was yours");
}

/* ---- pending requests of the page ---- */

struct request {
	char *id;
	char *loader;
	int64_t since;
	UT_hash_handle hh;
};

static void end_request(struct tab *t, struct request *r)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): HASH_DEL() unlinks */
	HASH_DEL(t->requests, r);
	free(r->id);
	free(r->loader);
	free(r);
}

void tab_request_begin(struct tab *t, const char *id, const char *loader)
{
	struct request *r;

	HASH_FIND_STR(t->requests, id, r);
	if (r != NULL || HASH_COUNT(t->requests) >= TAB_REQUESTS_MAX)
		return; /* a redirect; or too many */
	r = xcalloc(1, sizeof(*r));
	r->id = xstrdup(id);
	r->loader = xstrdup_opt(loader);
	r->since = clock_mono_ms();
	HASH_ADD_KEYPTR(hh, t->requests, r->id, strlen(r->id), r);
}

unsigned tab_requests(struct tab *t)
{
	int64_t old = clock_mono_ms() - TAB_REQUEST_OLD_MS;
	struct request *r, *next;
	unsigned n = 0;

	HASH_ITER(hh, t->requests, r, next)
		n += r->since > old;
	return n;
}

void tab_request_end(struct tab *t, const char *id)
{
	struct request *r;

	HASH_FIND_STR(t->requests, id, r);
	if (r != NULL)
		end_request(t, r);
}

void tab_requests_keep(struct tab *t, const char *loader)
{
	struct request *r, *next;

	HASH_ITER(hh, t->requests, r, next)
		if (loader == NULL || r->loader == NULL ||
		    strcmp(r->loader, loader) != 0)
			end_request(t, r);
}
