/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run.c - run_task_template, and a template's own tool, from tools.c
 * on. Whatever is wrong with what is asked for is refused to the call.
 */
#include "supervisor/tools/tool_run_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/audit.h"
#include "supervisor/browser/browser.h"
#include "supervisor/session/run_response.h"
#include "supervisor/run/task_json.h"
#include "supervisor/session/task_notify.h"
#include "supervisor/tools/tools.h"
#include "supervisor/run/run_json.h"

#define ASKED_RETRY_MS 200

static void ask_free(void *state)
{
	struct ask *ask = state;

	template_unref(ask->template);
	json_object_put(ask->token);
	free(ask);
}

/* ---- showing a run that has ended ---- */

static bool ended_badly(const struct run *r)
{
	return r->state == RUN_FAILED || r->state == RUN_CANCELED;
}

static void late_view(struct call *c, const struct store_run *row)
{
	const struct ask *ask = c->state;

	call_answer(c, &(struct answer_source){.id = row->id,
					       .status = row->status,
					       .form = STORE_TASK_VIEW,
					       .deduplicated = ask->deduplicated,
					       .view = row->view});
}

/* run_task_template: exactly what get_task_run gives. */
static void present_view(struct call *c, struct run *r)
{
	const struct ask *ask = c->state;

	if (!call_late(c, r, late_view))
		call_answer(c, &(struct answer_source){
				   .id = r->id,
				   .status = run_stored_status(r),
				   .form = STORE_TASK_VIEW,
				   .deduplicated = ask->deduplicated,
				   .view = r->view});
}

static void late_output(struct call *c, const struct store_run *row)
{
	call_answer(c, &(struct answer_source){
			   .id = row->id,
			   .status = row->status,
			   .form = STORE_TASK_OUTPUT,
			   .promised = call_promised(c, row->template_id),
			   .view = row->view});
}

static void late_reply(struct call *c, const struct store_run *row)
{
	call_answer(c, &(struct answer_source){
			   .id = row->id,
			   .status = row->status,
			   .form = STORE_TASK_REPLY,
			   .promised = call_promised(c, row->template_id),
			   .view = row->view});
}

/* A template's own tool: its plain output, or its reply. */
static void present_output(struct call *c, struct run *r)
{
	bool reply = r->is_reply && r->result != NULL;

	if (ended_badly(r) && !(reply && r->state == RUN_FAILED))
		call_audit_refused(c, r->error.code);
	if (!call_late(c, r, reply ? late_reply : late_output))
		call_answer(c, &(struct answer_source){
				   .id = r->id,
				   .status = run_stored_status(r),
				   .form = reply ? STORE_TASK_REPLY
						 : STORE_TASK_OUTPUT,
				   .promised = call_promised(c, r->template->id),
				   .view = r->view});
}

/* ---- answering before it has ended ---- */

void make_deduplicated(struct json_object *o)
{
	json_object_object_add(o, "deduplicated", json_object_new_boolean(true));
}

void make_deduplicated_meta(struct json_object *meta)
{
	json_object_object_add(meta, "paddock/deduplicated",
			       json_object_new_boolean(true));
}

/* What is handed out now may be gone before its end is asked for: NULL, or so. */
static const char *mortal(const struct call *c)
{
	return c->server->with_client
		   ? "This server serves your client alone, over stdio: it ends "
		     "with it, and then this run is ended, too. For runs that "
		     "outlive their client start the daemon, paddockd, and "
		     "point the client to its socket or URL."
		   : NULL;
}

static void answer_handle(struct call *c, struct run *r)
{
	const struct ask *ask = c->state;
	struct json_object *v = view_handle(r);

	if (ask->deduplicated)
		make_deduplicated(v);
	call_tool_noted(c, v, mortal(c));
}

/*
 * The CreateTaskResult, and from then on what is told of the task unasked.
 * FEED: R goes on.
 */
static void answer_created(struct call *c, struct run *r, bool feed)
{
	struct ask *ask = c->state;
	struct json_object *token = json_object_get(ask->token);
	struct json_object *result = task_created(r, mortal(c));
	struct session *s = c->session;

	if (ask->deduplicated)
		make_deduplicated_meta(json_member(result, "_meta"));
	else
		audit_task("task_created", s->requestor, r->id, NULL);
	call_result(c, result);
	if (feed && r->task.feed == NULL)
		task_feed_start(s, r, token);
	json_object_put(token);
}

/* One that was asked for again has ended before its row was there. */
static void present_created(struct call *c, struct run *r)
{
	answer_created(c, r, false);
}

/* What was asked for is made: its handle, or its task. R goes on. */
void make_answer(struct call *c, struct run *r)
{
	if (c->as_task)
		answer_created(c, r, true);
	else
		answer_handle(c, r);
}

