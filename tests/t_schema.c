/* The JSON Schema validator: verdicts beyond the official suite, errors,
 * bounds. */
#include "proto/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json.h"
#include "proto/schema_int.h"
#include "tests/tap.h"

#define META "{\"$schema\":\"https://example.com/meta\","
#define D7 "{\"$schema\":\"http://json-schema.org/draft-07/schema#\","

static struct json_object *parse(const char *text)
{
	struct json_error err;
	struct json_object *v;

	if (json_parse(&v, text, strlen(text), &err) != 0)
		ok(false, "test data is JSON: %s: %s", text, err.text);
	return v;
}

/* What the resolver knows. */
static const struct {
	const char *uri;
	const char *text;
} remotes[] = {
    {"https://example.com/int", "{\"type\":\"integer\"}"},
    {"https://example.com/moved",
     "{\"$id\":\"https://example.com/home\",\"$defs\":{\"s\":{\"$anchor\":"
     "\"str\",\"type\":\"string\"}},\"type\":\"object\"}"},
    {"https://example.com/meta",
     "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
     "\"$id\":\"https://example.com/meta\",\"$vocabulary\":{"
     "\"https://json-schema.org/draft/2020-12/vocab/core\":true,"
     "\"https://json-schema.org/draft/2020-12/vocab/applicator\":true,"
     "\"https://example.com/vocab\":false},"
     "\"properties\":{\"title\":{\"maxLength\":5}}}"},
    {"https://example.com/strange",
     "{\"$vocabulary\":{\"https://example.com/vocab\":true}}"},
    {"https://example.com/self",
     "{\"$schema\":\"https://example.com/self\",\"type\":\"object\"}"},
    {"https://example.com/ping", "{\"$schema\":\"https://example.com/pong\"}"},
    {"https://example.com/pong", "{\"$schema\":\"https://example.com/ping\"}"},
};

static struct json_object *remote_docs[ARRAY_LEN(remotes)];

static struct json_object *resolve(const char *uri, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < ARRAY_LEN(remotes); i++) {
		if (strcmp(remotes[i].uri, uri) != 0)
			continue;
		if (remote_docs[i] == NULL)
			remote_docs[i] = parse(remotes[i].text);
		return remote_docs[i];
	}
	return NULL;
}

static const struct schema_options with_formats = {.assert_formats = true,
						   .resolver = resolve};

static int compile(struct schema **s, const char *text,
		   struct schema_error *err)
{
	struct json_object *doc = parse(text);
	int rc = schema_compile(s, doc, &with_formats, err);

	json_object_put(doc); /* the schema keeps its own reference */
	return rc;
}

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

static void test_verdicts(void)
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
	    /* what 2020-12 keeps of older drafts */
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

static void test_errors(void)
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
	    {"{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}", "/ab",
	     "propertyNames", "a name that propertyNames allows",
	     "/ab has the name \"ab\", which propertyNames refuses"},
	    {"{\"const\":\"a\\\"b\\n\"}", "\"c\\\"\\u0007\"", "", "const",
	     "\"a\\\"b\\u000a\"",
	     "the value is \"c\\\"\\u0007\"; it must be \"a\\\"b\\u000a\""},
	};
	struct schema_error err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		is_int(verdict(rows[i].schema, rows[i].instance, &err), -EINVAL,
		       "refused: %s", rows[i].text);
		is_str(err.pointer, rows[i].pointer, "  its pointer");
		is_str(err.keyword, rows[i].keyword, "  its keyword");
		is_str(err.expected, rows[i].expected, "  what would pass");
		is_str(err.text, rows[i].text, "  its text");
	}
}

