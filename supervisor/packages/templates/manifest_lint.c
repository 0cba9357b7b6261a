/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_lint.c - warns of oddities in a manifest, for "paddock template
 * check" alone: a server takes such a manifest all the same. Every warning has
 * to help the author.
 */
#include "supervisor/packages/templates/manifest_lint.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/schema/schema_lint.h"
#include "supervisor/packages/package/package.h"

#define DEFAULT_DIALECT "https://json-schema.org/draft/2020-12/schema"

struct in {
	const char *member; /* the member, such as "inputsSchema" */
	struct diagnostics *f;
};

/* Is there an error at POINTER already? Then a remark adds nothing. */
static bool is_known(const struct diagnostics *f, const char *pointer)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->all[i].level == DIAGNOSTIC_ERROR &&
		    f->all[i].pointer != NULL &&
		    strcmp(f->all[i].pointer, pointer) == 0)
			return true;
	return false;
}

static bool on_remark(void *arg, const struct schema_remark *r)
{
	struct in *in = arg;
	char *pointer = xasprintf("/%s%s", in->member, r->pointer);

	if (!r->error || !is_known(in->f, pointer)) {
		diagnostics_add(
		    in->f, r->error ? DIAGNOSTIC_ERROR : DIAGNOSTIC_WARNING,
		    MANIFEST_FILE, pointer, "%s", r->text);
		if (r->name)
			diagnostics_of_name(in->f);
	}
	free(pointer);
	return !in->f->more;
}

static void warn_member(struct diagnostics *f, const char *member,
			const char *key, const char *text)
{
	char *pointer = xasprintf("/%s/%s", member, key);

	diagnostics_add(f, DIAGNOSTIC_WARNING, MANIFEST_FILE, pointer, text,
			key);
	diagnostics_of_name(f);
	free(pointer);
}

static void dialect(struct json_object *schema, const char *member,
		    struct diagnostics *f)
{
	const char *uri = json_member_str(schema, "$schema");
	size_t n = strlen(DEFAULT_DIALECT);

	if (uri == NULL)
		return;
	if (strncmp(uri, DEFAULT_DIALECT, n) == 0 &&
	    uri[n + strspn(uri + n, "#")] == '\0')
		warn_member(f, member, "$schema",
			    "\"%s\" says what holds without it; paddock "
			    "publishes it only for keywords that older drafts "
			    "lack, since some clients refuse it");
	else
		warn_member(f, member, "$schema",
			    "\"%s\" names another dialect than MCP's, "
			    "2020-12, and some clients refuse it");
}

void manifest_lint(struct json_object *manifest, struct diagnostics *f)
{
	static const char *const members[] = {"inputsSchema", "outputsSchema"};
	static const char *const combined[] = {"allOf", "anyOf", "oneOf"};
	struct json_object *inputs = json_member(manifest, members[0]);

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		struct json_object *schema = json_member(manifest, members[i]);
		struct in in = {.member = members[i], .f = f};

		if (!json_object_is_type(schema, json_type_object))
			continue;
		schema_lint(schema, on_remark, &in);
		dialect(schema, members[i], f);
	}
	/* hosts of models refuse or hide these keywords in a tool's schema */
	for (size_t i = 0; i < ARRAY_LEN(combined); i++)
		if (json_member(inputs, combined[i]) != NULL)
			warn_member(
			    f, "inputsSchema", combined[i],
			    "\"%s\" at the top of the inputs is checked, "
			    "but not shown to clients before MCP "
			    "2026-07-28, since hosts of models refuse it; "
			    "what the properties' descriptions say is all "
			    "that those see");
}
