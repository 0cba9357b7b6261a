/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON Schema validator: verdicts beyond the official suite, errors. */
#include "proto/schema/schema.h"

#include "tests/unit/proto/schema/schema_fixture.h"

static int verdict(const char *schema, const char *instance,
		   struct schema_error *err)
{
	struct json_object *v = parse(instance);
	struct schema *s;
	int rc = compile(&s, schema, err);

	if (rc == 0)
		rc = schema_validate(s, v, err);
	else
		printf("# %s: %s\n", schema, err->text);
	schema_free(s);
	json_object_put(v);
	return rc;
}

TEST(verdicts)
{
	static const struct {
		const char *schema, *instance;
		bool valid;
		const char *name;
	} rows[] = {
	    /* numbers */
	    {"{\"maximum\":9007199254740992}", "9007199254740993", false,
	     "integers above 2^53 compare exactly"},
	    {"{\"maximum\":9007199254740992.0}", "9007199254740993", false,
	     "an integer and a decimal above 2^53 too"},
	    {"{\"maximum\":18446744073709551615}", "18446744073709551615", true,
	     "uint64 max is at most itself"},
	    {"{\"exclusiveMaximum\":18446744073709551615}",
	     "18446744073709551614", true, "and above its neighbour"},
	    {"{\"minimum\":-9223372036854775808}", "-9223372036854775808", true,
	     "int64 min is at least itself"},
	    {"{\"minimum\":-9223372036854775808}", "-9223372036854775809.0",
	     false, "and above what lies below"},
	    {"{\"maximum\":0.1}", "0.10000000000000000001", false,
	     "decimals compare by their text where doubles are equal"},
	    {"{\"const\":0.1}", "1e-1", true, "0.1 is 1e-1"},
	    {"{\"const\":1}", "1.0", true, "1 is 1.0"},
	    {"{\"const\":-0.0}", "0", true, "minus zero is zero"},
	    {"{\"const\":100}", "1E2", true, "100 is 1E2"},
	    {"{\"const\":18446744073709551615}", "18446744073709551616", false,
	     "uint64 max is not the next number"},
	    {"{\"const\":[{\"a\":1,\"b\":[2]}]}", "[{\"b\":[2.0],\"a\":1}]",
	     true, "deep equality ignores order and spelling"},
	    {"{\"const\":true}", "1", false, "true is not 1"},
	    {"{\"const\":null}", "null", true, "null is null"},
	    {"{\"const\":null}", "0", false, "0 is not null"},
	    {"{\"enum\":[null]}", "null", true, "an enum can have null"},
	    {"{\"enum\":[]}", "null", false, "an empty enum allows nothing"},
	    {"{\"type\":\"integer\"}", "1.0", true, "1.0 is an integer"},
	    {"{\"type\":\"integer\"}", "1e300", true, "1e300 is an integer"},
	    {"{\"type\":\"integer\"}", "1.00000000000000000000001", false,
	     "an almost integer is none"},
	    {"{\"type\":\"integer\"}", "123.4e1", true, "123.4e1 is one"},
	    {"{\"multipleOf\":0.0001}", "0.0075", true, "0.0075 of 0.0001"},
	    {"{\"multipleOf\":0.0001}", "0.00751", false, "0.00751 is not"},
	    {"{\"multipleOf\":0.01}", "19.99", true, "19.99 of 0.01"},
	    {"{\"multipleOf\":0.1}", "4611686018427387904.3", true,
	     "a large decimal of 0.1"},
	    {"{\"multipleOf\":0.123456789}", "1e308", false,
	     "1e308 is no multiple of 0.123456789"},
	    {"{\"multipleOf\":0.5}", "1e308", true, "1e308 is one of 0.5"},
	    {"{\"multipleOf\":3}", "18446744073709551615", true,
	     "uint64 max is a multiple of 3"},
	    {"{\"multipleOf\":18446744073709551615}", "36893488147419103230",
	     true, "twice a divisor of 20 digits"},
	    {"{\"multipleOf\":18446744073709551615}", "36893488147419103240",
	     false, "what rounds to that is not"},
	    {"{\"multipleOf\":18446744073709551615}",
	     "18446744073709551615e280", true, "nor do many zeros matter"},
	    {"{\"multipleOf\":3}", "-9223372036854775808", false,
	     "int64 min is not"},
	    {"{\"multipleOf\":1e-20}", "1", true, "1 of 1e-20"},
	    {"{\"multipleOf\":7e300}", "2.1e301", true, "2.1e301 of 7e300"},
	    {"{\"multipleOf\":1.5}", "0", true, "zero is a multiple of all"},
	    /* strings */
	    {"{\"maxLength\":2}", "\"\\ud83d\\ude00\\ud83d\\ude00\"", true,
	     "characters count, not bytes"},
	    {"{\"minLength\":2}", "\"\\ud83d\\ude00\"", false,
	     "one character of four bytes is one"},
	    {"{\"minLength\":3,\"maxLength\":3}", "\"a\\u0000b\"", true,
	     "a NUL is a character"},
	    {"{\"const\":\"a\\u0000b\"}", "\"a\\u0000c\"", false,
	     "strings differ after a NUL"},
	    {"{\"pattern\":\"^a.b$\"}", "\"a\\u0000b\"", true,
	     "a pattern looks past a NUL"},
	    {"{\"maxLength\":2.0}", "\"abc\"", false, "a count may be 2.0"},
	    {"{\"maxLength\":1e30}", "\"abc\"", true, "or very large"},
	    /* references */
	    {"{\"$ref\":\"#/$defs/a%20b~1c\",\"$defs\":{\"a b/c\":{\"type\":"
	     "\"null\"}}}",
	     "1", false, "a pointer is decoded, then unescaped"},
	    {"{\"$ref\":\"https://example.com/int\"}", "1.5", false,
	     "the resolver's documents can be referred to"},
	    {"{\"$ref\":\"https://example.com/moved#str\"}", "1", false,
	     "also by the URI that they were fetched from"},
	    {"{\"$ref\":\"https://example.com/moved#/$defs/s\"}", "\"x\"", true,
	     "and by pointer"},
	    {"{\"$id\":\"https://example.com/a/b\",\"$ref\":\"../int\"}", "1.5",
	     false, "a relative reference is resolved"},
	    {"{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}",
	     "{\"minLength\":-1}", false, "the metaschema is known"},
	    {"{\"$ref\":\"http://json-schema.org/draft-07/schema\"}",
	     "{\"items\":[{}]}", true, "draft-07's too"},
	    {"{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"b\"]}",
	     "{\"b\":1,\"a\":{\"b\":1,\"a\":{}}}", false,
	     "a schema may refer to itself one level down"},
	    /* unevaluated */
	    {"{\"anyOf\":[{\"properties\":{\"a\":true},\"required\":[\"a\"]},"
	     "{\"properties\":{\"b\":true},\"required\":[\"b\"]}],"
	     "\"unevaluatedProperties\":false}",
	     "{\"a\":1,\"b\":2}", true,
	     "all branches that pass count as evaluating"},
	    {"{\"allOf\":[{\"unevaluatedProperties\":false}],"
	     "\"properties\":{\"a\":true}}",
	     "{\"a\":1}", false, "what a neighbour evaluates does not count"},
	    {"{\"$ref\":\"#/$defs/r\",\"unevaluatedProperties\":false,"
	     "\"$defs\":{\"r\":{\"properties\":{\"a\":true},"
	     "\"unevaluatedProperties\":false}}}",
	     "{\"a\":1}", true, "but what a watched $ref evaluates does"},
	    {"{\"contains\":{\"const\":1},\"unevaluatedItems\":{\"const\":2}}",
	     "[1,2,1]", true, "contains evaluates what it finds"},
	    /* keywords of older drafts which 2020-12 keeps */
	    {"{\"dependencies\":{\"a\":[\"b\"]}}", "{\"a\":1}", false,
	     "dependencies are understood in 2020-12 too"},
	    {"{\"definitions\":{\"a\":{\"$id\":\"https://example.com/x\","
	     "\"type\":\"null\"}},\"$ref\":\"https://example.com/x\"}",
	     "1", false, "and so are definitions"},
	    /* draft-07 */
	    {D7 "\"items\":[{\"type\":\"null\"}],\"additionalItems\":false}",
	     "[null,1]", false, "draft-07: items may be an array"},
	    {D7 "\"additionalItems\":false}", "[1]", true,
	     "draft-07: additionalItems needs items"},
	    {D7
	     "\"properties\":{\"a\":{\"$ref\":\"#/definitions/s\","
	     "\"maxLength\":1}},\"definitions\":{\"s\":{\"type\":\"string\"}}}",
	     "{\"a\":\"long\"}", true, "draft-07: $ref hides its neighbours"},
	    {D7 "\"definitions\":{\"s\":{\"$id\":\"#s\",\"type\":\"string\"}},"
		"\"properties\":{\"a\":{\"$ref\":\"#s\"}}}",
	     "{\"a\":1}", false, "draft-07: an $id can be an anchor"},
	    {D7 "\"unevaluatedProperties\":false,\"minContains\":5}",
	     "{\"a\":1}", true, "draft-07: newer keywords mean nothing"},
	    {D7 "\"dependencies\":{\"a\":{\"required\":[\"b\"]}}}", "{\"a\":1}",
	     false, "draft-07: dependencies may be schemas"},
	    {D7 "\"type\":\"integer\"}", "2.0", true, "draft-07: 2.0 too"},
	    /* metaschemas */
	    {META "\"type\":\"string\"}", "5", true,
	     "a vocabulary that is off is off"},
	    {META "\"properties\":{\"a\":false}}", "{\"a\":1}", false,
	     "one that is on is on"},
	    {"{\"$schema\":\"https://example.com/self\",\"type\":\"null\"}",
	     "1", false, "a metaschema without $vocabulary has them all"},
	    /* odd but right */
	    {"{\"properties\":{\"a\":{\"$ref\":\"#/x/0\"}},\"x\":[{\"type\":"
	     "\"null\"}]}",
	     "{\"a\":1}", false,
	     "a reference may lead under an unknown keyword"},
	    {"{\"if\":false,\"else\":{\"type\":\"null\"}}", "1", false,
	     "else stands without then"},
	    {"{\"then\":false}", "1", true, "then means nothing without if"},
	    {"{\"minContains\":0,\"contains\":false}", "[]", true,
	     "minContains 0 asks for nothing"},
	    {"{\"uniqueItems\":true}",
	     "[1,2,3,4,5,6,7,8,9,10,\"1\",[1],{\"1\":1},true,null,1.0]", false,
	     "1 and 1.0 are the same among many"},
	    {"{\"format\":\"no-such\"}", "\"x\"", true,
	     "an unknown format is a remark"},
	};
	struct schema_error err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int rc = verdict(rows[i].schema, rows[i].instance, &err);

		is_int(rc, rows[i].valid ? 0 : -EINVAL, "%s", rows[i].name);
	}
}

