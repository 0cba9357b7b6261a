/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - a request of a client from arrival to answer: the wait, the
 * batch, the size, the watch of a run. dispatch.c makes requests, all methods
 * answer by request.c. An answer too long becomes an error; a request whose
 * client is gone is dropped.
 */
#include "supervisor/session/request.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/session/batch.h"
#include "supervisor/session/progress.h"
#include "supervisor/session/request_backlog.h"
#include "supervisor/run/exec/runs.h"

#define REQUEST_COST 1024 /* bytes of a request, without its message */

/* ---- made, and freed ---- */

static const struct request_ops no_ops;

static void on_gone(struct session_observer *o)
{
	request_drop(CONTAINER(o, struct request, observer), false);
}

static void on_reader_lost(struct session_observer *o, void *stream)
{
	struct request *req = CONTAINER(o, struct request, observer);

	if (req->stream == stream && req->waiter.run != NULL)
		run_tell_waiter(req->waiter.run, WAITER_UNREAD, req);
}

static const struct session_observer_ops observer_ops = {
    .on_gone = on_gone, .on_reader_lost = on_reader_lost};

struct request *request_find(const struct session *s, const char *key,
			     size_t len)
{
	struct request *req;

	HASH_FIND(hh, s->requests, key, len, req);
	return req;
}

struct request *request_new(struct session *s, void *stream,
			    struct rpc_msg *msg, struct batch *batch)
{
	struct request *req = xcalloc(1, sizeof(*req));

	req->ops = &no_ops;
	req->session = s;
	req->ctx = s->ctx;
	req->requestor = s->requestor;
	req->stream = stream;
	req->waiter.request = req;
	req->terms = &s->terms;
	req->msg = *msg;
	*msg = (struct rpc_msg){0};
	req->batch = batch;
	if (batch != NULL)
		batch_want(batch);
	req->progress =
	    (struct progress){.session = s,
			      .terms = req->terms,
			      .stream = stream,
			      .token = mcp_progress_token(req->msg.params)};
	session_observe(s, &req->observer, &observer_ops);
	s->n_requests++;
	s->requestor->n_requests++;
	memory_add(&req->requestor->memory, REQUEST_COST);
	return req;
}

void request_set_state(struct request *req, const struct request_ops *ops,
		       void *state)
{
	req->ops = ops;
	req->state = state;
}

void *request_take_state(struct request *req)
{
	void *state = req->state;

	request_set_state(req, &no_ops, NULL);
	return state;
}

void request_begin(struct request *req)
{
	req->begun = true;
	HASH_ADD_KEYPTR(hh, req->session->requests, req->msg.id_key,
			req->msg.id_key_len, req);
}

static void end_read(struct request *req)
{
	struct session *s = req->session;

	if (!req->reads)
		return;
	req->reads = false;
	s->n_reads--;
	s->requestor->n_reads--;
	sessions_read_on(s->ctx);
	if (s->ops->read_done != NULL)
		s->ops->read_done(s->arg);
}

static void leave_session(struct request *req)
{
	if (req->session == NULL)
		return;
	session_unobserve(req->session, &req->observer);
	if (req->begun)
		HASH_DELETE(hh, req->session->requests, req);
	req->session->n_requests--;
	req->requestor->n_requests--;
	request_backlog_leave(req);
	end_read(req);
	req->session = NULL;
	if (req->batch != NULL) /* the batch outlives REQ, not the session */
		batch_skip(req->batch);
	req->batch = NULL;
}

static void request_free(struct request *req)
{
	assert(req->refs == 0);
	request_unwatch(req);
	leave_session(req);
	if (req->timer != NULL)
		event_free(req->timer);
	progress_fini(&req->progress);
	if (req->ops->free != NULL)
		req->ops->free(req->state);
	rpc_async_free(req->ctx->thread_pool, req->requestor, &req->msg);
	memory_give(&req->requestor->memory, REQUEST_COST);
	if (req->ctx->sessions != NULL)
		/* waiting requests may have room now */
		sessions_read_on(req->ctx);
	free(req);
}

