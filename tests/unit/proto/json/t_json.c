/* SPDX-License-Identifier: Apache-2.0 */
/* t_json.c - the strict scanner, against RFC 8259's corners and json-c's. */
#include "proto/json/json.h"

#include <limits.h>

#include "tests/unit/proto/json/json_fixture.h"

/* Texts of JSON, and the printed form. NULL: the same text. */
static const struct {
	const char *name;
	const char *text;
	const char *back;
} good[] = {
    {"null", "null", NULL},
    {"true", "true", NULL},
    {"false", "false", NULL},
    {"an empty object", "{}", NULL},
    {"an empty array", "[]", NULL},
    {"an empty string", "\"\"", NULL},
    {"an empty member name", "{\"\":0}", NULL},
    {"all four blanks", " \t\r\n[ \t\r\n1 \t\r\n, 2 ] \t\r\n", "[1,2]"},
    {"blanks in an object", " { \"a\" : 1 , \"b\" : 2 } ", "{\"a\":1,\"b\":2}"},
    {"blanks in empty containers", "[ { } , [ ] ]", "[{},[]]"},
    {"members keep their order", "{\"z\":1,\"a\":2,\"m\":3}", NULL},
    {"names that differ by case", "{\"a\":1,\"A\":2}", NULL},
    {"one name on two levels", "{\"a\":{\"a\":{\"a\":1}}}", NULL},
    {"one name in two elements", "[{\"a\":1},{\"a\":1}]", NULL},
    {"three members, so not a fitted table", "{\"a\":1,\"b\":2,\"c\":3}", NULL},
    {"null in an array", "[null,null]", NULL},
    {"null in an object", "{\"a\":null,\"b\":null}", NULL},
    {"siblings after a container", "[[1],{\"a\":[]},2]", NULL},

    {"zero", "0", NULL},
    {"minus zero is zero", "-0", "0"},
    {"a negative integer", "-17", NULL},
    {"the largest int64", "9223372036854775807", NULL},
    {"one more than int64", "9223372036854775808", NULL},
    {"the least int64", "-9223372036854775808", NULL},
    {"one less than int64", "-9223372036854775809", NULL},
    {"the largest uint64", "18446744073709551615", NULL},
    {"one more than uint64", "18446744073709551616", NULL},
    {"thirty digits", "123456789012345678901234567890", NULL},
    {"a fraction", "1.5", NULL},
    {"a fraction of zeros", "1.000", NULL},
    {"minus zero as a fraction", "-0.0", NULL},
    {"a tenth keeps its text", "0.1", NULL},
    {"more digits than a double has", "3.14159265358979323846264338", NULL},
    {"an exponent", "1e2", NULL},
    {"a large E", "1E2", NULL},
    {"a signed exponent", "1e+2", NULL},
    {"a negative exponent", "1e-2", NULL},
    {"an exponent with leading zeros", "1e0002", NULL},
    {"zero with an exponent", "0e1", NULL},
    {"a fraction and an exponent", "-12.5e-3", NULL},
    {"the largest double", "1.7976931348623157e308", NULL},
    {"too small for a double", "1e-400", NULL},
    {"the least subnormal", "5e-324", NULL},

    {"every short escape", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
     "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
    {"a slash is not escaped", "\"a/b\"", NULL},
    {"an escaped ASCII letter", "\"\\u0041\"", "\"A\""},
    {"hexadecimal of either case", "\"\\u00e9\\u00E9\"",
     "\"\xC3\xA9\xC3\xA9\""},
    {"U+0000 in a string", "\"a\\u0000b\"", NULL},
    {"an escaped control character", "\"\\u001f\"", NULL},
    {"DEL is no control character", "\"\x7F\"", NULL},
    {"an escape of two bytes", "\"\\u07ff\"", "\"\xDF\xBF\""},
    {"an escape of three bytes", "\"\\u0800\\uffff\"",
     "\"\xE0\xA0\x80\xEF\xBF\xBF\""},
    {"the first surrogate pair", "\"\\ud800\\udc00\"", "\"\xF0\x90\x80\x80\""},
    {"the last surrogate pair", "\"\\uDBFF\\uDFFF\"", "\"\xF4\x8F\xBF\xBF\""},
    {"two pairs in a row", "\"\\ud83d\\ude00\\ud83d\\ude00\"",
     "\"\xF0\x9F\x98\x80\xF0\x9F\x98\x80\""},
    {"next to the surrogates", "\"\\ud7ff\\ue000\"",
     "\"\xED\x9F\xBF\xEE\x80\x80\""},
    {"an escaped backslash before u", "\"\\\\ud800\"", NULL},
    {"an escaped quote at the end", "\"a\\\"\"", NULL},
    {"backslashes at the end", "\"a\\\\\"", NULL},
    {"raw UTF-8 of 2, 3, 4 bytes", "\"\xC2\x80\xE0\xA0\x80\xF0\x90\x80\x80\"",
     NULL},
    {"a noncharacter", "\"\xEF\xBF\xBF\"", NULL},
    {"U+2028 as it is", "\"\xE2\x80\xA8\"", NULL},
    {"escapes in a member name", "{\"\\u0061\\n\":1}", "{\"a\\n\":1}"},
    {"an escaped comment", "\"/* no */ // no\"", NULL},
};

TEST(good)
{
	struct json_object *v, *again;
	struct json_error err;
	size_t len;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		const char *want = good[i].back ? good[i].back : good[i].text;
		const char *text;

		if (!ok(parse(&v, good[i].text, strlen(good[i].text), &err) ==
			    0,
			"%s: passes", good[i].name)) {
			printf("# %s\n", err.text);
			continue;
		}
		text = json_text(v, &len);
		is_str(text, want, "%s: written", good[i].name);
		is_int(len, strlen(want), "%s: whole", good[i].name);
		is_int(parse(&again, text, len, NULL), 0, "%s: reads back",
		       good[i].name);
		ok(json_object_equal(v, again), "%s: as the same",
		   good[i].name);
		json_object_put(again);
		json_object_put(v);
	}
}

