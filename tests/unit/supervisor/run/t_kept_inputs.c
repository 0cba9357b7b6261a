/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_kept_inputs.c - the kept part of a run's inputs, and inputs which are never kept.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/record/run_row.h"
#include "tests/unit/tap.h"

static struct json_object *tree_of(const char *text)
{
	struct json_object *v = NULL;

	if (json_parse(&v, text, strlen(text), NULL) < 0)
		abort();
	return v;
}

/* For a schema: the kept part of {"a":{"b":1},"c":2}, and the dropped part. */
static const struct {
	const char *what, *schema, *open, *lack;
} cases[] = {
    {"what is marked",
     "{\"properties\":{\"c\":{\"type\":\"integer\",\"writeOnly\":true}}}",
     "{\"a\":{\"b\":1}}", "[\"c\"]"},
    {"false marks nothing", "{\"properties\":{\"c\":{\"writeOnly\":false}}}",
     "{\"a\":{\"b\":1},\"c\":2}", "[]"},
    {"what has something marked in it",
     "{\"properties\":{\"a\":{\"properties\":{\"b\":{\"writeOnly\":true}}}}}",
     "{\"c\":2}", "[\"a\"]"},
    {"in whatever part",
     "{\"properties\":{\"a\":{\"anyOf\":[true,{\"items\":{\"writeOnly\":true}}"
     "]}}}",
     "{\"c\":2}", "[\"a\"]"},
    {"what a $ref describes",
     "{\"$defs\":{\"s\":{\"writeOnly\":true}},\"properties\":{\"a\":{\"$ref\":"
     "\"#/$defs/s\"}}}",
     "{\"c\":2}", "[\"a\"]"},
    {"a definition that nothing names",
     "{\"$defs\":{\"s\":{\"writeOnly\":true}},\"properties\":{\"a\":true}}",
     "{\"a\":{\"b\":1},\"c\":2}", "[]"},
    {"a rule for all members that have no own",
     "{\"additionalProperties\":{\"writeOnly\":true},\"properties\":{\"a\":"
     "true}}",
     "{}", "[\"a\",\"c\"]"},
    {"a rule for all by their names",
     "{\"patternProperties\":{\"c\":{\"writeOnly\":true}}}", "{}",
     "[\"a\",\"c\"]"},
    {"a rule beside the properties",
     "{\"allOf\":[{\"properties\":{\"c\":{\"writeOnly\":true}}}]}", "{}",
     "[\"a\",\"c\"]"},
    {"a $ref of all", "{\"$ref\":\"#/$defs/x\"}", "{}", "[\"a\",\"c\"]"},
    {"all of it", "{\"writeOnly\":true}", "{}", "[\"a\",\"c\"]"},
    {"a schema that is none", "true", "{}", "[\"a\",\"c\"]"},
};

TEST(secrets)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_object *tree = tree_of("{\"a\":{\"b\":1},\"c\":2}");
		struct json_object *schema = tree_of(cases[i].schema);
		struct json_object *lack = json_object_new_array();
		struct json_object *open =
		    run_row_open_inputs(tree, schema, lack);

		is_str(json_text(open, NULL), cases[i].open, "%s: what stays",
		       cases[i].what);
		is_str(json_text(lack, NULL), cases[i].lack,
		       "%s: what is missing", cases[i].what);
		json_object_put(open);
		json_object_put(lack);
		json_object_put(schema);
		json_object_put(tree);
	}
}

/* The kept part of {"c":2}, 7 bytes, by the given bounds. */
static char *settled(bool secret, int64_t server, int64_t own)
{
	struct config config = {.keep_inputs_bytes = server};
	struct config_requestor section = {.keep_inputs_bytes = own};
	struct requestor q = {.name = (char *)"ada", .section = &section};
	struct json_object *schema =
	    tree_of("{\"properties\":{\"c\":{\"writeOnly\":true}}}");
	struct json_object *tree = tree_of("{\"c\":2}");
	struct template t = {.id = (char *)"echo",
			     .users = 1,
			     .secret = secret,
			     .inputs_json = schema};
	struct run *r = run_new(&q, &t);
	char *all;

	r->inputs = xstrdup("{\"c\":2}");
	r->inputs_len = strlen(r->inputs);
	run_row_keep_inputs(r, tree, &config);
	all = xasprintf("%s %s %s", r->kept.whole ? "whole" : "part",
			r->kept.text != NULL ? r->kept.text : "-",
			r->kept.lack != NULL ? r->kept.lack : "-");
	run_free(r);
	json_object_put(tree);
	json_object_put(schema);
	return all;
}

TEST(bounds)
{
	static const struct {
		bool secret;
		int64_t server, own;
		const char *kept, *what;
	} rows[] = {
	    {false, 7, 0, "whole - -", "as long as may be"},
	    {false, 6, 0,
	     "part - {\"bytes\":7,\"allowed\":6,\"whoCanRaise\":\"the "
	     "operator: keep_inputs_bytes in [limits]\"}",
	     "longer"},
	    {false, 0, 0,
	     "part - {\"bytes\":7,\"allowed\":0,\"whoCanRaise\":\"the "
	     "operator: keep_inputs_bytes in [limits]\"}",
	     "none may be"},
	    {false, 9, 6,
	     "part - {\"bytes\":7,\"allowed\":6,\"whoCanRaise\":\"the "
	     "operator: keep_inputs_bytes in [requestor \\\"ada\\\"]\"}",
	     "longer than its requestor's may be"},
	    {false, 6, 9,
	     "part - {\"bytes\":7,\"allowed\":6,\"whoCanRaise\":\"the "
	     "operator: keep_inputs_bytes in [limits]\"}",
	     "who has no more than the server has"},
	    {true, 7, 0, "part {} [\"c\"]", "a secret"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *kept =
		    settled(rows[i].secret, rows[i].server, rows[i].own);

		is_str(kept, rows[i].kept, "%s", rows[i].what);
		free(kept);
	}
}
