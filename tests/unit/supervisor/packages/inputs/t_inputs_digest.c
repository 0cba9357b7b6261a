/* SPDX-License-Identifier: Apache-2.0 */
/* t_inputs_digest.c - equal values, equal digests; others, others. */
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/packages/inputs/inputs_digest.h"
#include "tests/unit/tap.h"

static const unsigned char key[INPUTS_DIGEST_KEY] = "a key";
static const unsigned char other[INPUTS_DIGEST_KEY] = "another";

static void digest(char out[INPUTS_DIGEST_SIZE], const char *text, bool secret)
{
	struct json_object *v = NULL;

	out[0] = '\0';
	if (json_parse(&v, text, strlen(text), NULL) == 0)
		inputs_digest_json(out, v, secret ? key : NULL);
	json_object_put(v);
}

static const struct {
	const char *a, *b;
	bool same;
	const char *name;
} cases[] = {
    {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true, "the order of members"},
    {"{\"x\":{\"a\":1,\"b\":2}}", "{\"x\":{\"b\":2,\"a\":1}}", true,
     "the order of members within"},
    {"[{\"a\":1,\"b\":2}]", "[{\"b\":2,\"a\":1}]", true,
     "the order of members within a list"},
    {" { \"a\" : [ 1 , 2 ] } ", "{\"a\":[1,2]}", true, "white space"},
    {"\"\\u0041\\/\"", "\"A/\"", true, "escapes"},
    {"[1,2]", "[2,1]", false, "the order of a list"},
    {"{\"a\":1}", "{\"a\":2}", false, "a value"},
    {"{\"a\":1}", "{\"b\":1}", false, "a name"},
    {"{\"a\":1}", "{\"a\":\"1\"}", false, "a number and its digits"},
    {"{\"a\":null}", "{}", false, "null and nothing"},
    {"null", "\"null\"", false, "null and the word"},
    {"true", "\"true\"", false, "true and the word"},
    {"{}", "[]", false, "no members and no items"},
    {"[]", "[[]]", false, "how deep it is"},
    {"[[1],2]", "[1,[2]]", false, "where a list ends"},
    {"[1,2]", "[12]", false, "where a number ends"},
    {"[\"a\",\"b\"]", "[\"ab\"]", false, "where a text ends"},
    {"[\"a\\u0000b\"]", "[\"a\",\"b\"]", false, "a NUL in a text"},
    {"{\"a\":\"b\"}", "{\"ab\":\"\"}", false, "where a name ends"},
    {"{\"a\":{\"b\":1}}", "{\"a\":{},\"b\":1}", false, "where an object ends"},
    {"[{\"a\":1},5,{\"}\x7f\":2}]", "[{\"a\":1,\"}5\":{},\"\x7f\":2}]", false,
     "a name that begins as an object ends"},
    {"{\"}\":1}", "{\"\\\"}\":1}", false, "a name that begins as a text does"},
    {"9007199254740993", "9007199254740992", false,
     "integers that no double tells apart"},
    {"\"\xc3\xa9\"", "\"e\xcc\x81\"", false, "characters that look alike"},
};

int main(void)
{
	char a[INPUTS_DIGEST_SIZE], b[INPUTS_DIGEST_SIZE],
	    again[INPUTS_DIGEST_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		digest(a, cases[i].a, false);
		digest(b, cases[i].b, false);
		is_int(strlen(a), 64, "%s: 64 digits", cases[i].name);
		is_int(strcmp(a, b) == 0, cases[i].same, "%s: %s",
		       cases[i].name, cases[i].same ? "the same" : "another");
		digest(a, cases[i].a, true);
		digest(b, cases[i].b, true);
		is_int(strcmp(a, b) == 0, cases[i].same,
		       "%s: likewise of a secret", cases[i].name);
	}
	digest(a, "{\"a\":1}", false);
	digest(again, "{\"a\":1}", false);
	digest(b, "{\"a\":1}", true);
	is_str(again, a, "the digest of the same inputs is the same");
	is_int(strspn(a, "0123456789abcdef"), 64,
	       "a digest is 64 hexadecimal digits");
	ok(strcmp(a, b) != 0, "a secret's is keyed");
	digest(again, "{\"a\":1}", true);
	is_str(again, b, "the same wherever its key is");
	{
		struct json_object *v = json_object_new_int(1);

		inputs_digest_json(a, v, key);
		inputs_digest_json(b, v, other);
		json_object_put(v);
	}
	ok(strcmp(a, b) != 0, "another key gives another digest");
	/* sha256sum of the bytes 31 00 */
	digest(a, "1", false);
	is_str(
	    a,
	    "e79e418e48623569d75e2a7b09ae88ed9b77b126a445b9ff9dc6989a08efa079",
	    "a digest is the same in each release");
	return tap_done();
}
