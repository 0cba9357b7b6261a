#include "proto/schema_int.h"

#include <errno.h>
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

	(void)seen;
	if ((op->u.mask & T_INT) && (schema_type_of(at->value) & T_REAL) &&
	    schema_num_is_integer(at->value))
		return true;
	if (!schema_wanted(c))
		return false;
	schema_text_init(&t, want, sizeof(want));
	schema_put_types(&t, op->u.mask);
	return schema_fail(c, at, op->keyword, "%s", want);
}

/* "a", "b" or "c"; cut when there are many. */
static void put_choices(struct schema_text *t, struct json_object *list)
{
	size_t n = json_object_array_length(list);
	bool scalars = true;

	for (size_t i = 0; i < n; i++)
		if (schema_type_of(json_object_array_get_idx(list, i)) &
		    (T_OBJECT | T_ARRAY))
			scalars = false;
	if (!scalars || n == 0) {
		schema_putf(t, "one of the %zu values of the enum", n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (t->len + 60 > t->cap && i + 1 < n) {
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

/* How the instance compares with the keyword's number. */
static int compare(const struct schema_op *op, const struct schema_place *at)
{
	struct schema_num n;

	schema_num_of(&n, at->value);
	return schema_num_cmp(&n, op->u.num);
}

static const char *num_text(const struct schema_op *op)
{
	return op->u.num->text != NULL ? op->u.num->text : op->u.num->buf;
}

bool schema_check_minimum(struct schema_check *c, const struct schema_op *op,
			  const struct schema_place *at,
			  struct schema_seen *seen)
{
	(void)seen;
	return compare(op, at) >= 0 ||
	       schema_fail(c, at, op->keyword, "a number of at least %.40s",
			   num_text(op));
}

bool schema_check_maximum(struct schema_check *c, const struct schema_op *op,
			  const struct schema_place *at,
			  struct schema_seen *seen)
{
	(void)seen;
	return compare(op, at) <= 0 ||
	       schema_fail(c, at, op->keyword, "a number of at most %.40s",
			   num_text(op));
}

bool schema_check_exclusive_minimum(struct schema_check *c,
				    const struct schema_op *op,
				    const struct schema_place *at,
				    struct schema_seen *seen)
{
	(void)seen;
	return compare(op, at) > 0 ||
	       schema_fail(c, at, op->keyword, "a number above %.40s",
			   num_text(op));
}

bool schema_check_exclusive_maximum(struct schema_check *c,
				    const struct schema_op *op,
				    const struct schema_place *at,
				    struct schema_seen *seen)
{
	(void)seen;
	return compare(op, at) < 0 ||
	       schema_fail(c, at, op->keyword, "a number below %.40s",
			   num_text(op));
}

bool schema_check_multiple_of(struct schema_check *c,
			      const struct schema_op *op,
			      const struct schema_place *at,
			      struct schema_seen *seen)
{
	struct schema_num n;

	(void)seen;
	schema_num_of(&n, at->value);
	return schema_num_multiple(&n, op->u.num) ||
	       schema_fail(c, at, op->keyword, "a multiple of %.40s",
			   num_text(op));
}

/* Code points: bytes that continue one do not count. */
static uint64_t length(struct json_object *v)
{
	const char *s = json_object_get_string(v);
	int len = json_object_get_string_len(v);
	uint64_t n = 0;

	for (int i = 0; i < len; i++)
		n += ((unsigned char)s[i] & 0xC0) != 0x80;
	return n;
}

bool schema_check_min_length(struct schema_check *c, const struct schema_op *op,
			     const struct schema_place *at,
			     struct schema_seen *seen)
{
	(void)seen;
	/* A character has four bytes at most, and one at least. */
	if ((uint64_t)json_object_get_string_len(at->value) / 4 >= op->u.count)
		return true;
	return length(at->value) >= op->u.count ||
	       schema_fail(c, at, op->keyword,
			   "a string of at least %llu character%s",
			   (unsigned long long)op->u.count,
			   op->u.count == 1 ? "" : "s");
}

bool schema_check_max_length(struct schema_check *c, const struct schema_op *op,
			     const struct schema_place *at,
			     struct schema_seen *seen)
{
	(void)seen;
	if ((uint64_t)json_object_get_string_len(at->value) <= op->u.count)
		return true;
	return length(at->value) <= op->u.count ||
	       schema_fail(c, at, op->keyword,
			   "a string of at most %llu character%s",
			   (unsigned long long)op->u.count,
			   op->u.count == 1 ? "" : "s");
}

bool schema_check_pattern(struct schema_check *c, const struct schema_op *op,
			  const struct schema_place *at,
			  struct schema_seen *seen)
{
	int rc = schema_pattern_match(
	    op->u.pattern, &c->matcher, json_object_get_string(at->value),
	    (size_t)json_object_get_string_len(at->value), &c->match_budget);

	(void)seen;
	if (rc == -E2BIG)
		return schema_give_up(c, at, op->keyword,
				      "takes too long to match against %.80s",
				      schema_pattern_text(op->u.pattern));
	return rc == 1 ||
	       schema_fail(c, at, op->keyword, "a string that matches %.150s",
			   schema_pattern_text(op->u.pattern));
}

bool schema_check_format(struct schema_check *c, const struct schema_op *op,
			 const struct schema_place *at,
			 struct schema_seen *seen)
{
	(void)seen;
	return op->u.format->good(
		   json_object_get_string(at->value),
		   (size_t)json_object_get_string_len(at->value)) ||
	       schema_fail(c, at, op->keyword, "%s", op->u.format->expected);
}
