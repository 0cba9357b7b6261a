/* SPDX-License-Identifier: Apache-2.0 */
/*
 * residents_name.c - the name of a run's resident, which is an input of the run.
 * runs_create.c has the name checked; a run made of another server's row gets the name
 * from the inputs again. A wrong name is refused with the reason.
 */
#include "supervisor/run/warm/residents_private.h"

#include <string.h>

#include "base/mem.h"
#include "base/text/json_view.h"
#include "proto/json/json.h"
#include "proto/mcp/tool_error.h"

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	return n >= 1 && n <= RESIDENT_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == n;
}

/* A schema's format is an annotation, so the name is checked here, too. */
bool residents_name(const struct template *t, struct json_object *inputs,
		    const char **name, struct tool_error *e)
{
	struct json_object *o =
	    t->notebook != NULL ? json_member(inputs, t->notebook) : NULL;

	*name = NULL;
	if (o == NULL)
		return true;
	if (json_object_is_type(o, json_type_string) &&
	    (size_t)json_object_get_string_len(o) ==
		strlen(json_object_get_string(o)))
		*name = json_object_get_string(o);
	if (*name != NULL && is_name(*name))
		return true;
	tool_error_set(e, "INVALID_PARAMETER", NULL,
		       "%s is no name of a notebook: a name has 1 to %d "
		       "letters, digits, '.', '_' and '-'",
		       t->notebook, RESIDENT_NAME_MAX);
	return false;
}

void residents_name_read(struct run *r)
{
	struct json_view inputs = {r->inputs, r->inputs_len}, v;
	char name[RESIDENT_NAME_MAX + 3]; /* as long as the quoted text */

	if (!json_view_member(inputs, r->template->notebook, &v) ||
	    !json_view_is_string(v) || v.n >= sizeof(name))
		return;
	name[json_view_unquote(v, name)] = '\0';
	if (is_name(name))
		r->notebook.name = xstrdup(name);
}