static void test_refusals(void)
{
	static const struct {
		const char *schema, *pointer, *part;
	} rows[] = {
	    {"5", "", "neither an object nor true or false"},
	    {"{\"type\":\"strin\"}", "/type", "\"strin\"; it must be array"},
	    {"{\"type\":[\"string\",\"string\"]}", "/type", "different"},
	    {"{\"properties\":{\"a\":{\"minLength\":-1}}}",
	     "/properties/a/minLength", "at least 0"},
	    {"{\"properties\":{\"a/b\":{\"maxItems\":1.5}}}",
	     "/properties/a~1b/maxItems", "at least 0"},
	    {"{\"allOf\":[{},{\"not\":5}]}", "/allOf/1/not", "a schema"},
	    {"{\"allOf\":[true,7]}", "/allOf/1", "is no schema"},
	    {"{\"anyOf\":[]}", "/anyOf", "non-empty"},
	    {"{\"required\":[\"a\",\"a\"]}", "/required", "different"},
	    {"{\"multipleOf\":0}", "/multipleOf", "above 0"},
	    {"{\"items\":[{}]}", "/items", "prefixItems"},
	    {"{\"$id\":\"a#b\"}", "/$id", "fragment"},
	    {"{\"$anchor\":\"1a\"}", "/$anchor", "a name"},
	    {"{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":"
	     "\"x\"}}}",
	     "/$defs/b/$anchor", "used twice"},
	    {"{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"x\"}}}",
	     "/$defs/b/$id", "another schema"},
	    {"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/no\"}}}",
	     "/properties/a/$ref", "leads nowhere"},
	    {"{\"$ref\":\"#no\"}", "/$ref", "leads nowhere"},
	    {"{\"$ref\":\"https://example.com/none\"}", "/$ref",
	     "nothing is fetched"},
	    {"{\"$ref\":\"#\"}", "", "without end"},
	    {"{\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"}]}}}",
	     "/$defs/a", "without end"},
	    {"{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}",
	     "/$schema", "draft-04 is not supported"},
	    {"{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\"}",
	     "/$schema", "2019-09 is not supported"},
	    {"{\"$schema\":\"https://example.com/none\"}", "/$schema",
	     "https://example.com/none is not supported"},
	    {"{\"$schema\":\"https://example.com/strange\"}", "/$schema",
	     "vocabulary https://example.com/vocab"},
	    {"{\"$schema\":\"https://example.com/ping\"}", "/$schema",
	     "above it"},
	    {META "\"title\":\"too long\"}", "/title",
	     "a string of at most 5 characters"},
	    {"{\"properties\":{\"a\":{\"$schema\":"
	     "\"http://json-schema.org/draft-07/schema#\"}}}",
	     "/properties/a/$schema", "own $id"},
	    {"{\"x\":{\"y\":{\"type\":1}},\"$ref\":\"#/x/y\"}", "/x/y/type",
	     "it must be array"},
	    {D7 "\"dependencies\":{\"a\":[1]}}", "/dependencies",
	     "different strings"},
	    {D7 "\"items\":[1]}", "/items/0", "is no schema"},
	    {"{\"pattern\":\"a(\"}", "/pattern", "a ( is not closed"},
	    {"{\"patternProperties\":{\"[b-a]\":{}}}", "/patternProperties",
	     "wrong way round"},
	    {"{\"pattern\":\"(?i)a\"}", "/pattern", "flags"},
	};
	struct schema_error err;
	struct schema *s;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		is_int(compile(&s, rows[i].schema, &err), -EINVAL,
		       "no schema: %s", rows[i].schema);
		is_str(err.pointer, rows[i].pointer, "  its pointer");
		if (!ok(strstr(err.text, rows[i].part) != NULL,
			"  its text says %s", rows[i].part))
			printf("# %s\n", err.text);
	}
	ok(schema_compile(&s, NULL, NULL, NULL) == -EINVAL && s == NULL,
	   "null is no schema, and nobody has to ask why");
}

/* A remote reference needs a resolver. */
static void test_no_resolver(void)
{
	struct json_object *doc =
	    parse("{\"$ref\":\"https://example.com/int\"}");
	struct schema_error err;
	struct schema *s;

	is_int(schema_compile(&s, doc, NULL, &err), -EINVAL,
	       "without a resolver a remote $ref is refused");
	is_str(err.keyword, "$ref", "  by its keyword");
	json_object_put(doc);
}

static void test_formats_annotate(void)
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

static void test_secrets(void)
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