TEST(errors)
{
	static const char *const person =
	    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":"
	    "\"string\",\"minLength\":1},\"colour\":{\"enum\":[\"red\","
	    "\"green\"]},\"age\":{\"type\":\"integer\",\"minimum\":0}},"
	    "\"required\":[\"name\"],\"additionalProperties\":false}";
	static const char *const shapes =
	    "{\"oneOf\":[{\"properties\":{\"kind\":{\"const\":\"disc\"},\"r\":"
	    "{\"type\":\"number\"}},\"required\":[\"kind\",\"r\"]},"
	    "{\"properties\":{\"kind\":{\"const\":\"box\"},\"w\":{\"type\":"
	    "\"number\"}},\"required\":[\"kind\",\"w\"]}]}";
	const struct {
		const char *schema, *instance;
		const char *pointer, *keyword, *expected, *text;
	} rows[] = {
	    {person, "{}", "", "required", "the member \"name\"",
	     "the value lacks the member \"name\""},
	    {person, "{\"nmae\":\"x\"}", "", "required", "the member \"name\"",
	     "the value lacks the member \"name\"; was it meant by \"nmae\"?"},
	    {person, "{\"name\":\"x\",\"color\":\"red\"}", "/color",
	     "additionalProperties", "only \"name\", \"colour\" and \"age\"",
	     "/color is not a known member; did you mean \"colour\"?"},
	    {person, "{\"name\":\"x\",\"zzz\":1}", "/zzz",
	     "additionalProperties", "only \"name\", \"colour\" and \"age\"",
	     "/zzz is not a known member; allowed: only \"name\", \"colour\" "
	     "and \"age\""},
	    {person, "{\"name\":\"x\",\"age\":\"5\"}", "/age", "type",
	     "an integer", "/age is \"5\"; it must be an integer"},
	    {person, "{\"name\":\"\"}", "/name", "minLength",
	     "a string of at least 1 character",
	     "/name is \"\"; it must be a string of at least 1 character"},
	    {person, "{\"name\":\"x\",\"colour\":\"blue\"}", "/colour", "enum",
	     "\"red\" or \"green\"",
	     "/colour is \"blue\"; it must be \"red\" or \"green\""},
	    {person, "[]", "", "type", "an object",
	     "the value is an array; it must be an object"},
	    {shapes, "{\"kind\":\"cone\"}", "/kind", "oneOf",
	     "\"disc\" or \"box\"",
	     "/kind is \"cone\"; it must be \"disc\" or \"box\""},
	    {shapes, "{\"kind\":\"box\",\"w\":\"x\"}", "/w", "type", "a number",
	     "/w is \"x\"; it must be a number (the nearest of 2 "
	     "alternatives)"},
	    {shapes, "{\"kind\":\"box\"}", "", "required", "the member \"w\"",
	     "the value lacks the member \"w\" (the nearest of 2 "
	     "alternatives)"},
	    {"{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}", "3", "",
	     "oneOf", "a value that exactly one alternative allows",
	     "the value passes alternatives 1 and 2 of 2; it must pass "
	     "exactly one"},
	    {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "3", "",
	     "anyOf", "a string or null",
	     "the value is 3; it must be a string or null"},
	    {"{\"anyOf\":[{\"required\":[\"a\"]},{\"maxProperties\":0}]}",
	     "{\"b\":1}", "", "anyOf",
	     "a value that one of 2 alternatives allows",
	     "no alternative of 2 passes: the value lacks the member \"a\"; or "
	     "the value has 1 member; it may have at most 0"},
	    {"{\"items\":{\"properties\":{\"a/~\":{\"maximum\":1.5}}}}",
	     "[{},{\"a/~\":2.50}]", "/1/a~1~0", "maximum",
	     "a number of at most 1.5",
	     "/1/a~1~0 is 2.50; it must be a number of at most 1.5"},
	    {"{\"type\":[\"array\",\"boolean\",\"integer\"]}", "\"x\"", "",
	     "type", "an array or an integer or true or false",
	     "the value is \"x\"; it must be an array or an integer or true or "
	     "false"},
	    {"{\"prefixItems\":[{}],\"items\":false}", "[1,2]", "/1", "items",
	     "at most 1 item", "/1 is one item too many; there may be 1"},
	    {"{\"uniqueItems\":true}", "[1,2,1]", "", "uniqueItems",
	     "items that differ",
	     "the value has items 0 and 2 equal; all must differ"},
	    {"{\"properties\":{\"a\":true},\"unevaluatedProperties\":false}",
	     "{\"b\":1}", "/b", "unevaluatedProperties", "nothing",
	     "/b is a member that the schema does not provide for"},
	    {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "",
	     "dependentRequired", "the member \"b\"",
	     "the value lacks the member \"b\", which \"a\" asks for"},
	    {"{\"format\":\"date\"}", "\"2026-02-29\"", "", "format",
	     "a date (YYYY-MM-DD)",
	     "the value is \"2026-02-29\"; it must be a date (YYYY-MM-DD)"},
	    {"{\"properties\":{\"a\":false}}", "{\"a\":1}", "/a", "", "nothing",
	     "/a must not be there"},
	    {"{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}", "",
	     "propertyNames", "a name that propertyNames allows",
	     "the value has a member that is called \"ab\"; what it is "
	     "called has to be a name that propertyNames allows"},
	    {"{\"properties\":{\"f\":{\"propertyNames\":{\"maxLength\":1,"
	     "\"description\":\"one letter\"}}}}",
	     "{\"f\":{\"ab\":1}}", "/f", "propertyNames", "one letter",
	     "/f has a member that is called \"ab\"; what it is called has "
	     "to be one letter"},
	    {"{\"const\":\"a\\\"b\\n\"}", "\"c\\\"\\u0007\"", "", "const",
	     "\"a\\\"b\\u000a\"",
	     "the value is \"c\\\"\\u0007\"; it must be \"a\\\"b\\u000a\""},
	};
	struct schema_error err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		is_int(verdict(rows[i].schema, rows[i].instance, &err), -EINVAL,
		       "refused: %s", rows[i].text);
		is_str(err.pointer, rows[i].pointer,
		       "the error of a failed check has the pointer");
		is_str(err.keyword, rows[i].keyword,
		       "the error of a failed check has the keyword");
		is_str(err.expected, rows[i].expected,
		       "the error of a failed check says what would pass");
		is_str(err.text, rows[i].text,
		       "the error of a failed check has the text");
	}
}