/* Texts which are not JSON, with the place and a piece of the error. */
static const struct {
	const char *name;
	const char *text;
	size_t at;
	const char *says;
} bad[] = {
    {"nothing", "", 0, "expected a value, found the end"},
    {"blanks alone", " \n", 2, "found the end"},
    {"a byte order mark", "\xEF\xBB\xBF{}", 0, "byte order mark"},
    {"a byte order mark later", " \xEF\xBB\xBF{}", 1, "found byte 0xEF"},
    {"a form feed between tokens", "[\f1]", 1, "found byte 0x0C"},
    {"a no-break space", "[\xC2\xA0]", 1, "found byte 0xC2"},
    {"two values", "1 2", 2, "nothing more after the value, found '2'"},
    {"a second object", "{}{}", 2, "nothing more"},
    {"a stray closer", "]", 0, "expected a value, found ']'"},
    {"a closer after the end", "[]]", 2, "nothing more"},
    {"a comma after the end", "{},", 2, "nothing more"},
    {"a line comment", "// no\n1", 0, "found '/'"},
    {"a block comment", "[1/* no */]", 2, "found '/'"},
    {"a hash comment", "1 # no", 2, "found '#'"},

    {"a word in capitals", "TRUE", 0, "expected a value, found 'T'"},
    {"a cut word", "nul", 0, "found 'n'"},
    {"a longer word", "nullx", 4, "found 'x'"},
    {"two words", "truefalse", 4, "found 'f'"},
    {"NaN", "NaN", 0, "found 'N'"},
    {"nan", "[nan]", 1, "found 'n'"},
    {"Infinity", "Infinity", 0, "found 'I'"},
    {"-Infinity", "-Infinity", 1, "expected a digit, found 'I'"},
    {"undefined", "undefined", 0, "found 'u'"},
    {"a bare word", "{\"a\":b}", 5, "found 'b'"},

    {"a leading zero", "01", 0, "leading zero"},
    {"a negative leading zero", "-012", 1, "leading zero"},
    {"two zeros", "00", 0, "leading zero"},
    {"a minus alone", "-", 1, "expected a digit, found the end"},
    {"two minuses", "--1", 1, "expected a digit, found '-'"},
    {"a minus and a blank", "- 1", 1, "found byte 0x20"},
    {"a plus", "+1", 0, "found '+'"},
    {"no digit before the point", ".5", 0, "found '.'"},
    {"a minus before the point", "-.5", 1, "expected a digit"},
    {"no digit after the point", "1.", 2, "expected a digit"},
    {"an exponent after the point", "1.e5", 2, "expected a digit, found 'e'"},
    {"an exponent without digits", "1e", 2, "expected a digit"},
    {"an exponent with a sign alone", "1e+", 3, "expected a digit"},
    {"two signs in an exponent", "1e+-2", 3, "expected a digit, found '-'"},
    {"a fraction in an exponent", "1e1.5", 3, "found '.'"},
    {"two points", "1.2.3", 3, "found '.'"},
    {"hexadecimal", "0x1F", 1, "found 'x'"},
    {"octal", "0o17", 1, "found 'o'"},
    {"a grouped number", "1_000", 1, "found '_'"},
    {"a suffix", "10n", 2, "found 'n'"},
    {"too large for a double", "1e400", 0, "beyond what a double holds"},
    {"too large a negative", "[-1e309]", 1, "beyond what a double holds"},
    {"digits of another script", "\xEF\xBC\x91", 0, "found byte 0xEF"},

    {"an open array", "[", 1, "a value or ']', found the end"},
    {"an open array with an element", "[1", 2, "',' or ']', found the end"},
    {"an open array after a comma", "[1,", 3,
     "expected a value, found the end"},
    {"a comma before the closer", "[1,]", 3, "expected a value, found ']'"},
    {"a comma first", "[,1]", 1, "a value or ']', found ','"},
    {"two commas", "[1,,2]", 3, "found ','"},
    {"no comma", "[1 2]", 3, "',' or ']', found '2'"},
    {"a colon in an array", "[1:2]", 2, "',' or ']', found ':'"},
    {"the wrong closer of an array", "[1}", 2, "',' or ']', found '}'"},
    {"the wrong closer at once", "[}", 1, "found '}'"},

    {"an open object", "{", 1, "member's name in double quotes or '}'"},
    {"an open object with a name", "{\"a\"", 4, "':' after the member's name"},
    {"an open object with a colon", "{\"a\":", 5, "expected a value"},
    {"an open object with a member", "{\"a\":1", 6, "',' or '}'"},
    {"an open object after a comma", "{\"a\":1,", 7, "member's name"},
    {"a comma before its closer", "{\"a\":1,}", 7, "found '}'"},
    {"a comma first in an object", "{,}", 1, "found ','"},
    {"no colon", "{\"a\" 1}", 5, "':' after the member's name, found '1'"},
    {"two colons", "{\"a\"::1}", 5, "expected a value, found ':'"},
    {"no value", "{\"a\":}", 5, "expected a value, found '}'"},
    {"no comma between members", "{\"a\":1 \"b\":2}", 7, "found '\"'"},
    {"a name without quotes", "{a:1}", 1, "in double quotes or '}', found 'a'"},
    {"a name in single quotes", "{'a':1}", 1, "found '''"},
    {"a number as a name", "{1:1}", 1, "found '1'"},
    {"null as a name", "{\"a\":1,null:1}", 7, "found 'n'"},
    {"the wrong closer of an object", "{\"a\":1]", 6, "found ']'"},

    {"a duplicate name", "{\"a\":1,\"a\":2}", 7, "duplicate key \"a\""},
    {"a duplicate of a null", "{\"a\":null,\"a\":null}", 10, "duplicate key"},
    {"a duplicate through an escape", "{\"id\":1,\"\\u0069d\":2}", 8,
     "duplicate key \"id\""},
    {"a duplicate of the empty name", "{\"\":1,\"\":2}", 6,
     "duplicate key \"\""},
    {"a duplicate after a container", "{\"a\":{\"b\":[]},\"a\":2}", 14,
     "duplicate key"},
    {"a duplicate deep down", "[0,{\"x\":[{\"k\":1,\"k\":1}]}]", 16,
     "duplicate key \"k\""},
    {"a duplicate with control characters",
     "{\"\\n\\u007f\":1,\"\\n\\u007f\":1}", 14, "duplicate key \"??\""},
    {"a long duplicate is cut",
     "{\"0123456789012345678901234567890123456789x\":1,"
     "\"0123456789012345678901234567890123456789x\":1}",
     47, "\"0123456789012345678901234567890123456789...\""},
    {"and not within a character",
     "{\"012345678901234567890123456789012345678\xC3\xA9\":1,"
     "\"012345678901234567890123456789012345678\xC3\xA9\":1}",
     47, "\"012345678901234567890123456789012345678...\""},
    {"U+0000 in a name", "{\"a\\u0000\":1}", 1, "\\u0000 in a member's name"},

    {"single quotes", "'a'", 0,
     "found '''; texts and names are in double quotes"},
    {"a name in single quotes", "{'a': 1}", 1, "are in double quotes"},
    {"a comment", "{ // a\n}", 2, "found '/'; JSON has no comments"},
    {"another", "[1 /* a */]", 3, "JSON has no comments"},
    {"a comma too many in an object", "{\"a\":1, \n }", 10,
     "found '}'; the comma before it is one too many"},
    {"or in an array", "[1,]", 3,
     "found ']'; the comma before it is one too many"},
    {"an open string", "\"abc", 0, "starts here has no closing quote"},
    {"an open string that ends in a backslash", "\"abc\\", 0, "no closing"},
    {"an open string that ends in a quote", "[\"abc\\\"", 1, "starts here"},
    {"a raw newline", "\"a\nb\"", 2, "control character 0x0A"},
    {"a raw tab", "\"\t\"", 1, "write it as \\u0009"},
    {"a raw newline in a name", "{\"a\n\":1}", 3, "control character"},
    {"an unknown escape", "\"\\x41\"", 2,
     "one of \"\\/bfnrtu after \\, found 'x'"},
    {"an escaped single quote", "\"\\'\"", 2, "found '''"},
    {"an escaped zero", "\"\\0\"", 2, "found '0'"},
    {"an escape in capitals", "\"\\N\"", 2, "found 'N'"},
    {"an escaped newline", "\"\\\n\"", 2, "found byte 0x0A"},
    {"an escaped byte of UTF-8", "\"\\\xC3\xA9\"", 2, "found byte 0xC3"},
    {"an unknown escape in a name", "{\"\\a\":1}", 3, "found 'a'"},
    {"three hexadecimal digits", "\"\\u123\"", 1, "four hexadecimal digits"},
    {"no hexadecimal digit", "\"\\u\"", 1, "four hexadecimal digits"},
    {"a letter beyond f", "\"\\u123g\"", 1, "four hexadecimal digits"},
    {"a signed hexadecimal", "\"\\u+123\"", 1, "four hexadecimal digits"},
    {"a capital U", "\"\\U0041\"", 2, "found 'U'"},
    {"a lone high surrogate", "\"\\ud800\"", 1, "lone surrogate \\uD800"},
    {"a lone low surrogate", "\"\\udc00\"", 1, "lone surrogate \\uDC00"},
    {"a high one, then a letter", "\"\\ud800a\"", 1, "lone surrogate"},
    {"a high one, then an escape", "\"\\ud800\\n\"", 1, "lone surrogate"},
    {"two high ones", "\"\\ud800\\ud800\"", 1, "lone surrogate"},
    {"a pair in the wrong order", "\"\\udc00\\ud800\"", 1, "lone surrogate"},
    {"a high one, then half an escape", "\"\\ud800\\udc0\"", 1,
     "lone surrogate"},
    {"a high one at a pair's end", "\"\\ud83d\\ude00\\ud83d\"", 13, "lone"},
    {"an escaped lone surrogate in a name", "{\"\\ud800\":1}", 2, "lone"},

    {"a byte that no UTF-8 has", "\"\xFF\"", 1, "not UTF-8 (byte 0xFF)"},
    {"Latin-1", "\"caf\xE9\"", 4, "not UTF-8 (byte 0xE9)"},
    {"a lone continuation byte", "\"\x80\"", 1, "not UTF-8"},
    {"a cut sequence", "\"a\xE2\x82\"", 2, "not UTF-8"},
    {"an overlong slash", "\"\xC0\xAF\"", 1, "not UTF-8"},
    {"an overlong NUL", "\"\xC0\x80\"", 1, "not UTF-8"},
    {"a raw surrogate", "\"\xED\xA0\x80\"", 1, "not UTF-8"},
    {"above U+10FFFF", "\"\xF4\x90\x80\x80\"", 1, "not UTF-8"},
    {"invalid UTF-8 after an escape", "\"\\n\xFF\"", 3, "not UTF-8"},
    {"invalid UTF-8 in a name", "{\"a\xFF\":1}", 3, "not UTF-8"},
    {"UTF-8 outside strings", "[\xC3\xA9]", 1, "found byte 0xC3"},
    {"UTF-16", "\xFF\xFE[", 0, "found byte 0xFF"},
};

