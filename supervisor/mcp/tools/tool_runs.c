/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_runs.c - get_task_run, list_task_runs and cancel_task_run, called
 * through contract_tools.c. A run is found here, by its row, or at its server.
 * An unknown run and another requestor's are refused alike.
 */
#include "supervisor/mcp/tools/contract_tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/session/response.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/mcp/tools/run_lookup.h"
#include "supervisor/run/record/run_json.h"
#include "supervisor/store/store_shared.h"
#include "supervisor/session/request_backlog.h"

#define LOOK_AWAY_MS 500 /* ms between reads of a remote run */

bool tool_runs_failed(struct request *req, const struct store_result *res)
{
	struct json_object *args = json_member(req->msg.params, "arguments");
	struct tool_error r = {0};

	if (res->rc == 0)
		return false;
	if (res->rc == -ENOENT) {
		requestor_missed(req->session->requestor);
		tool_error_set(&r, "RUN_NOT_FOUND", NULL,
			       "you have no run \"%.64s\"",
			       json_member_str(args, "runId"));
	} else {
		tool_error_set(&r, "STORE_UNAVAILABLE", NULL,
			       "the store cannot be read now: %s",
			       store_says(res->rc));
	}
	request_tool_error(req, &r);
	return true;
}

/*
 * Return NODE, the machine of a run, if REQ's client is the operator, else NULL.
 */
static const char *told_node(const struct request *req, const char *node)
{
	bool is = req->ctx->cluster != NULL && request_is_operator(req);

	return is ? node : NULL;
}

static void answer_view(struct request *req, const char *id,
			enum store_status status, const char *view,
			const char *node)
{
	response_run(req,
		     &(struct run_result_source){.id = id,
						 .status = status,
						 .form = STORE_TASK_VIEW,
						 .looked_up = true,
						 .view = view,
						 .node = told_node(req, node)});
}

/* Answer with V, a run of NODE (may be NULL). */
static void answer_tree(struct request *req, struct json_object *v,
			const char *node)
{
	json_add(v, "node?s", told_node(req, node));
	response_tool_result(req, v, false);
}

static void present_ours(struct request *req, struct run *r)
{
	const char *node = told_node(req, store_node_name(req->ctx->store));
	struct json_object *v = NULL;
	char *text;

	requestor_polled(req->session->requestor, &r->job.polled_ms,
			 RUN_JSON_POLL_AFTER_MS);
	if (r->view != NULL) { /* ended, and being recorded */
		answer_view(req, r->id, run_stored_status(r), r->view,
			    r->attempts.here ? node : NULL);
		return;
	}
	text = run_json_text(r, req->ctx->isolation);
	if (run_is_here(r) && node != NULL &&
	    json_parse(&v, text, strlen(text), NULL) == 0) {
		answer_tree(req, v, node);
		free(text);
		return;
	}
	response_tool_text(req, text, strlen(text));
}

/* ---- waiting for the end of a run ---- */

/*
 * The wait of a call for a run. The run is watched, but not as REQ's run, since a
 * cancelled question cancels no run. A remote run is read again and again.
 */
struct end_wait { /* request.state */
	struct run_watch watch;
	struct server_observer server;
	struct request *request;
	int64_t until_ms; /* monotonic end of the wait */
};

static void end_wait_free(void *state)
{
	struct end_wait *w = state;

	if (w->watch.run != NULL)
		run_watch_del(&w->watch);
	sessions_unobserve(w->request->ctx->sessions, &w->server);
	free(w);
}

static const struct request_ops end_wait_ops = {.free = end_wait_free};

/* End the wait of REQ, with its timer, which would act on the next state. */
static struct end_wait *take_end_wait(struct request *req)
{
	request_stop_timer(req);
	return request_take_state(req);
}

/* Set REQ's argument waitMs to MS, the time left. */
static void set_left(struct request *req, int64_t ms)
{
	/* replaced, since "1.0" is an integer but no json_type_int */
	json_object_object_add(json_member(req->msg.params, "arguments"),
			       "waitMs",
			       json_object_new_int64(ms > 0 ? ms : 0));
}

static void poll_runs(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;
	struct end_wait *w = take_end_wait(req);

	(void)fd, (void)what;
	set_left(req, w->until_ms - clock_mono_ms());
	end_wait_free(w);
	tool_runs_get(req, json_member(req->msg.params, "arguments"));
}

