/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_input_request.c - questions of templates: their checks, the clients who can be asked,
 * their form by revision, and the checks of answers.
 */
#include "supervisor/mcp/input/input_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "tests/unit/tap_json.h"

#define ELICIT WORKER_QUESTION_ELICIT
#define SAMPLE WORKER_QUESTION_SAMPLE
#define ROOTS WORKER_QUESTION_ROOTS

#define FORM                                                                   \
	"\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","          \
	"\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}"
#define NEWER_FORM                                                             \
	"\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","          \
	"\"properties\":{\"n\":{\"type\":\"array\",\"items\":{\"type\":"       \
	"\"string\",\"enum\":[\"a\"]}}}}"
#define TEXT_BLOCK "{\"type\":\"text\",\"text\":\"t\"}"
#define SAMPLED(block)                                                         \
	"\"messages\":[{\"role\":\"user\",\"content\":" block "}]"

static struct input_request q;
static char
    error[1024]; /* "code pointer: message" of the last refusal, or "" */

static void note(struct tool_error *e, bool good)
{
	const char *at = json_member_str(e->details, "pointer");

	error[0] = '\0';
	if (!good)
		snprintf(error, sizeof(error), "%s %s: %s", e->code,
			 at != NULL ? at : "-", e->message);
	tool_error_fini(e);
}

/* Read a question of KIND with the members PARAMS; is the question good? */
static bool asks(enum worker_question_kind kind, const char *params)
{
	char *text = xasprintf("{%s}", params);
	struct json_object *o = parse(text);
	struct worker_question ask = {.seq = 1, .kind = kind, .params = o};
	struct tool_error e = {0};
	bool good = input_request_init(&q, &ask, &e);

	note(&e, good);
	json_object_put(o);
	free(text);
	return good;
}

static void is_refused(enum worker_question_kind kind, const char *params,
		       const char *begins, const char *name)
{
	ok(!asks(kind, params) && strncmp(error, begins, strlen(begins)) == 0,
	   "%s", name);
	input_request_fini(&q);
}

TEST(timeouts)
{
	ok(asks(ROOTS, "") && q.timeout_ms == INPUT_REQUEST_TIMEOUT_MS,
	   "a question without a time has the usual time");
	input_request_fini(&q);
	ok(asks(ROOTS, "\"timeoutMs\":1") && q.timeout_ms == 1 &&
	       json_object_object_length(q.params) == 0,
	   "the least time is taken out of the parameters");
	input_request_fini(&q);
	ok(asks(ROOTS, "\"timeoutMs\":604800000") && q.timeout_ms == 604800000,
	   "the most time is taken");
	input_request_fini(&q);
	is_refused(ROOTS, "\"timeoutMs\":0", "INVALID_PARAMETER /timeoutMs: ",
		   "no time at all is refused");
	is_refused(
	    ROOTS, "\"timeoutMs\":604800001",
	    "INVALID_PARAMETER /timeoutMs: ", "too much time is refused");
	is_refused(ROOTS, "\"timeoutMs\":\"5\"",
		   "INVALID_PARAMETER /timeoutMs: ", "a text is no time");
}

TEST(keys)
{
	ok(asks(ROOTS, "\"key\":\"a-1\"") && strcmp(q.key, "a-1") == 0 &&
	       json_object_object_length(q.params) == 0,
	   "a name is taken out of the parameters");
	input_request_fini(&q);
	ok(asks(ROOTS, "") && q.key[0] == '\0', "a question may have no name");
	input_request_fini(&q);
	is_refused(ROOTS, "\"key\":\"a b\"", "INVALID_PARAMETER /key: ",
		   "a name with a blank is refused");
	is_refused(ROOTS, "\"key\":7",
		   "INVALID_PARAMETER /key: ", "a number is no name");
	is_refused(ROOTS, "\"key\":null",
		   "INVALID_PARAMETER /key: ", "null is no name");
}