TEST(bad)
{
	struct json_object *v;
	struct json_error err;
	char prefix[32];

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		v = (struct json_object *)&err;
		is_int(parse(&v, bad[i].text, strlen(bad[i].text), &err),
		       -EBADMSG, "%s: refused", bad[i].name);
		ok(v == NULL, "%s: no tree", bad[i].name);
		is_int(err.at, bad[i].at, "%s: where", bad[i].name);
		snprintf(prefix, sizeof(prefix), "byte %zu: ", err.at);
		if (!ok(strncmp(err.text, prefix, strlen(prefix)) == 0 &&
			    strstr(err.text, bad[i].says) != NULL,
			"%s: the error has the right text", bad[i].name))
			printf("# %s\n", err.text);
	}
	is_int(json_parse(&v, "[", 1, NULL), -EBADMSG,
	       "a parse without a place for the error fails");
}

/* Errors in files written by people name line and column. */
TEST(place)
{
	static const struct {
		const char *text, *says;
	} at[] = {
	    {"", "line 1, column 1: expected a value, found the end"},
	    {"{\n  \"a\": 1,\n  \"a\": 2\n}",
	     "line 3, column 3: duplicate key \"a\""},
	    {"[\"\xC3\xA9\xE2\x82\xAC\", x]",
	     "line 1, column 8: expected a value, found 'x'"},
	    {"[1,\r\n2",
	     "line 2, column 2: expected ',' or ']', found the end"},
	};
	struct json_object *v;
	struct json_error err;

	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		json_parse(&v, at[i].text, strlen(at[i].text), &err);
		json_error_place(&err, at[i].text);
		is_str(err.text, at[i].says, "place %zu", i);
	}
}

