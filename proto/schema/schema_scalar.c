/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_scalar.c - the checks of type, enum, const, numbers and strings, as
 * operations called by schema_run(). False is a violation with its error, or a
 * bound that was met: long strings, long numbers and patterns cost steps.
 */
#include "proto/schema/schema_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool schema_check_false(struct schema_check *c, const struct schema_op *op,
			const struct schema_place *at, struct schema_seen *seen)
{
	(void)seen;
	return schema_fail_text(c, at, op->keyword, "nothing",
				at->up != NULL && at->key != NULL
				    ? "must not be there"
				    : "is not allowed: the schema is false");
}

bool schema_check_type(struct schema_check *c, const struct schema_op *op,
		       const struct schema_place *at, struct schema_seen *seen)
{
	char want[128];
	struct schema_text t;
	struct schema_num n;

	(void)seen;
	if ((op->u.mask & T_INT) && (schema_type_of(at->value) & T_REAL)) {
		schema_num_of(&n, at->value);
		if (schema_step(c, schema_num_steps(&n)) &&
		    schema_num_is_integer(&n))
			return true;
	}
	if (!schema_wanted(c) || c->rc != 0)
		return false;
	schema_text_init(&t, want, sizeof(want));
	schema_put_types(&t, op->u.mask);
	return schema_fail(c, at, op->keyword, "%s", want);
}

#define CHOICES_SHOWN 100 /* choices named at most; more never have room */

