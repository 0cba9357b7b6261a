/* SPDX-License-Identifier: Apache-2.0 */
/* t_diagnostics.c - all that is wrong, where it is, and no more than is kept. */
#include "supervisor/packages/package/diagnostics.h"

#include <errno.h>

#include "proto/json/json.h"
#include "supervisor/packages/templates/manifest.h"
#include "tests/unit/supervisor/packages/templates/diagnostics_fixture.h"
#include "tests/unit/tap.h"

/* Every line "file:line:column: level: text (pointer)". */
static char *all_of(struct diagnostics *f)
{
	char *lines = xstrdup("");

	diagnostics_sort(f);
	for (size_t i = 0; i < f->n; i++) {
		const struct diagnostic *g = &f->all[i];
		char *more = xasprintf(
		    "%s%s:%zu:%zu: %s: %s (%s)\n", lines,
		    g->file != NULL ? g->file : "", g->line, g->column,
		    g->level == DIAGNOSTIC_ERROR ? "error" : "warning", g->text,
		    g->pointer != NULL ? g->pointer : "none");

		free(lines);
		lines = more;
	}
	return lines;
}

static void is_all(const char *text, const char *want, const char *name)
{
	struct diagnostics f = {0};
	struct template *t = manifest_parse(text, strlen(text), &f);
	char *got = all_of(&f);

	is_str(got, want, "%s", name);
	free(got);
	template_unref(t);
	diagnostics_fini(&f);
}

#define M "template.json:"

static void manifests(void)
{
	is_all("{\n\t\"templateId\": \"t\",\n\t\"version\": \"1\",\n"
	       "\t\"name\": \"\",\n\t\"vers\xC3\xAFon\": 1, \"limitz\": {},\n"
	       "\t\"runtime\": {\"type\": \"lua\", \"entry\": \"/x\"},\n"
	       "\t\"description\": \"d\",\n"
	       "\t\"inputsSchema\": {\"type\": \"object\",\n"
	       "\t\t\"properties\": {\"a\": {\"minimum\": \"x\"}}},\n"
	       "\t\"prompts\": [{\"name\": \"p\", \"messages\": []},\n"
	       "\t\t{\"name\": \"p\", \"messages\": []}]\n}\n",
	       M "3:13: error: \"1\" is not a semantic version such as 1.0.0 "
		 "(/version)\n" M
		 "4:10: error: \"name\" is \"\"; it must be a string of at "
		 "least 1 character (/name)\n" M
		 "5:2: error: unknown key \"vers\xC3\xAFon\"; did you mean "
		 "\"version\"? (/vers\xC3\xAFon)\n" M
		 "5:16: error: unknown key \"limitz\"; did you mean "
		 "\"limits\"? (/limitz)\n" M
		 "6:38: error: \"/x\" is not the plain relative path of a file "
		 "in the package, such as main.lua (/runtime/entry)\n" M
		 "9:35: error: \"minimum\" is \"x\"; it must be a number "
		 "(/inputsSchema/properties/a/minimum)\n" M
		 "11:3: error: an earlier one has the same name (/prompts/1)\n",
	       "each fault, in the order of the file, where it is");
	is_all(
	    "{\r\n\"a\": [1,]}",
	    M
	    "2:9: error: this is not JSON: expected "
	    "a value, found ']'; the comma before it is one too many (none)\n",
	    "a fault of syntax alone");
	is_all("[]",
	       M "1:1: error: the manifest is an array; it must "
		 "be an object ()\n",
	       "no object at all");
	is_all("",
	       M "1:1: error: this is not JSON: expected a value, found the "
		 "end (none)\n",
	       "nothing at all");
}

