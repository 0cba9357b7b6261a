/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_park.c - questions that a client takes along as the answer to its call,
 * and answers by another call (MCP 2026-07-28, multi round-trip requests), with a
 * sealed state; a task's questions go the same way. tools/ and methods/ call it. An
 * answer by an unknown key is passed over, a state that cannot be opened is refused
 * and audited; the run fails when no client comes back.
 */
#include "supervisor/mcp/input/input_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/loop_guard.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/config/config.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/session/request.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"
#include "supervisor/store/state/seal_key.h"

#define SMALL 8192	  /* bytes of an answer that is read on the loop */
#define KEYS_MAX 1000	  /* more keys get their questions' numbers */
#define GATHER_MS 10	  /* wait for another question of a burst */
#define GATHER_MOST_MS 50 /* wait at most, from the first question */

/* ---- names ---- */

void input_name(struct pending_input *p)
{
	struct input *in = p->input;
	const char *own = p->q.key[0] != '\0' ? p->q.key : "input";

	if (in->keys == NULL)
		in->keys = json_object_new_object();
	snprintf(p->key, sizeof(p->key), "%s", own);
	/* a template may use a name for two questions */
	if (p->q.key[0] == '\0' ||
	    (size_t)json_object_object_length(in->keys) >= KEYS_MAX ||
	    json_object_object_get_ex(in->keys, own, NULL))
		snprintf(p->key, sizeof(p->key), "%s-%u", own, p->no);
	if (p->misfits > 0) /* a repeated question gets a new key */
		snprintf(p->key, sizeof(p->key), "%s-%u-%u", own, p->no,
			 p->misfits);
	if ((size_t)json_object_object_length(in->keys) < KEYS_MAX)
		json_object_object_add(in->keys, p->key, NULL);
}

/* ---- open questions ---- */

struct json_object *input_requests(const struct run *r,
				   const struct client_terms *t)
{
	struct pending_input *all[MSG_ASKS_MAX], *p;
	struct json_object *o;
	size_t n = 0;

	if (r->job.input == NULL)
		return NULL;
	LIST_FOREACH(p, &r->job.input->pending, link)
		if (p->job == NULL && n < ARRAY_LEN(all) &&
		    input_request_missing(&p->q, t) == NULL)
			all[n++] = p;
	o = n > 0 ? json_object_new_object() : NULL;
	while (n-- > 0) /* the list begins with the newest */
		json_object_object_add(
		    o, all[n]->key,
		    json_pack(
			"method:s params:o", input_request_method(&all[n]->q),
			input_request_params(&all[n]->q, t->revision, NULL)));
	return o;
}

/* ---- answers ---- */

/*
 * Read the answer to P, the member KEY of RESPONSES. A large answer is taken
 * out of RESPONSES. When too much is being read already, P stays as before, and
 * its client is asked again.
 */
static void answer_pending(struct pending_input *p, struct requestor *from,
			   struct json_object *responses, const char *key,
			   size_t bytes)
{
	struct thread_pool *pool = p->input->ctx->thread_pool;
	struct json_object *value = json_member(responses, key);
	struct rpc_msg m = {.kind = RPC_RESPONSE,
			    .root = json_object_get(value),
			    .result = value,
			    .bytes = bytes};

	if (rpc_async_is_large(bytes) && json_weigh(value, SMALL) <= SMALL)
		m.bytes = SMALL; /* other answers may make the message large */
	if (rpc_async_is_large(m.bytes) && !thread_pool_has_room(pool, from)) {
		json_object_put(m.root);
		return;
	}
	input_withdraw(p, "it was answered in another way");
	json_object_object_del(responses, key);
	input_reply_read(p, from, &m);
	rpc_async_free(pool, from, &m); /* P may be freed */
}

void input_answer_keys(struct run *r, struct requestor *from,
		       struct json_object *responses, size_t bytes)
{
	struct pending_input *p, *all[MSG_ASKS_MAX];
	char keys[MSG_ASKS_MAX][sizeof(p->key)];
	size_t n = 0;

