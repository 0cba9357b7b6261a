/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_array.c - the checks of arrays: length, uniqueItems, items, contains,
 * unevaluatedItems. schema_run() calls these functions as a node's operations.
 * False is a violation with its error, or a bound that was met; schema_check
 * has the bound.
 */
#include "proto/schema/schema_private.h"

#include <errno.h>

static size_t array_length(const struct schema_place *at)
{
	return json_object_array_length(at->value);
}

static struct schema_place element(const struct schema_place *at, size_t i)
{
	return (struct schema_place){
	    .up = at,
	    .index = i,
	    .value = json_object_array_get_idx(at->value, i),
	};
}

bool schema_check_unique_items(struct schema_check *c,
			       const struct schema_op *op,
			       const struct schema_place *at,
			       struct schema_seen *seen)
{
	size_t first, second;

	(void)seen;
	if (!schema_find_twins(c, at->value, &first, &second))
		return c->rc == 0;
	return schema_fail_text(c, at, op->keyword, "items that differ",
				"has items %zu and %zu equal; all must differ",
				first, second);
}

/* Refuse items past ALLOWED, in better words than the error for "false". */
static bool refuse_rest(struct schema_check *c, const struct schema_op *op,
			const struct schema_place *at, size_t allowed)
{
	char want[64];
	struct schema_text t;
	struct schema_place extra = element(at, allowed);

	schema_text_init(&t, want, sizeof(want));
	schema_putf(&t, "at most %zu item%s", allowed, allowed == 1 ? "" : "s");
	return schema_fail_text(c, &extra, op->keyword, want,
				"is one item too many; there may be %zu",
				allowed);
}

bool schema_is_false(const struct schema_node *n)
{
	return n->nops == 1 && n->ops[0].check == schema_check_false;
}

bool schema_unevaluated(struct schema_check *c, const struct schema_op *op,
			const struct schema_place *child, size_t i,
			struct schema_seen *seen, const char *what)
{
	if (schema_seen_has(seen, i))
		return true;
	schema_seen_add(seen, i);
	if (schema_is_false(op->nodes[0]) && !c->mark)
		return schema_fail_text(
		    c, child, op->keyword, "nothing",
		    "is %s that the schema does not provide for", what);
	return schema_run(c, op->nodes[0], child, NULL);
}

/* Check items: nodes[0] (NULL: no schema) is for items past the first nodes. */
bool schema_check_items(struct schema_check *c, const struct schema_op *op,
			const struct schema_place *at, struct schema_seen *seen)
{
	size_t first = op->nnodes - 1, n = array_length(at);
	const struct schema_node *rest = op->nodes[0];
	bool ok = true;

	if (rest == NULL && n > first)
		n = first;
	schema_seen_add_upto(seen, n);
	if (rest != NULL && n > first && schema_is_false(rest) && !c->mark) {
		ok = refuse_rest(c, op, at, first);
		if (schema_enough(c))
			return false;
		n = first;
	}
	for (size_t i = 0; i < n && schema_step(c, 1); i++) {
		const struct schema_node *node =
		    i < first ? op->nodes[i + 1] : rest;
		struct schema_place child = element(at, i);

		if (schema_run(c, node, &child, NULL))
			continue;
		ok = false;
		if (schema_enough(c))
			break;
	}
	return ok && c->rc == 0;
}

static bool fail_contains(struct schema_check *c, const struct schema_op *op,
			  const struct schema_place *at, uint64_t found)
{
	const struct schema_contains *k = op->u.contains;
	bool few = found < k->min;

	if (few && k->min == 1)
		return schema_fail_text(c, at, "contains",
					"an item as contains asks for",
					"has no item as contains asks for");
	return schema_fail_text(
	    c, at, few ? "minContains" : "maxContains",
	    few ? "more such items" : "fewer such items",
	    "has %llu item%s as contains asks for; it %s %llu",
	    (unsigned long long)found, found == 1 ? "" : "s",
	    few ? "must have at least" : "may have at most",
	    (unsigned long long)(few ? k->min : k->max));
}

bool schema_check_contains(struct schema_check *c, const struct schema_op *op,
			   const struct schema_place *at,
			   struct schema_seen *seen)
{
	const struct schema_contains *k = op->u.contains;
	uint64_t found = 0;

	for (size_t i = 0; i < array_length(at); i++) {
		struct schema_place child = element(at, i);

		if (!schema_step(c, 1))
			return false;

		if (!schema_passes(c, k->node, &child, NULL)) {
			if (c->rc != 0)
				return false;
			continue;
		}
		found++;
		schema_seen_add(seen, i);
		if (found >= k->min && k->max == UINT64_MAX && seen == NULL &&
		    !c->mark)
			return true;
	}
	return (found >= k->min && found <= k->max) ||
	       fail_contains(c, op, at, found);
}

bool schema_check_unevaluated_items(struct schema_check *c,
				    const struct schema_op *op,
				    const struct schema_place *at,
				    struct schema_seen *seen)
{
	bool ok = true;

	for (size_t i = 0; i < array_length(at); i++) {
		struct schema_place child = element(at, i);

		if (!schema_step(c, 1))
			return false;
		ok =
		    schema_unevaluated(c, op, &child, i, seen, "an item") && ok;
		if (!ok && schema_enough(c))
			break;
	}
	return ok;
}
