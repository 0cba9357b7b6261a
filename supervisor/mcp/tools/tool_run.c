/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run.c - run_task_template, and the tool of a template, called from
 * tools.c. A fault in the call is answered as a refusal.
 */
#include "supervisor/mcp/tools/tool_run_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/session/response.h"
#include "supervisor/run/requestor/admission.h"
#include "supervisor/run/audit.h"
#include "supervisor/browser/browser.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/mcp/input/input_request.h"
#include "supervisor/mcp/input/input_required.h"
#include "supervisor/mcp/tools/tools.h"
#include "supervisor/run/run_json.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/run/threads/rpc_async.h"

#define ANSWERED_MS 200 /* time for a run to end before a handle is sent */

static void tool_run_args_free(void *state)
{
	struct tool_run_args *ask = state;

	if (ask->proxied != NULL)
		ask->cluster->wait_over(ask->proxied, false);
	template_unref(ask->template);
	run_files_free(ask->files);
	json_object_put(ask->token);
	json_object_put(ask->wish.task_capabilities);
	free(ask);
}

/* ---- showing a run that has ended ---- */

static bool ended_badly(const struct run *r)
{
	return r->state == RUN_FAILED || r->state == RUN_CANCELED;
}

void tool_run_present_row(struct request *c, const struct store_run *row)
{
	const struct tool_run_args *ask = c->state;
	struct json_object *made = row->view == NULL ? run_json_row(row) : NULL;

	response_run(
	    c, &(struct run_result_source){
		   .id = row->id,
		   .status = row->status,
		   .form = ask->form,
		   .deduplicated = ask->deduplicated,
		   .promised = response_has_schema(c, row->template_id),
		   .view = made == NULL ? row->view : json_text(made, NULL)});
	json_object_put(made);
}

/*
 * Has R failed because C's client did not declare that it can be asked? Where
 * each request declares capabilities, the answer is a protocol error.
 */
static bool lacks_capability(struct request *c, const struct run *r)
{
	const char *path = NULL;

	if (r->state == RUN_FAILED &&
	    mcp_has(c->terms->revision, MCP_STATELESS))
		path = input_request_undeclared(r->error.details, c->terms);
	if (path == NULL)
		return false;
	request_error(c, RPC_MISSING_CAPABILITY, mcp_missing_capability(path),
		      "%s cannot do without asking its client: %s",
		      r->template->id, r->error.message);
	return true;
}

/*
 * Answer C with the ended run R. run_task_template: as get_task_run; a
 * template's own tool: the plain output, or the reply.
 */
static void present(struct request *c, struct run *r)
{
	struct tool_run_args *ask = c->state;
	bool reply = r->output.is_reply && r->output.value != NULL;

	if (ask->form == STORE_TASK_OUTPUT) {
		if (ended_badly(r) && !(reply && r->state == RUN_FAILED))
			request_audit_refused(c, r->error.code);
		if (lacks_capability(c, r))
			return;
		if (reply)
			ask->form = STORE_TASK_REPLY;
	}
	if (!request_defer(c, r))
		response_run(
		    c, &(struct run_result_source){
			   .id = r->id,
			   .status = run_stored_status(r),
			   .form = ask->form,
			   .deduplicated = ask->deduplicated,
			   .promised = response_has_schema(c, r->template->id),
			   .view = r->view});
}

/* ---- answering before it has ended ---- */

void tool_run_deduplicated(struct json_object *o)
{
	json_add(o, "deduplicated:b", true);
}

void tool_run_deduplicated_meta(struct json_object *meta)
{
	json_object_object_add(meta, "paddock/deduplicated",
			       json_object_new_boolean(true));
}

const char *tool_run_mortal(const struct request *c)
{
	return c->ctx->with_client
		   ? "This server serves your client alone, over stdio: it ends "
		     "with it, and then this run is ended, too. For runs that "
		     "outlive their client start the daemon, paddockd, and "
		     "point the client to its socket or URL."
		   : NULL;
}

