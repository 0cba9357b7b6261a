/* SPDX-License-Identifier: Apache-2.0 */
/* t_mcp_header.c - header fields compared with the body. */
#include <stdlib.h>

#include "base/mem.h"
#include "proto/mcp/mcp_header.h"
#include "tests/unit/tap_json.h"

#define MISSING "is missing"
#define OTHER "says something else"
#define NO_BASE64 "is wrapped as Base64 and is none"
#define NO_UTF8 "is Base64 of what is no UTF-8"
#define NO_ASCII "has characters that are no visible ASCII"
#define LEAVE "has to leave it out"

static const struct {
	const char *value; /* NULL: the field did not come */
	const char *body;  /* JSON */
	/* NULL: field and body agree; or a part of the error's sentence */
	const char *says;
	const char *name;
} fields[] = {
    {"add", "\"add\"", NULL, "a word"},
    {"Add", "\"add\"", OTHER, "another case is another word"},
    {"ad", "\"add\"", OTHER, "a beginning"},
    {"add ", "\"add\"", NULL, "a blank behind it"},
    {" \t add\t", "\"add\"", NULL, "blanks around it"},
    {"a d", "\"a d\"", NULL, "a blank within"},
    {"a\td", "\"a\\td\"", NULL, "a tab within"},
    {"", "\"\"", NULL, "nothing, and it came"},
    {"   ", "\"\"", NULL, "nothing but blanks"},
    {NULL, "\"\"", MISSING, "nothing, and it did not come"},
    {NULL, "\"add\"", MISSING, "a word that did not come"},
    {"a\x01"
     "d",
     "\"a\\u0001d\"", NO_ASCII, "a control character as it is"},
    {"caf\xc3\xa9", "\"caf\xc3\xa9\"", NO_ASCII, "UTF-8 as it is"},
    {"a\x7f", "\"a\x7f\"", NO_ASCII, "DEL"},
    /* wrapped */
    {"=?base64?SGVsbG8=?=", "\"Hello\"", NULL, "a wrapped word"},
    {" =?base64?SGVsbG8=?= ", "\"Hello\"", NULL, "with blanks around it"},
    {"=?base64?SGVsbG8sIOS4lueVjA==?=", "\"Hello, \xe4\xb8\x96\xe7\x95\x8c\"",
     NULL, "characters beyond ASCII"},
    {"=?base64?IHBhZGRlZCA=?=", "\" padded \"", NULL, "blanks that count"},
    {"=?base64?bGluZTEKbGluZTI=?=", "\"line1\\nline2\"", NULL,
     "an end of a line"},
    {"=?base64?YQBi?=", "\"a\\u0000b\"", NULL, "a NUL"},
    {"=?base64?YQBi?=", "\"a\"", OTHER, "what is behind a NUL counts"},
    {"=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "\"=?base64?literal?=\"", NULL,
     "what looks wrapped, wrapped"},
    {"=?base64?"
     "?=",
     "\"\"", NULL, "nothing, wrapped"},
    {"=?base64?SGVsbG8=?=", "\"=?base64?SGVsbG8=?=\"", OTHER,
     "what looks wrapped is never what it looks like"},
    {"=?base64?SGVsbG8?=", "\"Hello\"", NO_BASE64, "without padding"},
    {"=?base64?SGVsbG8==?=", "\"Hello\"", NO_BASE64, "with too much of it"},
    {"=?base64?SGVs!!!bG8=?=", "\"Hello\"", NO_BASE64,
     "with characters that are not Base64's"},
    {"=?base64?SGVsbG9=?=", "\"Hello\"", NO_BASE64, "with bits to spare"},
    {"=?base64?SGVs bG8=?=", "\"Hello\"", NO_BASE64, "with a blank"},
    {"=?base64?SGVs_-8=?=", "\"Hello\"", NO_BASE64, "of URLs"},
    {"=?base64?/w==?=", "\"\\u00ff\"", NO_UTF8, "no UTF-8"},
    {"=?base64?SGVsbG8=", "\"=?base64?SGVsbG8=\"", NULL,
     "without the end it is a word"},
    {"SGVsbG8=?=", "\"SGVsbG8=?=\"", NULL, "so it is without the beginning"},
    {"=?BASE64?SGVsbG8=?=", "\"=?BASE64?SGVsbG8=?=\"", NULL,
     "and in another case"},
    {"=?base64?=", "\"=?base64?=\"", NULL,
     "and when the end is the beginning's"},
    /* booleans */
    {"true", "true", NULL, "true"},
    {"false", "false", NULL, "false"},
    {"false", "true", OTHER, "the other one"},
    {"True", "true", OTHER, "true in another case"},
    {"1", "true", OTHER, "a number for it"},
    {"true", "\"true\"", NULL, "the word true"},
    {"=?base64?dHJ1ZQ==?=", "true", NULL, "true, wrapped"},
    /* numbers */
    {"42", "42", NULL, "a number"},
    {"-7", "-7", NULL, "below zero"},
    {"7", "-7", OTHER, "without its sign"},
    {"42.0", "42", NULL, "with a fraction that is none"},
    {"42", "42.0", NULL, "the other way round"},
    {"42.5", "42", OTHER, "with one that is"},
    {"420", "42", OTHER, "ten times as much"},
    {"4.2e1", "42", NULL, "by an exponent"},
    {"42000", "42e3", NULL, "the body's exponent"},
    {"1e-2", "0.01", NULL, "an exponent below zero"},
    {"0", "-0", NULL, "zero"},
    {"-0", "0", NULL, "zero with a sign"},
    {"0e5", "0", NULL, "zero with an exponent"},
    {"0.00", "0", NULL, "many zeros"},
    {"042", "42", OTHER, "a zero before it"},
    {"00", "0", OTHER, "two zeros"},
    {"+42", "42", OTHER, "a plus"},
    {"42.", "42", OTHER, "a point alone"},
    {".5", "0.5", OTHER, "a point first"},
    {"0x2a", "42", OTHER, "hexadecimal"},
    {"4 2", "42", OTHER, "a blank within a number"},
    {"42,0", "42", OTHER, "a comma"},
    {"", "0", OTHER, "nothing for zero"},
    {"-", "0", OTHER, "a sign alone"},
    {"1e", "1", OTHER, "an exponent without digits"},
    {"1e9999999999999999999999", "1", OTHER, "an exponent beyond all"},
    {"NaN", "0", OTHER, "no number"},
    {"9007199254740993", "9007199254740993", NULL,
     "a number that a double has not"},
    {"9007199254740992", "9007199254740993", OTHER, "nor its neighbour"},
    {"18446744073709551615", "18446744073709551615", NULL, "all of 64 bits"},
    {"123456789012345678901234567890", "123456789012345678901234567890", NULL,
     "more than 64 bits"},
    {"123456789012345678901234567891", "123456789012345678901234567890", OTHER,
     "one more than that"},
    {"=?base64?NDI=?=", "42", NULL, "a number, wrapped"},
    {"42", "\"42\"", NULL, "the body's digits are a string"},
    {"42.0", "\"42\"", OTHER, "then no number is compared"},
    {NULL, "0", MISSING, "zero is something to say"},
    {NULL, "false", MISSING, "so is false"},
    /* values without a header form */
    {NULL, "null", NULL, "null has no field"},
    {"null", "null", LEAVE, "nor has it the word null"},
    {"", "null", LEAVE, "nor an empty one"},
    {NULL, "{}", NULL, "an object has none"},
    {"{}", "{}", LEAVE, "nor its text"},
    {NULL, "[1]", NULL, "nor has a list"},
};

