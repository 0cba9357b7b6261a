/* SPDX-License-Identifier: Apache-2.0 */
/* t_elicit_form.c - questions to clients, and the clients' answers. */
#include <stdlib.h>

#include "base/mem.h"
#include "proto/mcp/elicit_form.h"
#include "proto/mcp/sampling.h"
#include "supervisor/mcp/input/input_request.h"
#include "tests/unit/tap_json.h"

/* ---- forms ---- */

/* PROPERTY "p" of a form; POINTER is the place of the error, or NULL. */
static const struct {
	const char *property, *pointer, *name;
} properties[] = {
    {"{\"type\":\"string\"}", NULL, "a string"},
    {"{\"type\":\"string\",\"title\":\"T\",\"description\":\"D\","
     "\"minLength\":1,\"maxLength\":9,\"default\":\"d\"}",
     NULL, "a string with all that it may have"},
    {"{\"type\":\"string\",\"format\":\"email\"}", NULL, "email"},
    {"{\"type\":\"string\",\"format\":\"uri\"}", NULL, "uri"},
    {"{\"type\":\"string\",\"format\":\"date\"}", NULL, "date"},
    {"{\"type\":\"string\",\"format\":\"date-time\"}", NULL, "date-time"},
    {"{\"type\":\"string\",\"format\":\"password\"}", "/properties/p/format",
     "MCP 29: no password"},
    {"{\"type\":\"string\",\"writeOnly\":true}", "/properties/p/writeOnly",
     "MCP 29: nothing writeOnly"},
    {"{\"type\":\"string\",\"pattern\":\"a\"}", "/properties/p/pattern",
     "no pattern"},
    {"{\"type\":\"string\",\"minLength\":-1}", "/properties/p/minLength",
     "a length below 0"},
    {"{\"type\":\"string\",\"minimum\":1}", "/properties/p/minimum",
     "a keyword of another kind"},
    {"{\"type\":\"string\",\"default\":1}", "/properties/p/default",
     "a default of another type"},
    {"{\"type\":\"string\",\"title\":1}", "/properties/p/title",
     "a title that is none"},
    {"{\"type\":\"number\",\"minimum\":0.5,\"maximum\":9,\"default\":1.5}",
     NULL, "a number"},
    {"{\"type\":\"integer\",\"default\":30}", NULL, "an integer"},
    {"{\"type\":\"integer\",\"default\":1.5}", "/properties/p/default",
     "a default with a fraction for an integer"},
    {"{\"type\":\"number\",\"minimum\":\"1\"}", "/properties/p/minimum",
     "a bound that is no number"},
    {"{\"type\":\"boolean\",\"default\":true}", NULL, "a boolean"},
    {"{\"type\":\"boolean\",\"default\":\"true\"}", "/properties/p/default",
     "a boolean's default that is a string"},
    {"{\"type\":\"string\",\"enum\":[\"a\",\"b\"],\"default\":\"b\"}", NULL,
     "a choice"},
    {"{\"type\":\"string\",\"enum\":[\"a\"],\"enumNames\":[\"A\"]}", NULL,
     "a choice with names"},
    {"{\"type\":\"string\",\"enum\":[\"a\"],\"enumNames\":[\"A\",\"B\"]}",
     "/properties/p/enumNames", "more names than choices"},
    {"{\"type\":\"string\",\"enum\":[]}", "/properties/p/enum",
     "nothing to choose from"},
    {"{\"type\":\"string\",\"enum\":[1]}", "/properties/p/enum",
     "a choice of a number"},
    {"{\"type\":\"string\",\"enum\":[\"a\"],\"default\":\"c\"}",
     "/properties/p/default", "a default that is no choice"},
    {"{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\",\"title\":\"A\"}],"
     "\"default\":\"a\"}",
     NULL, "a titled choice"},
    {"{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\"}]}",
     "/properties/p/oneOf", "a titled choice without a title"},
    {"{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\",\"title\":\"A\"}],"
     "\"enum\":[\"a\"]}",
     "/properties/p/enum", "both kinds of choice at once"},
    {"{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,\"items\":"
     "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]},\"default\":[\"a\"]}",
     NULL, "a multiple choice"},
    {"{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"a\",\"title\":"
     "\"A\"}]},\"default\":[\"a\"]}",
     NULL, "a titled multiple choice"},
    {"{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"a\",\"title\":"
     "\"A\"}]},\"default\":[\"b\"]}",
     "/properties/p/default", "a default beside the multiple choice"},
    {"{\"type\":\"array\"}", "/properties/p", "an array of anything"},
    {"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
     "/properties/p/items", "an array of any strings"},
    {"{\"type\":\"array\",\"items\":{\"type\":\"object\"}}",
     "/properties/p/items", "an array of objects"},
    {"{\"type\":\"object\",\"properties\":{}}", "/properties/p",
     "an object within"},
    {"{\"type\":[\"string\",\"number\"]}", "/properties/p", "two types"},
    {"{\"$ref\":\"#/properties/p\"}", "/properties/p", "a reference"},
    {"{}", "/properties/p", "anything at all"},
    {"true", "/properties/p", "a boolean schema"},
    {"null", "/properties/p", "null"},
};