TEST(params)
{
	is_refused(ROOTS, "\"x\":1", "INVALID_PARAMETER /x: ",
		   "a question for roots has no parameter");
	ok(asks(ELICIT, FORM), "a form is a question");
	ok(q.newer == NULL, "a form of all revisions needs no newer");
	input_request_fini(&q);
	ok(asks(ELICIT, NEWER_FORM) && q.newer != NULL,
	   "a form with several choices needs a newer revision");
	input_request_fini(&q);
	is_refused(ELICIT, FORM ",\"x\":1", "INVALID_PARAMETER /x: ",
		   "an unknown parameter of a form is refused");
	is_refused(
	    ELICIT,
	    "\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}",
	    "INVALID_PARAMETER /message: ",
	    "a form without a message is refused");
	is_refused(ELICIT, "\"message\":\"m\"",
		   "INVALID_PARAMETER /requestedSchema",
		   "a form without a schema is refused");
	is_refused(ELICIT,
		   "\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","
		   "\"properties\":{\"o\":{\"type\":\"object\"}}}",
		   "INVALID_PARAMETER /requestedSchema/properties/o",
		   "a form in a form is refused at its place");
	ok(asks(SAMPLE, SAMPLED(TEXT_BLOCK)), "messages are a question");
	is_int(json_member_int(q.params, "maxTokens"), 1000,
	       "a question without a bound of tokens has the usual bound");
	input_request_fini(&q);
	ok(asks(SAMPLE, SAMPLED(TEXT_BLOCK) ",\"maxTokens\":7") &&
	       json_member_int(q.params, "maxTokens") == 7,
	   "a bound of tokens is kept");
	input_request_fini(&q);
	is_refused(SAMPLE, "\"messages\":7", "INVALID_PARAMETER /messages: ",
		   "messages that are no list are refused");
}

TEST(methods)
{
	static const char *const names[] = {[ELICIT] = "elicitation/create",
					    [SAMPLE] = "sampling/createMessage",
					    [ROOTS] = "roots/list"};
	struct tool_error e = {0};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		q.kind = (enum worker_question_kind)i;
		if (names[i] != NULL)
			is_str(input_request_method(&q), names[i],
			       "a question is the method %s", names[i]);
	}
	q.kind = SAMPLE;
	input_request_refuse(&q, "no model", &e);
	note(&e, false);
	is_str(error, "SAMPLING_NOT_SUPPORTED -: no model",
	       "a question to no client has a code of its kind");
	q = (struct input_request){0};
}

