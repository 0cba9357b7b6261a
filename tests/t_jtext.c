/* SPDX-License-Identifier: Apache-2.0 */
/* t_jtext.c - JSON as a program's shim reads it: strictly, in place. */
#include "base/text/json_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tap.h"

static bool check(const char *text, size_t n, struct jtext *v)
{
	const char *why = NULL;
	size_t at = 0;
	bool good = jtext_check((struct jtext){text, n}, v, &why, &at);

	if (!good && (why == NULL || at > n))
		printf("# no reason, or one beyond the end\n");
	return good && v->n > 0;
}

static const char *const good[] = {
    "{}", " [] ", "null", "true", "false", "0", "-0", "1.5e+3", "-12E-1",
    "\"\"", "\"a\\n\\u00e9\\ud83d\\ude00\"", "{\"a\":[1,{\"b\":null}]}",
    "\t\r\n{ \"a\" : 1 , \"b\" : [ ] }\n", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""};

static const char *const bad[] = {
    "", " ", "{", "}", "[", "[1", "[1,", "[1,]", "{\"a\"}", "{\"a\":}",
    "{\"a\":1,}", "{a:1}", "{'a':1}", "nul", "nulll", "True", "01", "-", "1.",
    ".5", "1e", "+1", "0x1", "NaN", "\"", "\"a", "\"\\x\"", "\"\\u12\"",
    "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\u0000\"",
    "\"\n\"", "1 2", "{} {}", "[1 2]", "\xff", "\"\xc3\"", "\xEF\xBB\xBF{}"};

static void grammar(void)
{
	struct jtext v;

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		ok(check(good[i], strlen(good[i]), &v), "good: case %zu", i);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(!check(bad[i], strlen(bad[i]), &v), "bad: case %zu", i);
	ok(!check("\"a\0b\"", 5, &v), "a NUL within");
}

static void depth(void)
{
	char text[2 * JTEXT_DEPTH_MAX + 2];
	struct jtext v;

	memset(text, '[', JTEXT_DEPTH_MAX);
	memset(text + JTEXT_DEPTH_MAX, ']', JTEXT_DEPTH_MAX);
	ok(check(text, (size_t)2 * JTEXT_DEPTH_MAX, &v), "as deep as it may be");
	memset(text, '[', JTEXT_DEPTH_MAX + 1);
	memset(text + JTEXT_DEPTH_MAX + 1, ']', JTEXT_DEPTH_MAX + 1);
	ok(!check(text, (size_t)2 * JTEXT_DEPTH_MAX + 2, &v), "deeper");
}

static void members(void)
{
	static const char text[] =
	    " { \"a\" : 1 , \"b\":{\"a\":2}, \"a\":3, \"s\":\"x\\u00e9\\n\" } ";
	struct jtext v, m, key;
	size_t at = 0, n = 0;
	char out[32];

	ok(check(text, strlen(text), &v) && jtext_is_object(v), "an object");
	while (jtext_next(v, &at, &key, &m))
		n++;
	is_int(n, 4, "its members");
	ok(jtext_member(v, "a", &m) && m.n == 1 && *m.p == '1', "the first a");
	ok(jtext_member(v, "b", &m) && jtext_is_object(m), "an object in it");
	ok(!jtext_member(v, "c", &m), "none");
	ok(jtext_member(v, "s", &m) && jtext_is_string(m), "a string");
	n = jtext_unquote(m, out);
	ok(n == 4 && memcmp(out, "x\xc3\xa9\n", 4) == 0, "without its escapes");
	ok(check("{}", 2, &v), "an empty one");
	at = 0;
	ok(!jtext_next(v, &at, &key, &m), "has no member");
	ok(check("\"\\ud83d\\ude00\"", 14, &v), "a pair of surrogates");
	ok(jtext_unquote(v, out) == 4 && memcmp(out, "\xf0\x9f\x98\x80", 4) == 0,
	   "is one character");
}

static const struct {
	const char *text;
	bool is;
	uint64_t value;
} uints[] = {
    {"0", true, 0},	{"17", true, 17},
    {"-1", false, 0},	{"1.0", false, 0},
    {"1e2", false, 0},	{"9007199254740992", true, UINT64_C(1) << 53},
    {"\"1\"", false, 0}, {"9007199254740993", false, 0},
    {"null", false, 0}, {"99999999999999999999999", false, 0},
};

static void integers(void)
{
	for (size_t i = 0; i < ARRAY_LEN(uints); i++) {
		struct jtext v = {uints[i].text, strlen(uints[i].text)};
		uint64_t n = 0;

		ok(jtext_uint(v, &n) == uints[i].is &&
		       (!uints[i].is || n == uints[i].value),
		   "an integer? %s", uints[i].text);
	}
}

int main(void)
{
	grammar();
	depth();
	members();
	integers();
	return tap_done();
}
