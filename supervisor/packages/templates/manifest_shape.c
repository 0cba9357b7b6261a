/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_shape.c - checks a manifest against etc/template.schema.json, which
 * is part of the program. manifest.c asks here first, and then checks what no
 * schema can say.
 */
#include "supervisor/packages/templates/manifest_shape.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/packages/package/package.h"
#include "supervisor/packages/templates/manifest_keys.h"

#define ERRORS_MAX 32 /* most errors taken from the schema */

EMBED(manifest_schema_file, "etc/template.schema.json");

const char *manifest_schema_text(size_t *len)
{
	*len = (uintptr_t)manifest_schema_file_end -
	       (uintptr_t)manifest_schema_file;
	return manifest_schema_file;
}

/*
 * Return ERR's text without the pointer at its beginning: a longer pointer
 * comes before.
 */
static const char *shape_reason(const struct schema_error *err)
{
	size_t n = strlen(err->pointer);

	if (n == 0 || strncmp(err->text, err->pointer, n) != 0)
		return err->text;
	return err->text + n + strspn(err->text + n, ": ");
}

/*
 * Return ERR's text with a subject: '"name" is 7; it must be a string'. The
 * caller frees the text.
 */
static char *sentence(const struct schema_error *err)
{
	static const char *const verbs[] = {
	    "is ", "must ", "has ", "takes ", "lacks ", "needs ", "refers "};
	const char *errmsg = shape_reason(err),
		   *slash = strrchr(err->pointer, '/');
	static const char root[] = "the value ", whole[] = "the schema: ";

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

/* Is ERR about unknown keys, which manifest_keys.c reports better? */
static bool is_of_keys(const struct schema_error *err)
{
	return strcmp(err->keyword, "additionalProperties") == 0;
}

void manifest_shape_check(struct json_object *m, struct diagnostics *f)
{
	struct schema_error *errs = xcalloc(ERRORS_MAX, sizeof(*errs));
	bool keys;
	size_t n;

	schema_ready();
	keys = manifest_keys_check(schema_doc, m, MANIFEST_FILE, f) == 0;
	n = schema_validate_all(schema, m, errs, ERRORS_MAX);
	for (size_t i = 0; i < n; i++)
		if (keys || !is_of_keys(&errs[i]))
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
