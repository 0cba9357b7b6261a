/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_grants_draft.c - drafts of grants: the words that a client may want, and a configuration
 * with the section of a draft, which grants the template all and no more.
 */
#include "supervisor/packages/grants/grants_draft.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/packages/templates/manifest.h"
#include "tests/unit/supervisor/packages/templates/diagnostics_fixture.h"
#include "tests/unit/tap.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEAD "[grant \"t\"]\ndigest = " A "\n"

/* NULL: a refused TEXT. */
static struct config *config_of(const char *text)
{
	struct config *c = config_new(0);

	if (config_read_text(c, "f", text, strlen(text), errmsg,
			     sizeof(errmsg)) == 0)
		return c;
	config_free(c);
	return NULL;
}

static struct template *with(const char *members)
{
	char *text =
	    xasprintf("{\"templateId\":\"t\",\"version\":\"1.0.0\","
		      "\"name\":\"T\",\"description\":\"d\","
		      "\"runtime\":{\"type\":\"program\",\"entry\":\"e\"},"
		      "\"inputsSchema\":{\"type\":\"object\"}%s%s}",
		      *members ? "," : "", members);
	struct template *t = manifest_of(text, strlen(text));

	free(text);
	if (t == NULL) {
		printf("Bail out! %s\n", errmsg);
		exit(1);
	}
	strcpy(t->digest, A);
	t->dir = xstrdup("/nowhere/t");
	return t;
}

static struct json_object *json_of(const char *text)
{
	struct json_object *o = NULL;

	json_parse(&o, text, strlen(text), NULL);
	return o;
}

/* ---- words of a client ---- */

TEST(wants)
{
	static const struct {
		const char *want;
		bool good;
	} cases[] = {
	    {"{}", true},
	    {"{\"grant\":{\"hosts\":[\"a.example\",\"*.b.example:8080\"]}}",
	     true},
	    {"{\"grant\":{\"read_paths\":[\"/srv/a\"],\"locks\":[\"yes\"]}}",
	     true},
	    {"{\"grant\":{\"tools\":[\"click\"],\"templates\":[\"x\"]}}", true},
	    {"{\"limits\":{\"memory\":4194304,\"maxCpuMs\":1}}", true},
	    {"{\"grant\":{\"hosts\":[\"a.example\\n[grant \\\"*\\\"]\"]}}",
	     false},
	    {"{\"grant\":{\"hosts\":[\"a.example\\nhosts = *\"]}}", false},
	    {"{\"grant\":{\"hosts\":[\"a b\"]}}", false},
	    {"{\"grant\":{\"hosts\":[\"a\\u001b[2Jb\"]}}", false},
	    {"{\"grant\":{\"hosts\":[\"a\\u0000b\"]}}", false},
	    {"{\"grant\":{\"hosts\":[\"\"]}}", false},
	    {"{\"grant\":{\"hosts\":\"a\"}}", false},
	    {"{\"grant\":{\"hosts\":[1]}}", false},
	    {"{\"grant\":{\"read_paths\":[\"/srv/a;b\"]}}", false},
	    {"{\"grant\":{\"read_paths\":[\"srv\"]}}", false},
	    {"{\"grant\":{\"read_paths\":[\"/srv/\\\"#\"]}}", false},
	    {"{\"grant\":{\"tools\":[\"fly\"]}}", false},
	    {"{\"grant\":{\"templates\":[\"A\"]}}", false},
	    {"{\"grant\":{\"locks\":[\"maybe\"]}}", false},
	    {"{\"grant\":{\"digest\":[\"" A "\"]}}", false},
	    {"{\"grant\":{\"user\":[\"root\"]}}", false},
	    {"{\"grant\":[]}", false},
	    {"{\"limits\":{\"memory\":1}}", false},
	    {"{\"limits\":{\"memory\":\"4194304\"}}", false},
	    {"{\"limits\":{\"memory\":-5}}", false},
	    {"{\"limits\":{\"maxUrls\":5}}", false},
	    {"{\"limits\":7}", false},
	};

	ok(grants_draft_check(NULL, errmsg, sizeof(errmsg)),
	   "nothing may be wanted");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json_object *want = json_of(cases[i].want);

		is_int(grants_draft_check(want, errmsg, sizeof(errmsg)),
		       cases[i].good, "%s is %s", cases[i].want,
		       cases[i].good ? "taken" : "refused");
		json_object_put(want);
	}
}

TEST(bounds)
{
	struct json_object *want = json_of("{\"grant\":{\"hosts\":[]}}");
	struct json_object *list =
	    json_member(json_member(want, "grant"), "hosts");

	for (int i = 0; i < GRANTS_DRAFT_WORDS; i++)
		json_object_array_add(list, json_object_new_string("a.b"));
	ok(grants_draft_check(want, errmsg, sizeof(errmsg)),
	   "the most words are taken");
	json_object_array_add(list, json_object_new_string("a.b"));
	ok(!grants_draft_check(want, errmsg, sizeof(errmsg)),
	   "one word more is refused: %s", errmsg);
	json_object_put(want);
}

/* ---- drafts ---- */