/* Return the note for a handle, or NULL. */
static const char *note_of(const struct request *c)
{
	const struct tool_run_args *ask = c->state;

	return ask->left ? "This server is being stopped and has not begun the "
			   "run: the next server has it and will start it. Ask "
			   "for it by its id; calling again would run it twice."
	       : ask->abroad
		   ? "This server is being stopped, and another has the run, "
		     "which goes on: ask for it by its id; calling again would "
		     "run it twice."
		   : tool_run_mortal(c);
}

static void answer_handle(struct request *c, struct run *r)
{
	const struct tool_run_args *ask = c->state;
	struct json_object *v = run_json_handle(r);

	r->job.has_handle = true;
	if (ask->deduplicated)
		tool_run_deduplicated(v);
	response_tool_result_noted(c, v, note_of(c));
}

/* Answer with the task: the run of an earlier call ended before its row. */
static void present_created(struct request *c, struct run *r)
{
	tool_run_created(c, r, false);
}

/* Answer C with the task or the handle of R, which goes on. */
void tool_run_respond(struct request *c, struct run *r)
{
	if (c->as_task)
		tool_run_created(c, r, true);
	else
		answer_handle(c, r);
}

static void on_waited(evutil_socket_t fd, short what, void *arg);

/*
 * The server ends before R. A call which takes a handle gets one; the run of
 * any other call is given up, since its client would call again and run twice.
 */
static void leave(struct request *c, struct run *r)
{
	struct tool_run_args *ask = c->state;

	if (ask->mode == MODE_SYNC && !c->as_task && !ask->deduplicated &&
	    r->task.form == STORE_TASK_NONE && !run_is_of_others(r)) {
		runs_give_up(c->ctx->runs, r);
		return;
	}
	ask->left = r->remote.place != RUN_REMOTE;
	ask->abroad = !ask->left;
	if (!run_is_durable(r))
		runs_record(c->ctx->runs, r);
	on_waited(-1, 0, c);
}

/* Act on news of the run C waits for. */
static void changed(struct request *c, struct run *r,
		    const struct run_notice *n)
{
	struct tool_run_args *ask = c->state;
	struct tool_error tool_error = {0};

	if (n->kind == NOTICE_DURABLE && ask->asked) {
		ask->asked = false;
		ask->recorded = true;
		tool_run_asked(c, r);
		return;
	}
	if (n->kind == NOTICE_TAKEN) {
		request_unwatch(c);
		tool_run_taken(c);
		return;
	}
	if (n->kind == NOTICE_FULL) {
		request_unwatch(c);
		admission_refuse_queued(c->requestor, &tool_error);
		request_tool_error(c, &tool_error);
		return;
	}
	if (n->kind == NOTICE_LEFT) {
		leave(c, r);
		return;
	}
	if (n->kind == NOTICE_TASK) {
		tool_run_task_recorded(c, r, n->unrecorded);
		return;
	}
	if (!ask->handed_out)
		return;
	if (n->kind == NOTICE_STATE && r->state != RUN_AWAITING_INPUT) {
		request_set_timer(c, ANSWERED_MS, on_waited);
	} else if (n->kind == NOTICE_DURABLE && n->unrecorded == NULL) {
		on_waited(-1, 0, c);
	} else if (n->kind == NOTICE_DURABLE) {
		request_unwatch(c);
		tool_error_set(&tool_error, "STORE_UNAVAILABLE",
			       admission_store_details(),
			       "the run was not started, since it cannot be "
			       "recorded: %s",
			       n->unrecorded);
		request_tool_error(c, &tool_error);
	}
}

/* Hand the run out: C has waited long enough. The run must be durable first. */
static void on_waited(evutil_socket_t fd, short what, void *arg)
{
	struct request *c = arg;
	struct tool_run_args *ask = c->state;
	struct run *r = c->run;
	bool asked; /* the waiting client is asked a question */

	(void)fd, (void)what;
	if (r == NULL)
		return;
	asked = ask->mode == MODE_AUTO && !c->as_task &&
		r->state == RUN_AWAITING_INPUT;
	if (!run_is_durable(r) || asked) {
		ask->handed_out = true;
		return;
	}
	request_unwatch(c);
	tool_run_respond(c, r);
}

