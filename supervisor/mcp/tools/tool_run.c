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
#include "supervisor/requestor/admission.h"
#include "supervisor/run/audit.h"
#include "supervisor/browser/browser.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/mcp/input/input_request.h"
#include "supervisor/mcp/tools/tools.h"
#include "supervisor/run/record/run_json.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/session/request_backlog.h"

#define ANSWERED_MS 200 /* time for a run to end before a handle is sent */

static void tool_run_args_free(void *state)
{
	struct tool_run_args *ask = state;

	if (ask->proxied != NULL)
		ask->cluster->wait_over(ask->proxied, false);
	tool_run_leave_journal(ask);
	template_unref(ask->template);
	run_files_free(ask->files);
	json_object_put(ask->token);
	json_object_put(ask->wish.task_capabilities);
	free(ask);
}

/* ---- showing a run that has ended ---- */

void tool_run_present_row(struct request *req, const struct store_run *row)
{
	const struct tool_run_args *ask = req->state;
	struct json_object *made = row->view == NULL ? run_json_row(row) : NULL;

	response_run(
	    req, &(struct run_result_source){
		     .id = row->id,
		     .status = row->status,
		     .form = ask->form,
		     .deduplicated = ask->deduplicated,
		     .promised = response_has_schema(req, row->template_id),
		     .view = made == NULL ? row->view : json_text(made, NULL)});
	json_object_put(made);
}

/*
 * Has R failed because REQ's client did not declare that it can be asked? Where
 * each request declares capabilities, the answer is a protocol error.
 */
static bool lacks_capability(struct request *req, const struct run *r)
{
	const char *path = NULL;

	if (r->state == RUN_FAILED &&
	    mcp_has(req->terms->revision, MCP_STATELESS))
		path = input_request_undeclared(r->error.details, req->terms);
	if (path == NULL)
		return false;
	request_error(req, RPC_MISSING_CAPABILITY, mcp_missing_capability(path),
		      "%s cannot do without asking its client: %s",
		      r->template->id, r->error.message);
	return true;
}

/*
 * Answer REQ with the ended run R. run_task_template: as get_task_run; a
 * template's own tool: the plain output, or the reply.
 */
static void present(struct request *req, struct run *r)
{
	struct tool_run_args *ask = req->state;
	bool reply = r->output.is_reply && r->output.value != NULL;

	if (ask->form == STORE_TASK_OUTPUT) {
		if (r->state == RUN_CANCELED ||
		    (r->state == RUN_FAILED && !reply))
			request_audit_refused(req, r->error.code);
		if (lacks_capability(req, r))
			return;
		if (reply)
			ask->form = STORE_TASK_REPLY;
	}
	if (!request_backlog_defer(req, r))
		response_run(req, &(struct run_result_source){
				      .id = r->id,
				      .status = run_stored_status(r),
				      .form = ask->form,
				      .deduplicated = ask->deduplicated,
				      .promised = response_has_schema(
					  req, r->template->id),
				      .view = r->view});
}

/* ---- answering before it has ended ---- */

void tool_run_deduplicated_meta(struct json_object *meta)
{
	json_object_object_add(meta, "paddock/deduplicated",
			       json_object_new_boolean(true));
}

const char *tool_run_mortal(const struct request *req)
{
	return req->ctx->with_client
		   ? "This server serves your client alone, over stdio: it ends "
		     "with it, and then this run is ended, too. For runs that "
		     "outlive their client start the daemon, paddockd, and "
		     "point the client to its socket or URL."
		   : NULL;
}

/* Return the note for a handle, or NULL. */
static const char *note_of(const struct request *req)
{
	const struct tool_run_args *ask = req->state;

	return ask->left ? "This server is being stopped and has not begun the "
			   "run: the next server has it and will start it. Ask "
			   "for it by its id; calling again would run it twice."
	       : ask->abroad
		   ? "This server is being stopped, and another has the run, "
		     "which goes on: ask for it by its id; calling again would "
		     "run it twice."
		   : tool_run_mortal(req);
}

/* Answer with the task: the run of an earlier call ended before its row. */
static void present_created(struct request *req, struct run *r)
{
	tool_run_created(req, r, false);
}

/* Answer REQ with the task or the handle of R, which goes on. */
void tool_run_respond(struct request *req, struct run *r)
{
	const struct tool_run_args *ask = req->state;
	struct json_object *handle;

	if (req->as_task) {
		tool_run_created(req, r, true);
		return;
	}
	handle = run_json_handle(r);
	r->job.has_handle = true;
	if (ask->deduplicated)
		json_add(handle, "deduplicated:b", true);
	response_tool_result_noted(req, handle, note_of(req));
}

static void on_waited(evutil_socket_t fd, short what, void *arg);

/*
 * The server ends before R. A call which takes a handle gets one; the run of
 * any other call is given up, since its client would call again and run twice.
 */
