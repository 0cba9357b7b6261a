/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_run.c - a run's calls of the browser, and the session made by its
 * tabs. server.c passes the questions of workers here. A call which is not
 * granted is answered as a refusal, which the template can catch; the end of
 * the run is reported to paddock-browser.
 */
#include "supervisor/browser/browser_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/audit.h"
#include "supervisor/packages/grants/grants_lacked.h"
#include "supervisor/packages/grants/grants.h"

#define KEEP "keep_session" /* an action for runs alone, not for clients */

/* A call without an answer yet. */
struct pending {
	struct browser_run *of;
	uint32_t seq;
	const struct browser_proto_action *action;
	struct browser_rpc_call *call;
	LIST_ENTRY(pending) link;
};

/* A run with calls of the browser; run.browser. */
struct browser_run {
	struct browser *browser;
	struct run *run; /* borrowed */
	struct run_watch watch;
	LIST_HEAD(pendings, pending) pending;
	char own[ID_SIZE]; /* the session made by the run's tabs, or "" */
};

static void pending_free(struct pending *p)
{
	LIST_REMOVE(p, link);
	free(p);
}

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct browser_run *br = CONTAINER(w, struct browser_run, watch);
	struct pending *p, *next;

	/* queued: the worker is gone, and a new worker will come */
	if (n->kind != NOTICE_RECORDED && n->kind != NOTICE_RELEASED &&
	    r->state != RUN_QUEUED)
		return;
	for (p = LIST_FIRST(&br->pending); p != NULL; p = next) {
		next = LIST_NEXT(p, link);
		browser_process_forget(p->call);
		pending_free(p);
	}
	if (browser_process_is_running(br->browser->process))
		browser_tell(br->browser, "run_ended", "run", r->id);
	run_watch_del(&br->watch);
	r->job.browser = NULL;
	free(br);
}

static struct browser_run *browser_of(struct browser *b, struct run *r)
{
	struct browser_run *br = r->job.browser;

	if (br != NULL)
		return br;
	br = r->job.browser = xcalloc(1, sizeof(*br));
	br->browser = b;
	br->run = r;
	br->watch.on_notice = on_notice;
	LIST_INIT(&br->pending);
	run_watch_add(r, &br->watch);
	return br;
}

/* Note the session which the run has made or keeps. */
static void note_session(struct browser_run *br,
			 const struct browser_proto_action *action,
			 struct json_object *result)
{
	bool keeps = strcmp(action->name, KEEP) == 0;
	struct run *r = br->run;
	const char *id;

	if (!keeps && strcmp(action->name, "create_tab") != 0)
		return;
	id = json_member_str(result, "sessionId");
	if (id != NULL && id_ok(id, BROWSER_PROTO_SESSION)) {
		snprintf(br->own, sizeof(br->own), "%s", id);
		if (keeps && r->session_id == NULL)
			r->session_id = xstrdup(id);
	}
}

/* Note the host that R was refused for the lack of a grant, if A says so. */
static void note_refused_host(struct run *r, const struct browser_rpc_answer *a)
{
	struct json_object *details = json_member(a->body, "details");
	const char *host = json_member_str(details, "host");

	if (!a->ok && host != NULL && json_member_is(details, "key", "hosts"))
		grants_lacked_add(&r->lacked, "hosts", host);
}

static void run_answered(void *arg, const struct browser_rpc_answer *a)
{
	struct pending *p = arg;
	struct browser_run *br = p->of;
	struct run *r = br->run;
	uint32_t seq = p->seq;

	if (a->ok)
		note_session(br, p->action, a->body);
	note_refused_host(r, a);
	audit_browser(r->requestor, r->id, p->action->name,
		      a->ok ? NULL : "failed");
	pending_free(p);
	worker_answer_question(r, seq, a->ok, a->json, a->len);
}

/*
 * May R name session ID? A template may not use other sessions of its
 * requestor.
 */
static bool is_its_session(const struct run *r, const char *id)
{
	return (r->session_id != NULL && strcmp(r->session_id, id) == 0) ||
	       (r->job.browser != NULL && strcmp(r->job.browser->own, id) == 0);
}

/* Return why R may not ASK, or NULL. */
static const char *call_refusal(const struct browser *b, struct run *r,
				const struct worker_question *ask)
{
	struct json_object *given = json_member(ask->params, "sessionId");
	const char *no;

	if (browser_proto_action(ask->tool) == NULL)
		return "there is no such tool to be called";
	no = grants_tool(r->template, b->ctx->config, ask->tool);
	if (no != NULL) {
		grants_lacked_add(&r->lacked, "tools", ask->tool);
		return no;
	}
	if (strcmp(ask->tool, "list_sessions") == 0)
		return "a template knows its own session alone; clients may "
		       "list them";
	if (json_object_is_type(given, json_type_string) &&
	    !is_its_session(r, json_object_get_string(given)))
		return "sessionId is neither the session that the run was "
		       "given nor one that it made";
	return browser_lacks(b->ctx->config);
}

void browser_ask(struct browser *b, struct run *r,
		 const struct worker_question *ask)
{
	const char *no = call_refusal(b, r, ask);
	int64_t ms = run_left_ms(r);
	struct json_object *body;
	struct pending *p;

	if (ms < 1)
		ms = 1;
	if (ms > BROWSER_PROTO_TIMEOUT_MAX)
		ms = BROWSER_PROTO_TIMEOUT_MAX;
	if (no != NULL) {
		audit_browser(r->requestor, r->id, ask->tool,
			      "CALL_NOT_ALLOWED");
		worker_refuse_question(r, ask, no);
		return;
	}
	r->requestor->browses = true;
	p = xcalloc(1, sizeof(*p));
	p->of = browser_of(b, r);
	p->seq = ask->seq;
	p->action = browser_proto_action(ask->tool);
	LIST_INSERT_HEAD(&p->of->pending, p, link);
	body = browser_body(r->requestor, r->trust, r, ask->params, ms);
	/*
	 * the hosts granted now: a grant may have been withdrawn since the
	 * start
	 */
	json_add(body, "hosts:o", grants_hosts(r->template, b->ctx->config));
	p->call = browser_process_ask(b->process, ask->tool, body, ms,
				      run_answered, p);
}

void browser_drop(struct run *r, uint32_t seq)
{
	struct pending *p;

	if (r->job.browser == NULL)
		return;
	LIST_FOREACH(p, &r->job.browser->pending, link)
		if (p->seq == seq)
			break;
	if (p == NULL)
		return;
	browser_process_forget(p->call);
	pending_free(p);
}
