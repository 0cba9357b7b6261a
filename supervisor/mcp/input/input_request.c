/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_request.c - a question to a client: whether MCP knows it, whether a
 * client can be asked it, and whether an answer fits. input.c and
 * input_reply.c call it. A bad question is INVALID_PARAMETER for the
 * template, a bad answer INPUT_INVALID; both name the place by a JSON pointer.
 */
#include "supervisor/mcp/input/input_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/mcp/elicit_form.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "proto/mcp/sampling.h"
#include "supervisor/run/record/task_json.h"

#define MAX_TOKENS 1000 /* when the template does not say */

#define ROOTS_MAX 1000
#define CALLS_DEEP 8 /* at most, by max_call_depth */

/* ---- the question ---- */

static bool invalid(struct tool_error *r, const char *code, const char *pointer,
		    const char *expected)
{
	tool_error_set(
	    r, code, json_pack("pointer:s expected:s", pointer, expected),
	    "%s has to be %s", *pointer != '\0' ? pointer : "it", expected);
	return false;
}

static bool bad_param(struct tool_error *r, const char *pointer,
		      const char *expected)
{
	return invalid(r, "INVALID_PARAMETER", pointer, expected);
}

static bool take_timeout(struct input_request *q, struct tool_error *r)
{
	struct json_object *ms = NULL;

	q->timeout_ms = INPUT_REQUEST_TIMEOUT_MS;
	if (!json_object_object_get_ex(q->params, "timeoutMs", &ms))
		return true;
	q->timeout_ms = json_object_get_int64(ms);
	if (!json_object_is_type(ms, json_type_int) || q->timeout_ms < 1 ||
	    q->timeout_ms > INPUT_TIMEOUT_MOST_MS)
		return bad_param(r, "/timeoutMs",
				 "an integer of 1 to 604800000 (milliseconds)");
	json_object_object_del(q->params, "timeoutMs");
	return true;
}

static bool take_key(struct input_request *q, struct tool_error *r)
{
	struct json_object *key = NULL;
	const char *text;
	size_t len;

	if (!json_object_object_get_ex(q->params, "key", &key))
		return true;
	text = json_object_get_string(key);
	len = (size_t)json_object_get_string_len(key);
	if (!json_object_is_type(key, json_type_string) ||
	    !question_key_ok(text, len))
		return bad_param(r, "/key",
				 "the question's name, " QUESTION_KEY_RULE);
	/* q is all zeros, so the text ends with NUL */
	memcpy(q->key, text, len);
	json_object_object_del(q->params, "key");
	return true;
}

/*
 * Check that KNOWN (words) has every parameter's name. False: R says EXPECTED
 * of the first unknown parameter.
 */
static bool check_names(const struct input_request *q, const char *known,
			const char *expected, struct tool_error *r)
{
	json_object_object_foreach(q->params, key, value) {
		struct pointer_error f = {0};

		(void)value;
		if (words_have(known, key))
			continue;
		pointer_error_point(&f, key);
		return bad_param(r, f.pointer, expected);
	}
	return true;
}

static bool init_elicit(struct input_request *q, struct tool_error *r)
{
	struct schema_budget budget = {.allowed = SCHEMA_STEPS_INLINE};
	const struct schema_options opt = {.assert_formats = true,
					   .budget = &budget};
	struct json_object *schema = json_member(q->params, "requestedSchema");
	struct pointer_error at = {.pointer = "/requestedSchema"};
	struct schema_error err;
	struct pointer_error f;

	if (!check_names(q, "message requestedSchema",
			 "left out: message, requestedSchema, key and "
			 "timeoutMs are all that there is",
			 r))
		return false;
	if (json_member_str(q->params, "message") == NULL)
		return bad_param(r, "/message", "a string, shown to the user");
	if (!elicit_form_check(schema, &f)) {
		pointer_error_join(&at, &f);
		return bad_param(r, at.pointer, at.expected);
	}
	if (schema_compile(&q->schema, schema, &opt, &err) < 0) {
		q->schema = NULL;
		return bad_param(r, at.pointer, err.text);
	}
	q->newer = elicit_form_newer(schema);
	return true;
}

static bool init_sample(struct input_request *q, struct tool_error *r)
{
	struct pointer_error f;

	if (!json_object_object_get_ex(q->params, "maxTokens", NULL))
		json_add(q->params, "maxTokens:i", MAX_TOKENS);
	return sampling_check(q->params, &q->needs, &f) ||
	       bad_param(r, f.pointer, f.expected);
}