static void leave_run(struct request *req, struct run *r)
{
	struct tool_run_args *ask = req->state;

	if (ask->mode == MODE_SYNC && !req->as_task && !ask->deduplicated &&
	    r->task.form == STORE_TASK_NONE && !run_is_of_others(r)) {
		runs_give_up(req->ctx->runs, r);
		return;
	}
	ask->left = r->remote.place != RUN_REMOTE;
	ask->abroad = !ask->left;
	if (!run_is_durable(r))
		runs_record(req->ctx->runs, r);
	on_waited(-1, 0, req);
}

/* Act on news of the run REQ waits for. */
static void changed(struct request *req, struct run *r,
		    const struct run_notice *n)
{
	struct tool_run_args *ask = req->state;
	struct tool_error tool_error = {0};

	if (n->kind == NOTICE_DURABLE && ask->asked) {
		ask->asked = false;
		ask->recorded = true;
		tool_run_asked(req, r);
		return;
	}
	if (n->kind == NOTICE_TAKEN) {
		request_unwatch(req);
		tool_run_taken(req);
		return;
	}
	if (n->kind == NOTICE_FULL) {
		request_unwatch(req);
		admission_refuse_queued(req->requestor, &tool_error);
		request_tool_error(req, &tool_error);
		return;
	}
	if (n->kind == NOTICE_LEFT) {
		leave_run(req, r);
		return;
	}
	if (n->kind == NOTICE_TASK) {
		tool_run_task_recorded(req, r, n->unrecorded);
		return;
	}
	if (!ask->handed_out)
		return;
	if (n->kind == NOTICE_STATE && r->state != RUN_AWAITING_INPUT) {
		request_set_timer(req, ANSWERED_MS, on_waited);
	} else if (n->kind == NOTICE_DURABLE && n->unrecorded == NULL) {
		on_waited(-1, 0, req);
	} else if (n->kind == NOTICE_DURABLE) {
		request_unwatch(req);
		tool_error_set(&tool_error, "STORE_UNAVAILABLE",
			       admission_store_details(),
			       "the run was not started, since it cannot be "
			       "recorded: %s",
			       n->unrecorded);
		request_tool_error(req, &tool_error);
	}
}

/* Hand the run out: REQ has waited long enough. The run must be durable first. */
static void on_waited(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;
	struct tool_run_args *ask = req->state;
	struct run *r = req->run;
	bool asked; /* the waiting client is asked a question */

	(void)fd, (void)what;
	if (r == NULL)
		return;
	asked = ask->mode == MODE_AUTO && !req->as_task &&
		r->state == RUN_AWAITING_INPUT;
	if (!run_is_durable(r) || asked) {
		ask->handed_out = true;
		return;
	}
	request_unwatch(req);
	tool_run_respond(req, r);
}

void tool_run_await_handle(struct request *req)
{
	const struct tool_run_args *ask = req->state;

	if (ask->mode == MODE_AUTO)
		request_set_timer(req, req->ctx->config->inline_wait_ms,
				  on_waited);
}

void tool_run_wait(struct request *req, struct run *r)
{
	const struct tool_run_args *ask = req->state;

	request_watch(req, r);
	/* a task is awaited by tasks/result */
	if (r->task.form == STORE_TASK_NONE)
		run_waiter_add(r, &req->waiter);
	if (ask->template->stream_poll)
		session_detach(req->session, req->stream);
	if (req->may_be_task)
		tool_run_await_task(req);
	else
		tool_run_await_handle(req);
}

