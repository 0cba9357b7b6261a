/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asks.c - asks a user the questions ("asks") of a prompt or a resource, for
 * prompts.c and resources.c. The client of a session is asked one question
 * after the other; a client with stateless requests gets all missing questions
 * as the answer, and repeats the request with answers. A client which cannot be
 * asked, a user who declines and a malformed answer are errors of the request.
 */
#include "supervisor/mcp/methods/asks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/mcp/input/input_request.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/packages/package/placeholder.h"
#include "supervisor/session/client_task.h"

/* ---- a single question ---- */

/* Set Q up for ASK, which has passed the check of its manifest. */
static void begin_question(struct input_request *q, struct json_object *ask)
{
	const struct worker_question of_user = {.kind = WORKER_QUESTION_ELICIT,
						.params = ask};
	struct tool_error r = {0};

	(void)input_request_init(q, &of_user, &r);
	tool_error_fini(&r);
}

enum taken { TAKEN, DECLINED, WRONG };

/*
 * Add the answer RESULT to ASK (Q) to ANSWERS under KEY; R says why a WRONG
 * answer is wrong.
 */
static enum taken take_answers(struct json_object *answers, const char *key,
			       struct json_object *ask,
			       const struct input_request *q,
			       struct json_object *result, struct tool_error *r)
{
	struct schema_budget b = {.allowed = SCHEMA_STEPS_INLINE};
	struct json_object *form = json_member(ask, "requestedSchema");
	struct json_object *answer = input_request_result(q, result, &b, r);
	struct json_object *content = json_member(answer, "content");
	enum taken taken = answer == NULL    ? WRONG
			   : content == NULL ? DECLINED
					     : TAKEN;

	if (taken == TAKEN)
		placeholder_add_answers(
		    answers, key, json_member(form, "properties"), content);
	json_object_put(answer);
	return taken;
}

static void answer_declined(struct request *req, const char *key)
{
	request_error(req, RPC_INVALID_PARAMS, NULL,
		      "the user declined to answer \"%s\", which has to be "
		      "known before this is given",
		      key);
}

/* ---- a session's client: one question after the other ---- */

struct asking {
	struct request *req;
	/* a copy, which holds a reference to its template */
	struct catalogue_entry offer;
	asks_give give;
	struct json_object *answers;
	size_t next;	 /* index of the next question */
	const char *key; /* of the question being asked; *lent* by OFFER */
	struct json_object *ask;
	struct input_request q;
	struct client_task *asked; /* NULL: the client is not being asked */
};

/* Return member I of ASKS and *KEY, or NULL after the last. */
static struct json_object *nth(struct json_object *asks, size_t i,
			       const char **key)
{
	json_object_object_foreach(asks, name, ask) {
		*key = name;
		if (i-- == 0)
			return ask;
	}
	return NULL;
}

/*
 * Cancel the question, while the stream by which the client was asked exists.
 */
static void on_dropped(struct request *req)
{
	struct asking *a = req->state;

	if (a->asked != NULL)
		client_task_drop(
		    a->asked, req->session->over
				  ? NULL
				  : "the request that it belongs to is over");
	a->asked = NULL;
}

static void asking_free(void *state)
{
	struct asking *a = state;

	input_request_fini(&a->q);
	json_object_put(a->answers);
	template_unref(a->offer.template);
	free(a);
}

static const struct request_ops asking_ops = {.dropped = on_dropped,
					      .free = asking_free};

static void ask_next(struct asking *a);

static void on_timeout(evutil_socket_t fd, short what, void *request)
{
	struct request *req = request;
	struct asking *a = req->state;

	(void)fd, (void)what;
	client_task_drop(a->asked, "no answer came in time");
	a->asked = NULL;
	request_error(req, RPC_INVALID_PARAMS, NULL,
		      "no answer to \"%s\", which has to be known before this "
		      "is given, came within %d ms",
		      a->key, INPUT_REQUEST_TIMEOUT_MS);
}

/* Take RESULT, the client's answer. */
static void on_answer(struct asking *a, struct json_object *result)
{
	struct tool_error r = {0};
	enum taken taken =
	    take_answers(a->answers, a->key, a->ask, &a->q, result, &r);

	if (taken == TAKEN)
		ask_next(a);
	else if (taken == DECLINED)
		answer_declined(a->req, a->key);
	else
		request_error(a->req, RPC_INVALID_PARAMS, NULL,
			      "the answer to \"%s\", which has to be known "
			      "before this is given, is none: %s",
			      a->key, r.message);
	tool_error_fini(&r);
}

static void on_failure(struct asking *a, const char *errmsg)
{
	request_error(a->req, RPC_INVALID_PARAMS, NULL,
		      "\"%s\" has to be known before this is given, but asking "
		      "the client for it failed: %.200s",
		      a->key, errmsg != NULL ? errmsg : "it does not say why");
}

static void on_done(void *arg, enum client_task_end end, struct rpc_msg *m,
		    const char *errmsg)
{
	struct asking *a = arg;

	a->asked = NULL;
	switch (end) {
	case CLIENT_TASK_RESULT:
		on_answer(a, m->result);
		break;
	case CLIENT_TASK_REFUSED:
		on_failure(a, json_member_str(m->error, "message"));
		break;
	case CLIENT_TASK_FAILED:
		on_failure(a, errmsg);
		break;
	case CLIENT_TASK_GONE: /* the request ends as well */
		break;
	}
}

/*
 * Return why the client of A's session cannot be asked A's question, or NULL.
 */