void tool_run_await_handle(struct request *c)
{
	const struct tool_run_args *ask = c->state;

	if (ask->mode == MODE_AUTO)
		request_set_timer(c, c->ctx->config->inline_wait_ms, on_waited);
}

void tool_run_wait(struct request *c, struct run *r)
{
	const struct tool_run_args *ask = c->state;

	request_watch(c, r);
	/* a task is awaited by tasks/result */
	if (r->task.form == STORE_TASK_NONE)
		run_waiter_add(r, &c->waiter);
	if (ask->template->stream_poll)
		session_detach(c->session, c->stream);
	if (c->may_be_task)
		tool_run_await_task(c);
	else
		tool_run_await_handle(c);
}

void tool_run_wait_durable(struct request *c, struct run *r)
{
	struct tool_run_args *ask = c->state;

	ask->handed_out = true;
	request_watch(c, r); /* so that a cancel finds the run */
}

/* For clients which take questions along and come back to any server. */
#define TAKES_ALONG                                                            \
	.dropped = tool_run_dropped, .asked_abroad = tool_run_asked_abroad,    \
	.not_heard = tool_run_not_heard

static const struct request_ops inline_ops = {.logs = true,
					      .run_changed = changed,
					      .run_ended = present,
					      .run_stored =
						  tool_run_present_row,
					      .asked = tool_run_asked,
					      TAKES_ALONG,
					      .free = tool_run_args_free};

static const struct request_ops handle_ops = {
    TAKES_ALONG, .run_changed = changed, .run_ended = present,
    .run_stored = tool_run_present_row, .free = tool_run_args_free};

static const struct request_ops task_ops = {.run_changed = changed,
					    .run_ended = present_created,
					    .free = tool_run_args_free};

/* ---- making a run ---- */

/*
 * Free C's tree of inputs: the run has the text, and C may wait for long.
 * Nothing else of a large message's tree is needed.
 */
static void let_inputs_go(struct request *c)
{
	struct tool_run_args *ask = c->state;
	struct json_object *args = json_member(c->msg.params, "arguments");
	/* of a template's own tool */
	bool own = ask->form == STORE_TASK_OUTPUT;
	struct json_object *in = own ? c->msg.params : args;
	const char *key = own ? "arguments" : "inputs";
	struct json_object *tree = json_object_get(json_member(in, key));

	if (tree != ask->inputs) { /* retry_task_run has other inputs */
		json_object_put(tree);
		return;
	}
	ask->inputs = NULL;
	json_object_object_del(in, key);
	rpc_async_put_inputs(c->ctx->thread_pool, c->requestor, &c->msg, tree);
}

void tool_run_create(struct request *c)
{
	struct session *s = c->session;
	struct tool_run_args *ask = c->state;
	struct tool_error tool_error = {0};
	bool async = ask->mode == MODE_ASYNC || c->as_task;
	struct run *r;

	if (tool_run_files(c))
		return;
	ask->wish.promised = async;
	ask->wish.inputs_text = c->msg.inputs;
	ask->wish.inputs_len = c->msg.inputs_len;
	tool_run_wish_later(c);
	r = runs_create(s->ctx->runs, s->requestor, ask->template, ask->inputs,
			&ask->wish, &tool_error);
	if (r == NULL) {
		request_tool_error(c, &tool_error);
		return;
	}
	c->msg.inputs = NULL;
	ask->files = NULL; /* the run has the files */
	if (rpc_async_is_large(c->msg.bytes) && ask->wish.idem_key == NULL)
		let_inputs_go(c);
	if (async)
		tool_run_wait_durable(c, r);
	else
		tool_run_wait(c, r);
}

/* ---- the wish of a call ---- */

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

/*
 * Is C a task from the start? Where the server decides on tasks, so is a call
 * made asynchronous by its template, not by its client, whose mode "auto" is
 * as none.
 */
static bool is_task_at_once(const struct request *c,
			    struct json_object *options,
			    enum template_mode mode)
{
	return c->may_be_task && mode == MODE_ASYNC &&
	       !json_member_is(options, "mode", "async") &&
	       !input_required_is_retry(c);
}

