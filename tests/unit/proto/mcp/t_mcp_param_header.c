/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_mcp_param_header.c - "x-mcp-header" in a schema, and the calls with such header
 * fields.
 */
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "proto/mcp/mcp_param_header.h"
#include "tests/unit/tap_json.h"

/* ---- schemas ---- */

#define X(name) "\"x-mcp-header\":\"" name "\""
#define OBJECT(properties)                                                     \
	"{\"type\":\"object\",\"properties\":{" properties "}}"
#define STRING(name) "{\"type\":\"string\"," X(name) "}"
#define TEN "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN

static const struct {
	const char *schema;
	/* "name=place ..."; NULL: the schema is refused */
	const char *found;
	const char *pointer;  /* the place of the error */
	const char *expected; /* a part of the text about valid schemas */
	const char *name;
} schemas[] = {
    {OBJECT("\"a\":" STRING("Region")), "Mcp-Param-Region=params.arguments/a ",
     NULL, NULL, "a string"},
    {OBJECT("\"a\":{\"type\":\"integer\"," X(
	 "A") "},"
	      "\"b\":{\"type\":\"boolean\"," X(
		  "B") "},\"c\":{\"type\":\"string\"}"),
     "Mcp-Param-A=params.arguments/a Mcp-Param-B=params.arguments/b ", NULL,
     NULL, "an integer and a boolean"},
    {OBJECT("\"a\":" OBJECT("\"b/c\":" OBJECT("\"d\":" STRING("D")))),
     "Mcp-Param-D=params.arguments/a/b~1c/d ", NULL, NULL, "deep within"},
    {OBJECT("\"properties\":" STRING("P")),
     "Mcp-Param-P=params.arguments/properties ", NULL, NULL,
     "a property whose name is a keyword"},
    {OBJECT("\"x-mcp-header\":{\"type\":\"string\"}"), "", NULL, NULL,
     "a property of that name is none"},
    {"{\"default\":{" X("A") "},\"enum\":[{" X("B") "}],\"examples\":[{" X(
	 "C") "}],\"const\":{" X("D") "}}",
     "", NULL, NULL, "what is a value is no schema"},
    {"true", "", NULL, NULL, "no object"},
    {OBJECT("\"a\":" STRING(SIXTY "0123")),
     "Mcp-Param-" SIXTY "0123=params.arguments/a ", NULL, NULL,
     "a name of 64 characters"},
    {OBJECT("\"a\":" STRING(SIXTY "01234")), NULL, "/properties/a/x-mcp-header",
     "1 to 64", "a name of 65"},
    {OBJECT("\"a\":" STRING("")), NULL, "/properties/a/x-mcp-header", "1 to 64",
     "an empty name"},
    {OBJECT("\"a\":" STRING("a b")), NULL, "/properties/a/x-mcp-header",
     "1 to 64", "a name with a blank"},
    {OBJECT("\"a\":" STRING("a:b")), NULL, "/properties/a/x-mcp-header",
     "1 to 64", "a name with a colon"},
    {OBJECT("\"a\":" STRING("a\\r\\nb")), NULL, "/properties/a/x-mcp-header",
     "1 to 64", "a name with an end of a line"},
    {OBJECT("\"a\":" STRING("a\\u0000")), NULL, "/properties/a/x-mcp-header",
     "1 to 64", "a name with a NUL"},
    {OBJECT("\"a\":" STRING("\xc3\xa9")), NULL, "/properties/a/x-mcp-header",
     "1 to 64", "a name beyond ASCII"},
    {OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":5}"), NULL,
     "/properties/a/x-mcp-header", "1 to 64", "a number"},
    {OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":null}"), NULL,
     "/properties/a/x-mcp-header", "1 to 64", "null"},
    {OBJECT("\"a\":{\"type\":\"number\"," X("A") "}"), NULL,
     "/properties/a/x-mcp-header", "whose type is", "at a number"},
    {OBJECT("\"a\":{\"type\":[\"string\",\"null\"]," X("A") "}"), NULL,
     "/properties/a/x-mcp-header", "whose type is", "at one of two types"},
    {OBJECT("\"a\":{" X("A") "}"), NULL, "/properties/a/x-mcp-header",
     "whose type is", "at one without a type"},
    {OBJECT("\"a\":{\"type\":\"object\"," X("A") "}"), NULL,
     "/properties/a/x-mcp-header", "whose type is", "at an object"},
    {"{\"type\":\"string\"," X("A") "}", NULL, "/x-mcp-header", "leads",
     "at the root"},
    {OBJECT("\"a\":{\"type\":\"array\",\"items\":" STRING("A") "}"), NULL,
     "/properties/a/items/x-mcp-header", "leads", "within items"},
    {OBJECT("\"a\":{\"prefixItems\":[true," STRING("A") "]}"), NULL,
     "/properties/a/prefixItems/1/x-mcp-header", "leads", "within prefixItems"},
    {"{\"oneOf\":[" OBJECT("\"a\":" STRING("A")) "]}", NULL,
     "/oneOf/0/properties/a/x-mcp-header", "leads", "within oneOf"},
    {"{\"if\":" OBJECT("\"a\":" STRING("A")) "}", NULL,
     "/if/properties/a/x-mcp-header", "leads", "within if"},
    {"{\"not\":" OBJECT("\"a\":" OBJECT("\"b\":" STRING("A"))) "}", NULL,
     "/not/properties/a/properties/b/x-mcp-header", "leads", "within not"},
    {"{\"$defs\":{\"r\":" STRING("A") "},\"properties\":{\"a\":{\"$ref\":"
				      "\"#/$defs/r\"}}}",
     NULL, "/$defs/r/x-mcp-header", "leads", "by $ref"},
    {"{\"patternProperties\":{\"^a\":" STRING("A") "}}", NULL,
     "/patternProperties/^a/x-mcp-header", "leads", "within patternProperties"},
    {"{\"additionalProperties\":" STRING("A") "}", NULL,
     "/additionalProperties/x-mcp-header", "leads",
     "within additionalProperties"},
    {OBJECT("\"a\":" STRING("Same") ",\"b\":" STRING("sAME")), NULL,
     "/properties/b/x-mcp-header", "no other property has",
     "twice the same, but for its case"},
    {OBJECT("\"a\":" STRING("Same") ",\"b\":" OBJECT("\"c\":" STRING("Same"))),
     NULL, "/properties/b/properties/c/x-mcp-header", "no other property has",
     "the same once more below"},
    {OBJECT("\"a\":{\"type\":\"string\",\"writeOnly\":true," X("A") "}"), NULL,
     "/properties/a/x-mcp-header", "not writeOnly", "at a secret"},
    {"{\"properties\":{\"a\":{\"writeOnly\":true,\"properties\":{\"b\":" STRING(
	 "A") "}}}}",
     NULL, "/properties/a/properties/b/x-mcp-header", "not writeOnly",
     "within a secret"},
    {"{\"items\":{" X("A") "},\"properties\":{\"a\":{" X("B") "}}}", NULL,
     "/properties/a/x-mcp-header", "whose type is", "the first of two is told"},
};