/*
 * End the wait and answer with R as it is: R has ended, comes to wait for
 * answers, or the server ends.
 */
static void answer_now(struct request *req, struct run *r)
{
	end_wait_free(take_end_wait(req));
	present_ours(req, r);
}

static void look_now(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;

	(void)fd, (void)what;
	tool_runs_get(req, json_member(req->msg.params, "arguments"));
}

/* R's end is recorded, or cannot be for the reason UNRECORDED. */
static void answer_end(struct request *req, struct run *r,
		       const char *unrecorded)
{
	end_wait_free(take_end_wait(req));
	set_left(req, 0);
	if (unrecorded != NULL)
		request_unrecorded(req, r, unrecorded);
	else if (!request_backlog_holds(req, look_now))
		present_ours(req, r);
}

static void on_notice(struct run_watch *watch, struct run *r,
		      const struct run_notice *n)
{
	struct end_wait *w = CONTAINER(watch, struct end_wait, watch);
	struct request *req = w->request;
	bool asks = (n->kind == NOTICE_STATE || n->kind == NOTICE_ASKED) &&
		    r->state == RUN_AWAITING_INPUT;

	if (n->kind == NOTICE_RECORDED) {
		answer_end(req, r, n->unrecorded);
	} else if (asks) {
		answer_end(req, r, NULL);
	} else if (n->kind == NOTICE_LEFT) {
		answer_now(req, r);
		/* the run left memory: the row says more */
	} else if (n->kind == NOTICE_RELEASED) {
		run_watch_del(&w->watch);
		w->watch.run = NULL;
		poll_runs(-1, 0, req);
	}
}

/*
 * The server ends. A local run ends before the server or with it, and is
 * awaited; a remote run is not heard of much longer. An end still watched is in no
 * record, so the caller is told that instead of the end.
 */
static void on_end(struct server_observer *o)
{
	struct end_wait *w = CONTAINER(o, struct end_wait, server);
	struct request *req = w->request;
	struct run *r = w->watch.run;

	if (r != NULL && run_terminal(r)) {
		if (req->ctx->flush_until_ms != 0)
			answer_end(req, r, "the server ends first");
	} else if (r != NULL &&
		   (!run_is_here(r) || req->ctx->flush_until_ms != 0)) {
		answer_now(req, r);
		/* at once, since the ending server waits for such calls */
	} else if (r == NULL) {
		w->until_ms = 0;
		poll_runs(-1, 0, req);
	}
}

static const struct server_observer_ops end_ops = {.on_end = on_end};

/* Have REQ wait for R (NULL: a remote run). False: REQ may not wait any longer. */
static bool waits(struct request *req, struct run *r)
{
	struct json_object *args = json_member(req->msg.params, "arguments");
	struct json_object *left = json_member(args, "waitMs");
	int64_t ms = left != NULL ? json_object_get_int64(left) : 0;
	struct end_wait *w;

	if (ms <= 0 || req->ctx->draining)
		return false;
	w = xcalloc(1, sizeof(*w));
	w->request = req;
	w->until_ms = clock_mono_ms() + ms;
	sessions_observe(req->ctx->sessions, &w->server, &end_ops);
	if (r != NULL) {
		w->watch.on_notice = on_notice;
		run_watch_add(r, &w->watch);
	}
	request_set_state(req, &end_wait_ops, w);
	request_set_timer(
	    req, r == NULL && ms > LOOK_AWAY_MS ? LOOK_AWAY_MS : ms, poll_runs);
	return true;
}

static void present(struct request *req, const struct run_found *f)
{
	const struct store_run *row;

	if (f->run != NULL) {
		if (f->run->view != NULL || !waits(req, f->run))
			present_ours(req, f->run);
		return;
	}
	if (tool_runs_failed(req, f->res))
		return;
	row = f->res->runs;
	if (row->status <= STORE_RUNNING && f->silent == NULL &&
	    waits(req, NULL))
		return;
	if (row->status > STORE_RUNNING && row->view != NULL)
		answer_view(req, row->id, row->status, row->view, row->node);
	else
		answer_tree(req, run_json_open_row(row, f->silent), row->node);
}