static void check_form(const char *text, const char *pointer, const char *name)
{
	struct json_object *schema = parse(text);
	struct pointer_error f;
	bool passes = elicit_form_check(schema, &f);

	is_int(passes, pointer == NULL, "a form: %s", name);
	if (!passes) {
		is_str(f.pointer, pointer, "%s: where", name);
		ok(f.expected != NULL, "%s: what would pass", name);
	}
	json_object_put(schema);
}

static void check_properties(void)
{
	for (size_t i = 0; i < ARRAY_LEN(properties); i++) {
		char *text =
		    xasprintf("{\"type\":\"object\",\"properties\":{\"p\":%s}}",
			      properties[i].property);

		check_form(text, properties[i].pointer, properties[i].name);
		free(text);
	}
}

static const struct {
	const char *schema, *pointer, *name;
} forms[] = {
    {"{\"type\":\"object\",\"properties\":{}}", NULL, "no question at all"},
    {"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
     "\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},"
     "\"required\":[\"a\"]}",
     NULL, "all that a form may have"},
    {"{\"properties\":{}}", "", "no type"},
    {"{\"type\":\"string\"}", "", "a string at the top"},
    {"{\"type\":\"object\"}", "/properties", "no properties"},
    {"{\"type\":\"object\",\"properties\":[]}", "/properties",
     "properties that are a list"},
    {"{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}",
     "/additionalProperties", "additionalProperties"},
    {"{\"type\":\"object\",\"properties\":{},\"required\":[\"a\"]}",
     "/required", "a required property that there is not"},
    {"{\"type\":\"object\",\"properties\":{},\"required\":\"a\"}", "/required",
     "required that is no list"},
    {"{\"type\":\"object\",\"properties\":{\"a/b~c\":{}}}",
     "/properties/a~1b~0c", "a name that needs escapes"},
    {"[]", "", "a list"},
    {"null", "", "nothing"},
};

static void check_forms(void)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		check_form(forms[i].schema, forms[i].pointer, forms[i].name);
}

/* ---- sampling ---- */

#define HELLO                                                                  \
	"{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"a\"}}"
#define ASK(more) "{\"messages\":[" HELLO "],\"maxTokens\":9" more "}"
#define SAY(content)                                                           \
	"{\"messages\":[{\"role\":\"user\",\"content\":" content               \
	"}],\"maxTokens\":9}"