static const struct {
	enum worker_question_kind kind;
	const char *params, *capabilities;
	enum mcp_revision revision;
	const char *lacks; /* a part of the reason; NULL: can be asked */
} clients[] = {
    {ELICIT, FORM, "{\"elicitation\":{}}", MCP_2025_06_18, NULL},
    {ELICIT, FORM, "{\"elicitation\":{\"form\":{}}}", MCP_2025_11_25, NULL},
    {ELICIT, FORM, "{\"elicitation\":{\"form\":{},\"url\":{}}}", MCP_2025_11_25,
     NULL},
    {ELICIT, FORM, "{\"elicitation\":{\"url\":{}}}", MCP_2025_11_25,
     "elicitation.form"},
    {ELICIT, FORM, "{\"sampling\":{}}", MCP_2025_11_25, "elicitation.form"},
    {ELICIT, FORM, "{\"elicitation\":{}}", MCP_2025_03_26, "before 2025-06-18"},
    {ELICIT, NEWER_FORM, "{\"elicitation\":{}}", MCP_2025_06_18,
     "speak MCP 2025-11-25"},
    {ELICIT, NEWER_FORM, "{\"elicitation\":{}}", MCP_2025_11_25, NULL},
    {SAMPLE, SAMPLED(TEXT_BLOCK), "{\"sampling\":{}}", MCP_2024_11_05, NULL},
    {SAMPLE, SAMPLED(TEXT_BLOCK), "{\"elicitation\":{}}", MCP_2025_11_25,
     "capability sampling;"},
    {SAMPLE, SAMPLED("[" TEXT_BLOCK "," TEXT_BLOCK "]"), "{\"sampling\":{}}",
     MCP_2025_06_18, "several blocks"},
    {SAMPLE, SAMPLED("[" TEXT_BLOCK "," TEXT_BLOCK "]"), "{\"sampling\":{}}",
     MCP_2025_11_25, NULL},
    {SAMPLE,
     SAMPLED("{\"type\":\"audio\",\"data\":\"aaaa\",\"mimeType\":\"a/b\"}"),
     "{\"sampling\":{}}", MCP_2024_11_05, "has audio"},
    {SAMPLE,
     SAMPLED("{\"type\":\"audio\",\"data\":\"aaaa\",\"mimeType\":\"a/b\"}"),
     "{\"sampling\":{}}", MCP_2025_03_26, NULL},
    {SAMPLE, SAMPLED(TEXT_BLOCK) ",\"includeContext\":\"thisServer\"",
     "{\"sampling\":{}}", MCP_2025_06_18, NULL},
    {SAMPLE, SAMPLED(TEXT_BLOCK) ",\"includeContext\":\"thisServer\"",
     "{\"sampling\":{}}", MCP_2025_11_25, "sampling.context"},
    {SAMPLE, SAMPLED(TEXT_BLOCK) ",\"includeContext\":\"thisServer\"",
     "{\"sampling\":{\"context\":{}}}", MCP_2025_11_25, NULL},
    {SAMPLE,
     SAMPLED(TEXT_BLOCK) ",\"tools\":[{\"name\":\"t\",\"inputSchema\":{"
			 "\"type\":\"object\"}}]",
     "{\"sampling\":{}}", MCP_2025_11_25, "sampling.tools"},
    {SAMPLE,
     SAMPLED(TEXT_BLOCK) ",\"tools\":[{\"name\":\"t\",\"inputSchema\":{"
			 "\"type\":\"object\"}}]",
     "{\"sampling\":{\"tools\":{}}}", MCP_2025_06_18, "sampling.tools"},
    {SAMPLE,
     SAMPLED(TEXT_BLOCK) ",\"tools\":[{\"name\":\"t\",\"inputSchema\":{"
			 "\"type\":\"object\"}}]",
     "{\"sampling\":{\"tools\":{}}}", MCP_2025_11_25, NULL},
    {ROOTS, "", "{\"roots\":{}}", MCP_2024_11_05, NULL},
    {ROOTS, "", "{\"sampling\":{}}", MCP_2025_11_25, "capability roots"},
};

TEST(missing)
{
	for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
		struct client_terms t = {.revision = clients[i].revision,
					 .capabilities =
					     parse(clients[i].capabilities)};
		const char *lacks = "refused";

		if (asks(clients[i].kind, clients[i].params))
			lacks = input_request_missing(&q, &t);
		else
			printf("# %s\n", error);
		ok(clients[i].lacks == NULL
		       ? lacks == NULL
		       : lacks != NULL &&
			     strstr(lacks, clients[i].lacks) != NULL,
		   "client %zu, with %s in MCP %s", i, clients[i].capabilities,
		   mcp_revision_name(clients[i].revision));
		input_request_fini(&q);
		json_object_put(t.capabilities);
	}
}

static const char *askable(const char *capabilities, bool *any)
{
	static char text[256];
	struct client_terms t = {.revision = MCP_2025_11_25,
				 .capabilities = parse(capabilities)};
	struct json_object *o = input_request_askable(&t);

	snprintf(text, sizeof(text), "%s", json_text(o, NULL));
	*any = input_request_any(&t);
	json_object_put(o);
	json_object_put(t.capabilities);
	return text;
}

TEST(capabilities)
{
	bool any;

	is_str(askable("{\"elicitation\":{\"form\":{\"x\":1},\"y\":{}},"
		       "\"roots\":{\"listChanged\":true},\"other\":{}}",
		       &any),
	       "{\"elicitation\":{\"form\":{}},\"roots\":{}}",
	       "known capabilities alone are told");
	ok(any, "a client with forms can be asked");
	is_str(askable("{\"sampling\":{\"tools\":{},\"context\":{}}}", &any),
	       "{\"sampling\":{\"tools\":{},\"context\":{}}}",
	       "the abilities of a model are told");
	ok(any, "a client with a model can be asked");
	is_str(askable("{\"roots\":{}}", &any), "{\"roots\":{}}",
	       "a client with roots alone has these");
	ok(!any, "a client with roots alone cannot be asked");
}