#define TOOLS "\"tools\":[\"click\",\"create_tab\"]"
#define READS "\"permissions\":{\"readPaths\":[\"/srv/a\",\"/srv/b/c\"]}"

static const struct {
	const char *members, *config, *want;
	unsigned how;
	const char *section, *manifest;
} drafts[] = {
    {"", "", "{}", 0, "", NULL},
    {"", "", "{}", GRANTS_DRAFT_WHOLE, "", NULL},
    {TOOLS, "", "{}", 0, HEAD "tools = click\n\tcreate_tab\n", NULL},
    {TOOLS, "[grant \"t\"]\ntools = click\n", "{}", 0,
     HEAD "tools = create_tab\n", NULL},
    {TOOLS, "[grant \"t\"]\ntools = all\n", "{}", 0, "", NULL},
    {TOOLS, "[grant \"t\"]\ntools = all\n", "{}", GRANTS_DRAFT_WHOLE,
     HEAD "tools = click\n\tcreate_tab\n", NULL},
    {TOOLS, "[grant \"t\"]\ntools = all\ndigest = " B "\n", "{}", 0,
     HEAD "tools = click\n\tcreate_tab\n", NULL},
    {READS, "[grant \"t\"]\nread_paths = /srv/b\n", "{}", 0,
     HEAD "read_paths = /srv/a\n", NULL},
    {TOOLS, "[grant \"t\"]\ntools = all\nhosts = a.example\n",
     "{\"grant\":{\"hosts\":[\"a.example\",\"b.example\"]}}", 0,
     HEAD "hosts = b.example\n", NULL},
    {"", "", "{\"limits\":{\"memory\":4194304}}", 0,
     "[template \"t\"]\ndigest = " A "\nmax_memory_bytes = 4194304\n", NULL},
    {TOOLS, "", "{\"grant\":{\"tools\":[\"click\",\"navigate\"]}}", 0,
     HEAD "tools = click\n\tcreate_tab\n\tnavigate\n",
     "{\"tools\":[\"navigate\"]}"},
    {"", "", "{\"grant\":{\"read_paths\":[\"/srv/a\"],\"locks\":[\"yes\"]}}",
     false, HEAD "read_paths = /srv/a\nlocks = yes\n",
     "{\"permissions\":{\"readPaths\":[\"/srv/a\"],\"locks\":true}}"},
    {TOOLS, "[grant \"t\"]\ntools = all\nhosts = a.example\n",
     "{\"grant\":{\"hosts\":[\"a.example\"],\"tools\":[\"click\"]}}",
     GRANTS_DRAFT_BLIND, HEAD "hosts = a.example\n", NULL},
};

/* Does TEXT of a draft, without LINE (-1: whole), grant all of T? */
static bool grants_all(const struct template *t, const char *text, int line)
{
	char *less = xstrdup(text), *from = less, *end;
	struct tool_error no = {0};
	struct config *c;
	bool may;

	for (int i = 0; i < line && from != NULL; i++) {
		from = strchr(from, '\n');
		from += from != NULL;
	}
	if (line >= 0 && from != NULL && (end = strchr(from, '\n')) != NULL)
		memmove(from, end + 1, strlen(end));
	c = config_of(less);
	may = c != NULL && grants_allow(t, c, &no);
	tool_error_fini(&no);
	config_free(c);
	free(less);
	return may;
}

TEST(table)
{
	for (size_t i = 0; i < ARRAY_LEN(drafts); i++) {
		struct template *t = with(drafts[i].members);
		struct config *c = config_of(drafts[i].config);
		struct json_object *want = json_of(drafts[i].want);
		struct json_object *d = grants_draft(t, c, want, drafts[i].how);

		is_str(json_member_str(d, "section"), drafts[i].section,
		       "the section of draft %zu", i);
		is_str(json_member(d, "manifest") == NULL
			   ? NULL
			   : json_text(json_member(d, "manifest"), NULL),
		       drafts[i].manifest,
		       "the words of draft %zu that a manifest has to ask for",
		       i);
		is_str(json_member_str(d, "digest"), A,
		       "draft %zu is for a package", i);
		json_object_put(d);
		json_object_put(want);
		config_free(c);
		template_unref(t);
	}
}

TEST(least)
{
	struct template *t = with(TOOLS "," READS);
	struct config *c = config_of("");
	struct json_object *d = grants_draft(t, c, NULL, GRANTS_DRAFT_WHOLE);
	const char *section = json_member_str(d, "section");

	ok(grants_all(t, section, -1), "a draft grants all that is asked for");
	/* after the section's name and digest */
	for (int line = 2; line < 6; line++)
		ok(!grants_all(t, section, line),
		   "a draft without line %d does not grant all", line + 1);
	is_int((int)json_length(json_member(d, "lines")), 4,
	       "each thing has a line for people");
	is_str(
	    json_member_str(
		json_object_array_get_idx(json_member(d, "lines"), 2), "text"),
	    "t asks to read /srv/a", "a line for people is in plain words");
	json_object_put(d);
	config_free(c);
	template_unref(t);
}

int main(void)
{
	tap_run();
	return tap_done();
}
