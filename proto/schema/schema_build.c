/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_build.c - turns keywords without subschemas into operations, while
 * schema_compile.c compiles a node. A pattern that PCRE2 does not take, or a
 * set of values too dear to hash, is -EINVAL by schema_bad() with its place.
 */
#include "proto/schema/schema_build.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

struct schema_op *build_add(struct build *b, const char *keyword,
			    unsigned types, schema_check_fn *check)
{
	struct schema_op *op = &b->ops[b->nops++];

	*op = (struct schema_op){
	    .check = check, .keyword = keyword, .types = types};
	return op;
}

const char **build_names_of(struct build *b, struct json_object *list)
{
	size_t n = json_object_array_length(list);
	const char **names = schema_alloc(b->c->s, n, sizeof(*names));

	for (size_t i = 0; i < n; i++)
		names[i] =
		    json_object_get_string(json_object_array_get_idx(list, i));
	return names;
}

int build_pattern(struct build *b, const char *keyword, const char *pattern,
		  size_t len, struct schema_pattern **out)
{
	char errmsg[256];
	struct schema_text t;

	if (schema_spend(b->c, b->n, keyword, COST_PATTERN + len * 2) != 0)
		return -EINVAL;
	schema_text_init(&t, errmsg, sizeof(errmsg));
	if (schema_keep_pattern(b->c->s, out, pattern, len, &t) == 0)
		return 0;
	return schema_bad(b->c, b->n, keyword, "an ECMA-262 regular expression",
			  "the regular expression %.100s is refused: %s",
			  pattern, errmsg);
}

int build_type(struct build *b)
{
	struct json_object *v = b->w.val[KW_TYPE];
	unsigned mask = 0;

	if (!b->w.has[KW_TYPE])
		return 0;
	if (json_object_get_type(v) == json_type_string)
		mask = schema_type_named(json_object_get_string(v));
	else
		for (size_t i = 0; i < json_object_array_length(v); i++)
			mask |= schema_type_named(json_object_get_string(
			    json_object_array_get_idx(v, i)));
	/* An instance of a right type needs no check. */
	build_add(b, "type", T_ANY & ~mask, schema_check_type)->u.mask = mask;
	return 0;
}

int build_values(struct build *b)
{
	if (b->w.has[KW_ENUM]) {
		struct schema_op *op =
		    build_add(b, "enum", T_ANY, schema_check_enum);

		op->u.set =
		    schema_set_new(b->c->s, b->c->meter, b->w.val[KW_ENUM]);
		if (schema_spend(b->c, b->n, "enum", 0) != 0)
			return -EINVAL;
	}
	if (b->w.has[KW_CONST])
		build_add(b, "const", T_ANY, schema_check_const)->u.value =
		    b->w.val[KW_CONST];
	return 0;
}

/* Build the keywords with a number as their value. */
int build_numbers(struct build *b)
{
	static const struct {
		const char *name;
		const char *relation; /* words of the comparison; NULL:
					 multipleOf */
		enum schema_kw kw;
		int8_t least, most;
	} rows[] = {
	    {"minimum", "of at least", KW_MINIMUM, 0, 1},
	    {"exclusiveMinimum", "above", KW_EXCLUSIVE_MINIMUM, 1, 1},
	    {"maximum", "of at most", KW_MAXIMUM, -1, 0},
	    {"exclusiveMaximum", "below", KW_EXCLUSIVE_MAXIMUM, -1, -1},
	    {"multipleOf", NULL, KW_MULTIPLE_OF, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct schema_op *op;

		if (!b->w.has[rows[i].kw])
			continue;
		op = build_add(b, rows[i].name, T_NUMBER,
			       rows[i].relation != NULL
				   ? schema_check_order
				   : schema_check_multiple_of);
		op->least = rows[i].least;
		op->most = rows[i].most;
		op->relation = rows[i].relation;
		op->u.num = schema_alloc(b->c->s, 1, sizeof(*op->u.num));
		schema_num_of(op->u.num, b->w.val[rows[i].kw]);
		schema_num_text(op->u.num);
	}
	return 0;
}

uint64_t build_count_of(struct json_object *v)
{
	double d = json_object_get_double(v);

	if (json_object_get_type(v) == json_type_int)
		return json_object_get_uint64(v);
	return d < (double)INT64_MAX ? (uint64_t)d : UINT64_MAX - 1;
}

/* Build the keywords with a count as their value. */
int build_counts(struct build *b)
{
	static const struct {
		enum schema_kw kw;
		unsigned types;
		const char *name;
		bool least;
	} rows[] = {
	    {KW_MIN_LENGTH, T_STRING, "minLength", true},
	    {KW_MAX_LENGTH, T_STRING, "maxLength", false},
	    {KW_MIN_ITEMS, T_ARRAY, "minItems", true},
	    {KW_MAX_ITEMS, T_ARRAY, "maxItems", false},
	    {KW_MIN_PROPERTIES, T_OBJECT, "minProperties", true},
	    {KW_MAX_PROPERTIES, T_OBJECT, "maxProperties", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct schema_op *op;

		if (!b->w.has[rows[i].kw])
			continue;
		op = build_add(b, rows[i].name, rows[i].types,
			       rows[i].types == T_STRING ? schema_check_length
							 : schema_check_size);
		op->least = rows[i].least ? 0 : -1;
		op->most = rows[i].least ? 1 : 0;
		op->relation = rows[i].least ? "at least" : "at most";
		op->u.count = build_count_of(b->w.val[rows[i].kw]);
	}
	return 0;
}

int build_string(struct build *b)
{
	struct json_object *pattern = b->w.val[KW_PATTERN];
	const struct schema_format *format = NULL;
	struct schema_op *op;
	int rc;

	if (b->w.has[KW_FORMAT] && (b->c->opt.assert_formats ||
				    (b->n->home->vocabs & V_FORMAT_ASSERT)))
		format = schema_format_find(
		    json_object_get_string(b->w.val[KW_FORMAT]));
	if (format != NULL)
		build_add(b, "format", T_STRING, schema_check_format)
		    ->u.format = format;
	if (pattern == NULL)
		return 0;
	op = build_add(b, "pattern", T_STRING, schema_check_pattern);
	rc = build_pattern(b, "pattern", json_object_get_string(pattern),
			   (size_t)json_object_get_string_len(pattern),
			   &op->u.pattern);
	return rc;
}

int build_required(struct build *b)
{
	struct json_object *v = b->w.val[KW_REQUIRED];
	struct schema_op *op;

	if (!b->w.has[KW_REQUIRED])
		return 0;
	op = build_add(b, "required", T_OBJECT, schema_check_required);
	op->u.names = build_names_of(b, v);
	op->n = json_object_array_length(v);
	return 0;
}

int build_unique(struct build *b)
{
	if (b->w.has[KW_UNIQUE_ITEMS] &&
	    json_object_get_boolean(b->w.val[KW_UNIQUE_ITEMS]))
		build_add(b, "uniqueItems", T_ARRAY, schema_check_unique_items);
	return 0;
}
