/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_run_files.c - where inputs are files, by their schema; what callers may give
 * for one; what it is called; and what the template gets in its place.
 */
#include "supervisor/packages/inputs/run_files.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/schema/schema.h"
#include "supervisor/packages/inputs/file_name.h"
#include "tests/unit/tap.h"

#define FILE_AT "{\"type\":\"string\",\"format\":\"paddock-file\"}"
#define ART "art_2al2bqigrplitgus3wzzcuxowk"

static struct json_object *tree(const char *text)
{
	struct json_object *o = NULL;

	if (json_parse(&o, text, strlen(text), NULL) < 0)
		printf("# no JSON: %s\n", text);
	return o;
}

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"f\":" FILE_AT
    ",\"name\":{\"type\":\"string\"},\"list\":{\"items\":" FILE_AT
    "},\"any\":{\"additionalProperties\":" FILE_AT
    ",\"properties\":{\"plain\":{\"type\":\"string\"}}},"
    "\"of\":{\"$ref\":\"#/$defs/a~1b\"},\"one\":{\"anyOf\":[{\"type\":"
    "\"integer\"}," FILE_AT "]},\"loop\":{\"$ref\":\"#/properties/loop\"},"
    "\"deep\":{\"items\":{\"properties\":{\"x\":" FILE_AT "}}},"
    "\"says\":{\"default\":{\"format\":\"paddock-file\"}}},"
    "\"$defs\":{\"a/b\":" FILE_AT "}}";

static const struct {
	const char *inputs, *names, *gets;
} good[] = {
    {"{\"f\":\"text\"}", "f", "{\"f\":\"in/f\"}"},
    {"{\"name\":\"x\"}", "", NULL},
    {"{\"f\":{\"text\":\"t\",\"name\":\"a.txt\"}}", "a.txt",
     "{\"f\":\"in/a.txt\"}"},
    {"{\"f\":{\"base64\":\"AAE=\"}}", "f", "{\"f\":\"in/f\"}"},
    {"{\"f\":{\"$artifact\":\"" ART "\"}}", "its name",
     "{\"f\":\"in/its name\"}"},
    {"{\"f\":{\"$artifact\":\"" ART "\",\"name\":\"mine\"}}", "mine",
     "{\"f\":\"in/mine\"}"},
    {"{\"list\":[\"a\",\"b\"]}", "list list-2",
     "{\"list\":[\"in/list\",\"in/list-2\"]}"},
    {"{\"any\":{\"x/../y.csv\":\"1\",\"plain\":\"2\",\"~\":\"3\"}}", "y.csv ~",
     "{\"any\":{\"x/../y.csv\":\"in/y.csv\",\"plain\":\"2\",\"~\":\"in/~\"}}"},
    {"{\"of\":\"t\",\"f\":{\"text\":\"u\",\"name\":\"of\"}}", "of of-2",
     "{\"of\":\"in/of\",\"f\":\"in/of-2\"}"},
    {"{\"one\":3}", "", NULL},
    {"{\"one\":\"t\"}", "one", "{\"one\":\"in/one\"}"},
    {"{\"deep\":[{\"x\":\"t\",\"y\":\"u\"}]}", "x",
     "{\"deep\":[{\"x\":\"in/x\",\"y\":\"u\"}]}"},
    {"{\"f\":{\"text\":\"\",\"name\":\"../../etc/passwd\"}}", "passwd",
     "{\"f\":\"in/passwd\"}"},
    {"{\"f\":{\"text\":\"\",\"name\":\"..\"}}", "file", "{\"f\":\"in/file\"}"},
    {"{\"f\":{\"text\":\"\",\"name\":\"a\\nb\u202e\"}}", "a_b_",
     "{\"f\":\"in/a_b_\"}"},
    {"{\"says\":\"x\"}", "", NULL},
};

static void names_of(const struct run_files *f, char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; f != NULL && i < f->n; i++)
		snprintf(out + strlen(out), size - strlen(out), "%s%s",
			 i > 0 ? " " : "", f->v[i].name);
}