static const struct {
	const char *params;
	const char *pointer; /* NULL: accepted */
	unsigned needs;
	const char *name;
} samples[] = {
    {ASK(""), NULL, 0, "a text"},
    {ASK(",\"systemPrompt\":\"s\",\"temperature\":0.5,\"stopSequences\":[\"x\"]"
	 ",\"metadata\":{},\"modelPreferences\":{\"hints\":[]},"
	 "\"includeContext\":\"none\""),
     NULL, 0, "all that there is"},
    {ASK(",\"includeContext\":\"thisServer\""), NULL, SAMPLING_CONTEXT,
     "context"},
    {ASK(",\"includeContext\":\"all\""), "/includeContext", 0,
     "no such context"},
    {ASK(",\"tools\":[{\"name\":\"t\",\"inputSchema\":{}}]"), NULL,
     SAMPLING_TOOLS, "tools"},
    {ASK(",\"tools\":[{\"name\":\"t\"}]"), "/tools/0", SAMPLING_TOOLS,
     "a tool without a schema"},
    {ASK(",\"toolChoice\":{\"mode\":\"auto\"}"), NULL, SAMPLING_TOOLS,
     "a choice of tools"},
    {ASK(",\"toolChoice\":{\"mode\":\"any\"}"), "/toolChoice", SAMPLING_TOOLS,
     "no such choice"},
    {ASK(",\"stopSequences\":[1]"), "/stopSequences", 0, "a stop that is none"},
    {ASK(",\"temperature\":\"hot\""), "/temperature", 0, "a warm word"},
    {ASK(",\"max\":1"), "/max", 0, "no such parameter"},
    {ASK(",\"task\":{}"), "/task", 0, "a task, which is not a template's"},
    {ASK(",\"_meta\":{}"), "/_meta", 0, "_meta, which is not a template's"},
    {"{\"messages\":[" HELLO "],\"maxTokens\":0}", "/maxTokens", 0,
     "no tokens"},
    {"{\"messages\":[" HELLO "]}", "/maxTokens", 0, "tokens unsaid"},
    {"{\"messages\":[],\"maxTokens\":9}", "/messages", 0, "no messages"},
    {"{\"maxTokens\":9}", "/messages", 0, "messages left out"},
    {"{\"messages\":[" HELLO ",{\"role\":\"system\"}],\"maxTokens\":9}",
     "/messages/1/role", 0, "no such role"},
    {SAY("{\"type\":\"image\",\"data\":\"\",\"mimeType\":\"image/png\"}"), NULL,
     0, "an image"},
    {SAY("{\"type\":\"image\",\"data\":\"\"}"), "/messages/0/content", 0,
     "an image without a type"},
    {SAY("{\"type\":\"audio\",\"data\":\"\",\"mimeType\":\"audio/wav\"}"), NULL,
     SAMPLING_AUDIO, "audio"},
    {SAY("{\"type\":\"video\"}"), "/messages/0/content/type", 0, "a film"},
    {SAY("\"hello\""), "/messages/0/content/type", 0, "a bare string"},
    {SAY("[{\"type\":\"text\",\"text\":\"a\"}]"), NULL, SAMPLING_BLOCKS,
     "several blocks"},
    {SAY("[{\"type\":\"text\"}]"), "/messages/0/content/0", SAMPLING_BLOCKS,
     "a bad one among several"},
    {SAY("[]"), "/messages/0/content", SAMPLING_BLOCKS, "no block"},
    {SAY("[{\"type\":\"tool_result\",\"toolUseId\":\"u\",\"content\":[]}]"),
     NULL, SAMPLING_BLOCKS | SAMPLING_TOOLS, "a tool's result"},
};

static void check_samples(void)
{
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		struct json_object *params = parse(samples[i].params);
		unsigned needs;
		struct pointer_error f;
		bool passes = sampling_check(params, &needs, &f);

		is_int(passes, samples[i].pointer == NULL,
		       "a request to a model: %s", samples[i].name);
		if (!passes)
			is_str(f.pointer, samples[i].pointer, "%s: where",
			       samples[i].name);
		else
			is_int(needs, samples[i].needs, "%s: what it needs",
			       samples[i].name);
		json_object_put(params);
	}
}

