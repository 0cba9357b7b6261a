/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_retry.c - questions of templates to clients without a session: the response
 * has the questions, and the client repeats the call with answers and the sealed
 * requestState. tool_run.c calls the functions. A requestState that is forged, used, too
 * old or another requestor's is refused, and no run is made twice.
 */
#include "supervisor/mcp/tools/tool_run_private.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/record/run_row.h"
#include "supervisor/mcp/tools/run_lookup.h"

/*
 * ---- questions in a response ----
 */

void tool_run_digest_call(struct request *req)
{
	struct tool_run_args *ask = req->state;

	request_state_call(ask->call, req->msg.method,
			   json_member_str(req->msg.params, "name"),
			   json_member(req->msg.params, "arguments"));
	ask->has_call = true;
}

static void respond_with_questions(struct request *req, const char *run_id,
				   struct json_object *asked,
				   struct request_state *st)
{
	struct tool_run_args *ask = req->state;

	if (!ask->has_call)
		tool_run_digest_call(req);
	memcpy(st->call, ask->call, sizeof(st->call));
	memcpy(st->run, run_id, sizeof(st->run));
	request_unwatch(req);
	input_required(req, asked, st);
}

void tool_run_asked(struct request *req, struct run *r)
{
	struct tool_run_args *ask = req->state;
	struct request_state st = {.round = r->rounds.given + 1};
	struct json_object *asked;
	struct tool_error e = {0};

	/* the client may know the questions already */
	if (!input_required_is_retry(req))
		input_answer_keys(
		    r, req->requestor,
		    json_member(req->msg.params, "inputResponses"),
		    req->msg.bytes);
	asked = input_requests(r, req->terms);
	if (asked == NULL) /* every question is answered, or timed out */
		return;
	if (!run_is_durable(r) && !ask->recorded) {
		/*
		 * the next server needs the row when the client repeats the call
		 */
		json_object_put(asked);
		if (!ask->asked)
			runs_record(req->ctx->runs, r);
		ask->asked = true;
		return;
	}
	if (!r->job.parked.is && !runs_may_park(req->ctx->runs, r, &e)) {
		json_object_put(asked);
		input_refuse_all(r, &e);
		return;
	}
	input_park(r);
	respond_with_questions(req, r->id, asked, &st);
}

void tool_run_asked_abroad(struct request *req, struct json_object *requests,
			   uint32_t round)
{
	struct request_state st = {.round = round};

	respond_with_questions(req, req->run->id, requests, &st);
}

/*
 * ---- answers in a repeated call ----
 */

#define AGAIN_MS 200  /* ms between reads of a dead server's run */
#define AGAIN_MOST 25 /* most reads of the row */

/*
 * Give the answers of REQ to the local run R.
 */
static void give_answers(struct request *req, struct run *r)
{
	const struct tool_run_args *ask = req->state;
	struct json_object *answers =
	    json_member(req->msg.params, "inputResponses");

	if (run_round_is_old(ask->round, r->rounds.given)) { /* asked again */
		tool_run_wait(req, r);
		return;
	}
	if (ask->round <= r->rounds.used || ask->round > r->rounds.given) {
		input_required_used(req);
		return;
	}
	r->rounds.used = ask->round;
	input_unpark(r);
	tool_run_wait(req, r);
	input_answer_keys(r, req->requestor, answers, req->msg.bytes);
}

static void read_row_again(evutil_socket_t fd, short what, void *arg);

/* Give the answers of REQ to the remote run in ROW. */
static void give_remote_answers(struct request *req,
				const struct store_run *row)
{
	struct tool_run_args *ask = req->state;
	struct template *t =
	    catalogue_find(req->ctx->catalogue, row->template_id, row->version);
	struct run *r = req->ctx->cluster->visit(
	    req->ctx->runs, req->requestor, t != NULL ? t : ask->template, row);

	if (r == NULL) { /* the run has just moved to this instance, or ended */
		request_set_timer(req, AGAIN_MS, read_row_again);
		return;
	}
	tool_run_wait(req, r);
	ask->cluster = req->ctx->cluster;
	ask->proxied = ask->cluster->wait(
	    req, r, ask->round, json_member(req->msg.params, "inputResponses"));
	if (ask->proxied == NULL)
		tool_run_not_heard(req, -E2BIG);
}

