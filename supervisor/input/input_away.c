/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_away.c - questions of a run of one machine, answered at another: the owner
 * shows them beside its run, and reads the answers as mail (runs_remote.c); who has the
 * client filters and forwards. What cannot be sent is told to the request; an answer
 * that nobody waits for any more is passed over.
 */
#include "supervisor/input/input_away.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/context.h"
#include "supervisor/input/input.h"

#define ANSWER_MAX (256u << 10) /* bytes, for its owner reads it at once */
#define ANSWER_MS 600000	/* an owner that lives reads it in a moment */

/* Whoever it may be can answer all. */
static struct client_terms anybody(void)
{
	struct client_terms t = {.revision = MCP_LATEST};

	t.capabilities =
	    json_pack("elicitation:o sampling:o roots:o",
		      json_pack("form:o url:o", json_object_new_object(),
				json_object_new_object()),
		      json_pack("tools:o context:o", json_object_new_object(),
				json_object_new_object()),
		      json_object_new_object());
	return t;
}

char *input_away_asked(const struct run *r)
{
	struct client_terms t = anybody();
	struct json_object *asked = input_requests(r, &t);
	char *text = asked != NULL ? xstrdup(json_text(asked, NULL)) : NULL;

	json_object_put(asked);
	json_object_put(t.capabilities);
	return text;
}

void input_away_answered(struct run *r, const char *body)
{
	size_t len = strlen(body);
	struct json_object *responses = NULL;

	if (json_parse(&responses, body, len, NULL) != 0)
		responses = NULL;
	input_answer_keys(r, r->requestor, responses, len);
	json_object_put(responses);
}

/* Which capability answers METHOD? */
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

struct json_object *input_away_requests(const struct store_run *row,
					const struct client_terms *t)
{
	struct json_object *all = NULL, *some = NULL;

	if (row->asked == NULL ||
	    json_parse(&all, row->asked, strlen(row->asked), NULL) != 0)
		return NULL;
	if (json_object_is_type(all, json_type_object)) {
		json_object_object_foreach(all, key, one) {
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

struct sent {
	struct request *request;
	void (*then)(struct request *c, int rc);
};

static void on_sent(void *arg, const struct store_result *res)
{
	struct sent *s = arg;

	if (request_unref(s->request))
		s->then(s->request, res->rc);
	free(s);
}

void input_away_answer(struct request *c, const char *id,
		       struct json_object *responses,
		       void (*then)(struct request *c, int rc))
{
	struct sent *s;
	size_t len;
	const char *text = json_text(responses, &len);

	if (len > ANSWER_MAX) {
		then(c, -E2BIG);
		return;
	}
	s = xcalloc(1, sizeof(*s));
	*s = (struct sent){c, then};
	request_ref(c);
	store_send_answer(c->ctx->store, c->requestor->name, id, text,
			  clock_wall_ms() + ANSWER_MS, on_sent, s);
}
