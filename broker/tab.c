#include "broker/broker.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "broker/pack.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses what is in uthash's tables */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define ID_BYTES_MAX 256 /* of Chromium's own ids, that we keep */

/* A DevTools session: a tab's own, or one of a frame of another process. */
struct hook {
	char *attached;
	struct tab *tab;
	UT_hash_handle hh;
};

struct request {
	char *id;
	char *loader;
	int64_t since;
	UT_hash_handle hh;
};

static void wake_calls(struct tab *t)
{
	struct call *c;

	TAILQ_FOREACH(c, &t->session->b->calls, link)
	if (c->tab == t)
		call_wake(c);
}

static void set(char **to, const char *value)
{
	free(*to);
	*to = xstrdup_opt(value);
}

/* ---- hooks ---- */

static struct tab *tab_attached(struct broker *b, const char *attached)
{
	struct hook *h;

	HASH_FIND_STR(b->hooks, attached, h);
	return h == NULL ? NULL : h->tab;
}

static void hook(struct tab *t, const char *attached)
{
	struct hook *h = xcalloc(1, sizeof(*h));

	h->attached = xstrdup(attached);
	h->tab = t;
	HASH_ADD_KEYPTR(hh, t->session->b->hooks, h->attached,
			strlen(h->attached), h);
}

static void unhook(struct broker *b, struct hook *h)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it leaves the table */
	HASH_DEL(b->hooks, h);
	free(h->attached);
	free(h);
}

static void unhook_all(struct tab *t)
{
	struct broker *b = t->session->b;
	struct hook *h, *next;

	HASH_ITER(hh, b->hooks, h, next)
	if (h->tab == t)
		unhook(b, h);
}

/* ---- requests under way ---- */

static void request_end(struct tab *t, struct request *r)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it leaves the table */
	HASH_DEL(t->requests, r);
	free(r->id);
	free(r->loader);
	free(r);
}

