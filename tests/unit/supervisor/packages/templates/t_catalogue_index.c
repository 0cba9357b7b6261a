/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_catalogue_index.c - the resources and prompts of templates by key: the newest
 * versions alone, the first of several with one key, and the bound of entries.
 */
#include "supervisor/packages/templates/catalogue_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "tests/unit/base/log_fixture.h"
#include "tests/unit/tap.h"

#define ALL_MAX 4

static struct template made[ALL_MAX];
static struct template *all[ALL_MAX];
static size_t n_all;

static struct json_object *json(const char *text)
{
	struct json_object *o = NULL;

	if (text != NULL && json_parse(&o, text, strlen(text), NULL) < 0)
		abort();
	return o;
}

static void add(const char *id, const char *resources, const char *prompts)
{
	struct template *t = &made[n_all];

	*t = (struct template){.id = xstrdup(id),
			       .resources = json(resources),
			       .prompts = json(prompts)};
	all[n_all++] = t;
}

static void forget(void)
{
	while (n_all > 0) {
		struct template *t = &made[--n_all];

		free(t->id);
		json_object_put(t->resources);
		json_object_put(t->prompts);
	}
}

/* The templates with KEY in LIST, in their order, each with its place there. */
static const char *owners(const struct catalogue_index_list *list,
			  const char *key)
{
	static char text[128];
	const struct catalogue_entry *o = catalogue_index_find(list, key);
	size_t n = 0;

	text[0] = '\0';
	for (; o != NULL; o = o->next_same_key)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s/%zu ",
				      o->template->id, o->index);
	return text;
}

TEST(kinds)
{
	struct catalogue_index *o;

	log_begin();
	add("a",
	    "[{\"uri\":\"u:1\"},{\"uriTemplate\":\"u:{x}\"},{\"uri\":\"u:2\"}]",
	    "[{\"name\":\"p\"},{\"name\":\"q\"}]");
	add("b", NULL, NULL);
	add("c", "[{\"uri\":\"u:3\"}]", NULL);
	o = catalogue_index_new(all, n_all);
	is_int((int64_t)o->resources.n, 3, "resources with a URI are one list");
	is_int((int64_t)o->patterns.n, 1, "patterns of URIs are another list");
	is_int((int64_t)o->prompts.n, 2, "prompts are the third list");
	is_str(
	    owners(&o->resources, "u:2"), "a/2 ",
	    "a resource is found by its URI, with its place in the manifest");
	is_str(owners(&o->resources, "u:3"), "c/0 ",
	       "a resource of the last template is found");
	is_str(owners(&o->patterns, "u:{x}"), "a/1 ",
	       "a pattern is found by its text");
	is_str(owners(&o->prompts, "q"), "a/1 ",
	       "a prompt is found by its name");
	is_str(owners(&o->prompts, "u:1"), "",
	       "a key of another list is not found");
	is_str(log_lines(), "", "keys of one template each are not logged");
	catalogue_index_free(o);
	catalogue_index_free(NULL);
	forget();
	log_end();
}

TEST(versions)
{
	struct catalogue_index *o;

	add("a", "[{\"uri\":\"u:new\"}]", NULL);
	add("a", "[{\"uri\":\"u:old\"}]", NULL);
	add("b", "[{\"uri\":\"u:b\"}]", NULL);
	o = catalogue_index_new(all, n_all);
	is_str(owners(&o->resources, "u:new"), "a/0 ",
	       "the newest version offers its resources");
	is_str(owners(&o->resources, "u:old"), "",
	       "an older version offers none");
	is_str(owners(&o->resources, "u:b"), "b/0 ",
	       "a template behind an older version offers its resources");
	catalogue_index_free(o);
	forget();
}

TEST(same_key)
{
	struct catalogue_index *o;

	log_begin();
	add("a", "[{\"uri\":\"u\"},{\"uri\":\"u\"}]", "[{\"name\":\"p\"}]");
	add("b", "[{\"uri\":\"u\"},{\"uriTemplate\":\"u\"}]", NULL);
	add("c", "[{\"uri\":\"u\"},{\"uriTemplate\":\"u\"}]",
	    "[{\"name\":\"p\"}]");
	o = catalogue_index_new(all, n_all);
	is_str(owners(&o->resources, "u"), "a/0 b/0 c/0 ",
	       "templates of one key follow each other, each with its first "
	       "entry");
	is_str(owners(&o->patterns, "u"), "b/1 c/1 ",
	       "patterns of one key follow each other");
	is_str(owners(&o->prompts, "p"), "a/0 c/0 ",
	       "prompts of one name follow each other");
	ok(strstr(log_lines(), "template=b resource=\"u\" msg=\"a has it "
			       "already") != NULL,
	   "the log names the template behind, the key and the first template");
	catalogue_index_free(o);
	o = catalogue_index_new(all, n_all);
	is_int(log_count("resource=\"u\" msg=\"a has it already"), 3,
	       "the log has a line for each later entry of a URI");
	catalogue_index_free(o);
	o = catalogue_index_new(all, n_all);
	is_int(log_count("template=c prompt=\"p\" msg=\"a has it already"), 1,
	       "the log calls a prompt a prompt");
	catalogue_index_free(o);
	forget();
	log_end();
}

/* A list of N resources, the keys u:FROM and so on. */
static struct json_object *many(size_t n, size_t from)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < n; i++) {
		struct json_object *def = json_object_new_object();
		char uri[32];

		snprintf(uri, sizeof(uri), "u:%zu", from + i);
		json_object_object_add(def, "uri", json_object_new_string(uri));
		json_object_array_add(list, def);
	}
	return list;
}

TEST(bound)
{
	struct catalogue_index *o;

	log_begin();
	add("a", NULL, NULL);
	made[0].resources = many(CATALOGUE_INDEX_MAX - 1, 0);
	o = catalogue_index_new(all, n_all);
	is_int(log_count("no more than these"), 0,
	       "a list below the bound is not logged");
	catalogue_index_free(o);
	add("b", NULL, NULL);
	made[1].resources = many(2, CATALOGUE_INDEX_MAX - 1);
	o = catalogue_index_new(all, n_all);
	is_int((int64_t)o->resources.n, CATALOGUE_INDEX_MAX,
	       "a list ends at the bound");
	is_str(owners(&o->resources, "u:9999"), "b/0 ",
	       "the last entry below the bound is found");
	is_str(owners(&o->resources, "u:10000"), "",
	       "an entry beyond the bound is left out");
	is_int(log_count("resource=10000 msg=\"no more than these"), 1,
	       "a list at the bound is logged");
	catalogue_index_free(o);
	forget();
	log_end();
}