static bool init_roots(struct input_request *q, struct tool_error *r)
{
	return check_names(
	    q, "", "left out: key and timeoutMs are all that there is", r);
}

/* ---- the client's capabilities ---- */

bool input_request_any(const struct client_terms *t)
{
	return mcp_declares(t->capabilities, "elicitation") ||
	       mcp_declares(t->capabilities, "sampling");
}

static const char *lacks_elicit(const struct input_request *q,
				const struct client_terms *t)
{
	if (t->revision < MCP_2025_06_18)
		return "the client speaks a revision of MCP before 2025-06-18, "
		       "which cannot ask the user";
	/* "elicitation": {} means forms, the only kind of earlier revisions */
	if (!mcp_declares(t->capabilities, "elicitation/form") &&
	    (!mcp_declares(t->capabilities, "elicitation") ||
	     mcp_declares(t->capabilities, "elicitation/url")))
		return "the client would have to declare the capability "
		       "elicitation.form; nobody can be asked";
	if (q->newer != NULL && t->revision < MCP_2025_11_25)
		return "the client would have to speak MCP 2025-11-25, which "
		       "has titled and multiple choice";
	return NULL;
}

static const char *lacks_sample(const struct input_request *q,
				const struct client_terms *t)
{
	bool latest = t->revision >= MCP_2025_11_25;

	if (!mcp_declares(t->capabilities, "sampling"))
		return "the client would have to declare the capability "
		       "sampling; no model can be asked";
	if ((q->needs & SAMPLING_TOOLS) &&
	    !(latest && mcp_declares(t->capabilities, "sampling/tools")))
		return "the client would have to declare the capability "
		       "sampling.tools (MCP 2025-11-25) for tools";
	if ((q->needs & SAMPLING_CONTEXT) && latest &&
	    !mcp_declares(t->capabilities, "sampling/context"))
		return "the client would have to declare the capability "
		       "sampling.context for includeContext";
	if ((q->needs & SAMPLING_BLOCKS) && !latest)
		return "the client would have to speak MCP 2025-11-25, where a "
		       "message may have several blocks";
	if ((q->needs & SAMPLING_AUDIO) && t->revision < MCP_2025_03_26)
		return "the client would have to speak MCP 2025-03-26, which "
		       "has audio";
	return NULL;
}

static const char *lacks_roots(const struct input_request *q,
			       const struct client_terms *t)
{
	(void)q;
	return mcp_declares(t->capabilities, "roots")
		   ? NULL
		   : "the client would have to declare the capability roots; "
		     "it tells of none";
}

/* ---- the params ---- */

/* Returns a shallow copy of FROM: members are shared, and never changed. */
static struct json_object *copy_params(struct json_object *from)
{
	struct json_object *to = json_object_new_object();

	json_object_object_foreach(from, key, value)
		json_object_object_add(to, key, json_object_get(value));
	return to;
}

/* Returns MESSAGES, checked before, in the form of the older revision REV. */
static struct json_object *messages_for(struct json_object *messages,
					enum mcp_revision rev)
{
	size_t n = json_object_array_length(messages);
	struct json_object *list = json_object_new_array_ext((int)n);

	for (size_t i = 0; i < n; i++) {
		struct json_object *m =
		    copy_params(json_object_array_get_idx(messages, i));
		struct json_object *content = json_member(m, "content");

		json_object_object_del(m, "_meta");
		if (json_object_is_type(content, json_type_object))
			json_add(m, "content:o", mcp_block_for(content, rev));
		json_object_array_add(list, m);
	}
	return list;
}

/* ---- the answer ---- */

static struct json_object *bad_answer(struct tool_error *r, const char *pointer,
				      const char *expected)
{
	invalid(r, "INPUT_INVALID", pointer, expected);
	return NULL;
}

static struct json_object *accepted(const struct input_request *q,
				    struct json_object *content,
				    struct schema_budget *b,
				    struct tool_error *r)
{
	struct pointer_error at = {.pointer = "/content"};
	struct schema_error err;

