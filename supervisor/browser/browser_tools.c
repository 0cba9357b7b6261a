/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_tools.c - the browser's actions as definitions of tools, from the
 * table in ipc/browser_proto.c. tools.c lists and finds them. A fault in
 * browser_tools.json aborts; a name which is no action is NULL.
 */
#include "supervisor/browser/browser_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/mem.h"
#include "base/text/words.h"
#include "proto/json/json_pack.h"

/* {MEMBER: schema}: the schemas of the members of results. */
EMBED(shapes_json, "supervisor/browser/browser_tools.json");

static struct json_object *shapes(void)
{
	static struct json_object *all;

	if (all == NULL &&
	    json_parse(&all, shapes_json,
		       (size_t)(shapes_json_end - shapes_json), NULL) < 0)
		abort();
	return all;
}

const struct browser_proto_action *
browser_tool_next(const struct browser_proto_action *action)
{
	const struct browser_proto_action *a =
	    action == NULL ? browser_proto_actions : action + 1;

	while (a->name != NULL && a->runs_alone)
		a++;
	return a->name != NULL ? a : NULL;
}

const struct browser_proto_action *browser_tool(const char *name)
{
	const struct browser_proto_action *a = browser_proto_action(name);

	return a != NULL && !a->runs_alone ? a : NULL;
}

static struct json_object *arg_schema(const struct browser_proto_arg *a)
{
	static const char *const types[] = {
	    [BROWSER_PROTO_STRING] = "string",
	    [BROWSER_PROTO_INTEGER] = "integer",
	    [BROWSER_PROTO_BOOLEAN] = "boolean",
	    [BROWSER_PROTO_CHOICE] = "string",
	    [BROWSER_PROTO_SESSION_ID] = "string",
	    [BROWSER_PROTO_TAB_ID] = "string"};
	bool text = a->type == BROWSER_PROTO_STRING; /* limits are in bytes */
	struct json_object *o =
	    json_pack("type:s minLength?i maxLength?i", types[a->type],
		      text && a->min > 0, text ? a->max : 0);
	struct json_object *choices;
	const char *words = a->values, *word;
	size_t n;

	if (a->type == BROWSER_PROTO_INTEGER)
		json_add(o, "minimum:i maximum:i", a->min, a->max);
	if (a->type == BROWSER_PROTO_CHOICE) {
		choices = json_object_new_array();
		while ((word = words_next(&words, &n)) != NULL)
			json_object_array_add(
			    choices, json_object_new_string_len(word, (int)n));
		json_add(o, "enum:o", choices);
	}
	if (a->has_value && a->type == BROWSER_PROTO_BOOLEAN)
		json_add(o, "default:b", a->value != 0);
	else if (a->has_value)
		json_add(o, "default:i", a->value);
	json_add(o, "description:s", a->about);
	return o;
}

static struct json_object *
input_schema(const struct browser_proto_action *action)
{
	struct json_object *properties = json_object_new_object();
	struct json_object *required = json_object_new_array();

	for (const struct browser_proto_arg *a = action->args; a->name != NULL;
	     a++) {
		json_object_object_add(properties, a->name, arg_schema(a));
		if (a->required)
			json_object_array_add(required, json_text_new(a->name));
	}
	return json_pack(
	    "type:s properties:o required:o additionalProperties:b", "object",
	    properties, required, false);
}

/* ---- results ---- */

/*
 * Add WORD, N bytes of "name:type" or "name:type!", to the schema of a result.
 */
static void add_result(const char *word, size_t n,
		       struct json_object *properties,
		       struct json_object *required)
{
	size_t name = strcspn(word, ":");
	bool always = word[n - 1] == '!';
	char *key = xstrndup(word, name);
	char *type = xstrndup(word + name + 1, n - name - 1 - always);
	struct json_object *shape = json_member(shapes(), key);

	json_object_object_add(properties, key,
			       shape != NULL ? json_object_get(shape)
					     : json_pack("type:s", type));
	if (always)
		json_object_array_add(required, json_text_new(key));
	free(key);
	free(type);
}

static struct json_object *
output_schema(const struct browser_proto_action *action)
{
	struct json_object *properties = json_object_new_object();
	struct json_object *required = json_object_new_array();
	const char *list = action->result, *word;
	size_t n;

	while ((word = words_next(&list, &n)) != NULL)
		add_result(word, n, properties, required);
	return json_pack("type:s properties:o required:o", "object", properties,
			 required);
}

struct json_object *
browser_tool_definition(const struct browser_proto_action *action)
{
	return json_pack("name:s title:s description:s inputSchema:o "
			 "outputSchema:o annotations:o",
			 action->name, action->title, action->about,
			 input_schema(action), output_schema(action),
			 /* a click may do anything */
			 json_pack("readOnlyHint:b destructiveHint?b "
				   "openWorldHint:b",
				   action->read_only, !action->read_only,
				   true));
}