/* Bytes of value 0 cannot stand in the tables above. */
TEST(nul)
{
	struct json_object *v;
	struct json_error err;

	is_int(parse(&v, "1\0", 2, &err), -EBADMSG, "NUL after the value");
	is_int(err.at, 1, "NUL after the value: where");
	is_int(parse(&v, "[\0]", 3, &err), -EBADMSG, "NUL between tokens");
	is_str(err.text, "byte 1: expected a value or ']', found byte 0x00",
	       "NUL between tokens: says so");
	is_int(parse(&v, "\"a\0b\"", 5, &err), -EBADMSG, "NUL in a string");
	is_int(err.at, 2, "NUL in a string: where");

	is_int(parse(&v, "\"a\\u0000b\"", 10, &err), 0,
	       "an escaped NUL is accepted");
	is_int(json_object_get_string_len(v), 3,
	       "an escaped NUL counts as a byte");
	ok(memcmp(json_object_get_string(v), "a\0b", 4) == 0,
	   "an escaped NUL is kept in the string");
	json_object_put(v);
}

/* Only LEN bytes count, whatever follows. */
TEST(len)
{
	struct json_object *v;

	is_int(json_parse(&v, "12345", 3, NULL), 0,
	       "a number ends with the text");
	is_int(json_object_get_int64(v), 123,
	       "a number at the end of the text is read no further");
	json_object_put(v);
	is_int(json_parse(&v, "truex", 4, NULL), 0,
	       "a word ends with the text");
	json_object_put(v);
	is_int(json_parse(&v, "true", 3, NULL), -EBADMSG, "a word cut by LEN");
	is_int(json_parse(&v, "\"a\"", 2, NULL), -EBADMSG,
	       "a string cut by LEN");
	is_int(json_parse(&v, "1.5", 2, NULL), -EBADMSG,
	       "a fraction cut by LEN");
	is_int(json_parse(&v, "\"\\u0041\"", 6, NULL), -EBADMSG,
	       "an escape cut by LEN");
	is_int(json_parse(&v, NULL, 0, NULL), -EBADMSG, "no text at all");
	is_int(json_parse(&v, "", (size_t)INT_MAX + 1, NULL), -EMSGSIZE,
	       "more than json-c can count is refused unread");
}