static void collects(const struct file_spot *spots, size_t i)
{
	struct json_object *inputs = tree(good[i].inputs);
	struct run_files_error err;
	struct run_files *f = run_files_collect(spots, inputs, &err);
	char names[256];

	for (size_t j = 0; f != NULL && j < f->n; j++)
		if (f->v[j].bytes == NULL)
			run_files_found(&f->v[j], "run_x", "a/its name", 7, 0);
	if (f != NULL)
		run_files_settle(f, inputs);
	names_of(f, names, sizeof(names));
	is_str(names, good[i].names, "%s: names", good[i].inputs);
	is_str(f != NULL ? f->inputs : NULL, good[i].gets, "%s: paths",
	       good[i].inputs);
	is_str(json_text(inputs, NULL), good[i].inputs,
	       "collecting the files leaves the inputs unchanged");
	run_files_free(f);
	json_object_put(inputs);
}

static const struct {
	const char *inputs, *pointer;
} bad[] = {
    {"{\"f\":{\"base64\":\"AA\"}}", "/f/base64"},
    {"{\"f\":{\"base64\":\"A A=\"}}", "/f/base64"},
    {"{\"list\":[\"a\",{\"base64\":\"?\"}]}", "/list/1/base64"},
    {"{\"any\":{\"a/b\":{\"base64\":\"?\"}}}", "/any/a~1b/base64"},
};

static void refuses(const struct file_spot *spots, size_t i)
{
	struct json_object *inputs = tree(bad[i].inputs);
	struct run_files_error err;

	ok(run_files_collect(spots, inputs, &err) == NULL, "%s is refused",
	   bad[i].inputs);
	is_str(err.pointer, bad[i].pointer,
	       "the refusal of a file points to the place");
	json_object_put(inputs);
}

TEST(inputs_that_are_files)
{
	struct json_object *doc = tree(schema);
	struct file_spot *spots = file_schema_find(doc);

	ok(spots != NULL, "the schema has files");
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		collects(spots, i);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		refuses(spots, i);
	file_schema_free(spots);
	json_object_put(doc);
}

TEST(too_many)
{
	struct json_object *doc = tree(schema), *inputs, *list, *one;
	struct file_spot *spots = file_schema_find(doc);
	struct run_files_error err;

	inputs = json_object_new_object();
	list = json_object_new_array();
	json_object_object_add(inputs, "list", list);
	for (size_t i = 0; i <= RUN_FILES_ARTIFACTS; i++) {
		one = tree("{\"$artifact\":\"" ART "\"}");
		json_object_array_add(list, one);
	}
	ok(run_files_collect(spots, inputs, &err) == NULL,
	   "inputs with 65 artifacts are refused");
	is_str(err.pointer, "/list/64",
	       "the refusal points to the last artifact");
	for (size_t i = 0; i <= RUN_FILES_MAX; i++)
		json_object_array_put_idx(list, i, json_object_new_string("t"));
	ok(run_files_collect(spots, inputs, &err) == NULL,
	   "inputs with 257 files are refused");
	is_str(err.pointer, "/list/256", "the last one is told");
	json_object_put(inputs);
	file_schema_free(spots);
	json_object_put(doc);
}

TEST(a_queued_run_comes_back)
{
	static const char text[] =
	    "{\"f\":{\"$artifact\":\"" ART "\"},\"list\":[\"t\"]}";
	struct json_object *doc = tree(schema), *list;
	struct file_spot *spots = file_schema_find(doc);
	struct run_files *f = run_files_restore(spots, text, NULL), *again;

	is_str(f->v[0].folder, "", "an artifact that no row tells of is gone");
	run_files_found(&f->v[0], "run_x", "a.csv", 9, 77);
	list = run_files_describe(f);
	again = run_files_restore(spots, text, list);
	is_str(again->v[0].folder, "run_x", "a restored file has the folder");
	is_int(again->v[0].size, 9, "a restored file has the size");
	is_int(again->v[0].expires_ms, 77, "a restored file has the expiry");
	is_str(again->inputs, "{\"f\":\"in/a.csv\",\"list\":[\"in/list\"]}",
	       "a restored run has the inputs of the template");
	is_int(run_files_bytes(again, false), 1, "bytes that are inline");
	is_int(run_files_bytes(again, true), 10, "bytes in all");
	ok(run_files_describe(NULL) == NULL,
	   "a run without files is described as nothing");
	json_object_put(list);
	run_files_free(f);
	run_files_free(again);
	file_schema_free(spots);
	json_object_put(doc);
}

