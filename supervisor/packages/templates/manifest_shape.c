/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_shape.c - checks a manifest against etc/template.schema.json, which
 * is part of the program, and finds the key probably meant by an unknown one.
 * manifest.c asks here first, and then checks what no schema can say.
 */
#include "supervisor/packages/templates/manifest_shape.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/embed.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "proto/json/json.h"
#include "proto/json/json_pointer.h"
#include "supervisor/packages/package/package.h"

#define ERRORS_MAX 32	/* most errors taken from the schema */
#define POINTER_MAX 512 /* most bytes of a pointer; a longer pointer is cut */

EMBED(manifest_schema_file, "etc/template.schema.json");

const char *manifest_schema_text(size_t *len)
{
	*len = (uintptr_t)manifest_schema_file_end -
	       (uintptr_t)manifest_schema_file;
	return manifest_schema_file;
}

/*
 * Return ERR's text with a subject: '"name" is 7; it must be a string'. The
 * caller frees the text.
 */
static char *sentence(const struct schema_error *err)
{
	static const char *const verbs[] = {
	    "is ", "must ", "has ", "takes ", "lacks ", "needs ", "refers "};
	const char *errmsg = err->text, *slash = strrchr(err->pointer, '/');
	size_t n = strlen(err->pointer);
	static const char root[] = "the value ", whole[] = "the schema: ";

	/* without the pointer at the beginning: a longer pointer comes before */
	if (n > 0 && strncmp(errmsg, err->pointer, n) == 0)
		errmsg += n + strspn(errmsg + n, ": ");
	if (slash == NULL && strncmp(errmsg, root, strlen(root)) == 0)
		return xasprintf("the manifest %s", errmsg + strlen(root));
	if (slash == NULL && strncmp(errmsg, whole, strlen(whole)) == 0)
		return xasprintf("the schema %s", errmsg + strlen(whole));
	if (slash == NULL)
		return xstrdup(errmsg);
	slash++;
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (strncmp(errmsg, verbs[i], strlen(verbs[i])) == 0)
			return slash[strspn(slash, "0123456789")] == '\0'
				   ? xasprintf("item %s %s", slash, errmsg)
				   : xasprintf("\"%s\" %s", slash, errmsg);
	return xstrdup(errmsg);
}

int manifest_shape_fail(struct diagnostics *f, const char *at,
			const struct schema_error *err)
{
	char *text = sentence(err);
	char *pointer = xasprintf("%s%s", at, err->pointer);
	int rc = diagnostics_add(f, DIAGNOSTIC_ERROR, MANIFEST_FILE, pointer,
				 "%s", text);

	free(pointer);
	free(text);
	return rc;
}

/* ---- unknown keys ---- */

struct walk {
	struct buf pointer;
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
		diagnostics_add(w->f, DIAGNOSTIC_ERROR, MANIFEST_FILE, pointer,
				"unknown key \"%s\"; did you mean \"%s\"?", key,
				suggest.best);
	else
		diagnostics_add(w->f, DIAGNOSTIC_ERROR, MANIFEST_FILE, pointer,
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

/*
 * Walk VALUE beside SCHEMA (its properties, items and additionalProperties), no deeper
 * than SCHEMA, which is part of the program. 0, or -EINVAL with an error for each member
 * where SCHEMA allows no additional members.
 */
static int walk_manifest(struct walk *w, struct json_object *schema,
			 struct json_object *value)
{
	int rc = 0;

	if (!json_object_is_type(schema, json_type_object))
		return 0;
	if (json_object_is_type(value, json_type_object))
		return walk_object(w, schema, value);
	if (!json_object_is_type(value, json_type_array))
		return 0;
	for (size_t i = 0; i < json_length(value) && !w->f->more; i++) {
		size_t before = json_pointer_push_index(&w->pointer, i);

		if (walk_manifest(w, json_member(schema, "items"),
				  json_object_array_get_idx(value, i)) < 0)
			rc = -EINVAL;
		json_pointer_pop(&w->pointer, before);
	}
	return rc;
}

/* ---- the whole manifest ---- */

static struct json_object *schema_doc;
static struct schema *schema;

/*
 * Compile the schema once. The schema is tested with the program, so a fault
 * means a broken build.
 */
static void schema_ready(void)
{
	struct schema_error err;
	const char *text;
	size_t len;
	int rc;

	if (schema != NULL)
		return;
	text = manifest_schema_text(&len);
	rc = json_parse(&schema_doc, text, len, NULL);
	if (rc == 0)
		rc = schema_compile(&schema, schema_doc, NULL, &err);
	assert(rc == 0);
}

void manifest_shape_check(struct json_object *m, struct diagnostics *f)
{
	struct schema_error *errs = xcalloc(ERRORS_MAX, sizeof(*errs));
	struct walk w = {.pointer = {.max = POINTER_MAX}, .f = f};
	bool keys;
	size_t n;

	schema_ready();
	keys = walk_manifest(&w, schema_doc, m) == 0;
	buf_fini(&w.pointer);
	n = schema_validate_all(schema, m, errs, ERRORS_MAX);
	for (size_t i = 0; i < n; i++)
		/* the walk has reported unknown keys better */
		if (keys ||
		    strcmp(errs[i].keyword, "additionalProperties") != 0)
			manifest_shape_fail(f, "", &errs[i]);
	if (n == ERRORS_MAX)
		f->more = true;
	free(errs);
}

bool manifest_shape_lacks(struct json_object *m, const char *key)
{
	if (json_member(m, key) != NULL)
		return false;
	json_each(one, json_member(schema_doc, "required"))
		if (strcmp(key, json_object_get_string(one)) == 0)
			return true;
	return false;
}
