/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_value.c - equality and hashes of JSON values by the standard's rules,
 * for enum, const and uniqueItems. The hash is keyed, so nobody can prepare
 * collisions. Hashing costs steps: when the budget is used up, values count as
 * unequal and the check has no verdict.
 */
#include "proto/schema/schema_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/mem.h"

#define FEW 8u /* elements compared pair by pair */
#define SEED UINT64_C(0xcbf29ce484222325)

__extension__ typedef unsigned __int128 u128;

static uint64_t secret[2];

/* Make the key, before there are threads. */
__attribute__((constructor)) static void make_key(void)
{
	if (getrandom(secret, sizeof(secret), GRND_NONBLOCK) !=
	    (ssize_t)sizeof(
		secret)) /* too early for a machine's first seconds */
		secret[0] = secret[1] =
		    (uint64_t)(uintptr_t)&secret ^ (uint64_t)time(NULL);
	secret[1] |= 1;
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	u128 m = (u128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

/* Hash eight bytes at a time, each multiplied by a secret key. */
uint64_t schema_hash_bytes(uint64_t h, const void *p, size_t n)
{
	const unsigned char *u = p;
	uint64_t x;

	h ^= n;
	for (; n >= sizeof(x); n -= sizeof(x), u += sizeof(x)) {
		memcpy(&x, u, sizeof(x));
		h = fold(h ^ x ^ secret[0], secret[1]) + x;
	}
	x = 0;
	memcpy(&x, u, n);
	return fold(h ^ x ^ secret[0], secret[1] ^ SEED);
}

unsigned schema_type_of(struct json_object *v)
{
	static const unsigned bits[] = {
	    [json_type_null] = T_NULL,	   [json_type_boolean] = T_BOOL,
	    [json_type_double] = T_REAL,   [json_type_int] = T_INT,
	    [json_type_object] = T_OBJECT, [json_type_array] = T_ARRAY,
	    [json_type_string] = T_STRING,
	};

	return bits[json_object_get_type(v)];
}

static bool enter_value(struct schema_check *c)
{
	if (c == NULL)
		return true;
	if (!schema_step(c, COST_HASHED))
		return false;
	if (c->depth < CHECK_DEPTH_MAX) {
		c->depth++;
		return true;
	}
	return schema_give_up(c, NULL, "", "is deeper than %d",
			      CHECK_DEPTH_MAX);
}

static void leave_value(struct schema_check *c)
{
	if (c != NULL)
		c->depth--;
}

static bool equal_arrays(struct schema_check *c, struct json_object *a,
			 struct json_object *b)
{
	size_t n = json_object_array_length(a);

	if (n != json_object_array_length(b))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!schema_equal(c, json_object_array_get_idx(a, i),
				  json_object_array_get_idx(b, i)))
			return false;
	return true;
}

static bool equal_objects(struct schema_check *c, struct json_object *a,
			  struct json_object *b)
{
	struct json_object *other;

	if (json_object_object_length(a) != json_object_object_length(b))
		return false;
	json_object_object_foreach(a, key, val) {
		if (!schema_step(c, COST_LOOKUP + strlen(key) / BYTES_HASHED) ||
		    !json_object_object_get_ex(b, key, &other) ||
		    !schema_equal(c, val, other))
			return false;
	}
	return true;
}

/* Compare deeply: 1 equals 1.0, and the order of members is ignored. */
bool schema_equal(struct schema_check *c, struct json_object *a,
		  struct json_object *b)
{
	unsigned type = schema_type_of(a), other = schema_type_of(b);
	int len = json_object_get_string_len(a);
	struct schema_num x, y;
	bool same;

	if (type & other & T_STRING)
		return len == json_object_get_string_len(b) &&
		       schema_step(c, 1 + (size_t)len / BYTES_EQUAL) &&
		       memcmp(json_object_get_string(a),
			      json_object_get_string(b), (size_t)len) == 0;
	if ((type & T_NUMBER) && (other & T_NUMBER)) {
		schema_num_of(&x, a);
		schema_num_of(&y, b);
		return schema_step(c, schema_num_steps(&x) +
					  schema_num_steps(&y)) &&
		       schema_num_cmp(&x, &y) == 0;
	}
	if (type != other)
		return false;
	if (type & T_NULL)
		return true;
	if (type & T_BOOL)
		return json_object_get_boolean(a) == json_object_get_boolean(b);
	if (!enter_value(c))
		return false;
	same = type & T_ARRAY ? equal_arrays(c, a, b) : equal_objects(c, a, b);
	leave_value(c);
	return same;
}

static uint64_t hash_string(struct schema_check *c, const char *s, size_t len)
{
	schema_step(c, COST_HASHED + len / BYTES_HASHED);
	return schema_hash_bytes(SEED, s, len);
}

static uint64_t schema_hash(struct schema_check *c, struct json_object *v);

static uint64_t hash_array(struct schema_check *c, struct json_object *v)
{
	uint64_t h = SEED ^ T_ARRAY;
	size_t n = json_object_array_length(v);

	for (size_t i = 0; i < n && (c == NULL || c->rc == 0); i++) {
		uint64_t one = schema_hash(c, json_object_array_get_idx(v, i));

		h = schema_hash_bytes(h, &one, sizeof(one));
	}
	return h;
}

static uint64_t hash_object(struct schema_check *c, struct json_object *v)
{
	uint64_t h = SEED ^ T_OBJECT;

	json_object_object_foreach(v, key, val) {
		uint64_t one = schema_hash(c, val);

		h += fold(one | 1,
			  /* sum: independent of the order */
			  hash_string(c, key, strlen(key)));
		if (c != NULL && c->rc != 0)
			break;
	}
	return h;
}

/* Hash V; equal values have equal hashes. */
static uint64_t schema_hash(struct schema_check *c, struct json_object *v)
{
	unsigned type = schema_type_of(v);
	struct schema_num n;
	uint64_t h;

	if (type & T_STRING)
		return hash_string(c, json_object_get_string(v),
				   (size_t)json_object_get_string_len(v));
	if (type & T_NUMBER) {
		schema_step(c, COST_HASHED);
		schema_num_of(&n, v);
		if (n.d == 0)
			n.d = 0; /* -0 becomes 0 */
		return schema_hash_bytes(SEED ^ T_NUMBER, &n.d, sizeof(n.d));
	}
	if (type & T_BOOL)
		return SEED + (json_object_get_boolean(v) ? 1 : 2);
	if (type & T_NULL)
		return SEED + 3;
	if (!enter_value(c))
		return 0;
	h = type & T_ARRAY ? hash_array(c, v) : hash_object(c, v);
	leave_value(c);
	return h;
}

/* Return the slots for N elements, at least twice N: chains stay short. */
static size_t slots_for(size_t n)
{
	size_t slots = 8;

	while (slots < n * 2)
		slots *= 2;
	return slots;
}

/*
 * Return the slot of the element equal to V with hash H, or the free slot for
 * it.
 */
static size_t find_slot(struct schema_check *c, const struct schema_set *set,
			struct json_object *v, uint64_t h)
{
	size_t at = h & (set->slots - 1);

	while (set->slot[at] != 0) {
		if (set->hash[at] == h &&
		    schema_equal(c,
				 json_object_array_get_idx(set->array,
							   set->slot[at] - 1),
				 v))
			break;
		if (!schema_step(c, 1))
			break;
		at = (at + 1) & (set->slots - 1);
	}
	return at;
}

struct schema_set *schema_set_new(struct schema *s, struct schema_check *c,
				  struct json_object *array)
{
	size_t n = json_object_array_length(array);
	struct schema_set *set = schema_alloc(s, 1, sizeof(*set));

	set->array = array;
	set->slots = slots_for(n);
	set->slot = schema_alloc(s, set->slots, sizeof(*set->slot));
	set->hash = schema_alloc(s, set->slots, sizeof(*set->hash));
	for (size_t i = 0; i < n && schema_step(c, COST_HASHED); i++) {
		struct json_object *v = json_object_array_get_idx(array, i);
		uint64_t h = schema_hash(c, v);
		size_t at = find_slot(c, set, v, h);

		if (set->slot[at] != 0)
			continue;
		set->slot[at] = (uint32_t)(i + 1);
		set->hash[at] = h;
	}
	return set;
}

bool schema_set_has(struct schema_check *c, const struct schema_set *set,
		    struct json_object *v)
{
	uint64_t h = schema_hash(c, v);

	return c->rc == 0 && set->slot[find_slot(c, set, v, h)] != 0 &&
	       c->rc == 0;
}

static bool twins_of_few(struct schema_check *c, struct json_object *array,
			 size_t *first, size_t *second)
{
	size_t n = json_object_array_length(array);

	for (size_t j = 1; j < n && (c == NULL || c->rc == 0); j++)
		for (size_t i = 0; i < j; i++)
			if (schema_equal(c, json_object_array_get_idx(array, i),
					 json_object_array_get_idx(array, j))) {
				*first = i;
				*second = j;
				return true;
			}
	return false;
}

bool schema_find_twins(struct schema_check *c, struct json_object *array,
		       size_t *first, size_t *second)
{
	size_t n = json_object_array_length(array);
	struct schema_set set = {.array = array, .slots = slots_for(n)};
	bool found = false;

	if (n <= FEW)
		return twins_of_few(c, array, first, second);
	if (!schema_step(c, n / ITEMS_TABLED))
		return false;
	set.slot = xcalloc(set.slots, sizeof(*set.slot));
	set.hash = xcalloc(set.slots, sizeof(*set.hash));
	for (size_t j = 0; j < n && !found && schema_step(c, COST_HASHED);
	     j++) {
		struct json_object *v = json_object_array_get_idx(array, j);
		uint64_t h = schema_hash(c, v);
		size_t at = find_slot(c, &set, v, h);

		found = set.slot[at] != 0;
		*first = found ? set.slot[at] - 1 : 0;
		*second = j;
		set.slot[at] = (uint32_t)(j + 1);
		set.hash[at] = h;
	}
	free(set.slot);
	free(set.hash);
	return found && (c == NULL || c->rc == 0);
}
