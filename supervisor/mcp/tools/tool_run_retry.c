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
#include "supervisor/mcp/input/input_required.h"
#include "supervisor/run/requestor/admission.h"
#include "supervisor/run/run_row.h"
#include "supervisor/mcp/tools/run_lookup.h"

/*
 * ---- questions in a response ----
 */

static void respond_with_questions(struct request *c, const char *run_id,
				   struct json_object *asked,
				   struct request_state *st)
{
	struct tool_run_args *ask = c->state;

	if (!ask->has_call)
		tool_run_digest_call(c);
	memcpy(st->call, ask->call, sizeof(st->call));
	memcpy(st->run, run_id, sizeof(st->run));
	request_unwatch(c);
	input_required(c, asked, st);
}

void tool_run_asked(struct request *c, struct run *r)
{
	struct tool_run_args *ask = c->state;
	struct request_state st = {.round = r->rounds.given + 1};
	struct json_object *asked;
	struct tool_error e = {0};

	/* the client may know the questions already */
	if (!input_required_is_retry(c))
		input_answer_keys(r, c->requestor,
				  json_member(c->msg.params, "inputResponses"),
				  c->msg.bytes);
	asked = input_requests(r, c->terms);
	if (asked == NULL) /* every question is answered, or timed out */
		return;
	if (!run_is_durable(r) && !ask->recorded) {
		/*
		 * the next server needs the row when the client repeats the call
		 */
		json_object_put(asked);
		if (!ask->asked)
			runs_record(c->ctx->runs, r);
		ask->asked = true;
		return;
	}
	if (!r->job.parked.is && !runs_may_park(c->ctx->runs, r, &e)) {
		json_object_put(asked);
		input_refuse_all(r, &e);
		return;
	}
	input_park(r);
	respond_with_questions(c, r->id, asked, &st);
}

void tool_run_asked_abroad(struct request *c, struct json_object *requests,
			   uint32_t round)
{
	struct request_state st = {.round = round};

	respond_with_questions(c, c->run->id, requests, &st);
}

/*
 * ---- answers in a repeated call ----
 */

#define AGAIN_MS 200  /* ms between reads of a dead server's run */
#define AGAIN_MOST 25 /* most reads of the row */

/*
 * Give the answers of C to the local run R.
 */
static void give_answers(struct request *c, struct run *r)
{
	const struct tool_run_args *ask = c->state;
	struct json_object *answers =
	    json_member(c->msg.params, "inputResponses");

	if (run_round_is_old(ask->round, r->rounds.given)) { /* asked again */
		tool_run_wait(c, r);
		return;
	}
	if (ask->round <= r->rounds.used || ask->round > r->rounds.given) {
		input_required_used(c);
		return;
	}
	r->rounds.used = ask->round;
	input_unpark(r);
	tool_run_wait(c, r);
	input_answer_keys(r, c->requestor, answers, c->msg.bytes);
}

static void read_row_again(evutil_socket_t fd, short what, void *arg);

/* Give the answers of C to the remote run in ROW. */
static void give_remote_answers(struct request *c, const struct store_run *row)
{
	struct tool_run_args *ask = c->state;
	struct template *t =
	    catalogue_find(c->ctx->catalogue, row->template_id, row->version);
	struct run *r = c->ctx->cluster->visit(
	    c->ctx->runs, c->requestor, t != NULL ? t : ask->template, row);

	if (r == NULL) { /* the run has just moved to this instance, or ended */
		request_set_timer(c, AGAIN_MS, read_row_again);
		return;
	}
	tool_run_wait(c, r);
	ask->cluster = c->ctx->cluster;
	ask->proxied = ask->cluster->wait(
	    c, r, ask->round, json_member(c->msg.params, "inputResponses"));
	if (ask->proxied == NULL)
		tool_run_not_heard(c, -E2BIG);
}

void tool_run_not_heard(struct request *c, int rc)
{
	struct tool_error e = {0};

	request_unwatch(c);
	if (rc == 0) {
		input_required_used(c);
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
			       ((struct tool_run_args *)c->state)->run_id);
	else
		tool_error_set(&e, "STORE_UNAVAILABLE",
			       admission_store_details(),
			       "the answers cannot be given to the server that "
			       "runs this now: %s",
			       store_says(rc));
	request_tool_error(c, &e);
}

void tool_run_dropped(struct request *c)
{
	struct tool_run_args *ask = c->state;

	if (ask->proxied != NULL)
		ask->cluster->wait_over(ask->proxied, c->cancels);
	ask->proxied = NULL;
}

/*
 * Continue by ROW: the run has ended, or is remote.
 */
static void continue_by_row(struct request *c, const struct store_run *row)
{
	struct tool_run_args *ask = c->state;
	uint32_t used = run_row_rounds_used(row);

	if (row->status > STORE_RUNNING) {
		if (ask->round <= used && !run_round_is_old(ask->round, used))
			input_required_used(c);
		else
			tool_run_present_row(c, row);
	} else if (ask->looks++ < AGAIN_MOST &&
		   run_lookup_owner_died(c->ctx, row)) {
		request_set_timer(c, AGAIN_MS, read_row_again);
	} else if (c->ctx->cluster != NULL) {
		give_remote_answers(c, row);
	} else {
		request_error(c, RPC_INVALID_PARAMS, NULL,
			      "the run that this requestState belongs to is at "
			      "another server, which alone can take the "
			      "answers");
	}
}

static void on_row(void *arg, const struct store_result *res)
{
	struct request *c = arg;
	const struct tool_run_args *ask;
	struct tool_error e = {0};
	struct run *r;

	if (!request_unref(c))
		return;
	ask = c->state;
	r = run_lookup_ours(c, ask->run_id);
	if (r != NULL) {
		give_answers(c, r);
	} else if (res->rc == 0) {
		continue_by_row(c, res->runs);
	} else if (res->rc == -ENOENT) {
		tool_error_set(&e, "RUN_NOT_FOUND", NULL,
			       "the run that this requestState belongs to is "
			       "not kept any more");
		request_tool_error(c, &e);
	} else {
		tool_error_set(&e, "STORE_UNAVAILABLE", NULL,
			       "what became of the run cannot be read now: %s",
			       store_says(res->rc));
		request_tool_error(c, &e);
	}
}

static void read_row_again(evutil_socket_t fd, short what, void *arg)
{
	struct request *c = arg;
	const struct tool_run_args *ask = c->state;

	(void)fd, (void)what;
	request_ref_large(c);
	store_get_run(c->ctx->store, c->requestor->name, ask->run_id, on_row,
		      c);
}

void tool_run_retry(struct request *c)
{
	struct tool_run_args *ask = c->state;
	struct request_state st = {0};
	struct run *r;

	memcpy(st.call, ask->call, sizeof(st.call));
	if (!input_required_open(c, &st))
		return;
	memcpy(ask->run_id, st.run, sizeof(ask->run_id));
	ask->round = st.round;
	r = run_lookup_ours(c, ask->run_id);
	if (r != NULL)
		give_answers(c, r);
	else
		read_row_again(-1, 0, c);
}
