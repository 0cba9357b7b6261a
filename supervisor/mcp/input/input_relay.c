/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_relay.c - questions of a called run at another server: held here at the outermost
 * run, as questions of called runs here, and answered by a message to the other server.
 * cluster/remote_questions.c calls with each row of the called run. A question that cannot
 * be read is passed over: the called run's own timeout ends the question.
 */
#include "supervisor/mcp/input/input_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/exec/cluster.h"

#define ARRIVAL_MS 20000 /* far above the time of an answer on the way */

/* ---- answers ---- */

void input_relay_answer(struct context *ctx, struct run *asker,
			const char *there, enum worker_question_kind kind,
			const struct input_reply *reply)
{
	bool wrap = reply->ok && kind == WORKER_QUESTION_ROOTS;
	char *text = wrap ? xasprintf("{\"roots\":%s}", reply->text)
			  : xstrdup(reply->text);

	/* the row may show the question once more, before the answer arrives */
	if (asker->remote.answered == NULL)
		asker->remote.answered = json_object_new_object();
	json_object_object_add(asker->remote.answered, there,
			       json_object_new_int64(clock_mono_ms()));
	ctx->cluster->reply(ctx, asker, there, reply->ok, text, strlen(text));
	free(text);
}

void input_refuse_keys(struct run *r, struct json_object *refused)
{
	struct pending_input *p;

	if (!json_object_is_type(refused, json_type_object))
		return;
	json_object_object_foreach(refused, key, e) {
		const char *code = json_member_str(e, "code");
		const char *text = json_member_str(e, "message");
		struct tool_error errmsg = {0};

		if (r->job.input == NULL || code == NULL || text == NULL)
			return;
		LIST_FOREACH(p, &r->job.input->pending, link)
			if (p->job == NULL && strcmp(p->key, key) == 0)
				break;
		if (p == NULL)
			continue;
		tool_error_set(&errmsg, code,
			       json_object_get(json_member(e, "details")), "%s",
			       text);
		input_withdraw(p, "it is refused");
		input_reject(p, &errmsg);
	}
}

/* ---- questions ---- */

/* Return a question of R in IN that has left REQUESTS; NULL: there is no such question. */
static struct pending_input *past(struct input *in, const struct run *r,
				  struct json_object *requests)
{
	struct pending_input *p;

	LIST_FOREACH(p, &in->pending, link)
		if (p->asker == r && p->there != NULL &&
		    json_member(requests, p->there) == NULL)
			return p;
	return NULL;
}

/*
 * Was the question KEY of R answered lately? A question that stays longer is asked again: the
 * answer was lost, or a further attempt of R asks with the same key.
 */
static bool is_answered(const struct run *r, const char *key)
{
	struct json_object *at = NULL;

	return json_object_object_get_ex(r->remote.answered, key, &at) &&
	       clock_mono_ms() - json_object_get_int64(at) < ARRIVAL_MS;
}

static bool is_new(const struct run *top, const struct run *r, const char *key)
{
	const struct pending_input *p;

	if (is_answered(r, key))
		return false;
	if (top->job.input == NULL)
		return true;
	LIST_FOREACH(p, &top->job.input->pending, link)
		if (p->asker == r && p->there != NULL &&
		    strcmp(p->there, key) == 0)
			return false;
	return true;
}

/* Return the parameters as the template gave them, of ONE, shown with KEY; the caller's. */
static struct json_object *params_of(struct json_object *one, const char *key)
{
	struct json_object *params = json_object_new_object();
	struct json_object *from = json_member(one, "params");

	if (json_object_is_type(from, json_type_object)) {
		json_object_object_foreach(from, name, value) {
			if (strcmp(name, "mode") != 0)
				json_object_object_add(params, name,
						       json_object_get(value));
		}
	}
	if (question_key_ok(key, strlen(key)))
		json_add(params, "key:s", key);
	/* the asker's server, which knows the template's time, withdraws the question */
	json_add(params, "timeoutMs:i", (int64_t)INPUT_TIMEOUT_MOST_MS);
	return params;
}

static void ask(struct context *ctx, struct run *r, const char *key,
		struct json_object *one)
{
	struct worker_question q = {.seq = 0};
	int64_t left = run_left_ms(run_family_outermost(r));

	if (!input_request_kind(&q.kind, json_member_str(one, "method")))
		return;
	q.params = params_of(one, key);
	input_begin(input_hold(ctx, r, &q, key), &q, left);
	json_object_put(q.params);
}

/* Forget the answered questions of R except the questions in REQUESTS. */
static void forget_answered(struct run *r, struct json_object *requests)
{
	struct json_object *kept = NULL, *was = r->remote.answered;

	if (was == NULL)
		return;
	json_object_object_foreach(was, key, at) {
		if (json_member(requests, key) == NULL)
			continue;
		if (kept == NULL)
			kept = json_object_new_object();
		json_object_object_add(kept, key, json_object_get(at));
	}
	json_object_put(was);
	r->remote.answered = kept;
}

void input_relay(struct context *ctx, struct run *r,
		 struct json_object *requests)
{
	struct run *top = run_family_outermost(r);
	struct pending_input *p;
	bool some = json_object_is_type(requests, json_type_object);

	while (top->job.input != NULL &&
	       (p = past(top->job.input, r, requests)) != NULL) {
		input_withdraw(p, "the template waits for no answer any more");
		input_end(p);
	}
	forget_answered(r, requests);
	if (!some || r->state != RUN_AWAITING_INPUT || run_terminal(top))
		return;
	json_object_object_foreach(requests, key, one) {
		if (is_new(top, r, key))
			ask(ctx, r, key, one);
	}
}