static const struct mcp_header name = {.name = "Mcp-Name",
				       .where = "params.name"};

TEST(fields)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		struct json_object *body = parse(fields[i].body);
		char errmsg[200] = "";
		bool same = mcp_header_check(&name, fields[i].value, body,
					     errmsg, sizeof(errmsg));

		is_int(same, fields[i].says == NULL, "MCP 2026 12: %s",
		       fields[i].name);
		if (!same && fields[i].says != NULL &&
		    !ok(strstr(errmsg, fields[i].says) != NULL, "%s: why",
			fields[i].name))
			printf("# %s\n", errmsg);
		json_object_put(body);
	}
}

TEST(plain)
{
	struct mcp_header method = {
	    .name = "Mcp-Method", .where = "method", .plain = true};
	struct json_object *body = parse("\"=?base64?SGVsbG8=?=\"");
	struct json_object *hello = parse("\"Hello\"");
	char errmsg[200] = "";

	ok(mcp_header_check(&method, "=?base64?SGVsbG8=?=", body, errmsg,
			    sizeof(errmsg)),
	   "a plain field is not decoded");
	ok(!mcp_header_check(&method, "=?base64?SGVsbG8=?=", hello, errmsg,
			     sizeof(errmsg)),
	   "a plain field is not compared with the decoded text");
	is_str(errmsg,
	       "the header Mcp-Method says something else; the client has to "
	       "send what method says in the body",
	       "the sentence names both, and shows neither");
	json_object_put(hello);
	json_object_put(body);
}