static void bounds(void)
{
	struct diagnostics f = {0};

	for (int i = 0; i < DIAGNOSTICS_MAX; i++)
		diagnostics_add(&f, DIAGNOSTIC_WARNING, "a", "", "warning %03d",
				i);
	is_int((long long)f.n, DIAGNOSTICS_MAX,
	       "warnings are kept up to the bound");
	ok(!f.more, "no further diagnostic is noted at the bound");
	is_int(diagnostics_add(&f, DIAGNOSTIC_WARNING, "a", "", "warning 000"),
	       -EINVAL, "a repeated diagnostic is not added");
	ok(!f.more, "a repeated diagnostic at the bound is no further one");
	diagnostics_add(&f, DIAGNOSTIC_WARNING, "a", "", "one more");
	ok(f.more && f.n == DIAGNOSTICS_MAX,
	   "a diagnostic beyond the bound is noted");
	diagnostics_add(&f, DIAGNOSTIC_ERROR, "a", "/x", "an error");
	diagnostics_of_name(&f);
	is_int((long long)f.n, DIAGNOSTICS_MAX,
	       "an error replaces a warning at the bound");
	is_int((long long)diagnostics_errors(&f), 1,
	       "the error beyond the bound is kept");
	ok(f.all[f.n - 1].name, "the error at the bound takes a name");
	diagnostics_sort(&f);
	is_int(f.all[0].level, DIAGNOSTIC_ERROR,
	       "errors are sorted before warnings");
	diagnostics_fini(&f);
	ok(f.n == 0 && f.all == NULL && !f.more,
	   "the diagnostics are empty after the end");
	for (int i = 0; i <= DIAGNOSTICS_MAX; i++)
		diagnostics_add(&f, DIAGNOSTIC_ERROR, "a", "", "error %d", i);
	diagnostics_of_name(&f);
	ok(!f.all[f.n - 1].name, "nothing is said of what has no room");
	diagnostics_fini(&f);
}

static void first(void)
{
	struct diagnostics f = {0};
	char small[24];

	diagnostics_first(&f, errmsg, sizeof(errmsg));
	is_str(errmsg, "", "nothing is wrong");
	diagnostics_add(&f, DIAGNOSTIC_WARNING, "a", "/x", "mind");
	diagnostics_first(&f, errmsg, sizeof(errmsg));
	is_str(errmsg, "", "a warning is no reason");
	diagnostics_add(&f, DIAGNOSTIC_ERROR, "a\x1b.json", "/x\n",
			"bad \x1b[1m\xFF");
	diagnostics_at(&f, 3, 4);
	diagnostics_sort(&f);
	diagnostics_first(&f, errmsg, sizeof(errmsg));
	is_str(errmsg, "a?.json:3:4: bad ?[1m? (/x?)",
	       "the first error is printed without control characters");
	diagnostics_add(&f, DIAGNOSTIC_ERROR, NULL, NULL, "worse");
	diagnostics_first(&f, errmsg, sizeof(errmsg));
	is_str(errmsg,
	       "a?.json:3:4: bad ?[1m? (/x?); and 1 more, which paddock "
	       "template check shows",
	       "the first error is printed with the number of others");
	diagnostics_first(&f, small, sizeof(small));
	is_str(small, "a?.json:3:4: bad ?[1m? ",
	       "the first error is cut to the given size");
	diagnostics_sort(&f);
	diagnostics_first(&f, errmsg, sizeof(errmsg));
	ok(strncmp(errmsg, "worse; ", 7) == 0,
	   "an error of the whole package comes first");
	diagnostics_fini(&f);
}

static void as_json(void)
{
	struct diagnostics f = {0};
	struct json_object *o, *again = NULL;
	const char *text;
	size_t len;

	diagnostics_add(&f, DIAGNOSTIC_ERROR, NULL, NULL, "e");
	diagnostics_add(&f, DIAGNOSTIC_WARNING,
			"\xFF"
			"b",
			"/p", "w");
	diagnostics_at(&f, 2, 0);
	o = diagnostics_json(&f);
	text = json_text(o, &len);
	is_int(json_parse(&again, text, len, NULL), 0,
	       "diagnostics of a file with an odd name are JSON");
	is_str(text,
	       "[{\"severity\":\"error\",\"message\":\"e\"},"
	       "{\"severity\":\"warning\",\"file\":\"b\",\"line\":2,"
	       "\"pointer\":\"/p\",\"message\":\"w\"}]",
	       "a diagnostic in JSON has the known members");
	json_object_put(again);
	json_object_put(o);
	diagnostics_fini(&f);
}

int main(void)
{
	manifests();
	bounds();
	first();
	as_json();
	return tap_done();
}