	if (!json_object_is_type(content, json_type_object))
		return bad_answer(r, at.pointer,
				  "an object, as it is accepted");
	if (schema_check(q->schema, content, b, &err) < 0) {
		struct pointer_error inner = {.expected = err.expected};

		memcpy(inner.pointer, err.pointer, sizeof(inner.pointer));
		pointer_error_join(&at, &inner);
		if (strcmp(err.keyword, "required") != 0)
			return bad_answer(r, at.pointer, at.expected);
		tool_error_set(
		    r, "INPUT_INVALID",
		    json_pack("pointer:s expected:s", at.pointer, at.expected),
		    "%s lacks %s, which the question's schema requires",
		    at.pointer, at.expected);
		return NULL;
	}
	return json_pack("content:O", content);
}

static struct json_object *elicit_answer(const struct input_request *q,
					 struct json_object *result,
					 struct schema_budget *b,
					 struct tool_error *r)
{
	const char *action = json_member_str(result, "action");
	struct json_object *answer;

	if (action != NULL && strcmp(action, "accept") == 0)
		answer = accepted(q, json_member(result, "content"), b, r);
	else if (action != NULL && (strcmp(action, "decline") == 0 ||
				    strcmp(action, "cancel") == 0))
		answer = json_object_new_object();
	else
		return bad_answer(r, "/action", "accept, decline or cancel");
	if (answer != NULL)
		json_add(answer, "action:s", action);
	return answer;
}

static struct json_object *sample_answer(const struct input_request *q,
					 struct json_object *result,
					 struct schema_budget *b,
					 struct tool_error *r)
{
	struct json_object *answer;
	struct pointer_error f;

	(void)q, (void)b;
	if (!sampling_result_check(result, &f))
		return bad_answer(r, f.pointer, f.expected);
	answer = copy_params(result);
	/* "_meta" is for client and server alone */
	json_object_object_del(answer, "_meta");
	return answer;
}

/* Returns ROOT in the template's form; or NULL, and F points on into ROOT. */
static struct json_object *take_root(struct json_object *root,
				     struct pointer_error *f)
{
	struct json_object *uri = json_member(root, "uri");
	struct json_object *name = json_member(root, "name");

	if (!json_object_is_type(uri, json_type_string) ||
	    strncmp(json_object_get_string(uri), "file://", 7) != 0)
		pointer_error_at(f, "uri", "a URI that begins with file://");
	else if (name != NULL && !json_object_is_type(name, json_type_string))
		pointer_error_at(f, "name", "a string, if it is there");
	else
		return json_pack("uri:O name?O", uri, name);
	return NULL;
}

static struct json_object *roots_answer(const struct input_request *q,
					struct json_object *result,
					struct schema_budget *b,
					struct tool_error *r)
{
	struct json_object *roots = json_member(result, "roots"), *list;
	size_t n;

	(void)q, (void)b;
	if (!json_object_is_type(roots, json_type_array))
		return bad_answer(r, "/roots", "an array");
	n = json_object_array_length(roots);
	if (n > ROOTS_MAX)
		return bad_answer(r, "/roots", "an array of at most 1000");
	list = json_object_new_array_ext((int)n);
	for (size_t i = 0; i < n; i++) {
		struct pointer_error f = {.pointer = "/roots"};
		struct json_object *root;

		pointer_error_index(&f, i);
		root = take_root(json_object_array_get_idx(roots, i), &f);
		if (root == NULL) {
			json_object_put(list);
			return bad_answer(r, f.pointer, f.expected);
		}
		json_object_array_add(list, root);
	}
	return list;
}

/* ---- the kinds of question ---- */

static const struct {
	const char *method, *unsupported, *capability;
	bool (*init)(struct input_request *q, struct tool_error *r);
	const char *(*lacks)(const struct input_request *q,
			     const struct client_terms *t);
	struct json_object *(*answer)(const struct input_request *q,
				      struct json_object *result,
				      struct schema_budget *b,
				      struct tool_error *r);
} kinds[] = {
    [WORKER_QUESTION_ELICIT] = {"elicitation/create",
				"ELICITATION_NOT_SUPPORTED", "elicitation/form",
				init_elicit, lacks_elicit, elicit_answer},
    [WORKER_QUESTION_SAMPLE] = {"sampling/createMessage",
				"SAMPLING_NOT_SUPPORTED", "sampling",
				init_sample, lacks_sample, sample_answer},
    [WORKER_QUESTION_ROOTS] = {"roots/list", "ROOTS_NOT_SUPPORTED", "roots",
			       init_roots, lacks_roots, roots_answer},
};