static const struct {
	const char *text;
	enum json_type type;
	double d;
} numbers[] = {
    {"0", json_type_int, 0},
    {"-0", json_type_int, 0},
    {"9223372036854775807", json_type_int, 9223372036854775807.0},
    {"-9223372036854775808", json_type_int, -9223372036854775808.0},
    {"18446744073709551615", json_type_int, 18446744073709551615.0},
    {"18446744073709551616", json_type_double, 18446744073709551616.0},
    {"-9223372036854775809", json_type_double, -9223372036854775809.0},
    {"1.0", json_type_double, 1},
    {"1e2", json_type_double, 100},
    {"-0.0", json_type_double, 0},
    {"1e-400", json_type_double, 0},
    {"0.1", json_type_double, 0.1},
};

TEST(numbers)
{
	struct json_object *v;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		const char *text = numbers[i].text;

		is_int(parse(&v, text, strlen(text), NULL), 0, "number %s",
		       text);
		is_int(json_object_get_type(v), numbers[i].type,
		       "number %s: its type", text);
		ok(json_object_get_double(v) == numbers[i].d,
		   "number %s: its value", text);
		json_object_put(v);
	}
	parse(&v, "18446744073709551615", 20, NULL);
	ok(json_object_get_uint64(v) == UINT64_MAX, "uint64 is exact");
	json_object_put(v);
	parse(&v, "9223372036854775807", 19, NULL);
	ok(json_object_get_int64(v) == INT64_MAX, "int64 is exact");
	json_object_put(v);
	parse(&v, "-9223372036854775808", 20, NULL);
	ok(json_object_get_int64(v) == INT64_MIN, "the least int64 is exact");
	json_object_put(v);
}

