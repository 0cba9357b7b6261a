/* SPDX-License-Identifier: Apache-2.0 */
/* t_json_tree.c - trees of JSON: growth, printing, and search. */
#include "proto/json/json.h"

#include <math.h>

#include "tests/unit/proto/json/json_fixture.h"

/* An object of N members; the last member may repeat the first. */
static char *many_members(size_t n, const char *last)
{
	struct buf b = {0};

	buf_add_str(&b, "{");
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "\"key%zu\":%zu,", i, i);
	buf_printf(&b, "\"%s\":0}", last);
	return buf_take(&b, NULL);
}

TEST(many_members)
{
	char *s = many_members(50000, "last");
	struct json_object *v;
	struct json_error err;

	is_int(parse(&v, s, strlen(s), NULL), 0,
	       "an object of 50,001 members is parsed");
	is_int(json_object_object_length(v), 50001,
	       "all 50,001 members are in the object");
	is_int(json_object_get_int64(json_member(v, "key49999")), 49999,
	       "a member of a large object is found by name");
	is_str(json_text(v, NULL), s,
	       "the members of a large object keep their order");
	json_object_put(v);
	free(s);
	s = many_members(50000, "key0");
	is_int(parse(&v, s, strlen(s), &err), -EBADMSG, "the first name again");
	ok(strstr(err.text, "duplicate key \"key0\"") != NULL,
	   "the error names the duplicate key");
	free(s);
}

/* Objects of any size must be valid objects for json-c. */
TEST(growing)
{
	struct json_object *v;
	char key[16];

	for (int n = 0; n < 4; n++) {
		static const char *const texts[] = {
		    "{}", "{\"a\":0}", "{\"a\":0,\"b\":0}",
		    "{\"a\":0,\"b\":0,\"c\":0}"};
		int missing = 0;

		parse(&v, texts[n], strlen(texts[n]), NULL);
		ok(json_member(v, "zz") == NULL, "%d members, and no other", n);
		for (int i = 0; i < 100; i++) {
			snprintf(key, sizeof(key), "n%d", i);
			json_object_object_add(v, key, json_object_new_int(i));
		}
		for (int i = 0; i < 100; i++) {
			snprintf(key, sizeof(key), "n%d", i);
			missing +=
			    json_object_get_int(json_member(v, key)) != i;
		}
		is_int(missing, 0, "%d members, and a hundred more", n);
		is_int(json_object_object_length(v), n + 100, "%d and 100", n);
		json_object_object_del(v, "a");
		ok(json_member(v, "a") == NULL, "%d members, one removed", n);
		json_object_put(v);
	}
}