static void test_all(void)
{
	struct schema_error errs[3], err;
	struct json_object *v = parse("{\"a\":1,\"b\":\"x\",\"c\":null}");
	struct schema *s;

	compile(&s,
		"{\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":"
		"\"null\"},\"c\":{\"type\":\"object\"}},\"required\":[\"d\"]}",
		&err);
	is_int(schema_validate_all(s, v, errs, 3), 3, "as many as fit");
	is_str(errs[0].keyword, "required", "  the first");
	is_str(errs[1].pointer, "/a", "  the second");
	is_str(errs[2].pointer, "/b", "  the third");
	is_int(schema_validate_all(s, v, errs, 0), 0, "none when none fits");
	json_object_object_add(v, "d", NULL);
	json_object_object_add(v, "a", json_object_new_string(""));
	is_int(schema_validate_all(s, v, errs, 3), 2, "all, when they fit");
	json_object_object_add(v, "b", NULL);
	json_object_object_add(v, "c", json_object_new_object());
	is_int(schema_validate_all(s, v, errs, 3), 0, "none when valid");
	schema_free(s);
	json_object_put(v);
}

/* N times OPEN, then MIDDLE, then N times CLOSE. */
static char *nested(size_t n, const char *open, const char *middle,
		    const char *close)
{
	char *s = xcalloc(
		 n * (strlen(open) + strlen(close)) + strlen(middle) + 1, 1),
	     *p = s;

	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, open);
	p = stpcpy(p, middle);
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, close);
	return s;
}

/* An array of N times the same V, which it takes. */
static struct json_object *array_of(size_t n, struct json_object *v)
{
	struct json_object *a = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(a, i == 0 ? v : json_object_get(v));
	return a;
}

/* N arrays in each other. */
static struct json_object *deep_array(size_t n)
{
	struct json_object *v = json_object_new_array();

	for (size_t i = 1; i < n; i++)
		v = array_of(1, v);
	return v;
}

static void bound(const char *schema, struct json_object *v, const char *part,
		  const char *name)
{
	struct schema_error err = {0}, errs[2];
	struct schema *s;

	if (compile(&s, schema, &err) != 0) {
		ok(false, "%s: %s", name, err.text);
		return;
	}
	is_int(schema_validate(s, v, &err), -E2BIG, "%s", name);
	ok(strstr(err.text, part) != NULL, "  and it says so: %s", err.text);
	is_int(schema_validate(s, v, NULL), -E2BIG, "  asked or not");
	is_int(schema_validate_all(s, v, errs, 2), 1, "  once");
	schema_free(s);
}

static void test_time_bounds(void)
{
	char *as = nested(50, "a", "b", ""),
	     *spaces = nested(100000, " ", "x", "");
	struct json_object *v = json_object_new_string(as);
	struct json_object *w = json_object_new_string(spaces);
	struct json_object *list;

	bound("{\"pattern\":\"^(a+)+$\"}", v, "too long to match",
	      "a regular expression that backtracks for ever is stopped");
	bound("{\"pattern\":\"\\\\s+$\"}", w, "too long to match",
	      "so is one that is quadratic");
	bound("{\"pattern\":\"(?:(?=\\\\s*)\\\\s)*y\"}", w, "too long to match",
	      "also in a lookahead, where PCRE2 does not count");
	bound("{\"pattern\":\"(\\\\s*)\\\\1y\"}", w, "too long to match",
	      "or in a backreference");
	bound("{\"patternProperties\":{\"^(\\\\w+)+$\":true}}",
	      (list = parse("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}")),
	      "too long to match", "and for a member's name");
	json_object_put(list);
	json_object_put(v);
	json_object_put(w);
	free(as);
	free(spaces);
}