/* ---- questions and answers ---- */

#define FORM                                                                   \
	"{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","         \
	"\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":1},"          \
	"\"mail\":{\"type\":\"string\",\"format\":\"email\"}},"                \
	"\"required\":[\"n\"]}}"

static const struct {
	enum worker_question_kind kind;
	const char *result;
	const char *answer;  /* NULL: refused */
	const char *pointer; /* the place of the error in a refused answer */
	const char *name;
} answers[] = {
    {WORKER_QUESTION_ELICIT, "{\"action\":\"accept\",\"content\":{\"n\":2}}",
     "{\"content\":{\"n\":2},\"action\":\"accept\"}", NULL, "accepted"},
    {WORKER_QUESTION_ELICIT,
     "{\"action\":\"accept\",\"content\":{\"n\":2},\"_meta\":{\"a\":1}}",
     "{\"content\":{\"n\":2},\"action\":\"accept\"}", NULL, "with _meta"},
    {WORKER_QUESTION_ELICIT, "{\"action\":\"decline\"}",
     "{\"action\":\"decline\"}", NULL, "declined"},
    {WORKER_QUESTION_ELICIT, "{\"action\":\"cancel\",\"content\":{\"n\":0}}",
     "{\"action\":\"cancel\"}", NULL, "cancelled; content is not passed on"},
    {WORKER_QUESTION_ELICIT, "{\"action\":\"accept\",\"content\":{\"n\":0}}",
     NULL, "/content/n", "a value that is not allowed"},
    {WORKER_QUESTION_ELICIT,
     "{\"action\":\"accept\",\"content\":{\"n\":1,\"mail\":\"nobody\"}}", NULL,
     "/content/mail", "a format that is not kept"},
    {WORKER_QUESTION_ELICIT, "{\"action\":\"accept\",\"content\":{}}", NULL,
     "/content", "a value that is missing"},
    {WORKER_QUESTION_ELICIT, "{\"action\":\"accept\"}", NULL, "/content",
     "accepted without content"},
    {WORKER_QUESTION_ELICIT, "{\"action\":\"maybe\"}", NULL, "/action",
     "no such action"},
    {WORKER_QUESTION_ELICIT, "{}", NULL, "/action", "nothing"},
    {WORKER_QUESTION_SAMPLE,
     "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"b\"},"
     "\"model\":\"m\",\"_meta\":{}}",
     "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"b\"},"
     "\"model\":\"m\"}",
     NULL, "a model's text"},
    {WORKER_QUESTION_SAMPLE,
     "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"b\"}}",
     NULL, "/model", "no model"},
    {WORKER_QUESTION_SAMPLE,
     "{\"role\":\"assistant\",\"content\":\"b\",\"model\":\"m\"}", NULL,
     "/content/type", "content that is none"},
    {WORKER_QUESTION_SAMPLE, "{\"content\":{},\"model\":\"m\"}", NULL, "/role",
     "no role"},
    {WORKER_QUESTION_ROOTS, "{\"roots\":[]}", "[]", NULL, "no roots"},
    {WORKER_QUESTION_ROOTS,
     "{\"roots\":[{\"uri\":\"file:///a\",\"name\":\"A\",\"_meta\":{}},"
     "{\"uri\":\"file:///b\",\"x\":1}],\"_meta\":{}}",
     "[{\"uri\":\"file:///a\",\"name\":\"A\"},{\"uri\":\"file:///b\"}]", NULL,
     "roots, without what is between client and server"},
    {WORKER_QUESTION_ROOTS, "{}", NULL, "/roots", "an answer without roots"},
    {WORKER_QUESTION_ROOTS, "{\"roots\":{}}", NULL, "/roots",
     "roots that are no list"},
    {WORKER_QUESTION_ROOTS, "{\"roots\":[{\"uri\":\"file:///a\"},1]}", NULL,
     "/roots/1/uri", "a root that is no object"},
    {WORKER_QUESTION_ROOTS, "{\"roots\":[{\"uri\":\"http://a/\"}]}", NULL,
     "/roots/0/uri", "a root that is no file"},
    {WORKER_QUESTION_ROOTS, "{\"roots\":[{\"uri\":\"file:///a\",\"name\":1}]}",
     NULL, "/roots/0/name", "a root whose name is a number"},
};

