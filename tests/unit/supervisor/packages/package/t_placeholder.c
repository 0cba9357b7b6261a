/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/packages/package/placeholder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "tests/unit/tap.h"

/* VALUES is JSON; NULL: URI does not match TEXT. */
static const struct {
	const char *text, *uri, *values;
} matches[] = {
    {"t://{id}", "t://123", "{\"id\":\"123\"}"},
    {"t://{id}/data", "t://123/data", "{\"id\":\"123\"}"},
    {"t://{id}/data", "t:///data", NULL},
    {"t://{id}/data", "t://123/data/", NULL},
    {"t://{id}/data", "t://123", NULL},
    {"t://{id}", "u://123", NULL},
    {"t://{id}", "t://", NULL},
    {"t://{id}", "t://a/b", NULL},
    {"t://{id}", "t://a%2Fb", "{\"id\":\"a/b\"}"},
    {"t://{id}", "t://caf%C3%A9", "{\"id\":\"caf\xc3\xa9\"}"},
    {"t://{id}", "t://%E9", NULL},
    {"t://{id}", "t://a%00", NULL},
    {"t://{id}", "t://a%2", NULL},
    {"t://{id}", "t://a%zz", NULL},
    {"t://{id}", "t://a b", NULL},
    {"t://{a}/{b}", "t://1/2", "{\"a\":\"1\",\"b\":\"2\"}"},
    {"t://{a}-{b}", "t://1-2-3", "{\"a\":\"1\",\"b\":\"2-3\"}"},
    {"t://{a}-{b}", "t://--2", "{\"a\":\"-\",\"b\":\"2\"}"},
    {"t://{a}.x", "t://b.x.x", "{\"a\":\"b.x\"}"},
    {"t://{a}/{a}", "t://1/1", "{\"a\":\"1\"}"},
    {"t://{a}/{a}", "t://1/2", NULL},
    {"{s}://a", "t://a", "{\"s\":\"t\"}"},
};

TEST(matching)
{
	for (size_t i = 0; i < ARRAY_LEN(matches); i++) {
		struct json_object *got =
		    placeholder_uri_match(matches[i].text, matches[i].uri);

		is_str(got != NULL ? json_text(got, NULL) : NULL,
		       matches[i].values, "%s of %s", matches[i].uri,
		       matches[i].text);
		json_object_put(got);
	}
}

static const struct {
	const char *text, *fault;
} faults[] = {
    {"t://{id}", NULL},
    {"t://{a}/{b.c_1}", NULL},
    {"t://a", "has no {name}; with none it is a \"uri\""},
    {"t://{a}{b}", "has two names with nothing between them"},
    {"t://{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}/{j}/{k}/{l}/{m}/{n}/{o}/{p}",
     NULL},
    {"t://{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}/{j}/{k}/{l}/{m}/{n}/{o}/{p}/{q}",
     "has more than 16 names"},
    {"t://{+a}", "has braces that are not of the form {name}"},
    {"t://{a*}/{b}", "has braces that are not of the form {name}"},
    {"t://{a}/}", "has braces that are not of the form {name}"},
    {"t://{}", "has braces that are not of the form {name}"},
    {"t://{a", "has braces that are not of the form {name}"},
};

TEST(judging)
{
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		is_str(placeholder_uri_fault(faults[i].text), faults[i].fault,
		       "%s", faults[i].text);
}