static void test_size_bounds(void)
{
	struct json_object *cube =
	    array_of(250, array_of(250, array_of(250, json_object_new_int(1))));
	struct json_object *one = json_object_new_int(1);
	struct json_object *deep = deep_array(3000);
	struct json_object *twins = array_of(2, json_object_get(deep));

	bound("{\"items\":{\"items\":{\"items\":{\"type\":\"integer\"}}}}",
	      cube, "steps", "a check of too many steps is stopped");
	bound("{\"$id\":\"https://example.com/a\",\"$dynamicAnchor\":\"x\","
	      "\"$ref\":\"b\",\"$defs\":{\"b\":{\"$id\":\"b\","
	      "\"$dynamicRef\":\"#x\",\"$defs\":{\"x\":{\"$dynamicAnchor\":"
	      "\"x\"}}}}}",
	      one, "in each other", "a $dynamicRef that goes round is stopped");
	bound("{\"items\":{\"$ref\":\"#\"}}", deep, "in each other",
	      "a value that is too deep is stopped");
	bound("{\"not\":{\"items\":{\"$ref\":\"#\"}}}", deep, "in each other",
	      "and does not pass for not passing");
	bound("{\"uniqueItems\":true}", twins, "deeper than",
	      "values too deep to compare are not compared");
	json_object_put(cube);
	json_object_put(one);
	json_object_put(deep);
	json_object_put(twins);
}

static void refuse_large(struct json_object *doc, const char *part,
			 const char *name)
{
	struct schema_error err = {0};
	struct schema *s;

	is_int(schema_compile(&s, doc, NULL, &err), -EINVAL, "%s", name);
	ok(strstr(err.text, part) != NULL, "  and it says so: %s", err.text);
	json_object_put(doc);
}

static void test_schema_bounds(void)
{
	struct json_object *wide = json_object_new_object();
	struct json_object *deep = json_object_new_object(), *up;
	struct json_object *chain = json_object_new_object(), *defs;
	char key[32], ref[48];

	for (int i = 0; i < SCHEMA_NODES_MAX; i++) {
		snprintf(key, sizeof(key), "p%d", i);
		json_object_object_add(wide, key, json_object_new_object());
	}
	up = json_object_new_object();
	json_object_object_add(up, "properties", wide);
	refuse_large(up, "more than 10000 subschemas", "no schema: too wide");

	for (int i = 0; i <= SCHEMA_DEPTH_MAX; i++) {
		up = json_object_new_object();
		json_object_object_add(up, "not", deep);
		deep = up;
	}
	refuse_large(deep, "64 deep", "no schema: too deep");

	defs = json_object_new_object();
	for (int i = 0; i < SCHEMA_INLINE_MAX + 2; i++) {
		snprintf(key, sizeof(key), "d%d", i);
		snprintf(ref, sizeof(ref), "#/$defs/d%d", i + 1);
		up = json_object_new_object();
		if (i < SCHEMA_INLINE_MAX + 1)
			json_object_object_add(up, "$ref",
					       json_object_new_string(ref));
		json_object_object_add(defs, key, up);
	}
	json_object_object_add(chain, "$defs", defs);
	json_object_object_add(chain, "$ref",
			       json_object_new_string("#/$defs/d0"));
	refuse_large(chain, "in a row", "no schema: too long a chain of $ref");
}

/* A large array of different values is no reason to refuse it. */
static void test_large_sets(void)
{
	struct json_object *v = json_object_new_array();
	struct schema_error err;
	struct schema *s;

	for (int i = 0; i < 200000; i++)
		json_object_array_add(v, json_object_new_int(i));
	compile(&s, "{\"uniqueItems\":true}", &err);
	is_int(schema_validate(s, v, &err), 0, "200000 items that differ");
	json_object_array_add(v, json_object_new_double(77.0));
	is_int(schema_validate(s, v, &err), -EINVAL, "and one that does not");
	ok(strstr(err.text, "items 77 and 200000 equal") != NULL,
	   "  is named: %s", err.text);
	schema_free(s);
	json_object_put(v);
}

