/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_prompts.c - prompts/list and prompts/get: the prompts of a requestor, arguments and
 * answers filled in, bounds, and refusals.
 */
#include "supervisor/mcp/methods/prompts.h"
#include "supervisor/packages/templates/catalogue.h"
#include "tests/unit/supervisor/session/server_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

/* A prompt NAME with MORE members, whose one message has CONTENT. */
#define PROMPT(name, more, content)                                            \
	"{\"name\":\"" name "\"," more "\"messages\":[{\"role\":\"user\","     \
	"\"content\":" content "}]}"
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define ARGUMENTS                                                              \
	"\"title\":\"A title\",\"description\":\"Says hello\",\"arguments\":[" \
	"{\"name\":\"who\",\"required\":true,\"description\":\"Whom\"},"       \
	"{\"name\":\"how\"}],"
#define QUESTION(name)                                                         \
	"{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\","         \
	"\"properties\":{\"" name "\":{\"type\":\"string\"}}}}"

static struct client ada, few, old, new;

static void begin(const char *prompts)
{
	char *members = xasprintf("\"prompts\":[%s]", prompts);

	server_begin("[requestor \"few\"]\nuid = 8\ntemplates = none\n");
	server_package("talk", "1.0.0", members);
	server_file("talk", "1.0.0", "data.bin", "abc");
	free(members);
	server_load();
	client_begin(&ada, 7, MCP_2025_11_25);
	client_begin(&few, 8, MCP_2025_11_25);
	client_begin(&old, 7, MCP_2024_11_05);
	client_begin(&new, 7, MCP_2026_07_28);
}

static void end(void)
{
	client_end(&ada);
	client_end(&few);
	client_end(&old);
	client_end(&new);
	server_end();
}

static struct json_object *get(const char *name, const char *args)
{
	return client_call(&ada, "prompts/get",
			   "{\"name\":\"%s\",\"arguments\":%s}", name, args);
}

static const char *text_of(struct json_object *answer)
{
	return at(answer, "/result/messages/0/content/text");
}

static void refused(struct json_object *answer, const char *words,
		    const char *name)
{
	const char *text = at(answer, "/error/message");

	is_str(at(answer, "/error/code"), "-32602", "%s is refused", name);
	ok(text != NULL && strstr(text, words) != NULL,
	   "the refusal of %s says what is wrong", name);
}

TEST(list)
{
	struct json_object *answer;

	begin(PROMPT("hello", ARGUMENTS, TEXT("Hello")));
	answer = client_call(&ada, "prompts/list", "{}");
	is_str(at(answer, "/result/prompts/0/name"), "hello",
	       "a prompt is listed by its name");
	is_str(at(answer, "/result/prompts/0/title"), "A title",
	       "a prompt is listed with its title");
	is_str(at(answer, "/result/prompts/0/description"), "Says hello",
	       "a prompt is listed with its description");
	is_str(at(answer, "/result/prompts/0/arguments/0/required"), "true",
	       "a prompt is listed with what its arguments need");
	is_str(at(answer, "/result/prompts/0/arguments/1/required"), NULL,
	       "an argument that says nothing of need is listed so");
	is_str(at(answer, "/result/prompts/0/messages"), NULL,
	       "a prompt is listed without its messages");
	answer = client_call(&old, "prompts/list", "{}");
	is_str(at(answer, "/result/prompts/0/title"), NULL,
	       "a revision without titles is listed none");
	answer = client_call(&few, "prompts/list", "{}");
	is_str(at(answer, "/result/prompts"), "[]",
	       "a requestor is listed no prompt of a template not its own");
	end();
}

TEST(list_in_pages)
{
	char *many = xcalloc(1, 256 * 160), *to = many;
	struct json_object *answer;
	size_t n;

	for (int i = 0; i <= 100; i++)
		to += sprintf(to,
			      "%s{\"name\":\"p%03d\",\"messages\":[{\"role\":"
			      "\"user\",\"content\":" TEXT("x") "}]}",
			      i > 0 ? "," : "", i);
	begin(many);
	free(many);
	answer = client_call(&ada, "prompts/list", "{}");
	n = json_length(json_member(json_member(answer, "result"), "prompts"));
	is_int((int64_t)n, 100, "a page has a hundred prompts");
	answer = client_call(&ada, "prompts/list", "{\"cursor\":\"%s\"}",
			     at(answer, "/result/nextCursor"));
	is_str(at(answer, "/result/prompts/0/name"), "p100",
	       "the next page goes on behind the last prompt");
	is_str(at(answer, "/result/prompts/1"), NULL,
	       "the last page has the rest alone");
	end();
}