static void request_begin(struct tab *t, const char *id, const char *loader)
{
	struct request *r;

	HASH_FIND_STR(t->requests, id, r);
	if (r != NULL || HASH_COUNT(t->requests) >= TAB_REQUESTS_MAX)
		return; /* a redirect; or beyond telling */
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

/* ---- life ---- */

void tab_close(struct tab *t, const char *code, const char *why, bool tell)
{
	struct broker *b = t->session->b;
	struct request *r, *next;
	struct call *c;

	TAILQ_FOREACH(c, &b->calls, link)
	if (c->tab == t)
		call_abort(c, code, why);
	if (tell && t->target != NULL)
		send_cdp(b, NULL, "Target.closeTarget",
			 pack("targetId:s", t->target));
	unhook_all(t);
	HASH_ITER(hh, t->requests, r, next)
	request_end(t, r);
	TAILQ_REMOVE(&t->session->tabs, t, link);
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

static struct tab *tab_new(struct session *s)
{
	struct tab *t = xcalloc(1, sizeof(*t));

	t->session = s;
	id_new(t->id, BROKER_TAB);
	t->url = xstrdup("about:blank");
	t->title = xstrdup("");
	t->popups = json_object_new_array();
	TAILQ_INSERT_TAIL(&s->tabs, t, link);
	s->n_tabs++;
	s->b->n_tabs++;
	return t;
}

static int full(struct call *c, const char *limit, unsigned used,
		unsigned allowed)
{
	return call_fault(c, "QUOTA_EXCEEDED",
			  pack("limit:s used:i allowed:i unit:s whoCanRaise:s",
			       limit, (int64_t)used, (int64_t)allowed, "tabs",
			       "the operator"),
			  "%u tabs are open (%s), and no more may be; "
			  "close_tab closes one",
			  used, limit);
}

static int make_target(struct call *c)
{
	struct tab *t = c->tab;
	struct json_object *r;

	r = call_cdp(c, NULL, "Target.createTarget",
		     pack("url:s browserContextId:s width:i height:i",
			  "about:blank", t->session->context, (int64_t)1280,
			  (int64_t)800));
	if (r == NULL)
		return -1;
	t->target = xstrdup_opt(member_str(r, "targetId"));
	json_object_put(r);
	if (t->target == NULL)
		return call_fault(c, "EXECUTION_ERROR", NULL,
				  "Chromium made no tab");
	r = call_cdp(c, NULL, "Target.attachToTarget",
		     pack("targetId:s flatten:b", t->target, 1));
	if (r == NULL)
		return -1;
	t->attached = xstrdup_opt(member_str(r, "sessionId"));
	json_object_put(r);
	return t->attached != NULL ? 0
				   : call_fault(c, "EXECUTION_ERROR", NULL,
						"Chromium attached to no tab");
}

static void watch_network(struct broker *b, const char *attached)
{
	send_cdp(b, attached, "Network.enable",
		 pack("maxTotalBufferSize:i maxResourceBufferSize:i "
		      "maxPostDataSize:i",
		      (int64_t)0, (int64_t)0, (int64_t)0));
}

static int set_up(struct call *c)
{
	struct tab *t = c->tab;
	struct broker *b = c->b;
	struct json_object *r;

	hook(t, t->attached);
	watch_network(b, t->attached);
	send_cdp(
	    b, t->attached, "Target.setAutoAttach",
	    pack("autoAttach:b waitForDebuggerOnStart:b flatten:b", 1, 0, 1));
	send_cdp(b, t->attached, "Page.setLifecycleEventsEnabled",
		 pack("enabled:b", 1));
	send_cdp(b, t->attached, "Page.addScriptToEvaluateOnNewDocument",
		 pack("source:s worldName:s", script_source(), SCRIPT_WORLD));
	r = call_cdp(c, t->attached, "Page.enable", NULL);
	json_object_put(r);
	return r == NULL ? -1 : 0;
}

void tab_undo(struct call *c, const char *id)
{
	struct session *s;
	struct tab *t = NULL;

	c->tab = NULL;
	TAILQ_FOREACH(s, &c->b->sessions, link)
	{
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
	const struct limits *l = &c->b->limits;
	struct session *s = c->session;
	char id[ID_SIZE];
	struct tab *t;

	if (s->n_tabs >= l->tabs_per_session)
		return full(c, "tabs in a session", s->n_tabs,
			    l->tabs_per_session);
	if (c->b->n_tabs >= l->tabs)
		return full(c, "tabs in all", c->b->n_tabs, l->tabs);
	t = c->tab = tab_new(s);
	memcpy(id, t->id, sizeof(id));
	if (make_target(c) == 0 && set_up(c) == 0)
		return 0;
	tab_undo(c, id);
	return -1;
}

int tab_take(struct call *c)
{
	const char *id = arg_str(c, "tabId");
	struct session *s;
	struct tab *t;

	TAILQ_FOREACH(s, &c->b->sessions, link)
	{
		if (!session_is_of(s, c))
			continue;
		TAILQ_FOREACH(t, &s->tabs, link)
		{
			if (strcmp(t->id, id) != 0 || t->attached == NULL)
				continue;
			c->session = s;
			c->tab = t;
			session_used(s);
			return 0;
		}
	}
	return call_fault(c, "SESSION_NOT_FOUND", NULL,
			  "there is no such tab: it was closed, or its session "
			  "was, or it never was yours");
}

/* ---- events of a tab ---- */

static void on_dialog(struct tab *t, const char *attached,
		      struct json_object *p)
{
	const char *type = member_str(p, "type");
	bool leave = type != NULL && strcmp(type, "beforeunload") == 0;

	send_cdp(t->session->b, attached, "Page.handleJavaScriptDialog",
		 pack("accept:b", leave));
}

static void on_request(struct tab *t, const char *attached,
		       struct json_object *p)
{
	const char *id = member_str(p, "requestId");
	const char *loader = member_str(p, "loaderId");
	const char *type = member_str(p, "type");
	const char *frame = member_str(p, "frameId");

	(void)attached;
	if (id == NULL || loader == NULL || strlen(id) > ID_BYTES_MAX)
		return;
	if (frame != NULL && strcmp(frame, t->target) == 0 &&
	    strcmp(id, loader) == 0) {
		set(&t->asked_loader, loader);
		set(&t->asked_url, member_str(member(p, "request"), "url"));
		t->status = 0;
	}
	/* These stay as long as they like. */
	if (type != NULL &&
	    (strcmp(type, "EventSource") == 0 ||
	     strcmp(type, "WebSocket") == 0 || strcmp(type, "Ping") == 0 ||
	     strcmp(type, "Media") == 0))
		return;
	request_begin(t, id, loader);
}

static void on_response(struct tab *t, const char *attached,
			struct json_object *p)
{
	const char *loader = member_str(p, "loaderId");
	const char *id = member_str(p, "requestId");

	(void)attached;
	if (loader != NULL && id != NULL && t->asked_loader != NULL &&
	    strcmp(loader, t->asked_loader) == 0 && strcmp(id, loader) == 0)
		t->status = (int)member_int(member(p, "response"), "status");
}

static void on_request_end(struct tab *t, const char *attached,
			   struct json_object *p)
{
	const char *id = member_str(p, "requestId");
	struct request *r = NULL;

	(void)attached;
	if (id != NULL)
		HASH_FIND_STR(t->requests, id, r);
	if (r != NULL)
		request_end(t, r);
	if (HASH_COUNT(t->requests) == 0)
		wake_calls(t);
}

/* A new document: what the old one asked for is nobody's any more. */
static void on_navigated(struct tab *t, const char *attached,
			 struct json_object *p)
{
	struct json_object *frame = member(p, "frame");
	const char *loader = member_str(frame, "loaderId");
	struct request *r, *next;

	(void)attached;
	if (member(frame, "parentId") != NULL || loader == NULL)
		return;
	t->commits++;
	t->hung = false;
	set(&t->loader, loader);
	set(&t->url, member_str(frame, "url"));
	HASH_ITER(hh, t->requests, r, next)
	if (r->loader == NULL || strcmp(r->loader, loader) != 0)
		request_end(t, r);
	wake_calls(t);
}

static void on_lifecycle(struct tab *t, const char *attached,
			 struct json_object *p)
{
	const char *frame = member_str(p, "frameId");
	const char *name = member_str(p, "name");

	(void)attached;
	if (frame == NULL || name == NULL || strcmp(frame, t->target) != 0 ||
	    strcmp(name, "DOMContentLoaded") != 0)
		return;
	set(&t->loaded, member_str(p, "loaderId"));
	wake_calls(t);
}

/* A frame in another process: its requests count as the page's. */
static void on_attached(struct tab *t, const char *attached,
			struct json_object *p)
{
	const char *child = member_str(p, "sessionId");
	const char *type = member_str(member(p, "targetInfo"), "type");

	(void)attached;
	if (child == NULL || type == NULL || strcmp(type, "iframe") != 0 ||
	    tab_attached(t->session->b, child) != NULL)
		return;
	hook(t, child);
	send_cdp(t->session->b, child, "Page.enable", NULL);
	watch_network(t->session->b, child);
}

static void on_detached(struct tab *t, const char *attached,
			struct json_object *p)
{
	const char *child = member_str(p, "sessionId");
	struct hook *h = NULL;

	(void)attached;
	if (child == NULL || strcmp(child, t->attached) == 0)
		return;
	HASH_FIND_STR(t->session->b->hooks, child, h);
	if (h != NULL && h->tab == t)
		unhook(t->session->b, h);
}

/* ---- events of the browser ---- */

static struct tab *tab_of_target(struct broker *b, const char *target)
{
	struct session *s;
	struct tab *t;

	if (target == NULL)
		return NULL;
	TAILQ_FOREACH(s, &b->sessions, link)
	TAILQ_FOREACH(t, &s->tabs, link)
	if (t->target != NULL && strcmp(t->target, target) == 0)
		return t;
	return NULL;
}

/* Is it a page of a session's that has no tab in the making? */
static bool is_stray(struct broker *b, const char *context)
{
	struct session *s;
	struct tab *t;

	TAILQ_FOREACH(s, &b->sessions, link)
	if (context != NULL && s->context != NULL &&
	    strcmp(s->context, context) == 0)
		break;
	if (s == NULL)
		return false;
	TAILQ_FOREACH(t, &s->tabs, link)
	if (t->target == NULL)
		return false;
	return true;
}

/* Nobody asked for a popup: it goes as it came, and its opener's call tells. */
static void on_created(struct broker *b, struct json_object *p)
{
	struct json_object *info = member(p, "targetInfo");
	const char *type = member_str(info, "type");
	struct tab *opener = tab_of_target(b, member_str(info, "openerId"));
	const char *url = member_str(info, "url");

	if (type == NULL || strcmp(type, "page") != 0 ||
	    tab_of_target(b, member_str(info, "targetId")) != NULL ||
	    (member(info, "openerId") == NULL &&
	     !is_stray(b, member_str(info, "browserContextId"))))
		return;
	send_cdp(b, NULL, "Target.closeTarget",
		 pack("targetId:s", member_str(info, "targetId")));
	log_info("tab", "popup=closed tab=%s",
		 opener == NULL ? "-" : opener->id);
	if (opener == NULL ||
	    json_object_array_length(opener->popups) >= TAB_POPUPS_MAX)
		return;
	json_object_array_add(opener->popups,
			      json_object_new_string(url == NULL ? "" : url));
	wake_calls(opener);
}

static void on_changed(struct broker *b, struct json_object *p)
{
	struct json_object *info = member(p, "targetInfo");
	struct tab *t = tab_of_target(b, member_str(info, "targetId"));

	if (t == NULL)
		return;
	if (member_str(info, "url") != NULL)
		set(&t->url, member_str(info, "url"));
	if (member_str(info, "title") != NULL)
		set(&t->title, member_str(info, "title"));
	wake_calls(t);
}

static void on_crashed(struct broker *b, struct json_object *p)
{
	struct tab *t = tab_of_target(b, member_str(p, "targetId"));

	if (t == NULL)
		return;
	log_warn("tab", "tab=%s session=%s crashed", t->id, t->session->id);
	tab_close(t, "PAGE_CRASHED",
		  "the page's process ended; its tab is closed", true);
}

static void on_destroyed(struct broker *b, struct json_object *p)
{
	struct tab *t = tab_of_target(b, member_str(p, "targetId"));

	if (t != NULL)
		tab_close(t, "PAGE_CRASHED", "the page closed its tab", false);
}

static const struct {
	const char *method;
	void (*of_tab)(struct tab *t, const char *attached,
		       struct json_object *p);
	void (*of_browser)(struct broker *b, struct json_object *p);
} events[] = {
    {"Page.javascriptDialogOpening", on_dialog, NULL},
    {"Network.requestWillBeSent", on_request, NULL},
    {"Network.responseReceived", on_response, NULL},
    {"Network.loadingFinished", on_request_end, NULL},
    {"Network.loadingFailed", on_request_end, NULL},
    {"Page.frameNavigated", on_navigated, NULL},
    {"Page.lifecycleEvent", on_lifecycle, NULL},
    {"Target.attachedToTarget", on_attached, NULL},
    {"Target.detachedFromTarget", on_detached, NULL},
    {"Target.targetCreated", NULL, on_created},
    {"Target.targetInfoChanged", NULL, on_changed},
    {"Target.targetCrashed", NULL, on_crashed},
    {"Target.targetDestroyed", NULL, on_destroyed},
};

void tab_event(struct broker *b, const char *attached, const char *method,
	       struct json_object *params)
{
	struct tab *t = attached == NULL ? NULL : tab_attached(b, attached);

	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		if (strcmp(events[i].method, method) != 0)
			continue;
		if (events[i].of_tab != NULL && t != NULL)
			events[i].of_tab(t, attached, params);
		else if (events[i].of_browser != NULL && attached == NULL)
			events[i].of_browser(b, params);
		return;
	}
}