void tool_run_not_heard(struct request *req, int rc)
{
	struct tool_error e = {0};

	request_unwatch(req);
	if (rc == 0) {
		input_required_used(req);
		return;
	}
	if (rc == -E2BIG)
		tool_error_set(&e, "INVALID_PARAMETER", NULL,
			       "another server runs this, and is given answers "
			       "of at most %u bytes at once, which is fixed: "
			       "answer in parts, by this requestState first",
			       CLUSTER_ANSWERS_MAX);
	else if (rc == -EAGAIN)
		tool_error_set(&e, "RUN_INTERRUPTED", NULL,
			       "the server that ran this is gone, and the run "
			       "is tried again: call anew, or see by "
			       "get_task_run what becomes of %s",
			       ((struct tool_run_args *)req->state)->run_id);
	else
		tool_error_set(&e, "STORE_UNAVAILABLE",
			       admission_store_details(),
			       "the answers cannot be given to the server that "
			       "runs this now: %s",
			       store_says(rc));
	request_tool_error(req, &e);
}

void tool_run_dropped(struct request *req)
{
	struct tool_run_args *ask = req->state;

	if (ask->proxied != NULL)
		ask->cluster->wait_over(ask->proxied, req->cancels);
	ask->proxied = NULL;
	tool_run_leave_journal(ask);
}

/*
 * Continue by ROW: the run has ended, or is remote.
 */
static void continue_by_row(struct request *req, const struct store_run *row)
{
	struct tool_run_args *ask = req->state;
	uint32_t used = run_row_rounds_used(row);

	if (row->status > STORE_RUNNING) {
		if (ask->round <= used && !run_round_is_old(ask->round, used))
			input_required_used(req);
		else
			tool_run_present_row(req, row);
	} else if (ask->looks++ < AGAIN_MOST &&
		   run_lookup_owner_died(req->ctx, row)) {
		request_set_timer(req, AGAIN_MS, read_row_again);
	} else if (req->ctx->cluster != NULL) {
		give_remote_answers(req, row);
	} else {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "the run that this requestState belongs to is at "
			      "another server, which alone can take the "
			      "answers");
	}
}

static void on_row(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	const struct tool_run_args *ask;
	struct tool_error e = {0};
	struct run *r;

	if (!request_unref(req))
		return;
	ask = req->state;
	r = run_lookup_ours(req, ask->run_id);
	if (r != NULL) {
		give_answers(req, r);
	} else if (res->rc == 0) {
		continue_by_row(req, res->runs);
	} else if (res->rc == -ENOENT) {
		tool_error_set(&e, "RUN_NOT_FOUND", NULL,
			       "the run that this requestState belongs to is "
			       "not kept any more");
		request_tool_error(req, &e);
	} else {
		tool_error_set(&e, "STORE_UNAVAILABLE", NULL,
			       "what became of the run cannot be read now: %s",
			       store_says(res->rc));
		request_tool_error(req, &e);
	}
}

static void read_row_again(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;
	const struct tool_run_args *ask = req->state;

	(void)fd, (void)what;
	request_ref_large(req);
	store_get_run(req->ctx->store, req->requestor->name, ask->run_id,
		      on_row, req);
}

void tool_run_retry(struct request *req)
{
	struct tool_run_args *ask = req->state;
	struct request_state st = {0};
	struct run *r;

	memcpy(st.call, ask->call, sizeof(st.call));
	if (!input_required_open(req, &st))
		return;
	memcpy(ask->run_id, st.run, sizeof(ask->run_id));
	ask->round = st.round;
	r = run_lookup_ours(req, ask->run_id);
	if (r != NULL)
		give_answers(req, r);
	else
		read_row_again(-1, 0, req);
}