TEST(get_fills_arguments)
{
	begin(PROMPT("hello", ARGUMENTS, TEXT("Hello {{who}}, {{how}}!")));
	is_str(text_of(get("hello", "{\"who\":\"Bob\",\"how\":\"well\"}")),
	       "Hello Bob, well!", "arguments are filled in");
	is_str(text_of(get("hello", "{\"who\":\"Bob\"}")), "Hello Bob, !",
	       "an argument that is left out is filled in as nothing");
	is_str(text_of(get("hello", "{\"who\":\"{{how}}\",\"how\":\"x\"}")),
	       "Hello {{how}}, x!", "an argument is not filled in anew");
	is_str(at(get("hello", "{\"who\":\"Bob\"}"), "/result/description"),
	       "Says hello", "a prompt is given with its description");
	is_str(at(get("hello", "{\"who\":\"Bob\"}"), "/result/messages/0/role"),
	       "user", "a message has its role");
	end();
}

TEST(get_refuses)
{
	begin(PROMPT("hello", ARGUMENTS, TEXT("Hello {{who}}")));
	refused(get("hello", "{}"), "who",
		"a prompt without an argument that it needs");
	refused(get("hello", "{\"who\":7}"), "params.arguments.who",
		"a prompt with a number as argument");
	refused(get("hello", "[]"), "params.arguments",
		"a prompt with an array of arguments");
	refused(client_call(&ada, "prompts/get", "{}"), "params.name",
		"prompts/get without a name");
	refused(get("helo", "{}"), "did you mean \"hello\"",
		"a prompt that is misspelt");
	refused(get("zzzzzzzz", "{}"), "prompts/list names them",
		"a prompt that is like no other");
	refused(client_call(&few, "prompts/get", "{\"name\":\"hello\"}"),
		"prompts/list names them",
		"a prompt of a template that a requestor may not see");
	end();
}

TEST(get_gives_files_and_resources)
{
	struct json_object *answer;

	begin(PROMPT(
	    "picture", "",
	    "{\"type\":\"image\",\"file\":\"data.bin\","
	    "\"mimeType\":\"image/png\"}") "," PROMPT("file",
						      "\"arguments\":[{\"name\":\"x\"}],",
						      "{\"type\":\"resource\",\"resource\":{\"uri\":"
						      "\"talk://{{x}}\",\"mimeType\":\"text/plain\","
						      "\"file\":\"data.bin\"}}") "," PROMPT("inline",
											    "\"arguments\":[{\"name\":\"x\"}],",
											    "{\"type\":\"resource\",\"resource\":{\"uri\":"
											    "\"{{x}}\",\"text\":\"{{x}}\"}}"));
	answer = get("picture", "{}");
	is_str(at(answer, "/result/messages/0/content/data"), "YWJj",
	       "a picture is given from its file, in base64");
	is_str(at(answer, "/result/messages/0/content/mimeType"), "image/png",
	       "a picture is given with its type");
	answer = get("file", "{\"x\":\"a\"}");
	is_str(at(answer, "/result/messages/0/content/resource/text"), "abc",
	       "a resource in a prompt is given from its file");
	is_str(at(answer, "/result/messages/0/content/resource/uri"),
	       "talk://a", "arguments are filled into the URI of a resource");
	answer = get("inline", "{\"x\":\"a:b\"}");
	is_str(at(answer, "/result/messages/0/content/resource/text"), "a:b",
	       "arguments are filled into the text of a resource");
	refused(get("inline", "{\"x\":\"no uri\"}"), "not an absolute one",
		"an argument that makes no URI");
	refused(get("inline", "{\"x\":\"a:b\\u0000\"}"), "not an absolute one",
		"an argument with a NUL in a URI");
	end();
}

