/* SPDX-License-Identifier: Apache-2.0 */
/* t_output_parse.c - large results of workers are read on a thread. */
#include "supervisor/run/threads/output_parse.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ipc/msg.h"
#include "proto/json/json.h"
#include "supervisor/run/threads/thread_pool.h"
#include "tests/unit/tap.h"

static struct event_base *base;
static struct thread_pool *thread_pool;
static struct output_parsed got; /* the parsed output */
static size_t told;
static size_t values_max = JSON_VALUES_MAX;

static void on_read(void *arg, struct output_parsed *out)
{
	(void)arg;
	told++;
	got = *out;
	out->tree = NULL;
	out->text = NULL;
}

static struct output_parse_job *read_one(const char *text, bool is_reply)
{
	memset(&got, 0, sizeof(got));
	told = 0;
	return output_parse(thread_pool, NULL, xstrdup(text), strlen(text),
			    values_max, is_reply, on_read, NULL);
}

static void settle(void)
{
	struct thread_pool_stats count;

	for (thread_pool_stats(thread_pool, &count); count.jobs > 0;
	     thread_pool_stats(thread_pool, &count))
		event_base_loop(base, EVLOOP_ONCE);
}

static const struct {
	const char *name, *text;
	bool is_reply;
	const char *compact; /* NULL: no output is passed on */
	const char *fault;   /* NULL: no fault */
	int content_at;
} cases[] = {
    {"a value", "{ \"a\" : [1, 2.50, -0] }", false, "{\"a\":[1,2.50,0]}", NULL,
     -1},
    {"null", " null ", false, "null", NULL, -1},
    {"a reply", "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}", true,
     "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}", NULL, -1},
    {"what looks like a bad reply, and is a value", "{\"content\":7}", false,
     "{\"content\":7}", NULL, -1},
    {"what is cut", "{\"a\":", false, NULL, "a result that is not JSON", -1},
    {"a key twice", "{\"a\":1,\"a\":1}", false, NULL,
     "a result that is not JSON", -1},
    {"a reply that is a list", "[]", true, NULL,
     "a reply that is not an object", -1},
    {"a reply's content", "{\"content\":7}", true, NULL,
     "a reply whose content is not an array", -1},
    {"a reply's isError", "{\"isError\":7}", true, NULL,
     "a reply whose isError is not a boolean", -1},
    {"a reply's structuredContent", "{\"structuredContent\":7}", true, NULL,
     "a reply whose structuredContent is not an object", -1},
    {"a reply's error", "{\"error\":{\"code\":-32603,\"message\":\"m\"}}", true,
     "{\"error\":{\"code\":-32603,\"message\":\"m\"}}", NULL, -1},
    {"an error beside a result", "{\"error\":{},\"isError\":true}", true, NULL,
     "a reply that has both an error and a result", -1},
    {"an error that is none", "{\"error\":7}", true, NULL,
     "a reply whose error is not an object", -1},
    {"an error with a code of MCP's",
     "{\"error\":{\"code\":-32021,\"message\":\"m\"}}", true, NULL,
     "a reply whose error has another code than " MSG_REPLY_CODE_RULE, -1},
    {"an error without a message", "{\"error\":{\"code\":1}}", true, NULL,
     "a reply whose error has no message, or one of over 8192 bytes", -1},
    {"a reply's second block",
     "{\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"text\"}]}",
     true, NULL, NULL, 1},
};

TEST(read)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *name = cases[i].name;

		read_one(cases[i].text, cases[i].is_reply);
		settle();
		is_int((long long)told, 1, "%s: it is told, once", name);
		is_str(got.text, cases[i].compact, "%s: its text", name);
		ok(got.text == NULL || got.len == strlen(got.text),
		   "%s: and how long that is", name);
		is_str(got.tree == NULL ? NULL : json_text(got.tree, NULL),
		       cases[i].compact != NULL &&
			       strcmp(cases[i].compact, "null") != 0
			   ? cases[i].compact
			   : NULL,
		       "%s: its tree", name);
		is_str(got.fault, cases[i].fault, "%s: its fault", name);
		is_int(got.content_at, cases[i].content_at, "%s: its content",
		       name);
		ok((got.content_expected != NULL) == (got.content_at >= 0),
		   "%s: and what was expected there", name);
		json_object_put(got.tree);
		free(got.text);
	}
}

/* Output on a program's stdout which is no JSON, explained to the author. */
TEST(stray)
{
	static const struct {
		const char *text, *errmsg;
	} strays[] = {
	    {"Loading\xE2\x80\xA6 \033[1m\n{}",
	     "line 1, column 1: expected a value, found 'L', in \"Loading\xE2\x80\xA6 "
	     "?[1m\"; stdout is for the result alone, and log lines belong on "
	     "stderr"},
	    {"{\"a\": 1}\nDone in 3 s\n",
	     "line 2, column 1: expected nothing more after the value, found "
	     "'D', in \"Done in 3 s\"; stdout is for the result alone, and log "
	     "lines belong on stderr"},
	    {"[0123456789012345678901234567890123456789012345678901234567890]",
	     "line 1, column 2: a number has no leading zero, in "
	     "\"[01234567890123456789012345678901234567890123456789012345678"
	     "\xE2\x80\xA6\"; stdout is for the result alone, and log lines "
	     "belong on stderr"},
	};
	char errmsg[OUTPUT_PARSE_WHY_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(strays); i++) {
		struct json_error err;
		struct json_object *v;
		size_t len = strlen(strays[i].text);

		json_parse(&v, strays[i].text, len, &err);
		output_parse_why_stray(errmsg, strays[i].text, len, &err);
		is_str(errmsg, strays[i].errmsg, "what is no result, %zu", i);
	}
}

TEST(many)
{
	values_max = 3;
	read_one("[1,2]", false);
	settle();
	ok(got.fault == NULL && got.tree != NULL,
	   "as many values as allowed are taken");
	json_object_put(got.tree);
	free(got.text);
	read_one("[1,2,3]", false);
	settle();
	ok(got.too_many && got.tree == NULL, "one more is told as that");
	read_one("[1", false);
	settle();
	ok(!got.too_many && got.fault != NULL, "what is no JSON is not");
	values_max = JSON_VALUES_MAX;
}

TEST(cancel)
{
	output_parse_cancel(read_one("{\"a\":[1,2,3]}", false));
	settle();
	is_int((long long)told, 0, "what is cancelled is told to nobody");
	read_one("{\"a\":[1,2,3]}", false);
	thread_pool_free(thread_pool);
	is_int((long long)told, 0,
	       "a check left at a server's end is told to nobody");
	thread_pool = thread_pool_new(base, 1);
}

int main(void)
{
	base = event_base_new();
	thread_pool = thread_pool_new(base, 1);
	tap_run();
	thread_pool_free(thread_pool);
	event_base_free(base);
	return tap_done();
}