static const char *undeclared(const char *details, const char *capabilities)
{
	struct json_object *d = parse(details);
	struct client_terms t = {.revision = MCP_2025_11_25,
				 .capabilities = parse(capabilities)};
	const char *lacks = input_request_undeclared(d, &t);

	json_object_put(d);
	json_object_put(t.capabilities);
	return lacks;
}

TEST(undeclared)
{
	is_str(
	    undeclared("{\"templateCode\":\"SAMPLING_NOT_SUPPORTED\"}", "{}"),
	    "sampling", "an error for want of a model names the capability");
	is_str(undeclared("{\"stepErrorCode\":\"ROOTS_NOT_SUPPORTED\"}", "{}"),
	       "roots", "an error of a step names the capability");
	is_str(undeclared("{\"templateCode\":\"ELICITATION_NOT_SUPPORTED\"}",
			  "{\"roots\":{}}"),
	       "elicitation/form", "an error for want of forms names these");
	ok(undeclared("{\"templateCode\":\"SAMPLING_NOT_SUPPORTED\"}",
		      "{\"sampling\":{}}") == NULL,
	   "a declared capability is not missing");
	ok(undeclared("{\"templateCode\":\"OTHER\"}", "{}") == NULL,
	   "an error of another kind names no capability");
	ok(undeclared("{}", "{}") == NULL, "without a code there is no name");
}

/* The parameters of the question for revision REV. */
static const char *sent(enum mcp_revision rev, const char *task_id)
{
	static char text[512];
	struct json_object *o = input_request_params(&q, rev, task_id);

	snprintf(text, sizeof(text), "%s", json_text(o, NULL));
	json_object_put(o);
	return text;
}

TEST(sent)
{
	asks(ELICIT, FORM);
	ok(strstr(sent(MCP_2025_11_25, NULL), "\"mode\":\"form\"") != NULL,
	   "a form says so in the revision that has other modes");
	ok(strstr(sent(MCP_2025_06_18, NULL), "mode") == NULL,
	   "a form has no mode in an earlier revision");
	ok(strstr(sent(MCP_2025_06_18, NULL), "_meta") == NULL &&
	       strstr(sent(MCP_2025_11_25, "run_x"), "_meta") != NULL &&
	       strstr(sent(MCP_2025_11_25, "run_x"), "run_x") != NULL,
	   "a question of a task names the task");
	input_request_again(&q, "too short");
	input_request_again(&q, "too long");
	is_str(json_member_str(q.params, "message"),
	       "m\n\nThe last answer does not fit: too long",
	       "a question that is asked again tells of the last answer alone");
	input_request_fini(&q);
	asks(SAMPLE, "\"messages\":[{\"role\":\"user\",\"_meta\":{\"a\":1},"
		     "\"content\":" TEXT_BLOCK "}]");
	ok(strstr(sent(MCP_2025_11_25, NULL), "\"a\":1") != NULL,
	   "messages of the latest revision are sent as they are");
	ok(strstr(sent(MCP_2025_06_18, NULL), "\"a\":1") == NULL,
	   "messages of an earlier revision have no _meta");
	ok(strstr(sent(MCP_2025_06_18, NULL), "\"text\":\"t\"") != NULL,
	   "messages of an earlier revision have their text");
	ok(strstr(sent(MCP_2025_11_25, NULL), "mode") == NULL,
	   "messages are no form");
	input_request_fini(&q);
}

/* The answer for the template, from the client's RESULT; or the refusal. */
static const char *answered(const char *result)
{
	static char text[1024];
	struct schema_budget b = {.allowed = SCHEMA_STEPS_INLINE};
	struct json_object *o = parse(result), *answer;
	struct tool_error e = {0};

	answer = input_request_result(&q, o, &b, &e);
	note(&e, answer != NULL);
	snprintf(text, sizeof(text), "%s",
		 answer != NULL ? json_text(answer, NULL) : error);
	json_object_put(answer);
	json_object_put(o);
	return text;
}