static void check_answer(size_t i)
{
	static const char *const asked[] = {[WORKER_QUESTION_ELICIT] = FORM,
					    [WORKER_QUESTION_SAMPLE] =
						"{\"messages\":[" HELLO "]}",
					    [WORKER_QUESTION_ROOTS] = "{}"};
	struct worker_question ask = {.seq = 1,
				      .kind = answers[i].kind,
				      .params = parse(asked[answers[i].kind])};
	struct schema_budget budget = {.allowed = SCHEMA_STEPS_INLINE};
	struct json_object *result = parse(answers[i].result), *answer;
	struct tool_error r = {0};
	struct input_request q;

	ok(input_request_init(&q, &ask, &r), "a question: %s", answers[i].name);
	answer = input_request_result(&q, result, &budget, &r);
	is_str(answer != NULL ? json_text(answer, NULL) : NULL,
	       answers[i].answer, "an answer: %s", answers[i].name);
	is_str(r.code, answers[i].answer != NULL ? NULL : "INPUT_INVALID",
	       "%s: the code", answers[i].name);
	is_str(json_member_str(r.details, "pointer"), answers[i].pointer,
	       "%s: where", answers[i].name);
	json_object_put(answer);
	tool_error_fini(&r);
	input_request_fini(&q);
	json_object_put(result);
	json_object_put(ask.params);
}

#define TEN "0123456789"

static void check_roots(size_t n, bool passes)
{
	struct worker_question ask = {.kind = WORKER_QUESTION_ROOTS,
				      .params = parse("{}")};
	struct json_object *result = parse("{\"roots\":[]}"), *answer;
	struct tool_error r = {0};
	struct input_request q;

	for (size_t i = 0; i < n; i++)
		json_object_array_add(json_member(result, "roots"),
				      parse("{\"uri\":\"file:///\"}"));
	input_request_init(&q, &ask, &r);
	answer = input_request_result(&q, result, NULL, &r);
	is_int(json_length(answer), passes ? (long long)n : 0, "%zu roots", n);
	is_str(r.code, passes ? NULL : "INPUT_INVALID", "are %s",
	       passes ? "taken" : "too many");
	json_object_put(answer);
	tool_error_fini(&r);
	input_request_fini(&q);
	json_object_put(result);
	json_object_put(ask.params);
}

static const struct {
	enum worker_question_kind kind;
	const char *params, *pointer, *name;
} bad_asks[] = {
    {WORKER_QUESTION_ELICIT, "{}", "/message", "nothing"},
    {WORKER_QUESTION_ELICIT, "{\"message\":\"m\"}", "/requestedSchema",
     "no schema"},
    {WORKER_QUESTION_ELICIT,
     "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","
     "\"properties\":{\"p\":{\"type\":\"object\"}}}}",
     "/requestedSchema/properties/p", "an object within"},
    {WORKER_QUESTION_ELICIT, "{\"message\":\"m\",\"mode\":\"url\"}", "/mode",
     "a mode of its own"},
    {WORKER_QUESTION_ELICIT, "{\"message\":\"m\",\"_meta\":{}}", "/_meta",
     "a _meta of its own"},
    {WORKER_QUESTION_ELICIT, "{\"message\":\"m\",\"timeoutMs\":0}",
     "/timeoutMs", "no time"},
    {WORKER_QUESTION_ELICIT, "{\"message\":\"m\",\"timeoutMs\":\"1\"}",
     "/timeoutMs", "a time that is no number"},
    {WORKER_QUESTION_ELICIT, "{\"message\":\"m\",\"key\":\"\"}", "/key",
     "an empty name"},
    {WORKER_QUESTION_ELICIT, "{\"message\":\"m\",\"key\":\"a/b\"}", "/key",
     "a name with a slash"},
    {WORKER_QUESTION_ELICIT, "{\"message\":\"m\",\"key\":\"a\\u0000\"}", "/key",
     "a name with a NUL"},
    {WORKER_QUESTION_ELICIT, "{\"message\":\"m\",\"key\":1}", "/key",
     "a name that is a number"},
    {WORKER_QUESTION_ELICIT,
     "{\"message\":\"m\",\"key\":\"" TEN TEN TEN TEN TEN TEN "12345\"}", "/key",
     "a name of 65 bytes"},
    {WORKER_QUESTION_ROOTS, "{\"message\":\"m\"}", "/message",
     "roots, by a message"},
    {WORKER_QUESTION_ROOTS, "{\"timeoutMs\":604800001}", "/timeoutMs",
     "roots, within too long a time"},
};

