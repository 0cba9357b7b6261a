/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_index.c - gathers the words of a manifest for searches, for
 * template_load.c, on the thread of a reload; and makes the entry of a found
 * template.
 */
#include "supervisor/packages/templates/template_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "supervisor/packages/search/search_doc.h"
#include "supervisor/packages/search/signature.h"

static bool add_text(struct search_doc_draft *d, enum search_place place,
		     struct json_object *v)
{
	return !json_object_is_type(v, json_type_string) ||
	       search_doc_add(d, place, json_object_get_string(v),
			      (size_t)json_object_get_string_len(v));
}

static bool add_names(struct search_doc_draft *d,
		      struct json_object *properties)
{
	if (!json_object_is_type(properties, json_type_object))
		return true;
	json_object_object_foreach(properties, name, of) {
		(void)of;
		if (!search_doc_add(d, SEARCH_PROPERTY, name, strlen(name)))
			return false;
	}
	return true;
}

/* Add the words of SCHEMA itself. False: the document is full. */
static bool add_own(struct search_doc_draft *d, struct json_object *schema)
{
	if (!add_names(d, json_member(schema, "properties")) ||
	    !add_text(d, SEARCH_DETAIL, json_member(schema, "title")) ||
	    !add_text(d, SEARCH_DETAIL, json_member(schema, "description")))
		return false;
	json_each(value, json_member(schema, "enum"))
		if (!add_text(d, SEARCH_DETAIL, value))
			return false;
	return true;
}

/* Add the words of SCHEMA and of all schemas in it. */
static bool add_schema(struct search_doc_draft *d, struct json_object *schema)
{
	json_each(one, schema)
		if (!add_schema(d, one))
			return false;
	if (!json_object_is_type(schema, json_type_object))
		return true;
	if (!add_own(d, schema))
		return false;
	json_object_object_foreach(schema, key, value) {
		(void)key;
		if (!add_schema(d, value))
			return false;
	}
	return true;
}

/*
 * A name in a description, such as csv_profile, may be another template's: the words of
 * the name count little, so that the template itself is found before.
 */
static void add_description(struct search_doc_draft *d, const char *text)
{
	static const char spaces[] = " \t\r\n";

	for (size_t n; *text != '\0'; text += n) {
		bool named;

		text += strspn(text, spaces);
		n = strcspn(text, spaces);
		named = memchr(text, '_', n) != NULL;
		if (!search_doc_add(
			d, named ? SEARCH_DETAIL : SEARCH_DESCRIPTION, text, n))
			return;
	}
}

void template_index(struct template *t)
{
	struct search_doc_draft d = {0};

	search_doc_add(&d, SEARCH_ID, t->id, strlen(t->id));
	search_doc_add(&d, SEARCH_NAME, t->name, strlen(t->name));
	add_description(&d, t->description);
	add_schema(&d, t->inputs_json);
	t->words = search_doc_finish(&d);
	t->words->reads = json_member_bool(t->annotations, "readOnlyHint");
	t->signature = signature_of(t->inputs_json);
}

/* Return TEXT, cut after a whole character if too long. */
static char *shortened(const char *text)
{
	size_t len = strlen(text),
	       end = utf8_cut(text, len, TEMPLATE_INDEX_DESCRIPTION);

	return xasprintf("%.*s%s", (int)end, text, end < len ? "…" : "");
}

struct json_object *template_index_view(const struct template *t, bool whole)
{
	struct json_object *v = json_pack("templateId:s version:s name:s",
					  t->id, t->version_text, t->name);
	char *brief = whole ? NULL : shortened(t->description);

	if (whole)
		json_add(v, "description:s inputsSchema:O", t->description,
			 t->inputs_json);
	else
		json_add(v, "description:s inputs:s", brief, t->signature);
	free(brief);
	return v;
}
