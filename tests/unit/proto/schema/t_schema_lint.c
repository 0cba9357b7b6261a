/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/schema/schema_lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "tests/unit/tap.h"

#define UNKNOWN(pointer, key, suggest)                                         \
	pointer ": \"" key "\" is no keyword of JSON Schema, so nothing is "   \
		"checked by it; did you mean \"" suggest "\"?\n"
#define LACKS(pointer, key)                                                    \
	pointer ": \"" key "\" is required, but is none of the properties"
#define FORMAT(pointer, name)                                                  \
	pointer ": \"" name "\" is no format of JSON Schema, so it says "      \
		"nothing"

static const struct {
	const char *name, *schema, *want; /* "!" before an error */
} cases[] = {
    {"true", "true", ""},
    {"an empty schema", "{}", ""},
    {"what is no schema", "7",
     "!: a schema is an object, true or false, and this is none of them\n"},
    {"a keyword that is misspelt", "{\"propertis\":{}}",
     UNKNOWN("/propertis", "propertis", "properties")},
    {"each of them", "{\"requird\":[],\"minLenght\":1}",
     UNKNOWN("/requird", "requird", "required")
	 UNKNOWN("/minLenght", "minLenght", "minLength")},
    {"one that is near to none", "{\"zebra\":1}",
     "/zebra: \"zebra\" is no keyword of JSON Schema, so nothing is checked "
     "by it; a name that begins with x- may be used for notes\n"},
    {"a property of that name", "{\"properties\":{\"propertis\":{}}}", ""},
    {"in a property",
     "{\"properties\":{\"a\":{\"items\":{\"typ\":\"string\"}}}}",
     UNKNOWN("/properties/a/items/typ", "typ", "type")},
    {"in an alternative", "{\"anyOf\":[true,{\"typ\":\"string\"}]}",
     UNKNOWN("/anyOf/1/typ", "typ", "type")},
    {"in what is nowhere used", "{\"$defs\":{\"a/b\":{\"typ\":1}}}",
     UNKNOWN("/$defs/a~1b/typ", "typ", "type")},
    {"no subschema: a value",
     "{\"default\":{\"typ\":1},\"const\":{\"typ\":1},\"enum\":[{\"typ\":1}],"
     "\"examples\":[{\"propertis\":1}]}",
     ""},
    {"notes",
     "{\"$comment\":\"c\",\"x-any\":1,\"enumNames\":[],\"title\":\"t\","
     "\"deprecated\":true,\"examples\":[]}",
     ""},
    {"an older dialect's", "{\"additionalItems\":true}",
     "/additionalItems: \"additionalItems\" is no keyword of JSON Schema, so "
     "nothing is checked by it; a name that begins with x- may be used for "
     "notes\n"},
    {"in that dialect",
     "{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
     "\"additionalItems\":true,\"items\":[{\"typ\":1}],"
     "\"dependencies\":{\"a\":[\"b\"],\"b\":{\"typ\":1}}}",
     UNKNOWN("/items/0/typ", "typ", "type")
	 UNKNOWN("/dependencies/b/typ", "typ", "type")},
    {"a dialect that nobody knows", "{\"$schema\":\"urn:x\",\"typ\":1}", ""},
    {"each keyword of a wrong shape",
     "{\"minimum\":\"a\",\"properties\":{\"b\":{\"type\":\"strin\"},"
     "\"c\":7},\"required\":\"a\"}",
     "!/minimum: \"minimum\" is \"a\"; it must be a number\n"
     "!/properties/b/type: \"type\" is \"strin\"; it must be array, boolean, "
     "integer, null, number, object or string, or an array of different ones "
     "of these\n"
     "!/properties/c: a schema is an object, true or false, and this is none "
     "of them\n"
     "!/required: \"required\" is \"a\"; it must be an array of different "
     "strings\n"},
    {"a format that is misspelt", "{\"format\":\"emial\"}",
     FORMAT("/format", "emial") "; did you mean \"email\"?\n"},
    {"one that is near to none", "{\"items\":{\"format\":\"zebra-stripes\"}}",
     FORMAT("/items/format", "zebra-stripes") "\n"},
    {"formats of the standard",
     "{\"anyOf\":[{\"format\":\"date-time\"},{\"format\":\"idn-hostname\"}]}",
     ""},
    {"a required name that is misspelt",
     "{\"properties\":{\"name\":{}},\"required\":[\"nmae\"]}",
     LACKS("/required/0", "nmae") "; did you mean \"name\"?\n"},
    {"one that is nowhere", "{\"required\":[\"a\"]}",
     LACKS("/required/0", "a") "\n"},
    {"one deep inside",
     "{\"properties\":{\"a\":{\"properties\":{\"b\":{}},\"required\":[\"b\","
     "\"a\"]}}}",
     LACKS("/properties/a/required/1", "a") "\n"},
    {"one whose property is null's",
     "{\"properties\":{\"a\":true},\"required\":[\"a\"]}", ""},
    {"alternatives of the whole's properties",
     "{\"properties\":{\"a\":{},\"b\":{}},\"oneOf\":[{\"required\":[\"a\"]},"
     "{\"required\":[\"b\"]}]}",
     ""},
    {"the whole's, of alternatives' properties",
     "{\"anyOf\":[{\"properties\":{\"a\":{}}}],\"required\":[\"a\"]}", ""},
    {"a condition's",
     "{\"properties\":{\"a\":{}},\"if\":{\"required\":[\"a\"]},\"then\":"
     "{\"required\":[\"b\"],\"properties\":{\"b\":{}}},\"else\":"
     "{\"required\":[\"c\"]}}",
     LACKS("/else/required/0", "c") "\n"},
    {"what may be elsewhere",
     "{\"anyOf\":[{\"$ref\":\"#/x\",\"required\":[\"a\"]}]}", ""},
    {"or of any name",
     "{\"items\":{\"required\":[\"a\"],\"patternProperties\":{\"a\":{}}},"
     "\"contains\":{\"required\":[\"a\"],\"additionalProperties\":{}}}",
     ""},
    {"but not if the others are just let be",
     "{\"required\":[\"a\"],\"additionalProperties\":false}",
     LACKS("/required/0", "a") "\n"},
};