static void check_bad_ask(size_t i)
{
	struct worker_question ask = {.seq = 1,
				      .kind = bad_asks[i].kind,
				      .params = parse(bad_asks[i].params)};
	struct tool_error r = {0};
	struct input_request q;

	ok(!input_request_init(&q, &ask, &r), "no question: %s",
	   bad_asks[i].name);
	is_str(r.code, "INVALID_PARAMETER", "%s: the code", bad_asks[i].name);
	is_str(json_member_str(r.details, "pointer"), bad_asks[i].pointer,
	       "%s: where", bad_asks[i].name);
	tool_error_fini(&r);
	input_request_fini(&q);
	json_object_put(ask.params);
}

/* ---- clients which can be asked ---- */

static const struct {
	enum worker_question_kind kind;
	const char *params, *capabilities;
	enum mcp_revision revision;
	bool can;
	const char *name;
} clients[] = {
    {WORKER_QUESTION_ELICIT, FORM, "{\"elicitation\":{}}", MCP_2025_11_25, true,
     "elicitation: {} means forms"},
    {WORKER_QUESTION_ELICIT, FORM, "{\"elicitation\":{\"form\":{}}}",
     MCP_2025_11_25, true, "forms"},
    {WORKER_QUESTION_ELICIT, FORM, "{\"elicitation\":{\"url\":{}}}",
     MCP_2025_11_25, false, "MCP 29: URLs are not forms"},
    {WORKER_QUESTION_ELICIT, FORM, "{\"elicitation\":{\"url\":{},\"form\":{}}}",
     MCP_2025_11_25, true, "both"},
    {WORKER_QUESTION_ELICIT, FORM, "{}", MCP_2025_11_25, false, "neither"},
    {WORKER_QUESTION_ELICIT, FORM, "{\"elicitation\":{}}", MCP_2025_06_18, true,
     "the first revision that has it"},
    {WORKER_QUESTION_ELICIT, FORM, "{\"elicitation\":{}}", MCP_2025_03_26,
     false, "a revision that has it not"},
    {WORKER_QUESTION_ELICIT,
     "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","
     "\"properties\":{\"p\":{\"type\":\"array\",\"items\":{\"type\":"
     "\"string\",\"enum\":[\"a\"]}}}}}",
     "{\"elicitation\":{}}", MCP_2025_06_18, false,
     "a revision without multiple choice"},
    {WORKER_QUESTION_SAMPLE, ASK(""), "{\"sampling\":{}}", MCP_2024_11_05, true,
     "sampling, in the oldest revision"},
    {WORKER_QUESTION_SAMPLE, ASK(""), "{\"elicitation\":{}}", MCP_2025_11_25,
     false, "no sampling"},
    {WORKER_QUESTION_SAMPLE, ASK(",\"toolChoice\":{\"mode\":\"auto\"}"),
     "{\"sampling\":{}}", MCP_2025_11_25, false,
     "MCP 29: tools without sampling.tools"},
    {WORKER_QUESTION_SAMPLE, ASK(",\"toolChoice\":{\"mode\":\"auto\"}"),
     "{\"sampling\":{\"tools\":{}}}", MCP_2025_11_25, true, "tools"},
    {WORKER_QUESTION_SAMPLE, ASK(",\"toolChoice\":{\"mode\":\"auto\"}"),
     "{\"sampling\":{\"tools\":{}}}", MCP_2025_06_18, false,
     "tools in a revision without"},
    {WORKER_QUESTION_SAMPLE, ASK(",\"includeContext\":\"thisServer\""),
     "{\"sampling\":{}}", MCP_2025_11_25, false,
     "context without sampling.context"},
    {WORKER_QUESTION_SAMPLE, ASK(",\"includeContext\":\"thisServer\""),
     "{\"sampling\":{}}", MCP_2025_06_18, true,
     "context, before it had to be declared"},
    {WORKER_QUESTION_ROOTS, "{\"key\":\"k\"}", "{\"roots\":{}}", MCP_2024_11_05,
     true, "roots"},
    {WORKER_QUESTION_ROOTS, "{}", "{\"elicitation\":{},\"sampling\":{}}",
     MCP_2025_11_25, false, "no roots"},
};