static void test_patterns(void)
{
	static const struct {
		const char *pattern, *subject;
		int match; /* -EINVAL: refused */
	} rows[] = {
	    {"b", "abc", 1},
	    {"^b", "abc", 0},
	    {"^abc$", "abc\n", 0},
	    {"^a|b$", "xb", 1},
	    {"^[\\w-.]+$", "a-b.c", 1},
	    {"^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$", "jo.e+x@ex-am.org", 1},
	    {"^\\-\\@\\_$", "-@_", 1},
	    {"^{a}$", "{a}", 1},
	    {"^a{,3}$", "a{,3}", 1},
	    {"^a{2,3}?$", "aaa", 1},
	    {"^(?:ab){2}$", "abab", 1},
	    {"^.$", "\xf0\x9f\x98\x80", 1},
	    {"^.$", "\n", 0},
	    {"^.$", "\xe2\x80\xa8", 0},
	    {"^[^]$", "\n", 1},
	    {"[]", "", 0},
	    {"^[^a]$", "b", 1},
	    {"^[[:alpha:]]$", "[", 0},
	    {"^[[:alpha:]]$", ":]", 1},
	    {"^[a\\]]$", "]", 1},
	    {"^[\\b]$", "\b", 1},
	    {"\\bfoo\\b", "a foo b", 1},
	    {"^\\u0041\\x42\\u{43}\\cA\\0$", "ABC\x01", 0},
	    {"^\\u0041\\x42\\u{43}\\cA$", "ABC\x01", 1},
	    {"^\\ud83d\\ude00$", "\xf0\x9f\x98\x80", 1},
	    {"^[\\ud83d\\ude00-\\u{1f610}]$", "\xf0\x9f\x98\x81", 1},
	    {"\\ud800", "x", 0},
	    {"^[^\\ud800-\\udfff]$", "x", 1},
	    {"^[\\ud800-\\udfff]$", "x", 0},
	    {"^\\s$", "\xef\xbb\xbf", 1},
	    {"^[\\s]$", "\xe3\x80\x80", 1},
	    {"^[\\S]$", "\xc2\xa0", 0},
	    {"^[^\\S]$", "\xc2\xa0", 1},
	    {"^\\d$", "\xd9\xa1", 0},
	    {"^\\p{Nd}$", "\xd9\xa1", 1},
	    {"^\\p{Decimal_Number}$", "\xd9\xa1", 1},
	    {"^\\p{gc=Decimal_Number}$", "\xd9\xa1", 1},
	    {"^\\P{Letter}$", "a", 0},
	    {"^[\\p{Lu}\\d]+$", "A1", 1},
	    {"^\\p{Script=Greek}$", "\xce\xb1", 1},
	    {"^\\p{Assigned}$", "a", 1},
	    {"^(a)\\1$", "aa", 1},
	    {"^(?<x>a)\\k<x>$", "aa", 1},
	    {"^\\1(a)$", "a", 1},
	    {"^(?:(a)|b)\\1$", "b", 1},
	    {"(?<=a)b", "ab", 1},
	    {"(?<!a)b", "ab", 0},
	    {"^(?=.*\\d)(?!.*x).{3,}$", "ab1", 1},
	    {"a/b\\/c", "a/b/c", 1},
	    {"\xc3\xa9+", "\xc3\xa9\xc3\xa9", 1},
	    {"^\xc3\xa9+$", "\xc3\xa9\xc3\xa9", 1},
	    {"", "anything", 1},
	    {"a", "\xff", 0},
	    {"(*UTF)a", "", -EINVAL},
	    {"a**", "", -EINVAL},
	    {"a++", "", -EINVAL},
	    {"^*", "", -EINVAL},
	    {"(?=a)*", "", -EINVAL},
	    {"+", "", -EINVAL},
	    {"a{2,1}", "", -EINVAL},
	    {"a{70000}", "", -EINVAL},
	    {"(", "", -EINVAL},
	    {")", "", -EINVAL},
	    {"[", "", -EINVAL},
	    {"[b-a]", "", -EINVAL},
	    {"\\", "", -EINVAL},
	    {"\\A", "", -EINVAL},
	    {"\\Z", "", -EINVAL},
	    {"\\a", "", -EINVAL},
	    {"\\e", "", -EINVAL},
	    {"\\h", "", -EINVAL},
	    {"\\Qa\\E", "", -EINVAL},
	    {"\\C", "", -EINVAL},
	    {"\\R", "", -EINVAL},
	    {"\\1", "", -EINVAL},
	    {"(a)\\2", "", -EINVAL},
	    {"\\k<x>", "", -EINVAL},
	    {"(?<x>a)(?<x>b)", "", -EINVAL},
	    {"(?<1>a)", "", -EINVAL},
	    {"(?>a)", "", -EINVAL},
	    {"(?#a)", "", -EINVAL},
	    {"(?P<n>a)", "", -EINVAL},
	    {"(?R)", "", -EINVAL},
	    {"(?C1)", "", -EINVAL},
	    {"(?|a)", "", -EINVAL},
	    {"\\x1", "", -EINVAL},
	    {"\\u12", "", -EINVAL},
	    {"\\u{110000}", "", -EINVAL},
	    {"\\01", "", -EINVAL},
	    {"\\p{No_Such}", "", -EINVAL},
	    {"\\p{L}\\p", "", -EINVAL},
	    {"\\p{^L}", "", -EINVAL},
	    {"(?<=a+)b", "", -EINVAL}, /* PCRE2 cannot */
	    {"((((a{1,1000}){1,1000}){1,1000}){1,1000})", "", -EINVAL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct schema_matcher *m = NULL;
		struct schema_pattern *p = NULL;
		uint64_t budget = CHECK_MATCH_MAX;
		char why[200];
		struct schema_text t;
		int rc;

		schema_text_init(&t, why, sizeof(why));
		rc = schema_pattern_new(&p, rows[i].pattern,
					strlen(rows[i].pattern), &t);
		if (rc == 0)
			rc = schema_pattern_match(p, &m, rows[i].subject,
						  strlen(rows[i].subject),
						  &budget);
		is_int(rc, rows[i].match, "pattern %s %s", rows[i].pattern,
		       rows[i].match < 0   ? "is refused"
		       : rows[i].match > 0 ? "matches"
					   : "does not match");
		ok(rc >= 0 || why[0] != '\0', "  and it is said why: %s", why);
		schema_pattern_free(p);
		schema_matcher_free(m);
	}
}

/* Long strings that a plain expression can do are done. */
static void test_long_subjects(void)
{
	static const char *const patterns[] = {
	    "^[A-Za-z]*$", "^([A-Za-z]{4})*$", "^(?:a|b)+$", "a$", "z?$",
	};
	char *as = nested(100000, "a", "", "");

	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		struct schema_matcher *m = NULL;
		struct schema_pattern *p = NULL;
		uint64_t budget = CHECK_MATCH_MAX;
		char why[200];
		struct schema_text t;

		schema_text_init(&t, why, sizeof(why));
		schema_pattern_new(&p, patterns[i], strlen(patterns[i]), &t);
		is_int(schema_pattern_match(p, &m, as, strlen(as), &budget), 1,
		       "100000 bytes match %s", patterns[i]);
		schema_pattern_free(p);
		schema_matcher_free(m);
	}
	free(as);
}

