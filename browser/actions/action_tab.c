/* SPDX-License-Identifier: Apache-2.0 */
/*
 * action_tab.c - create_tab, navigate, close_tab, keep_session, close_session
 * and list_sessions, run in a call's fiber. A URL that is forbidden or
 * unreachable is the call's fault, with the reason; a tab and session made for
 * the call are closed again. Another requestor's session is SESSION_NOT_FOUND.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "browser/browser.h"
#include "browser/net/host_grants.h"
#include "net/net_deny.h"
#include "browser/session_access.h"
#include "proto/json/json_pack.h"

static int not_allowed(struct call *c, enum url_trust trust, const char *url,
		       const char *errmsg)
{
	const char *level = trust == URL_LOCAL ? "local" : "remote";
	struct url_place at;

	c->b->refusals++;
	/* only the host is logged: the rest may be secret */
	url_policy_url(url, URL_LOCAL, &at);
	log_warn("policy", "requestor=%s run=%s refused=\"%s\" reason=\"%s\"",
		 c->requestor, c->of_run == NULL ? "-" : c->of_run, at.host,
		 errmsg);
	if (host_grants_refuses(errmsg))
		return call_fault(
		    c, "URL_NOT_ALLOWED",
		    json_pack(
			"url:s host:s reason:s key:s whoCanGrant:s", url,
			at.host, errmsg, "hosts",
			"the operator, by hosts in the [grant] of the template "
			"in paddock.conf"),
		    "%.200s is not opened: %s; the operator can grant it, by "
		    "hosts = %s in its [grant] of paddock.conf",
		    url, errmsg, at.host);
	return call_fault(
	    c, "URL_NOT_ALLOWED",
	    json_pack("url:s reason:s trustLevel:s", url, errmsg, level),
	    "%.200s is not allowed at trust level %s: %s", url, level, errmsg);
}

/* Report the fault of the page's last request, which may follow a redirect. */
static int unreached(struct call *c, const char *url, const char *error,
		     int64_t since)
{
	const char *last = c->tab->asked_url;
	const struct failure *f = NULL;
	struct url_place at;

	if (last == NULL)
		last = url;
	url_policy_url(last, URL_LOCAL, &at);
	f = session_failure(c->session, at.host, at.port, since);
	if (f == NULL) {
		last = url;
		url_policy_url(url, URL_LOCAL, &at);
		f = session_failure(c->session, at.host, at.port, since);
	}
	if (f != NULL && f->policy)
		return not_allowed(c, c->session->trust, last, f->errmsg);
	return call_fault(c, "EXECUTION_ERROR",
			  json_pack("netError:s url:s reason?s", error, last,
				    f == NULL ? NULL : f->errmsg),
			  "%.200s was not reached: %s", last,
			  f == NULL ? error : f->errmsg);
}

static int too_late(struct call *c, const char *url, int64_t timeout)
{
	send_cdp(c->b, c->tab->attached, "Page.stopLoading", NULL);
	return call_fault(c, "NAVIGATION_TIMEOUT",
			  json_pack("url:s timeoutMs:i", url, timeout),
			  "%.200s did not come within %lld ms", url,
			  (long long)timeout);
}

/* Ask Chromium for URL and title: the page may be too busy to answer. */
static int get_place(struct call *c, char **url, char **title)
{
	struct json_object *r, *info;

	r = call_cdp(c, NULL, "Target.getTargetInfo",
		     json_pack("targetId:s", c->tab->target));
	info = json_member(r, "targetInfo");
	if (info == NULL) {
		json_object_put(r);
		return -1;
	}
	*url = xstrdup_opt(json_member_str(info, "url"));
	*title = xstrdup_opt(json_member_str(info, "title"));
	json_object_put(r);
	return 0;
}

struct arrival {
	bool partial; /* the document was not complete in time */
	int status;   /* HTTP status; 0: unknown */
	char *url, *title;
};

static void arrival_fini(struct arrival *a)
{
	free(a->url);
	free(a->title);
}

/*
 * Wait until the document of LOADER is complete, or UNTIL. When a script of the
 * document navigates, the next document counts. COMMITS is the count before the
 * navigation.
 */
static int await_document(struct call *c, const char *loader, unsigned commits,
			  int64_t until, struct arrival *a)
{
	struct tab *t = c->tab;

	for (;;) {
		bool ours = t->commits == commits + 1;
		const char *want = ours ? loader : t->loader;

		if (t->commits != commits && t->loaded != NULL &&
		    want != NULL && strcmp(t->loaded, want) == 0)
			return 0;
		if (clock_mono_ms() >= until) {
			a->partial = true;
			return 0;
		}
		if (call_wait(c, until) < 0)
			return -1;
	}
}

/*
 * Return why URL is forbidden, or NULL. The session's trust and hosts bind
 * every call; a run's own hosts bind its calls, too.
 */
static const char *refused_reason(struct call *c, const char *url)
{
	const char *errmsg = net_deny_url(url, c->session->trust);
	struct url_place at;

	if (errmsg != NULL)
		return errmsg;
	url_policy_url(url, c->session->trust, &at);
	if (c->hosts != NULL)
		errmsg = host_grants_host(c->hosts, at.host, at.port);
	session_access_sent(c, at.host, at.port);
	return errmsg != NULL
		   ? errmsg
		   : session_access_reach(c->session, at.host, at.port, NULL);
}