void tool_run_wait_durable(struct request *req, struct run *r)
{
	struct tool_run_args *ask = req->state;

	ask->handed_out = true;
	request_watch(req, r); /* so that a cancel finds the run */
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
 * Free REQ's tree of inputs: the run has the text, and REQ may wait for long.
 * Nothing else of a large message's tree is needed.
 */
static void let_inputs_go(struct request *req)
{
	struct tool_run_args *ask = req->state;
	struct json_object *args = json_member(req->msg.params, "arguments");
	/* of a template's own tool */
	bool own = ask->form == STORE_TASK_OUTPUT;
	struct json_object *in = own ? req->msg.params : args;
	const char *key = own ? "arguments" : "inputs";
	struct json_object *tree = json_object_get(json_member(in, key));

	if (tree != ask->inputs) { /* retry_task_run has other inputs */
		json_object_put(tree);
		return;
	}
	ask->inputs = NULL;
	json_object_object_del(in, key);
	rpc_async_put_inputs(req->ctx->thread_pool, req->requestor, &req->msg,
			     tree);
}

void tool_run_create(struct request *req)
{
	struct session *s = req->session;
	struct tool_run_args *ask = req->state;
	struct tool_error tool_error = {0};
	bool async = ask->mode == MODE_ASYNC || req->as_task;
	struct run *r;

	if (tool_run_journal(req) || tool_run_files(req))
		return;
	ask->wish.promised = async;
	ask->wish.inputs_text = req->msg.inputs;
	ask->wish.inputs_len = req->msg.inputs_len;
	tool_run_wish_later(req);
	r = runs_create(s->ctx->runs, s->requestor, ask->template, ask->inputs,
			&ask->wish, &tool_error);
	if (r == NULL) {
		request_tool_error(req, &tool_error);
		return;
	}
	req->msg.inputs = NULL;
	ask->files = NULL;  /* the run has the files */
	ask->caller = NULL; /* and the number of the call */
	if (rpc_async_is_large(req->msg.bytes) && ask->wish.idem_key == NULL)
		let_inputs_go(req);
	if (async)
		tool_run_wait_durable(req, r);
	else
		tool_run_wait(req, r);
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

void tool_run_submit(struct request *req, struct template *t,
		     const struct tool_run_order *o)
{
	struct tool_run_args *ask = xcalloc(1, sizeof(*ask));
	struct json_object *options = o->options;
	bool retry = input_required_is_retry(req);

	if (retry) /* the run exists, and is no task */
		req->as_task = false;
	ask->mode = settle_mode(t, o->inputs, json_member_str(options, "mode"));
	/*
	 * where the server decides on tasks, a call is a task at once if its template
	 * made the call asynchronous, not its client, whose mode "auto" is as none
	 */
	if (req->may_be_task && ask->mode == MODE_ASYNC &&
	    !json_member_is(options, "mode", "async") && !retry)
		req->as_task = true;
	request_set_state(req,
			  req->as_task		    ? &task_ops
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
	    .journal = o->journal,
	    .parent = req->session->caller,
	    .allows_writes =
		json_object_get_boolean(json_member(options, "allowWrites")),
	    .trace = mcp_trace_parent(req->msg.params),
	    .trust = session_trust(req->session),
	};
	ask->journaled = tool_run_is_journaled(ask->wish.parent, t, o->inputs);
	/* with a handle and answers by tasks/update, the run is a task as well */
	if (req->as_task || (ask->mode == MODE_ASYNC && req->may_be_task &&
			     mcp_declares(req->terms->capabilities,
					  MCP_EXTENSION_ANSWERS_LATER)))
		tool_run_wish_task(req);
	if (retry)
		tool_run_digest(req, tool_run_retry);
	else if (ask->wish.idem_key != NULL)
		tool_run_digest(req, tool_run_find_or_create);
	else if (ask->journaled)
		tool_run_digest(req, tool_run_create);
	else if (mcp_has(req->terms->revision, MCP_STATELESS) &&
		 json_object_object_length(req->terms->capabilities) > 0 &&
		 rpc_async_is_large(req->msg.bytes))
		/* the client may have to repeat the call with answers */
		tool_run_digest(req, tool_run_create);
	else
		tool_run_create(req);
}

/* ---- the arguments of a call ---- */

/* Run T: REQ's inputs are checked, and its browser session exists. */
static void submit_view(struct request *req, struct template *t)
{
	struct json_object *args = json_member(req->msg.params, "arguments");

	tool_run_submit(req, t,
			&(struct tool_run_order){
			    .inputs = json_member(args, "inputs"),
			    .options = json_member(args, "options"),
			    .session_id = json_member_str(args, "sessionId"),
			    .form = STORE_TASK_VIEW});
}

static void check_view(struct request *req, struct template *t,
		       struct json_object *args)
{
	tool_run_check_inputs(req,
			      &(struct tool_run_inputs){.template = t,
							.in = args,
							.key = "inputs",
							.prefix = "/inputs",
							.pass = submit_view});
}

static struct template *wanted_template(struct request *req,
					struct json_object *args)
{
	return tool_run_wanted(req, json_member_str(args, "templateId"),
			       json_member_str(args, "templateVersion"),
			       json_member(args, "options"));
}

/* Go on; the templates may have been reloaded meanwhile. */
static void on_session(struct request *req, bool found)
{
	struct json_object *args = json_member(req->msg.params, "arguments");
	struct tool_error r = {0};
	struct template *t;

	if (!found) {
		tool_error_set(&r, "SESSION_NOT_FOUND", NULL,
			       "you have no browser session \"%.64s\"; leave "
			       "sessionId out",
			       json_member_str(args, "sessionId"));
		request_tool_error(req, &r);
		return;
	}
	t = wanted_template(req, args);
	if (t != NULL)
		check_view(req, t, args);
}

void tool_run_template(struct request *req, struct json_object *args)
{
	const char *session_id = json_member_str(args, "sessionId");
	struct template *t = wanted_template(req, args);

	if (t == NULL)
		return;
	if (session_id != NULL)
		browser_find_session(req, session_id, on_session);
	else
		check_view(req, t, args);
}

static void submit_output(struct request *req, struct template *t)
{
	tool_run_submit(req, t,
			&(struct tool_run_order){
			    .inputs = json_member(req->msg.params, "arguments"),
			    .form = STORE_TASK_OUTPUT});
}

void tool_run_by_name(struct request *req, struct template *t,
		      struct json_object *args)
{
	(void)args;
	tool_run_check_inputs(req,
			      &(struct tool_run_inputs){.template = t,
							.in = req->msg.params,
							.key = "arguments",
							.prefix = "",
							.pass = submit_output});
}