void request_ref(struct request *req)
{
	req->refs++;
	req->ctx->lookups++;
}

void request_mark_large(struct request *req)
{
	if (req->reads)
		return;
	req->reads = true;
	req->session->n_reads++;
	req->session->requestor->n_reads++;
}

void request_ref_large(struct request *req)
{
	request_mark_large(req);
	request_ref(req);
}

bool request_unref(struct request *req)
{
	assert(req->refs > 0);
	req->refs--;
	req->ctx->lookups--;
	end_read(req);
	if (!req->dropped)
		return true;
	if (req->refs == 0)
		request_free(req);
	return false;
}

void request_drop(struct request *req, bool cancel_run)
{
	struct run *r = req->run;
	struct runs *runs = req->session->ctx->runs;

	req->dropped = true;
	req->cancels = cancel_run;
	if (req->ops->dropped != NULL)
		req->ops->dropped(req);
	if (req->batch != NULL && !cancel_run)
		batch_gone(req->batch); /* the client itself has gone */
	request_unwatch(req);		/* before the stream is gone */
	if (req->batch == NULL && cancel_run)
		req->session->ops->answer(req->session->arg, req->stream, NULL,
					  0, (struct reply_hint){0});
	leave_session(req);
	/* a reference may keep REQ for long */
	if (req->timer != NULL)
		evtimer_del(req->timer);
	if (req->refs == 0)
		request_free(req);
	if (r != NULL && cancel_run && run_is_unwanted(r))
		runs_cancel(runs, r);
}

/* ---- the answer ---- */

#define ERROR_BYTES 2048 /* of an error message, with an id of RPC_ID_MAX */

size_t request_max_bytes(const struct request *req)
{
	size_t most = (size_t)req->ctx->config->max_answer_bytes, used = 0;

	if (req->batch != NULL)
		used = batch_bytes(req->batch, ERROR_BYTES);
	return used < most ? most - used : 0;
}

/*
 * Replace ANSWER by an error if too long. A client which reads lines has a
 * bound for a line, and drops its session at a longer line.
 */
static void shorten(const struct request *req, struct buf *answer)
{
	size_t len = buf_len(answer);
	char *errmsg;

	if (len <= ERROR_BYTES || len <= request_max_bytes(req))
		return;
	errmsg =
	    xasprintf("the answer has %zu bytes, and no message of this server "
		      "has more than %lld (its max_answer_bytes)%s",
		      len, (long long)req->ctx->config->max_answer_bytes,
		      req->batch != NULL ? "; ask for it in no batch" : "");
	buf_fini(answer);
	rpc_put_error(answer, req->msg.id, RPC_INTERNAL_ERROR, errmsg, NULL);
	free(errmsg);
}

/* Send the complete ANSWER, alone or with its batch. */
void request_send_message(struct request *req, struct buf *answer)
{
	const struct session_ops *ops = req->session->ops;

	shorten(req, answer);
	if (req->batch != NULL)
		batch_add(req->batch, answer);
	else if (ops->answer_taken != NULL &&
		 rpc_async_is_large(buf_len(answer)))
		ops->answer_taken(req->session->arg, req->stream, answer,
				  req->hint);
	else
		ops->answer(req->session->arg, req->stream, buf_data(answer),
			    buf_len(answer), req->hint);
	buf_fini(answer);
	request_free(req);
}

void request_result(struct request *req, struct json_object *result)
{
	struct buf answer = {0};

	mcp_finish_result(result, req->terms->revision);
	rpc_put_result(&answer, req->msg.id, result);
	json_object_put(result);
	request_send_message(req, &answer);
}

void request_error(struct request *req, int code, struct json_object *data,
		   const char *fmt, ...)
{
	enum mcp_revision rev = req->terms->revision;
	struct buf answer = {0};
	char *text;
	va_list ap;

	code = mcp_error_code(code, rev);
	if (req->hint.status == 0)
		req->hint.status = mcp_error_status(code, rev);

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	utf8_mend(text);
	rpc_put_error(&answer, req->msg.id, code, text, data);
	json_object_put(data);
	free(text);
	request_send_message(req, &answer);
}