static int navigate(struct call *c, const char *url, int64_t timeout,
		    struct arrival *a)
{
	int64_t since = clock_mono_ms(), until = since + timeout;
	struct json_object *r;
	unsigned commits = c->tab->commits;
	const char *errmsg, *error, *loader;
	char *own = NULL;
	int rc = 0;

	*a = (struct arrival){0};
	errmsg = refused_reason(c, url);
	if (errmsg != NULL)
		return not_allowed(c, c->session->trust, url, errmsg);
	if (c->of_run != NULL)
		session_access_led(c, true); /* the document may come after our
					     wait */
	/* a script that never ends would block the next document */
	if (c->tab->hung)
		send_cdp(c->b, c->tab->attached, "Runtime.terminateExecution",
			 NULL);
	r = call_cdp_try(c, c->tab->attached, "Page.navigate",
			 json_pack("url:s", url), until, &errmsg);
	if (r == NULL) {
		if (errmsg == NULL)
			return -1;
		return *errmsg == '\0'
			   ? too_late(c, url, timeout)
			   : call_fault(
				 c, "EXECUTION_ERROR",
				 json_pack("url:s netError:s", url, errmsg),
				 "%.200s: %s", url, errmsg);
	}
	error = json_member_str(r, "errorText");
	loader = json_member_str(r, "loaderId");
	if (error != NULL && *error != '\0' &&
	    strcmp(error, "net::ERR_HTTP_RESPONSE_CODE_FAILURE") != 0)
		rc = unreached(c, url, error, since);
	else if (loader != NULL) { /* NULL: navigated within the document */
		own = xstrdup(loader);
		if (error == NULL || *error == '\0')
			rc = await_document(c, own, commits, until, a);
	}
	json_object_put(r);
	free(own);
	if (rc < 0)
		return -1;
	if (c->of_run == NULL && c->tab->commits != commits)
		session_access_led(c, true);
	a->status = c->tab->status;
	return get_place(c, &a->url, &a->title);
}

static struct json_object *arrival_status(const struct arrival *a)
{
	return a->status == 0 ? NULL : json_object_new_int(a->status);
}

int action_navigate(struct call *c)
{
	struct arrival a;

	if (navigate(c, arg_str(c, "url"), arg_int(c, "timeoutMs"), &a) < 0)
		return -1;
	c->result = json_pack("success:b partial:b statusCode?o page:o",
			      !a.partial && a.status < 400, a.partial,
			      arrival_status(&a),
			      json_pack("url:s title:s", a.url, a.title));
	arrival_fini(&a);
	return 0;
}

int action_create_tab(struct call *c)
{
	const char *url = arg_str(c, "url");
	struct arrival a = {0};
	char id[ID_SIZE], session[ID_SIZE] = "";
	struct url_place at;
	const char *errmsg;

	/* checked while there is nothing to undo */
	errmsg = url == NULL ? NULL : net_deny_url(url, c->trust);
	if (errmsg == NULL && url != NULL && c->hosts != NULL &&
	    url_policy_url(url, c->trust, &at) == NULL)
		errmsg = host_grants_host(c->hosts, at.host, at.port);
	if (errmsg != NULL)
		return not_allowed(c, c->trust, url, errmsg);
	if (session_enter(c, arg_str(c, "sessionId"), true) < 0)
		return -1;
	if (c->of_run == NULL && c->session->n_tabs == 0 &&
	    arg_str(c, "sessionId") == NULL && c->in_session == NULL)
		memcpy(session, c->session->id, sizeof(session));
	if (tab_open(c) < 0) {
		session_undo(c, session);
		return -1;
	}
	memcpy(id, c->tab->id, sizeof(id));
	if (url != NULL && navigate(c, url, arg_int(c, "timeoutMs"), &a) < 0) {
		arrival_fini(&a);
		tab_undo(c, id);
		session_undo(c, session);
		return -1;
	}
	c->result =
	    json_pack("tabId:s sessionId:s url:s title?s partial:b "
		      "statusCode?o",
		      id, c->session->id, a.url == NULL ? "about:blank" : a.url,
		      a.title, a.partial, arrival_status(&a));
	arrival_fini(&a);
	return 0;
}

int action_close_tab(struct call *c)
{
	struct tab *t = c->tab;

	c->tab = NULL;
	tab_close(t, "SESSION_NOT_FOUND", "its tab was closed", true);
	return 0;
}

int action_keep_session(struct call *c)
{
	if (session_enter(c, NULL, false) < 0)
		return -1;
	c->session->kept = true;
	c->result = json_pack("sessionId:s", c->session->id);
	return 0;
}

int action_close_session(struct call *c)
{
	struct session *s;

	if (session_enter(c, arg_str(c, "sessionId"), false) < 0)
		return -1;
	s = c->session;
	c->session = NULL;
	session_close(s, "SESSION_NOT_FOUND", "close_session closed it", true);
	return 0;
}

int action_list_sessions(struct call *c)
{
	struct json_object *all = json_object_new_array();
	struct session *s;

	TAILQ_FOREACH(s, &c->b->sessions, link)
		if (session_is_of(s, c))
			json_object_array_add(all, session_view(s));
	c->result = json_pack("sessions:o", all);
	return 0;
}