void tool_runs_get(struct request *req, struct json_object *args)
{
	run_lookup(req,
		   &(struct run_query){.want = RUN_LOOKUP_VIEW,
				       .id = json_member_str(args, "runId"),
				       .found = present});
}

static void on_list(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct json_object *list;
	const struct store_run *row = res->runs;

	if (!request_unref(req) || tool_runs_failed(req, res))
		return;
	list = json_object_new_array();
	for (; row < res->runs + res->n_runs; row++)
		json_object_array_add(
		    list, run_json_summary(row, told_node(req, row->node)));
	response_tool_result(req, json_pack("runs:o total:i", list, res->total),
			     false);
}

void tool_runs_list(struct request *req, struct json_object *args)
{
	struct context *ctx = req->session->ctx;
	struct json_object *limit = json_member(args, "limit");
	struct json_object *since = json_member(args, "since");
	const char *status = json_member_str(args, "status");
	const char *prefix = json_member_str(args, "idPrefix");
	struct store_filter f = {
	    .requestor = req->session->requestor->name,
	    .status = status == NULL ? -1 : run_json_status_parse(status),
	    .template_id = json_member_str(args, "templateId"),
	    .offset = json_member_int(args, "offset"),
	    .limit = limit == NULL ? 20 : json_object_get_int(limit),
	};
	/* a range of ids, which are in the order of time */
	char from[ID_SIZE], before[ID_SIZE + 1];

	if (since != NULL) {
		id_since(from, "run", json_object_get_int64(since));
		f.from = from;
	}
	if (prefix != NULL) {
		snprintf(before, sizeof(before), "%s" ID_AFTER_ALL, prefix);
		f.before = before;
		if (f.from == NULL || strcmp(prefix, f.from) > 0)
			f.from = prefix;
	}
	request_ref(req);
	store_list_runs(ctx->store, &f, on_list, req);
}

/* CHILDREN: the number of open calls of templates that end with the run. */
static void answer_cancel(struct request *req, bool requested,
			  const char *status, const char *reason,
			  size_t children)
{
	response_tool_result(
	    req,
	    json_pack("cancelRequested:b currentStatus:s reason?s children?i",
		      requested, status, reason, children),
	    false);
}

/* Return why the cancel had no effect on the run, or NULL: it had. */
static const char *cancel_refusal(const struct run_found *f)
{
	const struct store_run *row = f->res->runs;
	bool stopped = row->status == STORE_CANCELED || row->cancelling;

	if (f->silent != NULL)
		return "another server has this run and does not answer now; "
		       "it ends the run as soon as it can";
	if (stopped && f->asked)
		return NULL;
	if (row->status <= STORE_RUNNING)
		return row->cancelling
			   ? NULL
			   : "the run has ended, but that is not recorded yet";
	if (f->died && row->status == STORE_FAILED)
		return "the server that ran it has died, which has interrupted "
		       "the run";
	return "the run has ended already";
}

static void present_cancel(struct request *req, struct run *r)
{
	answer_cancel(req, true, run_status(r), NULL, runs_descendants(r));
}

static const struct request_ops cancel_ops = {.run_ended = present_cancel};

static void cancel_found(struct request *req, const struct run_found *f)
{
	struct run *r = f->run;
	struct tool_error e = {0};
	const char *errmsg;

	if (r != NULL) {
		/* a repeated cancel counts as a cancel */
		runs_cancel(req->ctx->runs, r);
		request_set_state(req, &cancel_ops, NULL);
		if (run_terminal(r)) /* was queued: answer once durable */
			request_watch(req, r);
		else
			present_cancel(req, r);
		return;
	}
	if (f->res->rc != 0 && f->silent != NULL) { /* nobody can be asked */
		tool_error_set(&e, "STORE_UNAVAILABLE", NULL,
			       "the run was not cancelled: %s", f->silent);
		request_tool_error(req, &e);
		return;
	}
	if (tool_runs_failed(req, f->res))
		return;
	errmsg = cancel_refusal(f);
	answer_cancel(req, errmsg == NULL || f->silent != NULL,
		      run_json_status(f->res->runs->status), errmsg, 0);
}

void tool_runs_cancel(struct request *req, struct json_object *args)
{
	run_lookup(req,
		   &(struct run_query){.want = RUN_LOOKUP_CANCEL,
				       .id = json_member_str(args, "runId"),
				       .found = cancel_found});
}
