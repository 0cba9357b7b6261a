/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_inputs.c - chooses the inputs for a run's row to keep: none above the
 * bound, and no possible secret. runs_create.c and runs_recover.c call it once
 * a run. No function here fails; in doubt an input is secret.
 */
#include "supervisor/run/kept_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"

static bool is_one_of(const char *key, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], key) == 0)
			return true;
	return false;
}

/* May a value of SCHEMA, or a part of the value, be secret? */
static bool may_be_secret(struct json_object *schema)
{
	static const char *const refs[] = {"$ref", "$dynamicRef",
					   "$recursiveRef"};

	json_each(one, schema)
		if (may_be_secret(one))
			return true;
	if (!json_object_is_type(schema, json_type_object))
		return false;
	json_object_object_foreach(schema, key, value) {
		if ((strcmp(key, "writeOnly") == 0 &&
		     json_object_get_boolean(value)) ||
		    is_one_of(key, refs, ARRAY_LEN(refs)) ||
		    may_be_secret(value))
			return true;
	}
	return false;
}

/* Has SCHEMA a rule beside its properties by which any member may be secret? */
static bool all_may_be_secret(struct json_object *schema)
{
	static const char *const apart[] = {"properties", "$defs",
					    "definitions"};
	struct json_object *rest = json_object_new_object();
	bool yes;

	json_object_object_foreach(schema, key, value) {
		if (!is_one_of(key, apart, ARRAY_LEN(apart)))
			json_object_object_add(rest, key,
					       json_object_get(value));
	}
	yes = may_be_secret(rest);
	json_object_put(rest);
	return yes;
}

struct json_object *kept_inputs_open(struct json_object *tree,
				     struct json_object *schema,
				     struct json_object *lack)
{
	struct json_object *open = json_object_new_object();
	struct json_object *properties = json_member(schema, "properties");
	bool none = !json_object_is_type(schema, json_type_object) ||
		    all_may_be_secret(schema);

	json_object_object_foreach(tree, key, value) {
		if (none || may_be_secret(json_member(properties, key)))
			json_object_array_add(lack, json_text_new(key));
		else
			json_object_object_add(open, key,
					       json_object_get(value));
	}
	return open;
}

static char *inputs_text(struct json_object *v)
{
	char *text = xstrdup(json_text(v, NULL));

	json_object_put(v);
	return text;
}

static void keep_open(struct run *r, struct json_object *tree)
{
	struct json_object *lack = json_object_new_array();

	r->kept.text =
	    inputs_text(kept_inputs_open(tree, r->template->inputs_json, lack));
	r->kept.lack = json_object_array_length(lack) > 0
			   ? xstrdup(json_text(lack, NULL))
			   : NULL;
	json_object_put(lack);
}

static void keep_none(struct run *r, int64_t allowed, const char *section)
{
	char *who = xasprintf("the operator: keep_inputs_bytes in [%s%s%s]",
			      section != NULL ? "requestor \"" : "limits",
			      section != NULL ? section : "",
			      section != NULL ? "\"" : "");

	r->kept.lack =
	    inputs_text(json_pack("bytes:i allowed:i whoCanRaise:s",
				  (int64_t)r->inputs_len, allowed, who));
	free(who);
}

void kept_inputs_settle(struct run *r, struct json_object *tree,
			const struct config *config)
{
	int64_t own = r->requestor->section->keep_inputs_bytes;
	bool is_own = own > 0 && own < config->keep_inputs_bytes;
	int64_t allowed = is_own ? own : config->keep_inputs_bytes;

	free(r->kept.lack);
	r->kept.lack = NULL;
	r->kept.whole = false;
	if ((int64_t)r->inputs_len > allowed)
		keep_none(r, allowed, is_own ? r->requestor->name : NULL);
	else if (r->template->secret)
		keep_open(r, tree);
	else
		r->kept.whole = true;
}