TEST(formats_annotate)
{
	struct json_object *doc = parse("{\"format\":\"ipv4\"}");
	struct json_object *v = json_object_new_string("x");
	struct schema *s;

	schema_compile(&s, doc, NULL, NULL);
	is_int(schema_validate(s, v, NULL), 0, "format is a remark by default");
	schema_free(s);
	json_object_put(doc);
	json_object_put(v);
}

TEST(secrets)
{
	static const struct {
		const char *schema, *name;
	} rows[] = {
	    {"{\"properties\":{\"p\":{\"writeOnly\":true,\"minLength\":9}}}",
	     "a writeOnly value is not shown"},
	    {"{\"properties\":{\"p\":{\"minLength\":9,\"allOf\":[{\"writeOnly\""
	     ":true}]}}}",
	     "nor one that a subschema marks"},
	    {"{\"properties\":{\"p\":{\"minLength\":9}},\"anyOf\":[false,{"
	     "\"properties\":{\"p\":{\"$ref\":\"#/$defs/s\"}}}],\"$defs\":{"
	     "\"s\":{\"writeOnly\":true}}}",
	     "nor one that a branch marks"},
	    {"{\"writeOnly\":true,\"properties\":{\"p\":{\"enum\":[1]}}}",
	     "nor what lies in one"},
	    {"{\"properties\":{\"p\":{\"const\":1}},\"if\":true,\"else\":{"
	     "\"properties\":{\"p\":{\"writeOnly\":true}}}}",
	     "nor one that a branch not taken marks"},
	    {"{\"anyOf\":[{\"properties\":{\"p\":{\"type\":\"null\"}}},{"
	     "\"properties\":{\"p\":{\"writeOnly\":true,\"type\":\"null\"}}}]}",
	     "nor does another alternative show it"},
	    {"{\"properties\":{\"p\":{\"writeOnly\":true,\"pattern\":\"^x\"}},"
	     "\"additionalProperties\":false}",
	     "nor against a pattern"},
	};
	struct schema_error errs[4];
	struct json_object *v = parse("{\"p\":\"hunter2\"}");
	struct schema *s;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool shown = false;
		size_t n;

		compile(&s, rows[i].schema, &errs[0]);
		n = schema_validate_all(s, v, errs, ARRAY_LEN(errs));
		for (size_t j = 0; j < n; j++)
			shown = shown || strstr(errs[j].text, "hunter") ||
				strstr(errs[j].expected, "hunter");
		ok(n > 0 && !shown, "%s", rows[i].name);
		schema_free(s);
	}
	json_object_put(v);
}

TEST(all)
{
	struct schema_error errs[3], err;
	struct json_object *v = parse("{\"a\":1,\"b\":\"x\",\"c\":null}");
	struct schema *s;

	compile(&s,
		"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":"
		"\"null\"},\"c\":{\"type\":\"object\"}},\"required\":[\"d\"]}",
		&err);
	is_int(schema_validate_all(s, v, errs, 3), 3,
	       "three errors are told of more");
	is_str(errs[0].keyword, "required", "the first error is of required");
	is_str(errs[1].pointer, "/a", "the second error is at /a");
	is_str(errs[2].pointer, "/b", "the third error is at /b");
	is_int(schema_validate_all(s, v, errs, 0), 0,
	       "no error is told when none fits");
	json_object_object_add(v, "d", NULL);
	json_object_object_add(v, "a", json_object_new_string(""));
	is_int(schema_validate_all(s, v, errs, 3), 2,
	       "all errors are told when all fit");
	json_object_object_add(v, "b", NULL);
	json_object_object_add(v, "c", json_object_new_object());
	is_int(schema_validate_all(s, v, errs, 3), 0,
	       "a valid instance has no errors");
	schema_free(s);
	json_object_put(v);
}

int main(void)
{
	tap_run();
	return done();
}