static void test_formats(void)
{
	static const struct {
		const char *format, *good, *bad;
	} rows[] = {
	    {"date", "2024-02-29", "2023-02-29"},
	    {"date", "2000-02-29", "1900-02-29"},
	    {"date-time", "2026-01-31t23:59:60.5z", "2026-01-31 23:59:59Z"},
	    {"time", "15:59:60-08:00", "12:00:00"},
	    {"time", "00:00:00.123+23:59", "24:00:00Z"},
	    {"duration", "P1Y2M3DT4H5M6S", "P1Y2D"},
	    {"duration", "P3W", "P1DT"},
	    {"duration", "PT0S", "P"},
	    {"email", "\"a b\"@[127.0.0.1]", "a..b@example.com"},
	    {"email", "a@[IPv6:::1]", "a@b@c"},
	    {"idn-email", "\xc3\xa9@\xc3\xa9.fr", "\xc3\xa9"},
	    {"hostname", "a.xn--9n2bp8q", "a_b"},
	    {"hostname", "1.example", "-a.example"},
	    {"ipv4", "127.0.0.1", "127.0.0.01"},
	    {"ipv6", "::ffff:1.2.3.4", "::ffff:1.2.3.04"},
	    {"ipv6", "1::", "fe80::1%eth0"},
	    {"uri", "http://[::1]:80/a?b#c", "/a"},
	    {"uri", "urn:x:y", "http://a b"},
	    {"uri", "http://u:p@h/%41", "http://h/%4g"},
	    {"uri-reference", "../a?b", "a\\b"},
	    {"uri-reference", "", "1:2"},
	    {"iri", "http://\xc3\xa9/", "\xc3\xa9"},
	    {"iri-reference", "\xc3\xa9", "<"},
	    {"uri-template", "/a{?b,c*}{/d:3}", "/a{b"},
	    {"uuid", "2EB8AA08-aa98-11ea-b4aa-73b441d16380",
	     "2eb8aa08aa9811eab4aa73b441d16380"},
	    {"json-pointer", "/a~1b/0", "a"},
	    {"json-pointer", "", "/~2"},
	    {"relative-json-pointer", "1/a", "01/a"},
	    {"relative-json-pointer", "0#", "/a"},
	    {"regex", "(?<=a+)b", "^(abc]"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct schema_format *f =
		    schema_format_find(rows[i].format);

		ok(f->good(rows[i].good, strlen(rows[i].good)), "%s: %s",
		   rows[i].format, rows[i].good);
		ok(!f->good(rows[i].bad, strlen(rows[i].bad)), "%s: not %s",
		   rows[i].format, rows[i].bad);
	}
	ok(!schema_is_ipv4("1.2.3.4\0", 8), "an address has no NUL");
}

/* RFC 3986, section 5.4, and what it leaves to us. */
static void test_uris(void)
{
	static const char base[] = "http://a/b/c/d;p?q";
	static const struct {
		const char *base, *ref, *want;
	} rows[] = {
	    {base, "g:h", "g:h"},
	    {base, "g", "http://a/b/c/g"},
	    {base, "./g", "http://a/b/c/g"},
	    {base, "g/", "http://a/b/c/g/"},
	    {base, "/g", "http://a/g"},
	    {base, "//g", "http://g"},
	    {base, "?y", "http://a/b/c/d;p?y"},
	    {base, "g?y", "http://a/b/c/g?y"},
	    {base, "#s", "http://a/b/c/d;p?q"},
	    {base, "g#s", "http://a/b/c/g"},
	    {base, ";x", "http://a/b/c/;x"},
	    {base, "", "http://a/b/c/d;p?q"},
	    {base, ".", "http://a/b/c/"},
	    {base, "..", "http://a/b/"},
	    {base, "../g", "http://a/b/g"},
	    {base, "../..", "http://a/"},
	    {base, "../../g", "http://a/g"},
	    {base, "../../../g", "http://a/g"},
	    {base, "/./g", "http://a/g"},
	    {base, "/../g", "http://a/g"},
	    {base, "g.", "http://a/b/c/g."},
	    {base, "..g", "http://a/b/c/..g"},
	    {base, "./g/.", "http://a/b/c/g/"},
	    {base, "g/../h", "http://a/b/c/h"},
	    {base, "g;x=1/../y", "http://a/b/c/y"},
	    {base, "g?y/../x", "http://a/b/c/g?y/../x"},
	    {"http://a", "g", "http://a/g"},
	    {"urn:a:b", "#x", "urn:a:b"},
	    {"", "a.json", "a.json"},
	    {"", "../a", "a"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *got = schema_uri_resolve(rows[i].base, rows[i].ref);

		is_str(got, rows[i].want, "'%s' at %s", rows[i].ref,
		       rows[i].base);
		free(got);
	}
}

int main(void)
{
	test_verdicts();
	test_errors();
	test_refusals();
	test_no_resolver();
	test_formats_annotate();
	test_secrets();
	test_all();
	test_time_bounds();
	test_size_bounds();
	test_schema_bounds();
	test_large_sets();
	test_patterns();
	test_long_subjects();
	test_formats();
	test_uris();
	for (size_t i = 0; i < ARRAY_LEN(remote_docs); i++)
		json_object_put(remote_docs[i]);
	return tap_done();
}