static void check_client(size_t i)
{
	struct worker_question ask = {.seq = 1,
				      .kind = clients[i].kind,
				      .params = parse(clients[i].params)};
	struct client_terms t = {.revision = clients[i].revision,
				 .capabilities =
				     parse(clients[i].capabilities)};
	struct tool_error r = {0};
	struct input_request q;

	ok(input_request_init(&q, &ask, &r), "a question for: %s",
	   clients[i].name);
	is_int(input_request_missing(&q, &t) == NULL, clients[i].can,
	       "a client that can be asked: %s", clients[i].name);
	input_request_fini(&q);
	json_object_put(t.capabilities);
	json_object_put(ask.params);
}

static void check_params(void)
{
	struct worker_question ask = {
	    .seq = 1,
	    .kind = WORKER_QUESTION_ELICIT,
	    .params = parse("{\"message\":\"m\",\"timeoutMs\":5,"
			    "\"key\":\"" TEN TEN TEN TEN TEN TEN "1234\","
			    "\"requestedSchema\":{\"type\":\"object\","
			    "\"properties\":{}}}")};
	struct tool_error r = {0};
	struct json_object *p;
	struct input_request q;

	ok(input_request_init(&q, &ask, &r),
	   "a question with a time and a key");
	is_int(q.timeout_ms, 5, "the timeout of a question is kept");
	is_str(q.key, TEN TEN TEN TEN TEN TEN "1234",
	       "the key of a question is kept");
	p = input_request_params(&q, MCP_2025_11_25, "T");
	is_str(
	    json_text(p, NULL),
	    "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","
	    "\"properties\":{}},\"mode\":\"form\",\"_meta\":"
	    "{\"io.modelcontextprotocol/related-task\":{\"taskId\":\"T\"}}}",
	    "MCP 19: a task's question says whose it is, no time and no key");
	json_object_put(p);
	p = input_request_params(&q, MCP_2025_06_18, NULL);
	is_str(json_text(p, NULL),
	       "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","
	       "\"properties\":{}}}",
	       "an older client gets no mode, and no _meta without a task");
	json_object_put(p);
	input_request_fini(&q);
	json_object_put(ask.params);
}

/*
 * The form {"type":"object","properties":{"p0":PROPERTY, ...}} with N properties.
 */
static struct json_object *form_of(size_t n, struct json_object *property)
{
	struct json_object *form = parse("{\"type\":\"object\"}");
	struct json_object *all = json_object_new_object();
	char key[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "p%zu", i);
		json_object_object_add(all, key, json_object_get(property));
	}
	json_object_put(property);
	json_object_object_add(form, "properties", all);
	return form;
}