static void is_invalid(const char *result, const char *begins, const char *name)
{
	ok(strncmp(answered(result), begins, strlen(begins)) == 0, "%s", name);
}

TEST(forms)
{
	asks(ELICIT, FORM);
	is_str(
	    answered("{\"action\":\"accept\",\"content\":{\"n\":1},\"x\":2}"),
	    "{\"content\":{\"n\":1},\"action\":\"accept\"}",
	    "a filled form is passed on");
	is_str(answered("{\"action\":\"decline\",\"content\":{\"n\":1}}"),
	       "{\"action\":\"decline\"}", "a declined form has no content");
	is_str(answered("{\"action\":\"cancel\"}"), "{\"action\":\"cancel\"}",
	       "a cancelled form is passed on");
	is_invalid("{\"action\":\"other\"}",
		   "INPUT_INVALID /action: ", "an unknown action is refused");
	is_invalid("{}", "INPUT_INVALID /action: ", "no action is refused");
	is_invalid("{\"action\":\"accept\"}", "INPUT_INVALID /content: ",
		   "a filled form without content is refused");
	is_invalid("{\"action\":\"accept\",\"content\":{\"n\":\"x\"}}",
		   "INPUT_INVALID /content/n: ",
		   "content against the schema is refused at its place");
	is_str(
	    answered("{\"action\":\"accept\",\"content\":{}}"),
	    "INPUT_INVALID /content: /content lacks the member \"n\", which the question's "
	    "schema requires",
	    "content without a field is refused in words");
	input_request_fini(&q);
}

TEST(samples)
{
	asks(SAMPLE, SAMPLED(TEXT_BLOCK));
	is_str(
	    answered(
		"{\"role\":\"assistant\",\"model\":\"m\",\"content\":" TEXT_BLOCK
		",\"_meta\":{\"a\":1}}"),
	    "{\"role\":\"assistant\",\"model\":\"m\",\"content\":" TEXT_BLOCK
	    "}",
	    "an answer of a model is passed on without _meta");
	is_invalid("{\"role\":\"assistant\",\"content\":7}", "INPUT_INVALID /",
		   "an answer of no form is refused");
	input_request_fini(&q);
}

TEST(roots)
{
	struct json_object *list = json_object_new_array();
	char *text;

	asks(ROOTS, "");
	is_str(answered("{\"roots\":[{\"uri\":\"file:///a\",\"name\":\"A\","
			"\"x\":1},{\"uri\":\"file:///b\"}]}"),
	       "[{\"uri\":\"file:///a\",\"name\":\"A\"},"
	       "{\"uri\":\"file:///b\"}]",
	       "roots are passed on, with the known members");
	is_invalid("{}", "INPUT_INVALID /roots: ", "no list is refused");
	is_invalid(
	    "{\"roots\":[{\"uri\":\"file:///a\"},{\"uri\":\"http://b\"}]}",
	    "INPUT_INVALID /roots/1/uri: ",
	    "a root of another scheme is refused at its place");
	is_invalid("{\"roots\":[{\"uri\":7}]}", "INPUT_INVALID /roots/0/uri: ",
		   "a root without a text is refused");
	is_invalid("{\"roots\":[{\"uri\":\"file:///a\",\"name\":7}]}",
		   "INPUT_INVALID /roots/0/name: ",
		   "a name that is no text is refused");
	for (int i = 0; i < 1000; i++)
		json_object_array_add(list, json_pack("uri:s", "file:///a"));
	text = xasprintf("{\"roots\":%s}", json_text(list, NULL));
	ok(answered(text)[0] == '[', "the most roots are passed on");
	free(text);
	json_object_array_add(list, json_pack("uri:s", "file:///a"));
	text = xasprintf("{\"roots\":%s}", json_text(list, NULL));
	is_invalid(text,
		   "INPUT_INVALID /roots: ", "too many roots are refused");
	free(text);
	json_object_put(list);
	input_request_fini(&q);
}
