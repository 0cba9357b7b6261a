/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas as short types. */
#include "supervisor/packages/search/signature.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "tests/unit/tap.h"

/* SCHEMA is in single quotes; PROPS: what stands for the properties. */
static const struct {
	const char *schema, *text;
} rows[] = {
    {"{}", "unknown"},
    {"true", "unknown"},
    {"null", "unknown"},
    {"{'type':'object'}", "object"},
    {"{'type':'object','additionalProperties':false}", "{}"},
    {"{'type':'string'}", "string"},
    {"{'type':['string','null']}", "string | null"},
    {"{'type':'integer','minimum':1}", "integer"},
    {"{'type':'array'}", "unknown[]"},
    {"{'type':'array','items':{'type':'number'}}", "number[]"},
    {"{'type':'array','items':{'enum':['a','b']}}", "Array<\"a\" | \"b\">"},
    {"{'type':'array','prefixItems':[{'type':'string'},{}]}",
     "[string, unknown]"},
    {"{'const':null}", "null"},
    {"{'const':'x'}", "\"x\""},
    {"{'enum':['a',1,true,null,1.5,[],{}]}",
     "\"a\" | 1 | true | null | 1.5 | [] | {}"},
    {"{'enum':[]}", "never"},
    {"{'anyOf':[{'type':'string'},{'type':'integer'}]}", "string | integer"},
    {"{'oneOf':[{'type':'string'},{'required':['a']}]}", "string"},
    {"{'allOf':[{'$ref':'#/$defs/a'},{'type':'object'}],"
     "'$defs':{'a':{'type':'string'}}}",
     "string & object"},
    {"{'type':'object','properties':{'a':{'type':'string'},"
     "'b':{'type':'boolean'}},'required':['a']}",
     "{\n  a: string;\n  b?: boolean;\n}"},
    {"{'properties':{'a':{'type':'integer','default':20,"
     "'description':'How  many\\nvalues'}}}",
     "{\n  a?: integer; // = 20: How many values\n}"},
    {"{'properties':{'a':{'type':'string','default':'x'}}}",
     "{\n  a?: string; // = \"x\"\n}"},
    {"{'properties':{'a':{'description':'*/ x // y'}}}",
     "{\n  a?: unknown; // */ x // y\n}"},
    {"{'properties':{'a':{'type':'object','required':['b'],'properties':"
     "{'b':{'type':'string'}},'description':'in it'}}}",
     "{\n  a?: {\n    b: string;\n  }; // in it\n}"},
    {"{'properties':{'a b':{},'1':{},'\\'x':{},'$ok':{},'':{}}}",
     "{\n  \"a b\"?: unknown;\n  \"1\"?: unknown;\n  \"'x\"?: unknown;\n"
     "  $ok?: unknown;\n  \"\"?: unknown;\n}"},
    {"{'properties':{'a\\n; b: string':{},'q\\\\\\\"z':{},'\\u202e\\u0001':{}}}",
     "{\n  \"a\\u000a; b: string\"?: unknown;\n  \"q\\\\\\\"z\"?: unknown;\n"
     "  \"\\u202e\\u0001\"?: unknown;\n}"},
    {"{'properties':{'a':{'description':'x\\u2028y\\u0000z\\u001b[2J'}}}",
     "{\n  a?: unknown; // x y z [2J\n}"},
    {"{'properties':{'a':{'description':'One. Two.'}}}",
     "{\n  a?: unknown; // One.\n}"},
    {"{'properties':{'a':{'description':'A sentence which is longer than the "
     "hundred bytes that a comment may have, and so is cut after a word'}}}",
     "{\n  a?: unknown; // A sentence which is longer than the hundred bytes "
     "that a comment may have, and so is cut after a…\n}"},
    {"{'properties':{'a':false,'b':true}}", "{\n  b?: unknown;\n}"},
    {"{'type':'object','additionalProperties':{'type':'string'}}",
     "{[name: string]: string}"},
    {"{'properties':{'a':{}},'additionalProperties':{'type':'string'}}",
     "{\n  a?: unknown;\n  [name: string]: string;\n}"},
    {"{'type':'object','properties':{'a':{}},'anyOf':[{'required':['a']},"
     "{'properties':{'c':{}}}]}",
     "{\n  a?: unknown;\n} & ({\n  c?: unknown;\n})"},
    {"{'$ref':'#/$defs/none'}", "unknown"},
    {"{'$ref':'https://example.com/x'}", "unknown"},
    {"{'$ref':'#'}", "unknown"},
    {"{'type':[null,3]}", "unknown | unknown"},
    {"{'properties':{'a':{'$ref':'#/$defs/t'}},'$defs':{'t':"
     "{'type':'array','items':{'$ref':'#/$defs/t'}}}}",
     "{\n  a?: Array<Array<unknown>>;\n}"},
};