static bool note(void *arg, const struct schema_remark *r)
{
	buf_printf(arg, "%s%s: %s\n", r->error ? "!" : "", r->pointer, r->text);
	return true;
}

static char *lint(const char *schema)
{
	struct json_object *doc = NULL;
	struct buf said = {0};

	if (json_parse(&doc, schema, strlen(schema), NULL) < 0)
		return xstrdup("the test's own schema is not JSON");
	schema_lint(doc, note, &said);
	json_object_put(doc);
	return buf_take(&said, NULL);
}

static bool count(void *arg, const struct schema_remark *r)
{
	(void)r;
	return ++*(int *)arg < 3;
}

/* Hostile: as many as fit, each looked for among all. */
static void large(void)
{
	struct buf b = {0};
	struct json_object *doc = NULL;
	int n = 0;
	char *text;

	buf_add_str(&b, "{\"properties\":{\"\":{}");
	for (int i = 0; i < 20000; i++)
		buf_printf(&b, ",\"p%d\":{\"typ%d\":1}", i, i);
	buf_add_str(&b, "},\"required\":[\"q\"");
	for (int i = 0; i < 20000; i++)
		buf_printf(&b, ",\"q%d\"", i);
	buf_add_str(&b, "]}");
	text = buf_take(&b, NULL);
	is_int(json_parse(&doc, text, strlen(text), NULL), 0, "a large one");
	schema_lint(doc, count, &n);
	is_int(n, 3, "stops when it is told to");
	json_object_put(doc);
	free(text);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *said = lint(cases[i].schema);

		is_str(said, cases[i].want, "%s", cases[i].name);
		free(said);
	}
	large();
	return tap_done();
}