static const char *unasked_capability(const struct asking *a)
{
	const struct session *s = a->req->session;

	if (!s->initialized)
		return "the client has not sent notifications/initialized";
	if (session_is_backlogged(s))
		return "the client does not read what it is sent";
	return input_request_missing(&a->q, a->req->terms);
}

static void send_it(struct asking *a)
{
	struct request *req = a->req;
	struct json_object *params =
	    input_request_params(&a->q, req->terms->revision, NULL);

	a->asked = client_task_ask(req->session, req->stream,
				   input_request_method(&a->q), params,
				   INPUT_REQUEST_TIMEOUT_MS, on_done, a);
	json_object_put(params);
	if (a->asked != NULL)
		request_set_timer(req, INPUT_REQUEST_TIMEOUT_MS, on_timeout);
	else
		request_error(req, RPC_INTERNAL_ERROR, NULL,
			      "too much is asked of this client already");
}

static void ask_next(struct asking *a)
{
	struct request *req = a->req;
	const char *lacks;

	input_request_fini(&a->q);
	a->q = (struct input_request){0};
	a->ask = nth(json_member(a->offer.def, "asks"), a->next++, &a->key);
	if (a->ask == NULL) { /* all questions are answered */
		(void)request_take_state(req);
		if (req->timer != NULL)
			event_del(req->timer);
		a->give(req, &a->offer, a->answers);
		asking_free(a);
		return;
	}
	begin_question(&a->q, a->ask);
	lacks = unasked_capability(a);
	if (lacks == NULL)
		send_it(a);
	else
		request_error(
		    req, RPC_INVALID_PARAMS, NULL,
		    "\"%s\" has to be known before this is given, but "
		    "the user cannot be asked: %s",
		    a->key, lacks);
}

/* ---- clients which repeat the request with answers ---- */

#define CAPABILITY "elicitation/form"

/* A single request of such a client, and its outcome. */
struct round {
	struct request *req;
	struct json_object *given;    /* *lent*; NULL: no answers */
	struct json_object *answers;  /* the answers so far */
	struct json_object *requests; /* the missing questions, by their keys */
	const char *declined; /* the key of a declined question, or NULL */
	bool unable;	      /* the client cannot ask its user */
	struct request_state state; /* the requestState, which is for no run */
};

/* Take the answer to ASK, or put ASK among the questions to ask (again). */
static void look_for_answer(struct round *w, const char *key,
			    struct json_object *ask)
{
	struct json_object *given = json_member(w->given, key), *params;
	enum taken taken = WRONG;
	struct input_request q;
	struct tool_error r = {0};

	begin_question(&q, ask);
	if (json_object_is_type(given, json_type_object))
		taken = take_answers(w->answers, key, ask, &q, given, &r);
	tool_error_fini(&r);
	if (taken == DECLINED)
		w->declined = key;
	if (taken == WRONG) {
		params =
		    input_request_params(&q, w->req->terms->revision, NULL);
		json_object_object_add(w->requests, key,
				       json_pack("method:s params:o",
						 input_request_method(&q),
						 params));
		w->unable |= input_request_missing(&q, w->req->terms) != NULL;
	}
	input_request_fini(&q);
}

static void answer_round(struct round *w, const struct catalogue_entry *o,
			 asks_give give)
{
	struct request *req = w->req;

	if (w->declined != NULL) {
		answer_declined(req, w->declined);
	} else if (json_object_object_length(w->requests) == 0) {
		give(req, o, w->answers);
	} else if (w->unable) {
		request_error(
		    req, RPC_MISSING_CAPABILITY,
		    mcp_missing_capability(CAPABILITY),
		    "\"%.100s\" asks the user before it is given: the "
		    "client would have to declare the capability "
		    "elicitation.form",
		    o->key);
	} else {
		w->state.round = 1;
		input_required(req, json_object_get(w->requests), &w->state);
	}
}

static void ask_by_result(struct request *req, const struct catalogue_entry *o,
			  asks_give give)
{
	struct json_object *params = req->msg.params;
	const char *name = json_member_str(params, "name");
	/* answers may come before any question */
	struct round w = {.req = req,
			  .given = json_member(params, "inputResponses")};

	request_state_call(w.state.call, req->msg.method,
			   name != NULL ? name : json_member_str(params, "uri"),
			   json_member(params, "arguments"));
	if (input_required_is_retry(req) && !input_required_open(req, &w.state))
		return;
	w.answers = json_object_new_object();
	w.requests = json_object_new_object();
	json_object_object_foreach(json_member(o->def, "asks"), key, ask)
		look_for_answer(&w, key, ask);
	answer_round(&w, o, give);
	json_object_put(w.answers);
	json_object_put(w.requests);
}

void asks_before(struct request *req, const struct catalogue_entry *o,
		 asks_give give)
{
	struct asking *a;

	if (json_member(o->def, "asks") == NULL) {
		give(req, o, NULL);
		return;
	}
	if (mcp_has(req->terms->revision, MCP_STATELESS)) {
		ask_by_result(req, o, give);
		return;
	}
	a = xcalloc(1, sizeof(*a));
	*a = (struct asking){.req = req,
			     .offer = *o,
			     .give = give,
			     .answers = json_object_new_object()};
	template_ref(o->template);
	request_set_state(req, &asking_ops, a);
	ask_next(a);
}

void asks_add(struct json_object *values, struct json_object *answers)
{
	if (answers == NULL)
		return;
	json_object_object_foreach(answers, name, value)
		json_object_object_add(values, name, json_object_get(value));
}