static const struct {
	enum placeholder_style style;
	const char *text, *filled;
} fills[] = {
    {PLACEHOLDER_PROMPT, "", ""},
    {PLACEHOLDER_PROMPT, "no name", "no name"},
    {PLACEHOLDER_PROMPT, "{{a}}{{a}} {{b-c}}", "11 2"},
    {PLACEHOLDER_PROMPT, "{{{a}}}", "{1}"},
    {PLACEHOLDER_PROMPT, "{a} {{ a }} {{a} {{", "{a} {{ a }} {{a} {{"},
    {PLACEHOLDER_PROMPT, "[{{none}}]", "[]"},
    {PLACEHOLDER_PROMPT, "{{n}}", ""},
    {PLACEHOLDER_PROMPT, "{{again}}", "{{a}}"},
    {PLACEHOLDER_URI, "{\"id\":\"{a}\"}", "{\"id\":\"1\"}"},
    {PLACEHOLDER_URI, "{b-c}", "{b-c}"},
    {PLACEHOLDER_URI, "{none}{a}{n}", "{none}1{n}"},
    {PLACEHOLDER_ANSWERS, "{a} {b-c} {none} {{a}} { a }",
     "1 2 {none} {1} { a }"},
};

TEST(filling)
{
	static const char text[] =
	    "{\"a\":\"1\",\"b-c\":\"2\",\"n\":3,\"again\":\"{{a}}\"}";
	struct json_object *values;
	struct buf small = {.max = 4};

	json_parse(&values, text, strlen(text), NULL);
	for (size_t i = 0; i < ARRAY_LEN(fills); i++) {
		struct buf out = {0};
		char *got;

		is_int(placeholder_fill(&out, fills[i].style, fills[i].text,
					values),
		       0, "%s", fills[i].text);
		got = buf_take(&out, NULL);
		is_str(got != NULL ? got : "", fills[i].filled,
		       "each name once, and no further");
		free(got);
	}
	is_int(
	    placeholder_fill(&small, PLACEHOLDER_PROMPT, "{{a}}2345", values),
	    -EMSGSIZE, "a bound holds");
	buf_fini(&small);
	json_object_put(values);
}

TEST(answering)
{
	static const char properties[] =
	    "{\"s\":{},\"i\":{},\"n\":{},\"b\":{},\"l\":{},\"e\":{},\"none\":{}}";
	static const char content[] =
	    "{\"s\":\"\xc3\xa9 \\\"{k.i}\\\"\",\"i\":-7,\"n\":0.25,\"b\":false,"
	    "\"l\":[\"x\",\"y z\"],\"e\":[],\"other\":1}";
	struct json_object *values = json_object_new_object();
	struct json_object *p, *c;
	struct buf out = {0};

	json_parse(&p, properties, strlen(properties), NULL);
	json_parse(&c, content, strlen(content), NULL);
	json_object_object_add(values, "k.i", json_object_new_string("mine"));
	placeholder_add_answers(values, "k", p, c);
	placeholder_add_answers(values, "q", p, NULL);
	placeholder_fill(&out, PLACEHOLDER_ANSWERS,
			 "{k.s}|{k.i}|{k.n}|{k.b}|{k.l}|{k.e}|{k.none}|{q.s}|"
			 "{k.other}",
			 values);
	buf_add(&out, "", 1);
	is_str(buf_data(&out),
	       "\xc3\xa9 \"{k.i}\"|-7|0.25|false|x, y z||||{k.other}",
	       "answers are filled in as text, and once");
	buf_fini(&out);
	json_object_put(values);
	json_object_put(p);
	json_object_put(c);
}

/* A name that is too long is text; and nothing takes long. */
TEST(hostile)
{
	size_t n = (size_t)1 << 20;
	char *text = xcalloc(1, n + 1);
	struct buf out = {0};

	memset(text, '{', n);
	is_int(placeholder_fill(&out, PLACEHOLDER_PROMPT, text, NULL), 0,
	       "nothing but braces");
	is_int((long long)buf_len(&out), (long long)n, "stays as it is");
	buf_fini(&out);
	memset(text, 'a', n);
	memcpy(text, "{{", 2);
	memcpy(text + n - 2, "}}", 2);
	is_int(placeholder_fill(&out, PLACEHOLDER_PROMPT, text, NULL), 0,
	       "a name of a megabyte");
	is_int((long long)buf_len(&out), (long long)n,
	       "a name of a megabyte is no placeholder");
	buf_fini(&out);
	free(text);
}