/* "name=where " of each, the caller's. */
static char *list_of(const struct mcp_param_headers *h)
{
	char *list = xstrdup("");

	for (size_t i = 0; i < h->n; i++) {
		char *longer = xasprintf("%s%s=%s ", list, h->list[i].name,
					 h->list[i].where);

		free(list);
		list = longer;
	}
	return list;
}

TEST(schemas)
{
	for (size_t i = 0; i < ARRAY_LEN(schemas); i++) {
		struct json_object *schema = parse(schemas[i].schema);
		struct mcp_param_headers h;
		struct pointer_error f;
		bool good = mcp_param_headers_read(&h, schema, &f);
		char *list = list_of(&h);

		is_int(good, schemas[i].found != NULL, "a schema: %s",
		       schemas[i].name);
		is_str(list, good ? schemas[i].found : "", "%s: what is found",
		       schemas[i].name);
		if (!good) {
			is_str(f.pointer, schemas[i].pointer, "%s: where",
			       schemas[i].name);
			ok(schemas[i].expected != NULL &&
			       strstr(f.expected, schemas[i].expected) != NULL,
			   "%s: what would pass", schemas[i].name);
		}
		free(list);
		mcp_param_headers_fini(&h);
		json_object_put(schema);
	}
}

/* N properties with different header names. */
static struct json_object *many(int n)
{
	struct json_object *all = json_object_new_object();
	struct json_object *schema = json_object_new_object();

	json_object_object_add(schema, "properties", all);
	for (int i = 0; i < n; i++) {
		char *text = xasprintf("{\"type\":\"string\",\"x-mcp-header\":"
				       "\"H%d\"}",
				       i);
		char *key = xasprintf("p%d", i);

		json_object_object_add(all, key, parse(text));
		free(key);
		free(text);
	}
	return schema;
}

