/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_questions.c - questions of a run of one machine, answered at another: the
 * owner shows the questions in the run's row, and reads the answers as mail
 * (answer_mail.c); the client's machine filters questions and forwards
 * answers. A failure to send is told to the request. An answer to an ended
 * question is passed over, as is an unreadable message.
 */
#include "supervisor/cluster/remote_questions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/context.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/cluster/remote_waiters.h"
#include "supervisor/run/threads/rpc_async.h"

#define RELAYED_MAX                                                            \
	(1u << 20) /* bytes of questions that are read on the loop */

char *remote_questions_asked(const struct run *r)
{
	/* a client for every kind of question */
	struct client_terms t = {
	    .revision = MCP_LATEST,
	    .capabilities = json_pack(
		"elicitation:o sampling:o roots:o",
		json_pack("form:o url:o", json_object_new_object(),
			  json_object_new_object()),
		json_pack("tools:o context:o", json_object_new_object(),
			  json_object_new_object()),
		json_object_new_object())};
	struct json_object *asked = input_requests(r, &t);
	struct json_object *guests = remote_waiters_shown(r), *all;
	char *text = NULL;

	if (asked != NULL || guests != NULL) {
		all = json_pack("requests?o guests?o", asked, guests);
		text = xstrdup(json_text(all, NULL));
		json_object_put(all);
	}
	json_object_put(t.capabilities);
	return text;
}

void remote_questions_answered(struct context *ctx, struct run *r,
			       struct json_object *message, size_t bytes)
{
	if (json_member(message, "guest") != NULL)
		remote_waiters_hear(ctx, r, message, bytes);
	else
		input_answer_keys(r, r->requestor,
				  json_member(message, "answers"), bytes);
	if (r->job.input != NULL)
		input_refuse_keys(r, json_member(message, "refused"));
}

/* Does T have METHOD's capability? */
static bool can_answer(const struct client_terms *t, const char *method)
{
	static const char *const needs[][2] = {
	    {"elicitation/create", "elicitation"},
	    {"sampling/createMessage", "sampling"},
	    {"roots/list", "roots"},
	};

	for (size_t i = 0; i < ARRAY_LEN(needs); i++)
		if (method != NULL && strcmp(method, needs[i][0]) == 0)
			return json_member(t->capabilities, needs[i][1]) !=
			       NULL;
	return false;
}

struct json_object *remote_questions_shown(const struct store_run *row)
{
	struct json_object *o = NULL;

	if (row->asked != NULL)
		json_parse(&o, row->asked, strlen(row->asked), NULL);
	return o;
}

struct json_object *remote_questions_requests(const struct store_run *row,
					      const struct client_terms *t)
{
	struct json_object *all = remote_questions_shown(row), *some = NULL;
	struct json_object *requests = json_member(all, "requests");

	if (json_object_is_type(requests, json_type_object)) {
		json_object_object_foreach(requests, key, one) {
			if (!can_answer(t, json_member_str(one, "method")))
				continue;
			if (some == NULL)
				some = json_object_new_object();
			json_object_object_add(some, key, json_object_get(one));
		}
	}
	json_object_put(all);
	return some;
}

void remote_questions_relay(struct context *ctx, struct run *r,
			    const struct store_run *row)
{
	struct json_object *shown;

	if (row->asked != NULL && strlen(row->asked) > RELAYED_MAX)
		return; /* the questions before stay open */
	shown = remote_questions_shown(row);
	input_relay(ctx, r, json_member(shown, "requests"));
	json_object_put(shown);
}

void remote_questions_reply(struct context *ctx, const struct run *r,
			    const char *key, bool ok, const char *text,
			    size_t len)
{
	struct json_object *name = json_object_new_string(key);
	char *message;

	if (len > CLUSTER_ANSWERS_MAX) {
		ok = false;
		text = "{\"code\":\"ANSWER_TOO_LARGE\",\"message\":\"an answer "
		       "for a called run of another server is over 256 KiB, "
		       "which is fixed\"}";
	}
	message = xasprintf("{\"%s\":{%s:%s}}", ok ? "answers" : "refused",
			    json_text(name, NULL), text);
	store_send_answer(ctx->store, r->requestor->name, r->id, message,
			  clock_wall_ms() + REMOTE_QUESTIONS_MESSAGE_MS, NULL,
			  NULL);
	free(message);
	json_object_put(name);
}

struct sent {
	struct request *request;
	void (*then)(struct request *req, int rc);
};

static void on_sent(void *arg, const struct store_result *res)
{
	struct sent *s = arg;

	if (request_unref(s->request))
		s->then(s->request, res->rc);
	free(s);
}

void remote_questions_answer(struct request *req, const char *id,
			     struct json_object *answers,
			     void (*then)(struct request *req, int rc))
{
	size_t len = req->msg.inputs_len;
	/* unparsed, in a large message */
	const char *text = req->msg.inputs;
	struct sent *s;
	char *message;

	if (!rpc_async_is_large(req->msg.bytes))
		text = json_text(answers, &len);
	if (text == NULL || len > CLUSTER_ANSWERS_MAX) {
		then(req, -E2BIG);
		return;
	}
	s = xcalloc(1, sizeof(*s));
	*s = (struct sent){req, then};
	request_ref(req);
	message = xasprintf("{\"answers\":%s}", text);
	store_send_answer(req->ctx->store, req->requestor->name, id, message,
			  clock_wall_ms() + REMOTE_QUESTIONS_MESSAGE_MS,
			  on_sent, s);
	free(message);
}
