/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_keys.c - finds members of a manifest that its schema does not know,
 * and the key probably meant; manifest_shape.c calls it beside the schema's own
 * check. Returns -EINVAL with a diagnostic for each such member.
 */
#include "supervisor/packages/templates/manifest_keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "proto/json/json.h"
#include "proto/json/json_pointer.h"

#define POINTER_MAX 512 /* most bytes of a pointer; a longer pointer is cut */

struct walk {
	struct buf pointer;
	const char *file;
	struct diagnostics *f;
};

static int walk_manifest(struct walk *w, struct json_object *schema,
			 struct json_object *value);

static bool is_false(struct json_object *o)
{
	return json_object_is_type(o, json_type_boolean) &&
	       !json_object_get_boolean(o);
}

/*
 * Report KEY, which is not among KNOWN, with the key probably meant. -EINVAL.
 */
static int warn_unknown_key(struct walk *w, struct json_object *known,
			    const char *key)
{
	struct buf list = {0};
	struct suggest suggest;
	size_t before = json_pointer_push(&w->pointer, key);
	char *pointer;

	suggest_init(&suggest, key);
	json_object_object_foreach(known, name, member) {
		(void)member;
		suggest_try(&suggest, name);
		(void)buf_printf(&list, "%s%s", buf_len(&list) > 0 ? ", " : "",
				 name);
	}
	pointer = xstrndup(buf_data(&w->pointer), buf_len(&w->pointer));
	if (suggest.best != NULL)
		diagnostics_add(w->f, DIAGNOSTIC_ERROR, w->file, pointer,
				"unknown key \"%s\"; did you mean \"%s\"?", key,
				suggest.best);
	else
		diagnostics_add(w->f, DIAGNOSTIC_ERROR, w->file, pointer,
				"unknown key \"%s\"; known here: %.*s", key,
				(int)buf_len(&list), buf_data(&list));
	diagnostics_of_name(w->f);
	free(pointer);
	json_pointer_pop(&w->pointer, before);
	buf_fini(&list);
	return -EINVAL;
}

static int walk_object(struct walk *w, struct json_object *schema,
		       struct json_object *value)
{
	struct json_object *known = json_member(schema, "properties");
	struct json_object *others =
	    json_member(schema, "additionalProperties");
	int rc = 0;

	json_object_object_foreach(value, key, member) {
		struct json_object *sub = json_member(known, key);
		size_t before;

		if (w->f->more)
			break;
		if (sub == NULL && is_false(others)) {
			rc = warn_unknown_key(w, known, key);
			continue;
		}
		before = json_pointer_push(&w->pointer, key);
		if (walk_manifest(w, sub != NULL ? sub : others, member) < 0)
			rc = -EINVAL;
		json_pointer_pop(&w->pointer, before);
	}
	return rc;
}

static int walk_array(struct walk *w, struct json_object *items,
		      struct json_object *value)
{
	size_t n = json_object_array_length(value);
	int rc = 0;

	for (size_t i = 0; i < n && !w->f->more; i++) {
		size_t before = json_pointer_push_index(&w->pointer, i);

		if (walk_manifest(w, items,
				  json_object_array_get_idx(value, i)) < 0)
			rc = -EINVAL;
		json_pointer_pop(&w->pointer, before);
	}
	return rc;
}

/*
 * Walk VALUE and SCHEMA together; no deeper than SCHEMA, which is part of the
 * program.
 */
static int walk_manifest(struct walk *w, struct json_object *schema,
			 struct json_object *value)
{
	if (!json_object_is_type(schema, json_type_object))
		return 0;
	if (json_object_is_type(value, json_type_object))
		return walk_object(w, schema, value);
	if (json_object_is_type(value, json_type_array))
		return walk_array(w, json_member(schema, "items"), value);
	return 0;
}

int manifest_keys_check(struct json_object *schema, struct json_object *value,
			const char *file, struct diagnostics *f)
{
	struct walk w = {.pointer = {.max = POINTER_MAX}, .file = file, .f = f};
	int rc = walk_manifest(&w, schema, value);

	buf_fini(&w.pointer);
	return rc;
}
