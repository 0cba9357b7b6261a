/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_graph.c - looks for a $ref that leads back to itself on one value,
 * when schema_compile.c has resolved them all. Such a schema would never end,
 * whatever the instance: it is refused with -EINVAL at the node.
 */
#include "proto/schema/schema_private.h"

enum { WHITE, GREY, BLACK };

/*
 * Follow the operations that look at the same value as N does. Coming back to
 * a node on the way would go round for ever, whatever the instance. (What
 * $dynamicRef may find at run time is left to the bound on depth.)
 */
static int visit(struct schema_compiler *c, struct schema_node *n,
		 unsigned depth)
{
	int rc = 0;

	if (n->colour == BLACK)
		return 0;
	if (n->colour == GREY)
		return schema_bad(c, n, "", "references that end",
				  "refers to itself without end");
	if (depth > SCHEMA_INLINE_MAX)
		return schema_bad(
		    c, n, "", "fewer references in a row",
		    "more than %d subschemas in a row look at the "
		    "same value",
		    SCHEMA_INLINE_MAX);
	n->colour = GREY;
	for (uint32_t i = 0; i < n->nops; i++) {
		const struct schema_op *op = &n->ops[i];

		for (uint32_t j = 0; op->in_place && j < op->nnodes; j++)
			if (rc == 0 && op->nodes[j] != NULL)
				rc = visit(c, op->nodes[j], depth + 1);
	}
	n->colour = BLACK;
	return rc;
}

int schema_graph_check(struct schema_compiler *c)
{
	int rc = 0;

	for (struct schema_node *n = c->first; rc == 0 && n != NULL;
	     n = n->next)
		rc = visit(c, n, 0);
	return rc;
}