/* It takes too long to wait in line: what is handed out must be durable. */
void make_inline_wait(evutil_socket_t fd, short what, void *arg)
{
	struct call *c = arg;
	const struct ask *ask = c->state;
	struct run *r = c->run;

	(void)fd, (void)what;
	if (r == NULL)
		return;
	if (!r->durable) {
		call_after(c, NOT_DURABLE_RETRY_MS, make_inline_wait);
		return;
	}
	if (ask->mode == MODE_AUTO && !c->as_task &&
	    r->state == RUN_AWAITING_INPUT) { /* of who waits in line */
		call_after(c, ASKED_RETRY_MS, make_inline_wait);
		return;
	}
	call_unwatch(c);
	make_answer(c, r);
}

void make_wait(struct call *c, struct run *r)
{
	const struct ask *ask = c->state;
	int64_t inline_ms = c->session->server->config->inline_wait_ms;

	call_watch(c, r);
	if (ask->template->stream_poll)
		session_part(c->session, c->route);
	if (ask->mode != MODE_SYNC)
		call_after(c, ask->mode == MODE_AUTO ? inline_ms : 0,
			   make_inline_wait);
}

static void on_promised(void *arg, struct run *r, const char *why)
{
	struct refusal refusal = {0};
	struct call *c = arg;

	if (!call_release(c))
		return;
	call_unwatch(c);
	if (why == NULL) {
		make_answer(c, r);
		return;
	}
	refuse(&refusal, "STORE_UNAVAILABLE", admit_store_details(),
	       "the run was not started, since it cannot be recorded: %s", why);
	call_refuse(c, &refusal);
}

/* ---- making a run ---- */

void make_run(struct call *c)
{
	struct session *s = c->session;
	struct ask *ask = c->state;
	struct refusal refusal = {0};
	bool async = ask->mode == MODE_ASYNC || c->as_task;
	struct run *r;

	ask->wish.promised = async;
	ask->wish.inputs_text = c->msg.inputs;
	ask->wish.inputs_len = c->msg.inputs_len;
	if (async)
		call_hold(c);
	r = runs_create(server_runs(s->server), s->requestor, ask->template,
			ask->inputs, &ask->wish, on_promised, c, &refusal);
	if (r != NULL)
		c->msg.inputs = NULL;
	if (r == NULL) {
		if (async)
			call_release(c);
		call_refuse(c, &refusal);
	} else if (async) {
		call_watch(c, r); /* a cancel finds the run by this */
	} else {
		make_wait(c, r);
	}
}

/* ---- what was asked for ---- */

static void refuse_template(struct refusal *r, const struct requestor *q,
			    const struct catalogue *cat, const char *id,
			    const char *range)
{
	const char *near = tools_nearest(q, cat, id);
	struct json_object *d, *list;

	if (catalogue_newest(cat, id) == NULL || !requestor_sees(q, id)) {
		refuse(r, "TEMPLATE_NOT_FOUND", NULL,
		       near != NULL ? "there is no template \"%.64s\"; did you "
				      "mean \"%s\"?"
				    : "there is no template \"%.64s\"",
		       id, near);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < cat->n; i++)
		if (strcmp(cat->all[i]->id, id) == 0)
			json_object_array_add(
			    list,
			    json_object_new_string(cat->all[i]->version_text));
	d = json_object_new_object();
	json_object_object_add(d, "available", list);
	refuse(r, "TEMPLATE_VERSION_UNSUPPORTED", d,
	       "no installed version of %s is \"%.64s\"", id, range);
}

static bool check_trust(struct refusal *r, const struct template *t,
			enum template_trust trust)
{
	if ((t->trust & trust) != 0)
		return true;
	refuse(r, "TRUST_LEVEL_NOT_ALLOWED", NULL,
	       "this connection's trust level is %s, and %s is for %s alone (its "
	       "trustLevelSupport)",
	       trust_name(trust), t->id, trust_name(t->trust));
	return false;
}

static enum template_mode settle_mode(const struct template *t,
				      struct json_object *inputs,
				      const char *asked)
{
	if (asked != NULL && strcmp(asked, "sync") == 0)
		return MODE_SYNC;
	if (asked != NULL && strcmp(asked, "async") == 0)
		return MODE_ASYNC;
	if (t->mode == MODE_AUTO && template_auto_async(t, inputs))
		return MODE_ASYNC;
	return t->mode;
}

/* It outlives the message, which a thread may let go. */
static struct json_object *copy_of(struct json_object *token)
{
	struct json_object *copy = NULL;

	if (token != NULL && json_object_deep_copy(token, &copy, NULL) < 0)
		abort();
	return copy;
}

