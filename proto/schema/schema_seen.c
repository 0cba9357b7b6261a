/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_seen.c - remembers which members or elements were evaluated, for
 * unevaluatedProperties and unevaluatedItems; filled by the checks of arrays
 * and objects. A bit for each: nothing in it can fail.
 */
#include "proto/schema/schema_private.h"

#include <stdlib.h>

#include "base/mem.h"

#define WORD_BITS 64u

static size_t words(const struct schema_seen *s)
{
	return (s->n + WORD_BITS - 1) / WORD_BITS;
}

/* Nothing of V is evaluated yet. S stays where it is until it is freed. */
void schema_seen_init(struct schema_seen *s, struct json_object *v)
{
	s->n = 0;
	s->word = 0;
	s->bits = &s->word;
	if (json_object_get_type(v) == json_type_object)
		s->n = (size_t)json_object_object_length(v);
	else if (json_object_get_type(v) == json_type_array)
		s->n = json_object_array_length(v);
	if (s->n > WORD_BITS)
		s->bits = xcalloc(words(s), sizeof(*s->bits));
}

void schema_seen_fini(struct schema_seen *s)
{
	if (s->bits != &s->word)
		free(s->bits);
}

void schema_seen_add(struct schema_seen *s, size_t i)
{
	if (s != NULL)
		s->bits[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
}

void schema_seen_add_upto(struct schema_seen *s, size_t n)
{
	for (size_t i = 0; s != NULL && i < n; i++)
		schema_seen_add(s, i);
}

bool schema_seen_has(const struct schema_seen *s, size_t i)
{
	return s->bits[i / WORD_BITS] >> i % WORD_BITS & 1;
}

void schema_seen_merge(struct schema_seen *s, const struct schema_seen *from)
{
	for (size_t i = 0; i < words(from); i++)
		s->bits[i] |= from->bits[i];
}
