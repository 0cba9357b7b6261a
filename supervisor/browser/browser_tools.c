/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/browser/browser_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/mem.h"
#include "base/text/words.h"
#include "proto/json/json.h"

/* {MEMBER: schema}: what the members of results are made of. */
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

static void add_str(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static void add_int(struct json_object *o, const char *key, int64_t n)
{
	json_object_object_add(o, key, json_object_new_int64(n));
}

/* ---- what goes in ---- */

static void add_choices(struct json_object *o, const char *words)
{
	struct json_object *list = json_object_new_array();
	const char *word;
	size_t n;

	while ((word = words_next(&words, &n)) != NULL)
		json_object_array_add(list,
				      json_object_new_string_len(word, (int)n));
	json_object_object_add(o, "enum", list);
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
	struct json_object *o = json_object_new_object();

	add_str(o, "type", types[a->type]);
	if (a->type == BROWSER_PROTO_STRING && a->min > 0)
		add_int(o, "minLength", 1);
	if (a->type == BROWSER_PROTO_STRING) /* of bytes: so many, or fewer */
		add_int(o, "maxLength", a->max);
	if (a->type == BROWSER_PROTO_INTEGER) {
		add_int(o, "minimum", a->min);
		add_int(o, "maximum", a->max);
	}
	if (a->type == BROWSER_PROTO_CHOICE)
		add_choices(o, a->values);
	if (a->has_value && a->type == BROWSER_PROTO_BOOLEAN)
		json_object_object_add(o, "default",
				       json_object_new_boolean(a->value != 0));
	else if (a->has_value)
		add_int(o, "default", a->value);
	add_str(o, "description", a->about);
	return o;
}

static struct json_object *
input_schema(const struct browser_proto_action *action)
{
	struct json_object *o = json_object_new_object();
	struct json_object *properties = json_object_new_object();
	struct json_object *required = json_object_new_array();

	for (const struct browser_proto_arg *a = action->args; a->name != NULL;
	     a++) {
		json_object_object_add(properties, a->name, arg_schema(a));
		if (a->required)
			json_object_array_add(required,
					      json_object_new_string(a->name));
	}
	add_str(o, "type", "object");
	json_object_object_add(o, "properties", properties);
	json_object_object_add(o, "required", required);
	json_object_object_add(o, "additionalProperties",
			       json_object_new_boolean(false));
	return o;
}

/* ---- what comes out ---- */

/* WORD, N bytes of "name:type" or "name:type!", into what it is of. */
static void add_result(const char *word, size_t n,
		       struct json_object *properties,
		       struct json_object *required)
{
	size_t name = strcspn(word, ":");
	bool always = word[n - 1] == '!';
	char *key = xstrndup(word, name);
	char *type = xstrndup(word + name + 1, n - name - 1 - always);
	struct json_object *shape = json_member(shapes(), key);

	if (shape != NULL) {
		json_object_get(shape);
	} else {
		shape = json_object_new_object();
		add_str(shape, "type", type);
	}
	json_object_object_add(properties, key, shape);
	if (always)
		json_object_array_add(required, json_object_new_string(key));
	free(key);
	free(type);
}

static struct json_object *
output_schema(const struct browser_proto_action *action)
{
	struct json_object *o = json_object_new_object();
	struct json_object *properties = json_object_new_object();
	struct json_object *required = json_object_new_array();
	const char *list = action->result, *word;
	size_t n;

	while ((word = words_next(&list, &n)) != NULL)
		add_result(word, n, properties, required);
	add_str(o, "type", "object");
	json_object_object_add(o, "properties", properties);
	json_object_object_add(o, "required", required);
	return o;
}

static struct json_object *
annotations(const struct browser_proto_action *action)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "readOnlyHint",
			       json_object_new_boolean(action->read_only));
	if (!action->read_only) /* a click may do anything */
		json_object_object_add(o, "destructiveHint",
				       json_object_new_boolean(true));
	json_object_object_add(o, "openWorldHint",
			       json_object_new_boolean(true));
	return o;
}

struct json_object *
browser_tool_definition(const struct browser_proto_action *action)
{
	struct json_object *o = json_object_new_object();

	add_str(o, "name", action->name);
	add_str(o, "title", action->title);
	add_str(o, "description", action->about);
	json_object_object_add(o, "inputSchema", input_schema(action));
	json_object_object_add(o, "outputSchema", output_schema(action));
	json_object_object_add(o, "annotations", annotations(action));
	return o;
}