static char *repeat(const char *s, size_t times, const char *end)
{
	struct buf b = {0};

	for (size_t i = 0; i < times; i++)
		buf_add_str(&b, s);
	buf_add_str(&b, end);
	return buf_take(&b, NULL);
}

/* The allowed number of values passes; one value more is refused. */
TEST(values)
{
	char *text = xcalloc(1, 2 * JSON_VALUES_MAX + 8);
	struct json_object *v = NULL;
	size_t n = 0;

	text[n++] = '[';
	/* the array is a value too */
	for (int i = 1; i < JSON_VALUES_MAX; i++) {
		text[n++] = '1';
		text[n++] = ',';
	}
	text[n - 1] = ']';
	is_int(json_parse(&v, text, n, NULL), 0, "a million values pass");
	json_object_put(v);
	memcpy(text + n - 1, ",1]", 3);
	is_int(json_parse(&v, text, n + 2, NULL), -EMSGSIZE,
	       "a million and one do not");
	free(text);
}

/* JSON_DEPTH_MAX levels pass, and one level more is refused; OPEN opens LEVELS. */
static void test_depth(const char *open, const char *close, size_t levels)
{
	char *in = repeat(open, JSON_DEPTH_MAX / levels, "");
	char *out = repeat(close, JSON_DEPTH_MAX / levels, "");
	char *fits = xasprintf("%s1%s", in, out);
	char *deep = xasprintf("%s%s1%s%s", in, open, close, out);
	struct json_object *v;
	struct json_error err;

	is_int(parse(&v, fits, strlen(fits), NULL), 0, "%s to the bound", open);
	is_str(json_text(v, NULL), fits, "%s to the bound, and back", open);
	json_object_put(v);
	is_int(parse(&v, deep, strlen(deep), &err), -EMSGSIZE, "%s beyond it",
	       open);
	ok(v == NULL, "%s beyond it: no tree", open);
	is_int(err.at, strlen(in), "%s beyond it: where", open);
	ok(strstr(err.text, "deeper than 64") != NULL, "%s beyond it: why",
	   open);
	free(in), free(out), free(fits), free(deep);
}

