/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_keyword.c - the table of keywords: name, vocabulary, and the shape of
 * the value. Loading, compiling and lint look names up. For a value of another
 * shape the expected shape is returned; an unknown word gives NULL, and is
 * ignored as the standard says.
 */
#include "proto/schema/schema_compiler.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_is.h"

/* Vocabularies of a keyword that draft-07 has with the same meaning. */
#define V_APPLICATOR_7 (V_APPLICATOR | V_DRAFT7)
#define V_CORE_7 (V_CORE | V_DRAFT7)
#define V_VALIDATION_7 (V_VALIDATION | V_DRAFT7)
#define V_METADATA_7 (V_METADATA | V_DRAFT7)
#define V_CONTENT_7 (V_CONTENT | V_DRAFT7)
#define V_FORMAT_7 (V_FORMAT | V_FORMAT_ASSERT | V_DRAFT7)

static const struct schema_keyword table[] = {
#define SHAPE(...)
#define KEYWORD(name, id, vocabs, shape) {name, KW_##id, vocabs, SHAPE_##shape},
#define KEYWORD_ELSE KEYWORD
#include "proto/schema/schema_keyword.def"
};

static int compare_keyword(const void *key, const void *row)
{
	return strcmp(key, ((const struct schema_keyword *)row)->name);
}

const struct schema_keyword *schema_keyword_find(const char *name,
						 unsigned vocabs)
{
	const struct schema_keyword *k = bsearch(
	    name, table, ARRAY_LEN(table), sizeof(table[0]), compare_keyword);

	if (k == NULL || (k->vocabs & vocabs))
		return k;
	/* The other row of the same name is its neighbour. */
	for (int side = -1; side <= 1; side += 2) {
		const struct schema_keyword *other = k + side;

		if (other >= table && other < table + ARRAY_LEN(table) &&
		    strcmp(other->name, name) == 0 && (other->vocabs & vocabs))
			return other;
	}
	return NULL;
}

void schema_keyword_near(struct suggest *suggest, unsigned vocabs)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].vocabs & vocabs)
			suggest_try(suggest, table[i].name);
}

void schema_words_of(struct schema_words *w, const struct schema_node *n)
{
	*w = (struct schema_words){0};
	if (json_object_get_type(n->json) != json_type_object)
		return;
	json_object_object_foreach(n->json, key, val) {
		const struct schema_keyword *k =
		    schema_keyword_find(key, n->home->vocabs);

		if (k == NULL)
			continue;
		w->val[k->kw] = val;
		w->has[k->kw] = true;
	}
}

unsigned schema_type_named(const char *name)
{
	static const struct {
		const char *name;
		unsigned bits;
	} types[] = {
	    {"array", T_ARRAY},	  {"boolean", T_BOOL},	{"integer", T_INT},
	    {"null", T_NULL},	  {"number", T_NUMBER}, {"object", T_OBJECT},
	    {"string", T_STRING},
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(types[i].name, name) == 0)
			return types[i].bits;
	return 0;
}

static bool is_type(struct json_object *v, enum json_type t)
{
	return json_object_get_type(v) == t;
}

static bool all_members(struct json_object *v, json_is_fn *good)
{
	if (!json_is_object(v))
		return false;
	json_object_object_foreach(v, key, val) {
		(void)key;
		if (!good(val))
			return false;
	}
	return true;
}

static bool is_bool(struct json_object *v)
{
	return is_type(v, json_type_boolean);
}

static bool is_names(struct json_object *v)
{
	size_t i, j;

	return json_is_list(v, json_is_string) &&
	       !schema_find_twins(NULL, v, &i, &j);
}

static bool is_number(struct json_object *v)
{
	return schema_type_of(v) & T_NUMBER;
}

static bool is_positive(struct json_object *v)
{
	struct schema_num n, zero = {.integer = true, .buf = "0"};

	if (!is_number(v))
		return false;
	schema_num_of(&n, v);
	return schema_num_cmp(&n, &zero) > 0 && isfinite(n.d);
}

static bool is_nonnegative_integer(struct json_object *v)
{
	struct schema_num n;

	if (!is_number(v))
		return false;
	schema_num_of(&n, v);
	return schema_num_is_integer(&n) && n.d >= 0;
}

static bool is_type_name(struct json_object *v)
{
	return json_is_string(v) &&
	       schema_type_named(json_object_get_string(v));
}

static bool is_types(struct json_object *v)
{
	return is_type_name(v) ||
	       (json_is_list(v, is_type_name) &&
		json_object_array_length(v) > 0 && is_names(v));
}

static bool is_anchor(struct json_object *v)
{
	const char *s;

	if (!json_is_string(v))
		return false;
	s = json_object_get_string(v);
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || (*s != '\0' && strchr("-._", *s)))
		s++;
	return *s == '\0';
}

static bool is_uri_reference(struct json_object *v)
{
	return json_is_string(v) &&
	       json_object_get_string_len(v) <= (int)SCHEMA_URI_MAX &&
	       schema_is_iri_reference(json_object_get_string(v),
				       (size_t)json_object_get_string_len(v));
}

static bool is_array(struct json_object *v)
{
	return is_type(v, json_type_array);
}

static bool is_schemas(struct json_object *v)
{
	return is_array(v) && json_object_array_length(v) > 0;
}

static bool is_schema(struct json_object *v)
{
	return json_is_object(v) || is_bool(v);
}

static bool is_items(struct json_object *v)
{
	return is_schema(v) || is_array(v);
}

static bool is_any(struct json_object *v)
{
	(void)v;
	return true;
}

static bool is_names_map(struct json_object *v)
{
	return all_members(v, is_names);
}

static bool is_bool_map(struct json_object *v)
{
	return all_members(v, is_bool);
}

const char *schema_shape_wrong(enum schema_shape shape, struct json_object *v)
{
	static const struct {
		json_is_fn *good;
		const char *expected;
	} shapes[] = {
#define SHAPE(shape, good, expected) [SHAPE_##shape] = {good, expected},
#define KEYWORD(...)
#define KEYWORD_ELSE(...)
#include "proto/schema/schema_keyword.def"
	};

	return shapes[shape].good(v) ? NULL : shapes[shape].expected;
}