static const struct {
	double d;
	const char *text;
} doubles[] = {
    {0.1, "0.1"},
    {1.0 / 3, "0.3333333333333333"},
    {0.1 + 0.2, "0.30000000000000004"},
    {5, "5"},
    {-0.0, "-0"},
    {1e21, "1e+21"},
    {123456789012345680.0, "1.2345678901234568e+17"},
    {5e-324, "4.94065645841247e-324"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
    {NAN, "null"},
    {INFINITY, "null"},
    {-INFINITY, "null"},
};

TEST(text)
{
	struct json_object *v, *copy = NULL;
	size_t len = 0;

	is_str(json_text(NULL, &len), "null", "no tree is null");
	is_int(len, 4, "the text of no tree has four bytes");
	for (size_t i = 0; i < ARRAY_LEN(doubles); i++) {
		v = json_object_new_array();
		json_object_array_add(v, json_object_new_double(doubles[i].d));
		char *want = xasprintf("[%s]", doubles[i].text);

		is_str(json_text(v, NULL), want, "a computed %.17g",
		       doubles[i].d);
		json_object_put(v);
		free(want);
	}

	v = json_object_new_double_s(NAN, "NaN");
	is_str(json_text(v, NULL), "null", "NaN with a text of its own");
	json_object_put(v);

	parse(&v, "{\"a\":[1.50]}", 12, NULL);
	is_str(json_text(v, NULL), "{\"a\":[1.50]}", "a parsed double's text");
	is_str(json_text(v, NULL), "{\"a\":[1.50]}",
	       "a parsed double's text is the same the second time");
	is_int(json_object_deep_copy(v, &copy, NULL), 0,
	       "the tree can be copied");
	is_str(json_text(copy, NULL), "{\"a\":[1.50]}",
	       "a copied double keeps the text");
	json_object_put(copy);
	json_object_set_double(
	    json_object_array_get_idx(json_member(v, "a"), 0), 2.5);
	is_str(json_text(v, NULL), "{\"a\":[2.5]}", "a new value, a new text");
	json_object_put(v);

	v = json_object_new_double(0.1);
	json_text(v, NULL);
	json_object_set_double(v, 0.7);
	is_str(json_text(v, NULL), "0.7", "a printed double can change");
	json_object_put(v);

	v = json_object_new_string_len("a\0\x01\x1F/\"\\", 7);
	is_str(json_text(v, &len), "\"a\\u0000\\u0001\\u001f/\\\"\\\\\"",
	       "control characters are escaped, a slash is not");
	is_int(len, strlen(json_text(v, NULL)),
	       "the length of an escaped text is counted");
	json_object_put(v);
}

static const struct {
	const char *name;
	const char *text;
	const char *key;
	const char *value; /* NULL: not found */
} finds[] = {
    {"the first", "{\"a\":1,\"b\":2}", "a", "1"},
    {"the last", "{\"a\":1,\"b\":2}", "b", "2"},
    {"none", "{\"a\":1,\"b\":2}", "c", NULL},
    {"an empty object", "{}", "a", NULL},
    {"a blank object", " { } ", "a", NULL},
    {"an array", "[\"a\",1]", "a", NULL},
    {"a string", "\"a\"", "a", NULL},
    {"null", "null", "a", NULL},
    {"blanks around", " { \"a\" : \t1 , \"b\" : 2 \n} ", "a", "1"},
    {"blanks at the end", " { \"a\" : 1 , \"b\" : 2 \n} ", "b", "2"},
    {"a string with traps", "{\"a\":\"}],\\\"\\\\\",\"b\":2}", "a",
     "\"}],\\\"\\\\\""},
    {"after traps", "{\"a\":\"}],\\\"\\\\\",\"b\":2}", "b", "2"},
    {"an object", "{\"x\":{\"a\":[1,{\"a\":2}]},\"a\":3}", "x",
     "{\"a\":[1,{\"a\":2}]}"},
    {"not in a child", "{\"x\":{\"a\":[1,{\"a\":2}]},\"a\":3}", "a", "3"},
    {"not in a value", "{\"x\":\"a\",\"a\":1}", "a", "1"},
    {"nor only there", "{\"x\":{\"a\":1}}", "a", NULL},
    {"a prefix is no match", "{\"ab\":1,\"a\":2}", "a", "2"},
    {"an escaped name", "{\"\\u0069\\u0064\":7}", "id", "7"},
    {"an escaped quote in a name", "{\"a\\\"\":1}", "a\"", "1"},
    {"an escaped backslash in a name", "{\"a\\\\b\":1}", "a\\b", "1"},
    {"a name with a backslash is not what it is without",
     "{\"a\\u0062\":1,\"ab\":2}", "a\\u0062", NULL},
    {"the empty name", "{\"x\":1,\"\":2}", "", "2"},
    {"a big number as it came", "{\"id\":1e+00,\"b\":0}", "id", "1e+00"},
    {"an escape as it came", "{\"id\":\"\\u0041/\\/\"}", "id",
     "\"\\u0041/\\/\""},
    {"a word", "{\"a\":null}", "a", "null"},
    {"brackets that nest", "{\"a\":[[],[[]]] ,\"b\":0}", "a", "[[],[[]]]"},
};

TEST(find)
{
	for (size_t i = 0; i < ARRAY_LEN(finds); i++) {
		const char *text = finds[i].text;
		struct json_span at = {0};
		char *got = NULL;
		int rc = json_find(&at, text, strlen(text), finds[i].key);

		is_int(rc, finds[i].value ? 0 : -ENOENT, "find %s",
		       finds[i].name);
		if (rc == 0)
			got = xstrndup(text + at.off, at.len);
		is_str(got, finds[i].value, "find %s: its span", finds[i].name);
		free(got);
	}
}

static const struct {
	const char *text;
	const char *joined; /* the elements, by '|' */
} walks[] = {
    {"[]", ""},
    {" [ ] ", ""},
    {"[1]", "1|"},
    {" [ 1 , 2 ] ", "1|2|"},
    {"[[],[1,2],{\"a\":[3]}]", "[]|[1,2]|{\"a\":[3]}|"},
    {"[\"],\\\"\",null,-1.5e3]", "\"],\\\"\"|null|-1.5e3|"},
    {"{\"a\":1}", ""},
    {"7", ""},
};

TEST(next)
{
	for (size_t i = 0; i < ARRAY_LEN(walks); i++) {
		const char *text = walks[i].text;
		struct buf b = {0};
		struct json_span v;
		size_t at = 0;
		char *got;

		while (json_next(&v, text, strlen(text), &at) == 0) {
			buf_add(&b, text + v.off, v.len);
			buf_add_str(&b, "|");
		}
		is_int(json_next(&v, text, strlen(text), &at), -ENOENT,
		       "walk %s: the end stays the end", text);
		got = buf_take(&b, NULL);
		is_str(got, walks[i].joined, "walk %s", text);
		free(got);
	}
}

/* At each pointer, the text must begin with BEGINS. */
static const char located[] =
    " {\"a\" : [10, {\"b\":{}}, [20]], \"a/b\":1, \"~\":2, \"\":3,"
    " \"c\\u0064\": \"4\", \"e\":{\"a\":5}}";

static const struct {
	const char *pointer;
	bool name;
	const char *begins;
} locates[] = {
    {"", false, "{\"a\" :"},
    {"", true, "{\"a\" :"},
    {"/a", false, "[10"},
    {"/a", true, "\"a\" :"},
    {"/a/0", false, "10,"},
    {"/a/0", true, "10,"},
    {"/a/1/b", false, "{}}"},
    {"/a/1/b", true, "\"b\":"},
    {"/a/2/0", false, "20]"},
    {"/a~1b", false, "1,"},
    {"/~0", false, "2,"},
    {"/", false, "3,"},
    {"/cd", false, "\"4\""},
    {"/cd", true, "\"c\\u0064\""},
    {"/e/a", false, "5}"},
    {"/x", false, "{\"a\" :"},
    {"/x/y", true, "{\"a\" :"},
    {"/a/3", false, "[10"},
    {"/a/3", true, "\"a\" :"},
    {"/a/x", false, "[10"},
    {"/a/-1", false, "[10"},
    {"/a/99999999999999999999999", false, "[10"},
    {"/a/1/c", false, "{\"b\""},
    {"/e/a/b", false, "5}"},
    {"nonsense", false, "{\"a\" :"},
};

TEST(locate)
{
	for (size_t i = 0; i < ARRAY_LEN(locates); i++) {
		const char *begins = locates[i].begins;
		size_t at = json_locate(located, strlen(located),
					locates[i].pointer, locates[i].name);

		ok(at < strlen(located) &&
		       strncmp(located + at, begins, strlen(begins)) == 0,
		   "locate %s%s: %s", locates[i].pointer,
		   locates[i].name ? ", its name" : "", located + at);
	}
	is_int((long long)json_locate("7", 1, "/a", true), 0,
	       "locate in what has no members");
	is_int((long long)json_locate("", 0, "/a", true), 0,
	       "locate in nothing");
}

TEST(members)
{
	static const char text[] = "{\"s\":\"x\",\"n\":null,\"i\":1,\"o\":{}}";
	struct json_object *v;

	parse(&v, text, strlen(text), NULL);
	is_str(json_member_str(v, "s"), "x", "a member's text");
	is_str(json_member_str(v, "i"), NULL, "an integer has none");
	is_str(json_member_str(v, "n"), NULL, "null has none");
	is_str(json_member_str(v, "q"), NULL, "a missing member has no text");
	ok(json_member(v, "n") == NULL, "a null member is NULL");
	ok(json_member(v, "q") == NULL, "a missing member is NULL");
	ok(json_member(json_member(v, "o"), "s") == NULL,
	   "a member of the parent is not found in a child");
	ok(json_member(json_member(v, "i"), "s") == NULL,
	   "an integer has no members");
	ok(json_member(NULL, "s") == NULL, "null has no members");
	is_str(json_member_str(NULL, "s"), NULL,
	       "a member of no tree has no text");
	ok(json_member_is(v, "s", "x") && !json_member_is(v, "s", "y"),
	   "a member is its text, and no other");
	ok(!json_member_is(v, "i", "1"), "an integer is no text");
	json_object_put(v);
}

TEST(each)
{
	static const char text[] = "{\"a\":[1,null,2,4],\"o\":{\"b\":8}}";
	struct json_object *v;
	int n = 0, sum = 0;

	parse(&v, text, strlen(text), NULL);
	json_each(one, json_member(v, "a")) {
		n++;
		if (one == NULL)
			continue;
		sum += json_object_get_int(one);
		if (sum == 3)
			break;
	}
	is_int(n, 3,
	       "json_each() visits each element, null too, up to a break");
	is_int(sum, 3, "json_each() gives the elements' values");
	json_each(outer, json_member(v, "a"))
		json_each(inner, json_member(v, "a"))
			n += inner == outer;
	is_int(n, 7, "loops in each other");
	json_each(one, json_member(v, "o"))
		n += one != NULL;
	json_each(one, NULL)
		n += one == NULL;
	is_int(n, 7, "json_each() visits nothing of a value which is no array");
	json_object_put(v);
}