/*
 * A choice of N options; with CHOSEN > 0 chosen by default, several options may be
 * chosen.
 */
static struct json_object *choice_of(size_t n, size_t chosen)
{
	struct json_object *p = parse(chosen > 0 ? "{\"type\":\"array\"}"
						 : "{\"type\":\"string\"}");
	struct json_object *options = json_object_new_array(), *in = p;
	struct json_object *of = json_object_new_array();
	char text[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "v%zu", i);
		json_object_array_add(options, json_object_new_string(text));
		if (i < chosen)
			json_object_array_add(of, json_object_new_string(text));
	}
	if (chosen > 0) {
		in = parse("{\"type\":\"string\"}");
		json_object_object_add(p, "items", in);
		json_object_object_add(p, "default", json_object_get(of));
	}
	json_object_object_add(in, "enum", options);
	json_object_put(of);
	return p;
}

static void check_size(struct json_object *form, const char *expected,
		       const char *name)
{
	struct pointer_error f;

	is_int(elicit_form_check(form, &f), expected == NULL, "%s", name);
	if (expected != NULL)
		is_str(f.expected, expected, "%s: what would pass", name);
	json_object_put(form);
}

/* A form is for people, and large forms would block the loop during the check. */
static void check_sizes(void)
{
	check_size(form_of(100, choice_of(10, 0)), NULL, "a form of 100");
	check_size(form_of(101, parse("{\"type\":\"boolean\"}")),
		   "100 properties at the most", "one of 101");
	check_size(form_of(1, choice_of(1000, 100)), NULL, "1000 choices");
	check_size(form_of(1, choice_of(1001, 0)),
		   "properties with 1000 choices at the most, together",
		   "1001 choices");
	check_size(form_of(51, choice_of(20, 0)),
		   "properties with 1000 choices at the most, together",
		   "51 times 20 choices");
	check_size(form_of(1, choice_of(1000, 101)),
		   "properties with 100 choices in their default at the most",
		   "101 of them chosen");
}

/* The check of a client's answer stays within the time of the loop. */
static void check_large_answer(void)
{
	struct json_object *params = json_object_new_object();
	struct worker_question ask = {
	    .seq = 1, .kind = WORKER_QUESTION_ELICIT, .params = params};
	struct json_object *result = parse("{\"action\":\"accept\"}");
	struct json_object *content = json_object_new_object();
	struct json_object *chosen = json_object_new_array(), *a;
	struct schema_budget budget = {.allowed = SCHEMA_STEPS_INLINE};
	struct tool_error r = {0};
	struct input_request q;

	json_object_object_add(params, "message", json_object_new_string("m"));
	json_object_object_add(params, "requestedSchema",
			       form_of(1, choice_of(1000, 1)));
	ok(input_request_init(&q, &ask, &r), "a form of many choices");
	for (int i = 0; i < 100000; i++)
		json_object_array_add(chosen, json_object_new_string("v999"));
	json_object_object_add(content, "p0", chosen);
	json_object_object_add(result, "content", content);
	a = input_request_result(&q, result, &budget, &r);
	ok(a == NULL, "an answer with an expensive check is refused");
	is_str(r.code, "INPUT_INVALID",
	       "an answer with an expensive check is INPUT_INVALID");
	tool_error_fini(&r);
	input_request_fini(&q);
	json_object_put(result);
	json_object_put(params);
}

int main(void)
{
	check_properties();
	check_forms();
	check_samples();
	for (size_t i = 0; i < ARRAY_LEN(answers); i++)
		check_answer(i);
	check_roots(1000, true);
	check_roots(1001, false);
	for (size_t i = 0; i < ARRAY_LEN(bad_asks); i++)
		check_bad_ask(i);
	for (size_t i = 0; i < ARRAY_LEN(clients); i++)
		check_client(i);
	check_params();
	check_sizes();
	check_large_answer();
	return tap_done();
}
