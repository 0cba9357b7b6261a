/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_json_view.c - the strict JSON reader of a program's shim, which reads in place.
 */
#include "base/text/json_view.h"

#include "base/text/json_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static bool check(const char *text, size_t n, struct json_view *v)
{
	const char *errmsg = NULL;
	size_t at = 0;
	bool good =
	    json_view_check((struct json_view){text, n}, v, &errmsg, &at);

	if (!good && (errmsg == NULL || at > n))
		printf("# no reason, or one beyond the end\n");
	return good && v->n > 0;
}

static const char *const good[] = {
    /* single values */
    "{}", " [] ", "null", "true", "false", "0", "-0", "1.5e+3", "-12E-1",
    /* with texts */
    "\"\"", "\"a\\n\\u00e9\\ud83d\\ude00\"", "{\"a\":[1,{\"b\":null}]}",
    "\t\r\n{ \"a\" : 1 , \"b\" : [ ] }\n", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""};

static const char *const bad[] = {
    /* brackets */
    "", " ", "{", "}", "[", "[1", "[1,", "[1,]", "{\"a\"}", "{\"a\":}",
    "{\"a\":1,}", "{a:1}", "{'a':1}",
    /* words and numbers */
    "nul", "nulll", "True", "01", "-", "1.", ".5", "1e", "+1", "0x1", "NaN",
    /* texts */
    "\"", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
    "\"\\udc00\"", "\"\\u0000\"", "\"\n\"",
    /* more than one value, and text without valid UTF-8 */
    "1 2", "{} {}", "[1 2]", "\xff", "\"\xc3\"", "\xEF\xBB\xBF{}"};

static void grammar(void)
{
	struct json_view v;

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		ok(check(good[i], strlen(good[i]), &v), "good: case %zu", i);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(!check(bad[i], strlen(bad[i]), &v), "bad: case %zu", i);
	ok(!check("\"a\0b\"", 5, &v), "a NUL within");
}

static void depth(void)
{
	char text[2 * JSON_SCAN_DEPTH_MAX + 2];
	struct json_view v;

	memset(text, '[', JSON_SCAN_DEPTH_MAX);
	memset(text + JSON_SCAN_DEPTH_MAX, ']', JSON_SCAN_DEPTH_MAX);
	ok(check(text, (size_t)2 * JSON_SCAN_DEPTH_MAX, &v),
	   "the deepest allowed JSON is accepted");
	memset(text, '[', JSON_SCAN_DEPTH_MAX + 1);
	memset(text + JSON_SCAN_DEPTH_MAX + 1, ']', JSON_SCAN_DEPTH_MAX + 1);
	ok(!check(text, (size_t)2 * JSON_SCAN_DEPTH_MAX + 2, &v),
	   "JSON deeper than allowed is refused");
}

static void members(void)
{
	static const char text[] =
	    " { \"a\" : 1 , \"b\":{\"a\":2}, \"a\":3, \"s\":\"x\\u00e9\\n\" } ";
	struct json_view v, m, key;
	size_t at = 0, n = 0;
	char out[32];

	ok(check(text, strlen(text), &v) && json_view_is_object(v),
	   "an object with members is accepted");
	while (json_view_next(v, &at, &key, &m))
		n++;
	is_int(n, 4, "the object has four members");
	ok(json_view_member(v, "a", &m) && m.n == 1 && *m.p == '1',
	   "the first member \"a\" is found");
	ok(json_view_member(v, "b", &m) && json_view_is_object(m),
	   "an object is found within an object");
	ok(!json_view_member(v, "c", &m), "a missing member is not found");
	ok(json_view_member(v, "s", &m) && json_view_is_string(m),
	   "a string member is found");
	n = json_view_unquote(m, out);
	ok(n == 4 && memcmp(out, "x\xc3\xa9\n", 4) == 0,
	   "json_view_unquote() resolves the escapes");
	ok(check("{}", 2, &v), "an empty one");
	at = 0;
	ok(!json_view_next(v, &at, &key, &m), "an empty object has no member");
	ok(check("\"\\ud83d\\ude00\"", 14, &v), "a pair of surrogates");
	ok(json_view_unquote(v, out) == 4 &&
	       memcmp(out, "\xf0\x9f\x98\x80", 4) == 0,
	   "a pair of surrogates is one character");
}

static const struct {
	const char *text;
	bool is;
	uint64_t value;
} uints[] = {
    {"0", true, 0},	 {"17", true, 17},
    {"-1", false, 0},	 {"1.0", false, 0},
    {"1e2", false, 0},	 {"9007199254740992", true, UINT64_C(1) << 53},
    {"\"1\"", false, 0}, {"9007199254740993", false, 0},
    {"null", false, 0},	 {"99999999999999999999999", false, 0},
};

static void integers(void)
{
	for (size_t i = 0; i < ARRAY_LEN(uints); i++) {
		struct json_view v = {uints[i].text, strlen(uints[i].text)};
		uint64_t n = 0;

		ok(json_view_uint(v, &n) == uints[i].is &&
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