static const struct {
	const char *value;
	bool passes;
} values[] = {
    {"\"text\"", true},
    {"{\"$artifact\":\"" ART "\"}", true},
    {"{\"$artifact\":\"" ART "\",\"name\":\"n\"}", true},
    {"{\"text\":\"t\"}", true},
    {"{\"base64\":\"AA==\",\"name\":\"n\"}", true},
    {"{\"$artifact\":\"../x\"}", false},
    {"{\"$artifact\":\"run_2al2bqigrplitgus3wzzcuxowk\"}", false},
    {"{\"text\":\"t\",\"base64\":\"\"}", false},
    {"{\"text\":1}", false},
    {"{\"name\":\"n\"}", false},
    {"{\"text\":\"t\",\"name\":\"\"}", false},
    {"{}", false},
    {"3", false},
    {"null", false},
    {"\"longer than ten\"", false},
};

TEST(what_may_be_given)
{
	struct json_object *doc = tree(
	    "{\"type\":\"string\",\"format\":\"paddock-file\","
	    "\"maxLength\":10,\"description\":\"A table.\",\"title\":\"T\"}");
	struct schema_error err;
	struct schema *s = NULL;

	file_schema_expand(doc);
	is_int(schema_compile(&s, doc, NULL, &err), 0,
	       "the expanded schema is a valid schema");
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		struct json_object *v = tree(values[i].value);

		is_int(schema_validate(s, v, NULL) == 0, values[i].passes, "%s",
		       values[i].value);
		json_object_put(v);
	}
	ok(json_member(doc, "format") == NULL, "no format that others lack");
	is_str(json_member_str(doc, "title"), "T",
	       "the expanded schema keeps the title");
	ok(strncmp(json_member_str(doc, "description"),
		   "A table. A file:", 16) == 0,
	   "the expanded description names text and file");
	schema_free(s);
	json_object_put(doc);
}

TEST(names)
{
	char longest[400];
	char *name;

	memset(longest, 'a', sizeof(longest));
	memcpy(longest + 251, "\xc3\xa9\xc3\xa9\xc3\xa9", 6);
	longest[399] = '\0';
	name = file_name_safe(longest);
	is_int(strlen(name), 255, "a name is cut at 255 bytes");
	free(name);
	name = file_name_numbered(longest + 145, 12);
	ok(strlen(name) <= 255 && strstr(name, "-12") != NULL,
	   "a name with a number is cut at 255 bytes");
	free(name);
	memset(longest, 'a', 253);
	strcpy(longest + 253, "-2");
	name = file_name_numbered(longest, 2);
	ok(strlen(name) <= 255 && strcmp(name, longest) != 0 &&
	       strcmp(name + strlen(name) - 2, "-2") == 0,
	   "a longest name with the same number gets another name");
	free(name);
	name = file_name_numbered("a-2", 2);
	is_str(name, "a-2-2", "while a short one gets a second");
	free(name);
	name = file_name_numbered("a.tar.gz", 2);
	is_str(name, "a.tar-2.gz", "the extension stays");
	free(name);
	ok(file_name_safe("") == NULL && file_name_safe("a/") == NULL &&
	       file_name_safe(". .") == NULL,
	   "nothing is left of some");
	name = file_name_safe("\xff\x01x\x7f");
	is_str(name, "__x_", "bytes that no name may have");
	free(name);
}
