/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_lint.c - remarks for the author of a schema. The standard takes a
 * misspelt keyword for an annotation, so it refuses nothing and no error is
 * reported. Called when a package is checked, not when it is loaded; remarks
 * are its only outcome.
 */
#include "proto/schema/schema_lint.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "proto/json/json.h"
#include "proto/json/json_pointer.h"
#include "proto/schema/schema_compiler.h"

#define DEPTH_MAX (2 * JSON_DEPTH_MAX)
#define NEAR_MIN 3	   /* bytes of a property's name, for a guess */
#define LOOKUPS_MAX 100000 /* look-ups for required names, in all */

/* A subschema on the walk, and the outermost schema for the same value. */
struct frame {
	struct json_object *schema;
	const struct frame *top; /* the outermost schema for the same value */
};

struct lint {
	bool (*on_remark)(void *arg, const struct schema_remark *r);
	void *arg;
	struct buf pointer;
	bool over; /* no more remarks are wanted */
	unsigned lookups;
};

static void lint_schema(struct lint *l, struct json_object *schema,
			unsigned vocabs, const struct frame *in,
			unsigned depth);

static void remark(struct lint *l, bool error, bool name, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void remark(struct lint *l, bool error, bool name, const char *fmt, ...)
{
	char *pointer =
	    xstrndup(buf_len(&l->pointer) > 0 ? buf_data(&l->pointer) : "",
		     buf_len(&l->pointer));
	struct schema_remark r = {
	    .pointer = pointer, .error = error, .name = name};
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	r.text = text;
	if (!l->over && !l->on_remark(l->arg, &r))
		l->over = true;
	free(text);
	free(pointer);
}

/* ---- keywords ---- */

static void warn_unknown_keyword(struct lint *l, const char *key,
				 unsigned vocabs)
{
	size_t before = json_pointer_push(&l->pointer, key);
	struct suggest suggest;

	suggest_init(&suggest, key);
	schema_keyword_near(&suggest, vocabs);
	if (suggest.best != NULL)
		remark(l, false, true,
		       "\"%s\" is no keyword of JSON Schema, so nothing is "
		       "checked by it; did you mean \"%s\"?",
		       key, suggest.best);
	else
		remark(l, false, true,
		       "\"%s\" is no keyword of JSON Schema, so nothing is "
		       "checked by it; a name that begins with x- may be used "
		       "for notes",
		       key);
	json_pointer_pop(&l->pointer, before);
}

static void format(struct lint *l, const char *name)
{
	struct suggest suggest;

	if (schema_format_is_known(name))
		return;
	suggest_init(&suggest, name);
	schema_format_near(&suggest);
	remark(l, false, false,
	       "\"%s\" is no format of JSON Schema, so it says nothing%s%s%s",
	       name, suggest.best != NULL ? "; did you mean \"" : "",
	       suggest.best != NULL ? suggest.best : "",
	       suggest.best != NULL ? "\"?" : "");
}

/* ---- required names ---- */

/* Can SCHEMA allow properties beside those in its own "properties"? */
static bool may_be_elsewhere(struct json_object *schema)
{
	struct json_object *v;

	return json_object_object_get_ex(schema, "$ref", NULL) ||
	       json_object_object_get_ex(schema, "$dynamicRef", NULL) ||
	       json_object_object_get_ex(schema, "patternProperties", NULL) ||
	       ((v = json_member(schema, "additionalProperties")) != NULL &&
		json_object_is_type(v, json_type_object)) ||
	       ((v = json_member(schema, "unevaluatedProperties")) != NULL &&
		json_object_is_type(v, json_type_object));
}

/* Has SCHEMA, or a part of it for the same value, a property KEY? */
static bool names(struct lint *l, struct json_object *schema, const char *key,
		  struct suggest *suggest, unsigned depth)
{
	static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
	static const char *const parts[] = {"if", "then", "else", "not"};
	struct json_object *own = json_member(schema, "properties");
	struct json_object *map = json_member(schema, "dependentSchemas");

	if (!json_object_is_type(schema, json_type_object))
		return false;
	if (++l->lookups > LOOKUPS_MAX || depth > DEPTH_MAX ||
	    may_be_elsewhere(schema) || json_member(own, key) != NULL ||
	    (json_object_is_type(own, json_type_object) &&
	     json_object_object_get_ex(own, key, NULL)))
		return true;
	if (json_object_is_type(own, json_type_object)) {
		json_object_object_foreach(own, name, sub) {
			(void)sub;
			if (++l->lookups <= LOOKUPS_MAX)
				suggest_try(suggest, name);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		json_each(one, json_member(schema, lists[i]))
			if (names(l, one, key, suggest, depth + 1))
				return true;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (names(l, json_member(schema, parts[i]), key, suggest,
			  depth + 1))
			return true;
	if (!json_object_is_type(map, json_type_object))
		return false;
	json_object_object_foreach(map, of, below) {
		(void)of;
		if (names(l, below, key, suggest, depth + 1))
			return true;
	}
	return false;
}

static void required(struct lint *l, const struct frame *f)
{
	struct json_object *list = json_member(f->schema, "required");
	size_t n = json_length(list);

	for (size_t i = 0; i < n && !l->over; i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		const char *key = json_object_get_string(o);
		size_t before, inner;
		struct suggest suggest;

		if (!json_object_is_type(o, json_type_string))
			continue;
		suggest_init(&suggest, key);
		if (names(l, f->top->schema, key, &suggest, 0))
			continue;
		if (strlen(key) < NEAR_MIN)
			suggest.best =
			    NULL; /* a short name is near to any other */
		before = json_pointer_push(&l->pointer, "required");
		inner = json_pointer_push_index(&l->pointer, i);
		remark(
		    l, false, false,
		    "\"%s\" is required, but is none of the properties%s%s%s",
		    key, suggest.best != NULL ? "; did you mean \"" : "",
		    suggest.best != NULL ? suggest.best : "",
		    suggest.best != NULL ? "\"?" : "");
		json_pointer_pop(&l->pointer, inner);
		json_pointer_pop(&l->pointer, before);
	}
}

/* ---- subschemas ---- */

/* Do the subschemas of KW check the same value as the schema around KW? */
static bool is_in_place(enum schema_kw kw)
{
	switch (kw) {
	case KW_ALL_OF:
	case KW_ANY_OF:
	case KW_ONE_OF:
	case KW_IF:
	case KW_THEN:
	case KW_ELSE:
	case KW_NOT:
	case KW_DEPENDENT_SCHEMAS:
	case KW_DEPENDENCIES:
		return true;
	default:
		return false;
	}
}

static void walk_list(struct lint *l, struct json_object *list, unsigned vocabs,
		      const struct frame *in, unsigned depth)
{
	for (size_t i = 0; i < json_object_array_length(list) && !l->over;
	     i++) {
		size_t before = json_pointer_push_index(&l->pointer, i);

		lint_schema(l, json_object_array_get_idx(list, i), vocabs, in,
			    depth);
		json_pointer_pop(&l->pointer, before);
	}
}

static void walk_below(struct lint *l, const struct schema_keyword *k,
		       struct json_object *val, unsigned vocabs,
		       const struct frame *f, unsigned depth)
{
	const struct frame *in = is_in_place(k->kw) ? f : NULL;
	bool list = json_object_is_type(val, json_type_array);

	switch (k->shape) {
	case SHAPE_SCHEMA:
		lint_schema(l, val, vocabs, in, depth);
		break;
	case SHAPE_SCHEMAS:
		walk_list(l, val, vocabs, in, depth);
		break;
	case SHAPE_ITEMS:
		if (list)
			walk_list(l, val, vocabs, in, depth);
		else
			lint_schema(l, val, vocabs, in, depth);
		break;
	case SHAPE_SCHEMA_MAP:
	case SHAPE_DEPENDENCIES: {
		json_object_object_foreach(val, name, sub) {
			size_t before = json_pointer_push(&l->pointer, name);

			/* "dependencies" can have an array of names as a value */
			if (!l->over &&
			    !json_object_is_type(sub, json_type_array))
				lint_schema(l, sub, vocabs, in, depth);
			json_pointer_pop(&l->pointer, before);
		}
		break;
	}
	default:
		break;
	}
}

static void keyword(struct lint *l, const char *key, struct json_object *val,
		    unsigned vocabs, const struct frame *f, unsigned depth)
{
	const struct schema_keyword *k = schema_keyword_find(key, vocabs);
	const char *expected;
	struct schema_text t;
	char got[128];
	size_t before;

	if (k == NULL) {
		/* a private name, or a name of MCP, is known */
		if (strncmp(key, "x-", 2) != 0 && strcmp(key, "enumNames") != 0)
			warn_unknown_keyword(l, key, vocabs);
		return;
	}
	before = json_pointer_push(&l->pointer, key);
	expected = schema_shape_wrong(k->shape, val);
	if (expected != NULL) {
		schema_text_init(&t, got, sizeof(got));
		schema_put_value(&t, val);
		remark(l, true, false, "\"%s\" is %s; it must be %s", key, got,
		       expected);
	} else if (k->kw == KW_FORMAT)
		format(l, json_object_get_string(val));
	else
		walk_below(l, k, val, vocabs, f, depth + 1);
	json_pointer_pop(&l->pointer, before);
}

/* Walk SCHEMA; IN is the schema around it for the same value, or NULL. */
static void lint_schema(struct lint *l, struct json_object *schema,
			unsigned vocabs, const struct frame *in, unsigned depth)
{
	const char *dialect = json_member_str(schema, "$schema");
	struct frame f = {.schema = schema};

	f.top = in != NULL ? in->top : &f;
	if (json_object_is_type(schema, json_type_boolean))
		return;
	if (!json_object_is_type(schema, json_type_object)) {
		remark(l, true, false,
		       "a schema is an object, true or false, and this is "
		       "none of them");
		return;
	}
	if (dialect != NULL)
		vocabs = schema_dialect_vocabs(dialect);
	if (vocabs == 0 || depth > DEPTH_MAX)
		return; /* the keywords of the dialect are unknown */
	json_object_object_foreach(schema, key, val) {
		if (!l->over)
			keyword(l, key, val, vocabs, &f, depth);
	}
	if (!l->over)
		required(l, &f);
}

void schema_lint(struct json_object *doc,
		 bool (*on_remark)(void *arg, const struct schema_remark *r),
		 void *arg)
{
	struct lint l = {
	    .on_remark = on_remark, .arg = arg, .pointer = {.max = 512}};

	lint_schema(&l, doc, V_2020, NULL, 0);
	buf_fini(&l.pointer);
}