/* May C's client have to repeat the call with answers? */
static bool may_be_asked(const struct request *c)
{
	return mcp_has(c->terms->revision, MCP_STATELESS) &&
	       json_object_object_length(c->terms->capabilities) > 0;
}

void tool_run_submit(struct request *c, struct template *t,
		     const struct tool_run_order *o)
{
	struct tool_run_args *ask = xcalloc(1, sizeof(*ask));
	struct json_object *options = o->options;

	if (input_required_is_retry(c)) /* the run exists, and is no task */
		c->as_task = false;
	ask->mode = settle_mode(t, o->inputs, json_member_str(options, "mode"));
	if (is_task_at_once(c, options, ask->mode))
		c->as_task = true;
	request_set_state(c,
			  c->as_task		    ? &task_ops
			  : ask->mode == MODE_ASYNC ? &handle_ops
						    : &inline_ops,
			  ask);
	ask->form = o->form;
	ask->template = template_ref(t);
	ask->inputs = o->inputs;
	ask->wish = (struct run_wish){
	    .timeout_ms = json_member_int(options, "timeoutMs"),
	    .ttl_ms = json_member_int(options, "ttlMs"),
	    .idem_key = json_member_str(options, "idempotencyKey"),
	    .session_id = o->session_id,
	    .retried_from = o->retried_from,
	    .trace = mcp_trace_parent(c->msg.params),
	    .trust = session_trust(c->session),
	};
	if (c->as_task ||
	    (ask->mode == MODE_ASYNC && tool_run_is_answered_later(c)))
		tool_run_wish_task(c);
	if (input_required_is_retry(c))
		tool_run_digest(c, tool_run_retry);
	else if (ask->wish.idem_key != NULL)
		tool_run_digest(c, tool_run_find_or_create);
	else if (may_be_asked(c) && rpc_async_is_large(c->msg.bytes))
		tool_run_digest(c, tool_run_create);
	else
		tool_run_create(c);
}

static void no_session(struct request *c, const char *id)
{
	struct tool_error r = {0};

	tool_error_set(
	    &r, "SESSION_NOT_FOUND", NULL,
	    "you have no browser session \"%.64s\"; leave sessionId out", id);
	request_tool_error(c, &r);
}

/* ---- the arguments of a call ---- */

/* Run T: C's inputs are checked, and its browser session exists. */
static void submit_view(struct request *c, struct template *t)
{
	struct json_object *args = json_member(c->msg.params, "arguments");

	tool_run_submit(c, t,
			&(struct tool_run_order){
			    .inputs = json_member(args, "inputs"),
			    .options = json_member(args, "options"),
			    .session_id = json_member_str(args, "sessionId"),
			    .form = STORE_TASK_VIEW});
}

static void check_view(struct request *c, struct template *t,
		       struct json_object *args)
{
	tool_run_check_inputs(c,
			      &(struct tool_run_inputs){.template = t,
							.in = args,
							.key = "inputs",
							.prefix = "/inputs",
							.pass = submit_view});
}

static struct template *wanted(struct request *c, struct json_object *args)
{
	return tool_run_wanted(c, json_member_str(args, "templateId"),
			       json_member_str(args, "templateVersion"),
			       json_member(args, "options"));
}

/* Go on; the templates may have been reloaded meanwhile. */
static void on_session(struct request *c, bool found)
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

void tool_run_template(struct request *c, struct json_object *args)
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

static void submit_output(struct request *c, struct template *t)
{
	tool_run_submit(c, t,
			&(struct tool_run_order){
			    .inputs = json_member(c->msg.params, "arguments"),
			    .form = STORE_TASK_OUTPUT});
}

void tool_run_by_name(struct request *c, struct template *t,
		      struct json_object *args)
{
	(void)args;
	tool_run_check_inputs(c,
			      &(struct tool_run_inputs){.template = t,
							.in = c->msg.params,
							.key = "arguments",
							.prefix = "",
							.pass = submit_output});
}
