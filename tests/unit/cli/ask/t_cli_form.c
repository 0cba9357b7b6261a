/* SPDX-License-Identifier: Apache-2.0 */
/* t_cli_form.c - the fields of a form: their words, and lines that were typed. */
#include "cli/ask/form.h"

#include "base/mem.h"
#include "tests/unit/tap_json.h"

static const char schema_text[] =
    "{\"type\":\"object\",\"required\":[\"s\",\"c\"],\"$defs\":{\"p\":"
    "{\"type\":\"integer\",\"maximum\":9}},\"properties\":{"
    "\"s\":{\"type\":\"string\",\"minLength\":2,\"maxLength\":5},"
    "\"any\":{},\"mail\":{\"type\":\"string\",\"format\":\"email\"},"
    "\"day\":{\"type\":\"string\",\"format\":\"date\"},"
    "\"pat\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"},"
    "\"i\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":150},"
    "\"x\":{\"type\":\"number\",\"minimum\":0.5},"
    "\"ref\":{\"$ref\":\"#/$defs/p\"},\"b\":{\"type\":\"boolean\"},"
    "\"e\":{\"type\":\"string\",\"enum\":[\"10\",\"dark blue\",\"c\"]},"
    "\"l\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"],\"enumNames\":[\"First\","
    "\"Second\"]},"
    "\"c\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"r\",\"title\":\"Dark "
    "red\"},{\"const\":\"g\",\"title\":\"Green\"}]},"
    "\"m\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,\"items\":{\"type\":"
    "\"string\",\"enum\":[\"a\",\"b b\",\"c\"]}},"
    "\"t\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"r\",\"title\":"
    "\"Dark red\"},{\"const\":\"g\",\"title\":\"Green\"}]}},"
    "\"last\":{\"enum\":[\"2\",\"x\"]},"
    "\"level\":{\"enum\":[1,\"two\",null]},"
    "\"nums\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},"
    "\"maxItems\":2},"
    "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"o\":{\"type\":\"object\",\"required\":[\"z\"]}}}";

static const struct {
	const char *key, *words;
} described[] = {
    {"s", "a text, 2 to 5 characters"},
    {"mail", "an e-mail address"},
    {"pat", "a text that matches ^[a-z]+$"},
    {"i", "an integer, 1 to 150"},
    {"x", "a number, at least 0.5"},
    {"ref", "an integer, at most 9"},
    {"b", "yes or no"},
    {"e", "a number, 1 to 3"},
    {"m", "numbers of 1 to 3 with blanks between, 1 to 2 of them"},
    {"list", "values with commas between, or a JSON array"},
    {"nums", "values with commas between, or a JSON array, at most 2 of them"},
    {"o", "a JSON object"},
};

TEST(words)
{
	struct json_object *schema = parse(schema_text);

	for (size_t i = 0; i < ARRAY_LEN(described); i++) {
		struct form_field f;
		struct buf b = {0};

		form_field_init(&f, schema, described[i].key);
		form_describe(&b, &f);
		buf_add(&b, "", 1);
		is_str(buf_data(&b), described[i].words, "%s in words",
		       described[i].key);
		buf_fini(&b);
	}
	json_object_put(schema);
}