void request_give_run(struct request *req, const struct run_result_source *a)
{
	req->session->ops->take_run(req->session->arg, req->stream, a);
	request_free(req);
}

bool request_is_operator(const struct request *req)
{
	const struct context *ctx = req->ctx;

	return req->session->via == TRUST_LOCAL &&
	       (req->requestor == ctx->local ||
		req->requestor == requestors_of_uid(ctx->requestors, 0));
}

void request_unreadable(struct request *req, int rc)
{
	request_error(req, RPC_INTERNAL_ERROR,
		      json_pack("errorCode:s", "STORE_UNAVAILABLE"),
		      "the store cannot be read now: %s", store_says(rc));
}

void request_notify(struct request *req, const char *method,
		    struct json_object *params)
{
	mcp_add_subscription(params, req->msg.id);
	session_tell(req->session, req->stream, method, params);
	json_object_put(params);
}

void request_audit_refused(const struct request *req, const char *code)
{
	static const char *const ids[] = {"templateId", "runId", "artifactId"};
	struct json_object *args = json_member(req->msg.params, "arguments");
	const char *id = NULL;

	if (req->session == NULL)
		return;
	for (size_t i = 0; id == NULL && i < ARRAY_LEN(ids); i++)
		id = json_member_str(args, ids[i]);
	audit_refused(req->session->requestor,
		      json_member_str(req->msg.params, "name"), id, code);
}

void request_tool_error(struct request *req, struct tool_error *r)
{
	struct json_object *o =
	    tool_error_json(r->code, r->message, r->details);
	struct json_object *result;
	size_t len;
	const char *text = json_text(o, &len);

	request_audit_refused(req, r->code);
	result = mcp_tool_result(text, len, NULL, 0, true);
	json_object_put(o);
	tool_error_fini(r);
	request_result(req, result);
}

/* ---- a watched run ---- */

void request_unrecorded(struct request *req, const struct run *r,
			const char *unrecorded)
{
	struct tool_error tool_error = {0};

	tool_error_set(&tool_error, "STORE_UNAVAILABLE",
		       json_pack("runId:s status:s retryAfterMs:i", r->id,
				 run_status(r), ADMISSION_STORE_MS),
		       "the run ended, but its outcome cannot be recorded: %s",
		       unrecorded);
	request_tool_error(req, &tool_error);
}

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct request *req = CONTAINER(w, struct request, watch);

	switch (n->kind) {
	case NOTICE_PROGRESS:
		if (req->told) /* REQ is not one of too many */
			progress_news(&req->progress, r);
		break;
	case NOTICE_LOG:
		if (req->told && req->ops->logs)
			progress_log(&req->progress, r, n);
		break;
	case NOTICE_RECORDED:
		progress_stop(&req->progress, true);
		request_unwatch(req);
		if (n->unrecorded == NULL)
			req->ops->run_ended(req, r);
		else
			request_unrecorded(req, r, n->unrecorded);
		break;
	default:
		if (req->ops->run_changed != NULL)
			req->ops->run_changed(req, r, n);
	}
}

void request_watch(struct request *req, struct run *r)
{
	req->run = r;
	req->told = r->n_told < REQUESTS_TOLD_MAX;
	r->n_told += req->told;
	req->watch.on_notice = on_notice;
	run_watch_add(r, &req->watch);
}

void request_unwatch(struct request *req)
{
	progress_stop(&req->progress, false);
	if (req->run != NULL) {
		req->run->n_told -= req->told;
		run_watch_del(&req->watch);
	}
	req->run = NULL;
	run_waiter_del(&req->waiter);
}

void request_set_timer(struct request *req, int64_t ms, event_callback_fn fn)
{
	if (req->timer != NULL && event_get_callback(req->timer) != fn) {
		event_free(req->timer);
		req->timer = NULL;
	}
	if (req->timer == NULL)
		req->timer = evtimer_new(req->session->ctx->base, fn, req);
	evtimer_add(req->timer, CLOCK_TIMEVAL(ms));
}

void request_stop_timer(struct request *req)
{
	if (req->timer != NULL)
		evtimer_del(req->timer);
}