/* The weight of TEXT; parsing for the weight stops beyond MOST. */
static size_t weight(const char *text, size_t most)
{
	struct json_object *v;
	size_t n;

	if (parse(&v, text, strlen(text), NULL) < 0)
		abort();
	n = json_weigh(v, most);
	json_object_put(v);
	return n;
}

TEST(weight)
{
	static const char *const all[] = {"1",
					  "null",
					  "\"\"",
					  "[]",
					  "{}",
					  "[1,2,3]",
					  "{\"a\":{\"b\":[\"cd\"]}}",
					  "[[[[]]]]"};
	char *wide = repeat("\"0123456789\",", 10000, "1]");

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		ok(weight(all[i], 1000) <= strlen(all[i]),
		   "%s weighs no more than it has", all[i]);
	wide[0] = '[';
	wide[1] = '"';
	ok(weight(wide, 1u << 20) > 100000, "a large object weighs much");
	ok(weight(wide, 100) < 200, "weighing stops beyond the bound");
	free(wide);
}

TEST(wide_and_deep)
{
	struct json_object *v;
	char *s;

	test_depth("[", "]", 1);
	test_depth("{\"a\":", "}", 1);
	test_depth("[{\"a\":", "}]", 2);

	s = repeat("[", 100000, "");
	is_int(parse(&v, s, strlen(s), NULL), -EMSGSIZE, "100,000 open arrays");
	free(s);
	s = repeat("[],", 1000, "[]]");
	s[0] = ' ';
	is_int(parse(&v, s, strlen(s), NULL), -EBADMSG, "a closer too many");
	s[0] = '[';
	s[1] = ' ';
	s[2] = ' ';
	is_int(parse(&v, s, strlen(s), NULL), 0, "siblings are not levels");
	is_int(json_object_array_length(v), 1000,
	       "all siblings are in the array");
	json_object_put(v);
	free(s);
}
