/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_map.c - finds the node that belongs to a JSON value, by its address,
 * while a schema is compiled. Loading adds, references look up; a value without
 * a node is NULL, and then no subschema stands there.
 */
#include "proto/schema/schema_private.h"

#include <stdlib.h>

#include "base/mem.h"

#define SLOTS_MIN 64u

/* Where the node of JSON is, or would go. */
static size_t place(const struct schema_map *m, const struct json_object *json)
{
	uint64_t h = (uint64_t)(uintptr_t)json * UINT64_C(0x9E3779B97F4A7C15);
	size_t at = (size_t)(h >> 32) & (m->slots - 1);

	while (m->slot[at] != NULL && m->slot[at]->json != json)
		at = (at + 1) & (m->slots - 1);
	return at;
}

struct schema_node *schema_node_find(const struct schema_map *m,
				     const struct json_object *json)
{
	return m->slots > 0 ? m->slot[place(m, json)] : NULL;
}

static void grow(struct schema_map *m)
{
	struct schema_map bigger = {
	    .slots = m->slots > 0 ? m->slots * 2 : SLOTS_MIN, .n = m->n};

	bigger.slot = xcalloc(bigger.slots, sizeof(struct schema_node *));
	for (size_t i = 0; i < m->slots; i++)
		if (m->slot[i] != NULL)
			bigger.slot[place(&bigger, m->slot[i]->json)] =
			    m->slot[i];
	free(m->slot);
	*m = bigger;
}

void schema_node_add(struct schema_map *m, struct schema_node *n)
{
	if (m->n * 2 >= m->slots)
		grow(m);
	m->slot[place(m, n->json)] = n;
	m->n++;
}

void schema_map_fini(struct schema_map *m)
{
	free(m->slot);
	*m = (struct schema_map){0};
}