const char *input_request_method(const struct input_request *q)
{
	return kinds[q->kind].method;
}

bool input_request_kind(enum worker_question_kind *kind, const char *method)
{
	for (size_t i = 0; method != NULL && i < ARRAY_LEN(kinds); i++) {
		*kind = (enum worker_question_kind)i;
		if (kinds[i].method != NULL &&
		    strcmp(kinds[i].method, method) == 0)
			return true;
	}
	return false;
}

void input_request_refuse(const struct input_request *q, const char *errmsg,
			  struct tool_error *r)
{
	tool_error_set(r, kinds[q->kind].unsupported, NULL, "%s", errmsg);
}

/* Return the code by which a run with the error's DETAILS, or a run that it called, failed. */
static const char *first_code(struct json_object *details)
{
	const char *code = NULL, *next = NULL;

	for (int i = 0; i <= CALLS_DEEP; i++) {
		next = json_member_str(details, "templateCode");
		if (next == NULL)
			next = json_member_str(details, "stepErrorCode");
		if (next == NULL)
			break;
		code = next;
		details = json_member(details, "templateDetails");
	}
	return code;
}

const char *input_request_undeclared(struct json_object *details,
				     const struct client_terms *t)
{
	const char *code = first_code(details);

	for (size_t i = 0; code != NULL && i < ARRAY_LEN(kinds); i++) {
		const struct input_request bare = {
		    .kind = (enum worker_question_kind)i};

		if (kinds[i].unsupported != NULL &&
		    strcmp(kinds[i].unsupported, code) == 0)
			return kinds[i].lacks(&bare, t) == NULL
				   ? NULL
				   : kinds[i].capability;
	}
	return NULL;
}

bool input_request_init(struct input_request *q,
			const struct worker_question *ask, struct tool_error *r)
{
	*q = (struct input_request){.kind = ask->kind,
				    .params = copy_params(ask->params)};
	return take_timeout(q, r) && take_key(q, r) &&
	       kinds[q->kind].init(q, r);
}

void input_request_fini(struct input_request *q)
{
	schema_free(q->schema);
	free(q->message);
	json_object_put(q->params);
}

void input_request_again(struct input_request *q, const char *wrong)
{
	char *text;

	if (q->message == NULL)
		q->message = xstrdup(json_member_str(q->params, "message"));
	text = xasprintf("%s\n\nThe last answer does not fit: %s", q->message,
			 wrong);
	json_add(q->params, "message:s", text);
	free(text);
}

const char *input_request_missing(const struct input_request *q,
				  const struct client_terms *t)
{
	return kinds[q->kind].lacks(q, t);
}

struct json_object *input_request_askable(const struct client_terms *t)
{
	static const struct {
		const char *name, *inner[2];
	} known[] = {{"elicitation", {"form", "url"}},
		     {"sampling", {"tools", "context"}},
		     {"roots", {NULL}}};
	struct json_object *all = json_object_new_object();

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		struct json_object *from =
		    json_member(t->capabilities, known[i].name);
		struct json_object *o;

		if (!json_object_is_type(from, json_type_object))
			continue;
		o = json_object_new_object();
		for (size_t k = 0; k < 2 && known[i].inner[k] != NULL; k++)
			if (mcp_declares(from, known[i].inner[k]))
				json_object_object_add(
				    o, known[i].inner[k],
				    json_object_new_object());
		json_object_object_add(all, known[i].name, o);
	}
	return all;
}

struct json_object *input_request_params(const struct input_request *q,
					 enum mcp_revision rev,
					 const char *task_id)
{
	struct json_object *params = copy_params(q->params);

	if (q->kind == WORKER_QUESTION_ELICIT && rev >= MCP_2025_11_25)
		json_add(params, "mode:s", "form");
	if (q->kind == WORKER_QUESTION_SAMPLE && rev < MCP_2025_11_25)
		json_add(params, "messages:o",
			 messages_for(json_member(params, "messages"), rev));
	if (task_id != NULL)
		json_add(params, "_meta:o", task_json_related(task_id));
	return params;
}

struct json_object *input_request_result(const struct input_request *q,
					 struct json_object *result,
					 struct schema_budget *b,
					 struct tool_error *r)
{
	return kinds[q->kind].answer(q, result, b, r);
}