#define LINE "{{x}}{{x}}{{x}}{{x}}{{x}}{{x}}{{x}}{{x}}"

/* Give the argument x of N bytes, eight times. */
static struct json_object *get_long(size_t n)
{
	char *arg = xcalloc(1, n + 1), *args;
	struct json_object *answer;

	memset(arg, 'x', n);
	args = xasprintf("{\"x\":\"%s\"}", arg);
	answer = get("many", args);
	free(args);
	free(arg);
	return answer;
}

TEST(get_is_bounded)
{
	begin(PROMPT("many", "\"arguments\":[{\"name\":\"x\"}],", TEXT(LINE)));
	server.config->max_answer_bytes = 64 << 20;
	is_int((int64_t)strlen(text_of(get_long(PROMPT_MAX / 8))), PROMPT_MAX,
	       "a prompt of as many bytes as may be is given");
	refused(get_long(PROMPT_MAX / 8 + 1), "more than",
		"a prompt of more bytes than may be");
	end();
}

/* ---- questions to the user ---- */

TEST(asks_by_result)
{
	struct json_object *answer;
	const char *state;

	begin(PROMPT("ask", "\"asks\":{\"q\":" QUESTION("x") "},",
		     TEXT("You said {{q.x}}")));
	answer = client_call(&new, "prompts/get", "{\"name\":\"ask\"}");
	is_int(atoi(at(answer, "/error/code")), RPC_MISSING_CAPABILITY,
	       "a prompt that asks is refused to who cannot ask its user");
	client_declare(&new, "{\"elicitation\":{}}");
	answer = client_call(&new, "prompts/get", "{\"name\":\"ask\"}");
	is_str(at(answer, "/result/resultType"), "input_required",
	       "a client without a session takes the question along");
	is_str(at(answer, "/result/inputRequests/q/method"),
	       "elicitation/create", "the question has its method");
	state = at(answer, "/result/requestState");
	answer = client_call(&new, "prompts/get",
			     "{\"name\":\"ask\",\"requestState\":\"%s\","
			     "\"inputResponses\":{\"q\":{\"action\":"
			     "\"accept\",\"content\":{\"x\":\"yes\"}}}}",
			     state);
	is_str(text_of(answer), "You said yes",
	       "a repeated request is given with the answers filled in");
	answer = client_call(&new, "prompts/get",
			     "{\"name\":\"ask\",\"inputResponses\":{\"q\":{"
			     "\"action\":\"accept\",\"content\":{\"x\":"
			     "\"early\"}}}}");
	is_str(text_of(answer), "You said early",
	       "an answer may come before its question");
	answer = client_call(&new, "prompts/get",
			     "{\"name\":\"ask\",\"inputResponses\":{\"q\":{"
			     "\"action\":\"decline\"}}}");
	refused(answer, "declined", "a prompt whose user declines");
	answer = client_call(&new, "prompts/get",
			     "{\"name\":\"ask\",\"inputResponses\":{\"q\":{"
			     "\"action\":\"accept\",\"content\":{\"x\":7}}}}");
	is_str(at(answer, "/result/resultType"), "input_required",
	       "an answer that does not fit is asked for again");
	answer = client_call(&new, "prompts/get",
			     "{\"name\":\"ask\",\"arguments\":{\"a\":\"b\"},"
			     "\"requestState\":\"%s\"}",
			     state);
	is_str(at(answer, "/error/code"), "-32602",
	       "a requestState of another request is refused");
	end();
}

TEST(find)
{
	struct request fake = {.session = &ada.session};

	begin(PROMPT("hello", "", TEXT("Hello")));
	ok(prompts_find(&fake, "hello") ==
	       &server.context.catalogue->offers->prompts.all[0],
	   "a prompt is found by its name");
	ok(prompts_find(&fake, "hell") == NULL,
	   "no prompt is found by a part of a name");
	fake.session = &few.session;
	ok(prompts_find(&fake, "hello") == NULL,
	   "no prompt is found for a requestor who may not see its template");
	end();
}

int main(void)
{
	tap_run();
	return tap_done();
}