	if (r->job.input == NULL ||
	    !json_object_is_type(responses, json_type_object))
		return;
	LIST_FOREACH(p, &r->job.input->pending, link) {
		struct json_object *value = json_member(responses, p->key);

		if (p->job == NULL && n < ARRAY_LEN(all) &&
		    json_object_is_type(value, json_type_object))
			snprintf(keys[n++], sizeof(keys[0]), "%s", p->key);
	}
	/* an answer may end other questions, and free the input */
	for (size_t i = 0; i < n && r->job.input != NULL; i++) {
		LIST_FOREACH(p, &r->job.input->pending, link)
			if (p->job == NULL && strcmp(p->key, keys[i]) == 0)
				break;
		if (p != NULL)
			answer_pending(p, from, responses, keys[i], bytes);
	}
}

void input_refuse_all(struct run *r, struct tool_error *e)
{
	struct pending_input *p;

	while (r->job.input != NULL &&
	       (p = LIST_FIRST(&r->job.input->pending)) != NULL) {
		struct tool_error one = {0};

		tool_error_set(&one, e->code, json_object_get(e->details), "%s",
			       e->message);
		input_withdraw(p, "it is refused");
		input_reject(p, &one);
	}
	tool_error_fini(e);
}

/* ---- collected questions ---- */

bool input_may_be_told(const struct run *r, const struct client_terms *t)
{
	const struct pending_input *p;

	if (r->job.input == NULL)
		return false;
	LIST_FOREACH(p, &r->job.input->pending, link)
		if (p->job == NULL && input_request_missing(&p->q, t) == NULL)
			return true;
	return false;
}

static struct request *who_gathers(const struct input *in)
{
	struct run_waiter *w;

	TAILQ_FOREACH(w, &in->run->waiters, link)
		if (w->request->ops->asked != NULL &&
		    mcp_has(w->request->terms->revision, MCP_STATELESS) &&
		    input_may_be_told(in->run, w->request->terms))
			return w->request;
	return NULL;
}

/*
 * Give all questions to each waiter in turn; the first waiter that comes back
 * is heard.
 */
static void on_gathered(evutil_socket_t fd, short what, void *arg)
{
	struct input *in = arg;
	struct run *r = in->run;
	struct request *req = who_gathers(in);
	const struct cluster *cluster = in->ctx->cluster;

	(void)fd, (void)what;
	in->gather_ms = 0;
	if (req == NULL) {
		if (cluster == NULL || !cluster->ask(in->ctx, r))
			return;
	} else if (thread_pool_has_room(in->ctx->thread_pool, req->requestor)) {
		/* without room, a large answer would be refused */
		req->ops->asked(req, r);
	}
	if (r->job.input == in && (who_gathers(in) != NULL ||
				   (cluster != NULL && cluster->may_ask(r))))
		input_gather(in);
}

void input_gather(struct input *in)
{
	int64_t now = clock_mono_ms(), ms;

	if (in->gather == NULL)
		in->gather = evtimer_new(in->ctx->base, on_gathered, in);
	if (in->gather_ms == 0)
		in->gather_ms = now;
	ms = in->gather_ms + GATHER_MOST_MS - now;
	ms = ms < GATHER_MS ? ms : GATHER_MS;
	evtimer_add(in->gather, CLOCK_TIMEVAL(ms > 0 ? ms : 0));
}

/* ---- taken along ---- */

static void on_nobody_came(evutil_socket_t fd, short what, void *arg)
{
	struct input *in = arg;

	(void)fd, (void)what;
	runs_end_parked(in->ctx->runs, in->run);
}

/*
 * While the run's time rests, count the question's whole time from now: a
 * timeout that the run's time cut short before gets its rest back.
 */
static void rest_until_return(struct input *in)
{
	int64_t now = clock_mono_ms(), most = in->ctx->config->input_wait_ms;
	struct pending_input *p;

	if (!in->run->job.parked.stopped)
		return;
	LIST_FOREACH(p, &in->pending, link) {
		int64_t ms = p->asked_mono_ms + p->q.timeout_ms - now;

		if (p->job != NULL || p->expiry == NULL || ms > most)
			/* a thread reads the answer, or the run ends before */
			continue;
		p->expires_mono_ms = now + ms;
		evtimer_add(p->expiry, CLOCK_TIMEVAL(ms > 0 ? ms : 0));
	}
}

