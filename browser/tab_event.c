/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tab_event.c - handles Chromium's events about tabs, from cdp.c through
 * chromium.c. Events update struct tab and wake waiting calls; events of
 * unknown tabs, and missing values, are ignored.
 */
#include "browser/browser.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "browser/chromium.h"
#include "proto/json/json_pack.h"

#define ID_BYTES_MAX 256 /* bytes of an id stored from Chromium */

static void set_text(char **to, const char *value)
{
	free(*to);
	*to = xstrdup_opt(value);
}

/* ---- events of a tab ---- */

static void on_dialog(struct tab *t, const char *attached,
		      struct json_object *p)
{
	const char *type = json_member_str(p, "type");
	bool leave = type != NULL && strcmp(type, "beforeunload") == 0;

	send_cdp(t->session->b, attached, "Page.handleJavaScriptDialog",
		 json_pack("accept:b", leave));
}

static void on_request(struct tab *t, const char *attached,
		       struct json_object *p)
{
	const char *id = json_member_str(p, "requestId");
	const char *loader = json_member_str(p, "loaderId");
	const char *type = json_member_str(p, "type");
	const char *frame = json_member_str(p, "frameId");

	(void)attached;
	if (id == NULL || loader == NULL || strlen(id) > ID_BYTES_MAX)
		return;
	if (frame != NULL && strcmp(frame, t->target) == 0 &&
	    strcmp(id, loader) == 0) {
		set_text(&t->asked_loader, loader);
		set_text(&t->asked_url,
			 json_member_str(json_member(p, "request"), "url"));
		t->status = 0;
	}
	/* requests that may stay open as long as the page wants */
	if (type != NULL &&
	    (strcmp(type, "EventSource") == 0 ||
	     strcmp(type, "WebSocket") == 0 || strcmp(type, "Ping") == 0 ||
	     strcmp(type, "Media") == 0))
		return;
	tab_request_begin(t, id, loader);
}

static void on_response(struct tab *t, const char *attached,
			struct json_object *p)
{
	const char *loader = json_member_str(p, "loaderId");
	const char *id = json_member_str(p, "requestId");

	(void)attached;
	if (loader != NULL && id != NULL && t->asked_loader != NULL &&
	    strcmp(loader, t->asked_loader) == 0 && strcmp(id, loader) == 0)
		t->status =
		    (int)json_member_int(json_member(p, "response"), "status");
}

static void on_request_end(struct tab *t, const char *attached,
			   struct json_object *p)
{
	const char *id = json_member_str(p, "requestId");

	(void)attached;
	if (id != NULL)
		tab_request_end(t, id);
	if (t->requests == NULL)
		calls_wake(t->session->b, NULL, t);
}

/* Begin a new document: requests of the old document are forgotten. */
static void on_navigated(struct tab *t, const char *attached,
			 struct json_object *p)
{
	struct json_object *frame = json_member(p, "frame");
	const char *loader = json_member_str(frame, "loaderId");
	const char *url = json_member_str(frame, "url");

	(void)attached;
	if (json_member(frame, "parentId") != NULL || loader == NULL ||
	    url == NULL)
		return;
	t->commits++;
	t->hung = false;
	set_text(&t->loader, loader);
	set_text(&t->url, url);
	tab_requests_keep(t, loader);
	calls_wake(t->session->b, NULL, t);
}

static void on_lifecycle(struct tab *t, const char *attached,
			 struct json_object *p)
{
	const char *frame = json_member_str(p, "frameId");
	const char *name = json_member_str(p, "name");

	(void)attached;
	if (frame == NULL || name == NULL || strcmp(frame, t->target) != 0 ||
	    strcmp(name, "DOMContentLoaded") != 0)
		return;
	set_text(&t->loaded, json_member_str(p, "loaderId"));
	calls_wake(t->session->b, NULL, t);
}

/* Attach a frame in another process, whose requests belong to the page. */
static void on_attached(struct tab *t, const char *attached,
			struct json_object *p)
{
	const char *child = json_member_str(p, "sessionId");
	const char *type =
	    json_member_str(json_member(p, "targetInfo"), "type");

	(void)attached;
	if (child == NULL || type == NULL || strcmp(type, "iframe") != 0 ||
	    tab_attached(t->session->b, child) != NULL)
		return;
	tab_hook(t, child);
	send_cdp(t->session->b, child, "Page.enable", NULL);
}

static void on_detached(struct tab *t, const char *attached,
			struct json_object *p)
{
	const char *child = json_member_str(p, "sessionId");

	(void)attached;
	if (child != NULL && strcmp(child, t->attached) != 0)
		tab_unhook(t, child);
}

/* ---- events of the browser ---- */

static struct tab *tab_of_target(struct browser *b, const char *target)
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

/* Is the page in CONTEXT a stray: does no tab of its session await a page? */
static bool is_stray(struct browser *b, const char *context)
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

/* Close a popup at once, and record it for the answer of the call. */
static void on_created(struct browser *b, struct json_object *p)
{
	struct json_object *info = json_member(p, "targetInfo");
	const char *type = json_member_str(info, "type");
	struct tab *opener =
	    tab_of_target(b, json_member_str(info, "openerId"));
	const char *url = json_member_str(info, "url");

	if (type == NULL || strcmp(type, "page") != 0 ||
	    tab_of_target(b, json_member_str(info, "targetId")) != NULL ||
	    (json_member(info, "openerId") == NULL &&
	     !is_stray(b, json_member_str(info, "browserContextId"))))
		return;
	send_cdp(b, NULL, "Target.closeTarget",
		 json_pack("targetId:s", json_member_str(info, "targetId")));
	log_info("tab", "popup=closed tab=%s requestor=%s",
		 opener == NULL ? "-" : opener->id,
		 opener == NULL ? "-" : opener->session->requestor);
	if (opener == NULL ||
	    json_object_array_length(opener->popups) >= TAB_POPUPS_MAX)
		return;
	json_object_array_add(opener->popups,
			      json_object_new_string(url == NULL ? "" : url));
	calls_wake(opener->session->b, NULL, opener);
}

static void on_changed(struct browser *b, struct json_object *p)
{
	struct json_object *info = json_member(p, "targetInfo");
	struct tab *t = tab_of_target(b, json_member_str(info, "targetId"));

	if (t == NULL)
		return;
	if (json_member_str(info, "url") != NULL)
		set_text(&t->url, json_member_str(info, "url"));
	if (json_member_str(info, "title") != NULL)
		set_text(&t->title, json_member_str(info, "title"));
	calls_wake(t->session->b, NULL, t);
}

static void on_crashed(struct browser *b, struct json_object *p)
{
	struct tab *t = tab_of_target(b, json_member_str(p, "targetId"));

	if (t == NULL)
		return;
	log_warn("tab", "tab=%s session=%s crashed", t->id, t->session->id);
	tab_close(t, chromium_death_code(b->chromium),
		  "the page's process ended; its tab is closed", true);
}

static void on_destroyed(struct browser *b, struct json_object *p)
{
	struct tab *t = tab_of_target(b, json_member_str(p, "targetId"));

	if (t != NULL)
		tab_close(t, "PAGE_CRASHED", "the page closed its tab", false);
}

static const struct {
	const char *method;
	void (*of_tab)(struct tab *t, const char *attached,
		       struct json_object *p);
	void (*of_browser)(struct browser *b, struct json_object *p);
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

void tab_event(struct browser *b, const char *attached, const char *method,
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
