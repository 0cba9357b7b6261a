/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.c - counts the users of a loaded package, and answers questions from
 * the manifest. template_load.c makes a template; the catalogue and each run
 * hold a reference. Nothing here fails.
 */
#include "supervisor/packages/templates/template.h"

#include <json-c/json_pointer.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/packages/search/search_doc.h"

struct template *template_ref(struct template *t)
{
	t->users++;
	return t;
}

void template_unref(struct template *t)
{
	if (t == NULL || --t->users > 0)
		return;
	schema_free(t->inputs);
	file_schema_free(t->file_spots);
	schema_free(t->outputs);
	mcp_param_headers_fini(&t->mcp_headers);
	for (size_t i = 0; i < t->n_files; i++)
		free(t->files[i].data);
	free(t->files);
	search_doc_unref(t->words);
	free(t->signature);
	json_object_put(t->manifest);
	free(t->dir);
	free(t->broken);
	free(t->id);
	free(t->version_text);
	free(t->name);
	free(t->description);
	free(t->entry);
	free(t->code);
	free(t->reads);
	json_object_put(t->network);
	free(t->auto_pointer);
	free(t);
}

const struct template_file *template_file(const struct template *t,
					  const char *path)
{
	for (size_t i = 0; i < t->n_files; i++)
		if (strcmp(t->files[i].path, path) == 0)
			return &t->files[i];
	return NULL;
}

bool template_promises(const struct template *t)
{
	const char *type = json_member_str(t->outputs_json, "type");

	return type != NULL && strcmp(type, "object") == 0;
}

bool template_auto_async(const struct template *t, struct json_object *inputs)
{
	struct json_object *o = NULL;

	if (t->auto_pointer == NULL ||
	    json_pointer_get(inputs, t->auto_pointer, &o) < 0 ||
	    !json_object_is_type(o, json_type_array))
		return false;
	return (int64_t)json_object_array_length(o) > t->auto_items_over;
}