static const struct {
	const char *key, *line;
	const char *want;   /* JSON; NULL: refused */
	const char *errmsg; /* part of the sentence */
} lines[] = {
    {"s", "Ada", "\"Ada\"", NULL},
    {"s", "7777", "\"7777\"", NULL},
    {"s", "A", NULL, "it has to be a string of at least 2 characters"},
    {"s", "Adelaide", NULL, "at most 5"},
    {"s", "\xff\xfe", NULL, "not UTF-8"},
    {"any", "x y", "\"x y\"", NULL},
    {"any", "[1]", "[1]", NULL},
    {"mail", "a@example.org", "\"a@example.org\"", NULL},
    {"mail", "nobody", NULL, "it has to be "},
    {"day", "2026-02-29", NULL, "it has to be "},
    {"pat", "abc", "\"abc\"", NULL},
    {"pat", "ABC", NULL, "it has to be "},
    {"i", "30", "30", NULL},
    {"i", "3.5", NULL, "it has to be an integer, 1 to 150"},
    {"i", "151", NULL, "at most 150"},
    {"i", "many", NULL, "it has to be an integer"},
    {"x", "0.5", "0.5", NULL},
    {"x", "1e999", NULL, "it has to be a number"},
    {"ref", "9", "9", NULL},
    {"ref", "10", NULL, "at most 9"},
    {"b", "y", "true", NULL},
    {"b", "FALSE", "false", NULL},
    {"b", "1", NULL, "it has to be yes or no"},
    {"e", "1", "\"10\"", NULL},
    {"e", "10", "\"10\"", NULL},
    {"e", "dark blue", "\"dark blue\"", NULL},
    {"e", "0", NULL, "a number, 1 to 3"},
    {"e", "4", NULL, "a number, 1 to 3"},
    {"e", "99999999999999999999", NULL, "a number, 1 to 3"},
    {"l", "Second", "\"b\"", NULL},
    {"l", "a", "\"a\"", NULL},
    {"c", "2", "\"g\"", NULL},
    {"c", "Dark red", "\"r\"", NULL},
    {"c", "red", NULL, "a number, 1 to 2"},
    {"c", "2x", NULL, "a number, 1 to 2"},
    {"m", "1 3", "[\"a\",\"c\"]", NULL},
    {"m", "b b, 1", "[\"b b\",\"a\"]", NULL},
    {"m", "1 2 3", NULL, "it has to be "},
    {"m", "1 4", NULL, "numbers of 1 to 3"},
    {"m", ",", NULL, "it has to be "},
    {"t", "Dark red,2", "[\"r\",\"g\"]", NULL},
    {"last", "2", "\"x\"", NULL},
    {"level", "1", "1", NULL},
    {"level", "two", "\"two\"", NULL},
    {"level", "3", "null", NULL},
    {"list", "[\"a\",\"b\"]", "[\"a\",\"b\"]", NULL},
    {"list", "a", "[\"a\"]", NULL},
    {"list", "h1,h2 h3 , ,h4", "[\"h1\",\"h2 h3\",\"h4\"]", NULL},
    {"list", "[\"a\",", NULL, "a JSON array"},
    {"list", "[1]", NULL, "string"},
    {"list", "1, 2", "[\"1\",\"2\"]", NULL},
    {"nums", "1, 2", "[1,2]", NULL},
    {"nums", "1 2", NULL, "integer"},
    {"nums", "1,2,3", NULL, "fewer items"},
    {"o", "{\"z\":1}", "{\"z\":1}", NULL},
    {"o", "{}", NULL, "z"},
    {"o", "z", NULL, "a JSON object"},
};

TEST(typed)
{
	struct json_object *schema = parse(schema_text);

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct json_object *v = NULL;
		struct form_field f;
		char errmsg[512] = "";
		int rc;

		form_field_init(&f, schema, lines[i].key);
		rc = form_take(&f, lines[i].line, &v, errmsg, sizeof(errmsg));
		if (lines[i].want != NULL) {
			is_str(rc == 0 ? json_text(v, NULL) : errmsg,
			       lines[i].want, "%s: %s", lines[i].key,
			       lines[i].line);
		} else if (!ok(rc < 0 &&
				   strstr(errmsg, lines[i].errmsg) != NULL,
			       "refused: %s: line %zu", lines[i].key, i)) {
			printf("# %s\n", rc < 0 ? errmsg : json_text(v, NULL));
		}
		json_object_put(v);
	}
	json_object_put(schema);
}

TEST(given)
{
	struct json_object *schema = parse(schema_text);
	struct json_object *o = json_object_new_object();
	struct form_field f;
	char errmsg[512];

	form_field_init(&f, schema, "m");
	ok(f.several && !f.required && !f.secret,
	   "a field of several values is neither required nor secret");
	is_int(form_put(&f, o, false, "a", errmsg, sizeof(errmsg)), 0,
	       "the first value is put");
	is_int(form_put(&f, o, false, "3", errmsg, sizeof(errmsg)), 0,
	       "a second value is put by number");
	is_str(json_text(o, NULL), "{\"m\":[\"a\",\"c\"]}",
	       "an array has both values");
	form_field_init(&f, schema, "i");
	is_int(form_put(&f, o, true, "7", errmsg, sizeof(errmsg)), 0,
	       "a value given as JSON is put");
	is_int(
	    form_put(&f, o, false, "@/does/not/exist", errmsg, sizeof(errmsg)),
	    -22, "a file that is not there");
	is_str(json_text(o, NULL), "{\"m\":[\"a\",\"c\"],\"i\":7}",
	       "leaves all as it was");
	json_object_put(o);
	json_object_put(schema);
}