TEST(many)
{
	struct json_object *most = many(MCP_PARAM_HEADERS_MAX);
	struct json_object *more = many(MCP_PARAM_HEADERS_MAX + 1);
	struct mcp_param_headers h;
	struct pointer_error f;

	ok(mcp_param_headers_read(&h, most, &f),
	   "the largest number of headers is accepted");
	is_int(h.n, MCP_PARAM_HEADERS_MAX,
	       "all headers of the largest schema are read");
	mcp_param_headers_fini(&h);
	ok(!mcp_param_headers_read(&h, more, &f),
	   "a schema with one header too many is refused");
	is_str(f.pointer, "/properties/p16/x-mcp-header",
	       "the error points to the first header too many");
	is_str(f.expected, "at 16 properties at most",
	       "the error names the largest number of headers");
	json_object_put(more);
	json_object_put(most);
}

/* ---- calls ---- */

#define SCHEMA                                                                 \
	OBJECT("\"region\":" STRING("Region") ",\"at\":" OBJECT(               \
	    "\"n\":{\"type\":\"integer\"," X("N") "}"))

struct field {
	const char *name, *value;
};

static const struct {
	const char *arguments;
	struct field fields[2];
	/* NULL: fields and arguments agree; or a part of the error's sentence */
	const char *says;
	const char *name;
} calls[] = {
    {"{\"region\":\"eu\",\"at\":{\"n\":3}}",
     {{"mcp-param-region", "eu"}, {"MCP-PARAM-N", "3.0"}},
     NULL,
     "both are said"},
    {"{\"region\":\"eu\"}", {{"mcp-param-region", "eu"}}, NULL, "one is"},
    {"{}", {{NULL, NULL}}, NULL, "neither"},
    {"null", {{NULL, NULL}}, NULL, "no arguments"},
    {"{\"region\":null,\"at\":{\"n\":null}}",
     {{NULL, NULL}},
     NULL,
     "null is not said"},
    {"{\"region\":\"eu\"}",
     {{NULL, NULL}},
     "Mcp-Param-Region is missing",
     "a value without its field"},
    {"{\"region\":\"eu\"}",
     {{"mcp-param-region", "us"}},
     "Mcp-Param-Region says something else",
     "another value"},
    {"{\"region\":\"eu\"}",
     {{"mcp-param-region", "=?base64?ZXU?="}},
     "Mcp-Param-Region is wrapped",
     "a value that is malformed"},
    {"{}",
     {{"mcp-param-region", "us"}},
     "has to leave it out",
     "a field without a value, by which something may have been routed"},
    {"{\"at\":{\"n\":3}}",
     {{"mcp-param-n", "4"}},
     "what params.arguments/at/n says",
     "where it stands in the body"},
    {"{\"at\":[{\"n\":3}]}", {{NULL, NULL}}, NULL, "a list is not gone into"},
    {"{\"at\":{\"n\":{}}}",
     {{NULL, NULL}},
     NULL,
     "what cannot be said is for the schema to refuse"},
    {"{\"n\":3,\"region\":\"eu\"}",
     {{"mcp-param-region", "eu"}},
     NULL,
     "a property of that name elsewhere is another"},
};

static const char *lookup(void *arg, const char *name)
{
	const struct field *fields = arg;

	for (size_t i = 0; i < 2; i++)
		if (fields[i].name != NULL &&
		    strcasecmp(fields[i].name, name) == 0)
			return fields[i].value;
	return NULL;
}

TEST(calls)
{
	struct json_object *schema = parse(SCHEMA);
	struct mcp_param_headers h;
	struct pointer_error f;

	ok(mcp_param_headers_read(&h, schema, &f), "a schema for calls");
	json_object_put(schema);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct json_object *arguments = parse(calls[i].arguments);
		char errmsg[300] = "";
		bool same = mcp_param_headers_check(&h, arguments, lookup,
						    (void *)calls[i].fields,
						    errmsg, sizeof(errmsg));

		is_int(same, calls[i].says == NULL, "MCP 2026 12: a call: %s",
		       calls[i].name);
		if (!same && calls[i].says != NULL &&
		    !ok(strstr(errmsg, calls[i].says) != NULL, "%s: why",
			calls[i].name))
			printf("# %s\n", errmsg);
		json_object_put(arguments);
	}
	mcp_param_headers_fini(&h);
}