/* Write "a", "b" or "c"; cut when there are many. */
static void put_choices(struct schema_text *t, struct json_object *list)
{
	size_t n = json_object_array_length(list);
	size_t looked_at = n < CHOICES_SHOWN ? n : CHOICES_SHOWN;
	bool scalars = true;

	for (size_t i = 0; i < looked_at; i++)
		if (schema_type_of(json_object_array_get_idx(list, i)) &
		    (T_OBJECT | T_ARRAY))
			scalars = false;
	if (!scalars || n == 0) {
		schema_putf(t, "one of the %zu values of the enum", n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if ((t->len + 60 > t->cap || i == looked_at) && i + 1 < n) {
			schema_putf(t, " or %zu more", n - i);
			return;
		}
		schema_put(t, i == 0 ? "" : i + 1 < n ? ", " : " or ");
		schema_put_value(t, json_object_array_get_idx(list, i));
	}
}

bool schema_check_enum(struct schema_check *c, const struct schema_op *op,
		       const struct schema_place *at, struct schema_seen *seen)
{
	char want[200];
	struct schema_text t;

	(void)seen;
	if (schema_set_has(c, op->u.set, at->value))
		return true;
	if (!schema_wanted(c) || c->rc != 0)
		return false;
	schema_text_init(&t, want, sizeof(want));
	put_choices(&t, op->u.set->array);
	return schema_fail(c, at, op->keyword, "%s", want);
}

bool schema_check_const(struct schema_check *c, const struct schema_op *op,
			const struct schema_place *at, struct schema_seen *seen)
{
	char want[128];
	struct schema_text t;

	(void)seen;
	if (schema_equal(c, at->value, op->u.value))
		return true;
	if (!schema_wanted(c) || c->rc != 0)
		return false;
	schema_text_init(&t, want, sizeof(want));
	if (schema_type_of(op->u.value) & (T_OBJECT | T_ARRAY))
		schema_put(&t, "the value of the const");
	else
		schema_put_value(&t, op->u.value);
	return schema_fail(c, at, op->keyword, "%s", want);
}

/* Return the number's text, written when the schema was compiled. */
static const char *num_text(const struct schema_op *op)
{
	return op->u.num->text != NULL ? op->u.num->text : op->u.num->buf;
}

/* Check minimum, maximum and the exclusive forms. */
bool schema_check_order(struct schema_check *c, const struct schema_op *op,
			const struct schema_place *at, struct schema_seen *seen)
{
	struct schema_num n;
	int order;

	(void)seen;
	schema_num_of(&n, at->value);
	if (!schema_step(c, schema_num_steps(&n) + schema_num_steps(op->u.num)))
		return false;
	order = schema_num_cmp(&n, op->u.num);
	order = (order > 0) - (order < 0);
	return (order >= op->least && order <= op->most) ||
	       schema_fail(c, at, op->keyword, "a number %s %.40s",
			   op->relation, num_text(op));
}

bool schema_check_multiple_of(struct schema_check *c,
			      const struct schema_op *op,
			      const struct schema_place *at,
			      struct schema_seen *seen)
{
	struct schema_num n;

	(void)seen;
	schema_num_of(&n, at->value);
	if (!(n.integer && op->u.num->integer) &&
	    !schema_step(c, COST_DIVIDE + DIGITS_COMPARED / 2 *
					      (schema_num_steps(&n) +
					       schema_num_steps(op->u.num))))
		return false;
	return schema_num_multiple(&n, op->u.num) ||
	       schema_fail(c, at, op->keyword, "a multiple of %.40s",
			   num_text(op));
}

/* Does the count N satisfy OP? */
static bool counts(const struct schema_op *op, uint64_t n)
{
	int order = (n > op->u.count) - (n < op->u.count);

	return order >= op->least && order <= op->most;
}

/* Count the code points in *N: continuation bytes do not count. */
static bool string_length(struct schema_check *c, struct json_object *v,
			  uint64_t *n)
{
	const char *s = json_object_get_string(v);
	int len = json_object_get_string_len(v);

	*n = 0;
	if (!schema_step(c, (size_t)len / BYTES_COUNTED))
		return false;
	for (int i = 0; i < len; i++)
		*n += ((unsigned char)s[i] & 0xC0) != 0x80;
	return true;
}

bool schema_check_length(struct schema_check *c, const struct schema_op *op,
			 const struct schema_place *at,
			 struct schema_seen *seen)
{
	uint64_t n = (uint64_t)json_object_get_string_len(at->value);

	(void)seen;
	/* A character has one to four bytes. */
	if (counts(op, n) && counts(op, n / 4))
		return true;
	if (!string_length(c, at->value, &n))
		return false;
	return counts(op, n) ||
	       schema_fail(c, at, op->keyword,
			   "a string of %s %llu character%s", op->relation,
			   (unsigned long long)op->u.count,
			   op->u.count == 1 ? "" : "s");
}

/* Check minItems, maxItems, minProperties, maxProperties. */
bool schema_check_size(struct schema_check *c, const struct schema_op *op,
		       const struct schema_place *at, struct schema_seen *seen)
{
	bool array = op->types == T_ARRAY, few = op->most > 0;
	const char *what = array ? "item" : "member";
	size_t n = array ? json_object_array_length(at->value)
			 : (size_t)json_object_object_length(at->value);
	char want[16];

	(void)seen;
	if (counts(op, n))
		return true;
	snprintf(want, sizeof(want), "%s %ss", few ? "more" : "fewer", what);
	return schema_fail_text(c, at, op->keyword, want,
				"has %zu %s%s; it %s have %s %llu", n, what,
				n == 1 ? "" : "s", few ? "must" : "may",
				op->relation, (unsigned long long)op->u.count);
}

bool schema_check_pattern(struct schema_check *c, const struct schema_op *op,
			  const struct schema_place *at,
			  struct schema_seen *seen)
{
	int rc = schema_pattern_match(
	    op->u.pattern, c, json_object_get_string(at->value),
	    (size_t)json_object_get_string_len(at->value));

	(void)seen;
	if (rc == -E2BIG)
		return schema_too_long(c, at, op->keyword, "takes",
				       op->u.pattern);
	return rc == 1 ||
	       schema_fail(c, at, op->keyword, "a string that matches %.150s",
			   schema_pattern_text(op->u.pattern));
}

bool schema_check_format(struct schema_check *c, const struct schema_op *op,
			 const struct schema_place *at,
			 struct schema_seen *seen)
{
	size_t len = (size_t)json_object_get_string_len(at->value);

	(void)seen;
	if (!schema_step(c, schema_format_steps(op->u.format, len)))
		return false;
	return op->u.format->good(json_object_get_string(at->value), len) ||
	       schema_fail(c, at, op->keyword, "%s", op->u.format->expected);
}