static struct json_object *read_schema(const char *text)
{
	struct json_object *v = NULL;
	char *copy = strdup(text);

	for (char *q = copy; (q = strchr(q, '\'')) != NULL; q++)
		if (q > copy && q[-1] == '\\')
			memmove(q - 1, q, strlen(q) + 1);
		else
			*q = '"';
	ok(json_parse(&v, copy, strlen(copy), NULL) == 0, "%s is JSON", copy);
	free(copy);
	return v;
}

TEST(rows)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct json_object *v = read_schema(rows[i].schema);
		char *got = signature_of(v);

		is_str(got, rows[i].text, "the type of %s", rows[i].schema);
		free(got);
		json_object_put(v);
	}
}

static char *of_text(const char *text)
{
	struct json_object *v = NULL;
	char *got;

	json_parse(&v, text, strlen(text), NULL);
	got = signature_of(v);
	json_object_put(v);
	return got;
}

/* An object of N properties with DESCRIPTION. */
static char *properties(size_t n, const char *description)
{
	struct buf b = {0};

	buf_add_str(&b, "{\"properties\":{");
	for (size_t i = 0; i < n; i++)
		buf_printf(&b,
			   "%s\"p%zu\":{\"type\":\"string\",\"description\":"
			   "\"%s\"}",
			   i > 0 ? "," : "", i, description);
	buf_add_str(&b, "}}");
	return buf_take(&b, NULL);
}

TEST(bounds)
{
	static const char words[] =
	    "sixty bytes of words for a description which is not so short";
	char *text = properties(50, words), *got = of_text(text), *long_words;

	ok(strlen(got) <= SIGNATURE_MAX &&
	       strstr(got, "p49?: string;") != NULL &&
	       strstr(got, "sixty") == NULL,
	   "comments go when they have no room");
	free(got);
	free(text);
	text = properties(5000, words);
	got = of_text(text);
	ok(strlen(got) <= SIGNATURE_MAX &&
	       strstr(got, "p0?: string;") != NULL &&
	       strcmp(got + strlen(got) - strlen(";\n  …\n}"), ";\n  …\n}") ==
		   0,
	   "what has no room ends with a whole line and a mark");
	free(got);
	free(text);
	long_words = malloc(100001);
	for (size_t i = 0; i < 100000; i += 2)
		memcpy(long_words + i, "é", 2);
	long_words[100000] = '\0';
	text = properties(1, long_words);
	got = of_text(text);
	ok(strlen(got) < 200 && utf8_ok(got, strlen(got)),
	   "a long description is cut after a whole character");
	free(got);
	free(text);
	free(long_words);
}

/* A hundred properties, each a reference to a schema of a hundred thousand. */
TEST(hostile)
{
	struct buf b = {0};
	char *text, *got;

	buf_add_str(&b, "{\"properties\":{");
	for (size_t i = 0; i < 100; i++)
		buf_printf(&b, "%s\"p%zu\":{\"$ref\":\"#/$defs/a\"}",
			   i > 0 ? "," : "", i);
	buf_add_str(&b, "},\"$defs\":{\"a\":{\"anyOf\":[{}");
	for (size_t i = 0; i < 100000; i++)
		buf_add_str(&b, ",{}");
	buf_add_str(&b, "]}}}");
	text = buf_take(&b, NULL);
	got = of_text(text);
	ok(strlen(got) <= SIGNATURE_MAX, "a schema of many steps is bounded");
	free(got);
	free(text);
	got = of_text("{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"},"
		      "{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}");
	ok(strlen(got) <= SIGNATURE_MAX, "a schema of itself is bounded");
	free(got);
}