static void submit(struct call *c, struct template *t,
		   struct json_object *inputs, struct json_object *options,
		   const char *session_id,
		   void (*present)(struct call *, struct run *))
{
	struct ask *ask = xcalloc(1, sizeof(*ask));

	c->state = ask;
	c->state_free = ask_free;
	c->present = c->as_task ? present_created : present;
	ask->template = template_ref(t);
	ask->inputs = inputs;
	ask->mode = settle_mode(t, inputs, json_member_str(options, "mode"));
	ask->wish = (struct run_wish){
	    .timeout_ms = json_object_get_int64(json_member(options, "timeoutMs")),
	    .ttl_ms = json_object_get_int64(json_member(options, "ttlMs")),
	    .idem_key = json_member_str(options, "idempotencyKey"),
	    .session_id = session_id,
	    .trust = session_trust(c->session),
	};
	if (c->as_task) { /* its progress is the task's, not this call's */
		ask->wish.task = present == present_view ? STORE_TASK_VIEW
							 : STORE_TASK_OUTPUT;
		ask->wish.task_ttl_ms = c->task_ttl_ms;
		ask->token = copy_of(c->progress.token);
		c->progress.token = NULL;
	}
	if (ask->wish.idem_key != NULL)
		make_once(c);
	else
		make_run(c);
}

/* A task is as asynchronous as can be: which of the two is meant? */
static bool check_mode(struct refusal *r, const struct call *c,
		       struct json_object *options)
{
	const char *mode = json_member_str(options, "mode");
	struct schema_error err = {
	    .pointer = "/options/mode",
	    .keyword = "enum",
	    .expected = "\"auto\" or \"sync\", or no params.task",
	    .text = "/options/mode is \"async\", but the call is a task "
		    "already; leave one of them out"};

	if (!c->as_task || mode == NULL || strcmp(mode, "async") != 0)
		return true;
	contract_invalid(r, "", &err);
	return false;
}

static void no_session(struct call *c, const char *id)
{
	struct refusal r = {0};

	refuse(&r, "SESSION_NOT_FOUND", NULL,
	       "you have no browser session \"%.64s\"; leave sessionId out",
	       id);
	call_refuse(c, &r);
}

/* ---- what C asks for ---- */

/* What C asks for may be run; its session is there, or it names none. */
static void submit_view(struct call *c, struct template *t)
{
	struct json_object *args = json_member(c->msg.params, "arguments");

	submit(c, t, json_member(args, "inputs"), json_member(args, "options"),
	       json_member_str(args, "sessionId"), present_view);
}

static void check_view(struct call *c, struct template *t,
		       struct json_object *args)
{
	make_check_inputs(c, &(struct make_inputs){.template = t,
						   .in = args,
						   .key = "inputs",
						   .prefix = "/inputs",
						   .pass = submit_view});
}

/* What ARGS ask for, when it may be run; else C has been answered. */
static struct template *wanted(struct call *c, struct json_object *args)
{
	const struct catalogue *cat = c->session->server->catalogue;
	const char *id = json_member_str(args, "templateId");
	const char *range = json_member_str(args, "templateVersion");
	struct template *t = catalogue_find(cat, id, range);
	const struct requestor *q = c->session->requestor;
	struct refusal r = {0};

	if (t == NULL || !tools_visible(q, t))
		refuse_template(&r, q, cat, id, range);
	else if (check_mode(&r, c, json_member(args, "options")) &&
		 check_trust(&r, t, session_trust(c->session)))
		return t;
	call_refuse(c, &r);
	return NULL;
}

/* The templates may have been reloaded since it was looked for. */
static void on_session(struct call *c, bool found)
{
	struct json_object *args = json_member(c->msg.params, "arguments");
	struct template *t;

	if (!found) {
		no_session(c, json_member_str(args, "sessionId"));
		return;
	}
	t = wanted(c, args);
	if (t != NULL)
		check_view(c, t, args);
}

void contract_run_template(struct call *c, struct json_object *args)
{
	const char *session_id = json_member_str(args, "sessionId");
	struct template *t = wanted(c, args);

	if (t == NULL)
		return;
	if (session_id != NULL)
		browser_find_session(c, session_id, on_session);
	else
		check_view(c, t, args);
}

static void submit_output(struct call *c, struct template *t)
{
	submit(c, t, json_member(c->msg.params, "arguments"), NULL, NULL,
	       present_output);
}

void contract_call_template(struct call *c, struct template *t,
			    struct json_object *args)
{
	(void)args;
	make_check_inputs(c, &(struct make_inputs){.template = t,
						   .in = c->msg.params,
						   .key = "arguments",
						   .prefix = "",
						   .pass = submit_output});
}