void input_park(struct run *r)
{
	struct input *in = r->job.input;
	int64_t ms = in->ctx->config->input_wait_ms;

	if (in->parked == NULL)
		in->parked = evtimer_new(in->ctx->base, on_nobody_came, in);
	evtimer_add(in->parked, CLOCK_TIMEVAL(ms));
	r->rounds.given++;
	/* not parked already by another of the run's clients */
	if (!r->job.parked.is)
		runs_park(in->ctx->runs, r);
	rest_until_return(in);
}

void input_unpark(struct run *r)
{
	struct input *in = r->job.input;

	if (in == NULL || in->parked == NULL)
		return;
	evtimer_del(in->parked);
	runs_unpark(in->ctx->runs, r);
}

/* ---- the state that a client brings back ---- */

/* Lazy: a start without a key file has no side effect. */
const unsigned char *input_seal_key(const struct context *ctx)
{
	static unsigned char key[SEAL_KEY_BYTES];
	static unsigned char shared[SEAL_KEY_BYTES];
	static bool loaded;
	char errmsg[512];

	_Static_assert(SEAL_KEY_BYTES == STORE_SEAL_BYTES, "one key");
	if (store_seal_key(ctx->store, shared))
		return shared;
	loop_guard_allow("a file of 32 bytes, once in a server's life");
	if (!loaded && seal_key_load(key, ctx->config->state_dir, errmsg,
				     sizeof(errmsg)) < 0)
		log_warn("server", "seal_key=none err=\"%s\"", errmsg);
	loop_guard_forbid();
	loaded = true;
	return key;
}

void input_required(struct request *req, struct json_object *requests,
		    struct request_state *st)
{
	char text[REQUEST_STATE_SIZE];

	st->requestor = req->requestor->name;
	st->expires_ms = clock_wall_ms() + req->ctx->config->input_wait_ms;
	request_state_seal(text, input_seal_key(req->ctx), st);
	request_result(req,
		       json_pack("resultType:s inputRequests:o requestState:s",
				 "input_required", requests, text));
}

bool input_required_is_retry(const struct request *req)
{
	return mcp_has(req->terms->revision, MCP_STATELESS) &&
	       json_object_object_get_ex(req->msg.params, "requestState", NULL);
}

static void refuse_state(struct request *req, const char *reason,
			 const char *text)
{
	request_audit_refused(req, "REQUEST_STATE_REFUSED");
	request_error(
	    req, RPC_INVALID_PARAMS,
	    json_pack("errorCode:s reason:s", "REQUEST_STATE_REFUSED", reason),
	    "%s", text);
}

bool input_required_open(struct request *req, struct request_state *st)
{
	static const char *const reasons[REQUEST_STATE_VERDICTS] = {
	    [REQUEST_STATE_MALFORMED] = "malformed",
	    [REQUEST_STATE_FORGED] = "forged",
	    [REQUEST_STATE_OTHER_REQUESTOR] = "other_requestor",
	    [REQUEST_STATE_OTHER_CALL] = "other_call",
	    [REQUEST_STATE_EXPIRED] = "expired"};
	struct json_object *given =
	    json_member(req->msg.params, "requestState");
	const char *text = json_member_str(req->msg.params, "requestState");
	enum request_state_verdict v;

	st->requestor = req->requestor->name;
	v = request_state_open(
	    st, input_seal_key(req->ctx), text != NULL ? text : "",
	    (size_t)json_object_get_string_len(given), clock_wall_ms());
	if (v == REQUEST_STATE_OK)
		return true;
	refuse_state(req, reasons[v], request_state_text(v));
	return false;
}

void input_required_used(struct request *req)
{
	refuse_state(
	    req, "used",
	    "this requestState was used before, and each can be once: go on "
	    "with the newest that was given, or call anew");
}
