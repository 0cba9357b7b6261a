/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_explain.c - words the error when no alternative of anyOf or oneOf
 * passed. Each alternative is run for its errors. The nearest has the right
 * type and tag, then the fewest errors. When several are equally near and fault
 * the same value, their expectations are joined; otherwise they are listed.
 */
#include "proto/schema/schema_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ERRORS_COUNTED 16u /* most errors counted of an alternative */
#define FAR 1000u	   /* score of a wrong type or tag */

struct nearest {
	struct schema_error now, best;
	struct schema_text list;
	char listed[400];
	size_t score, ties;
	bool alike; /* the ties are faults at the same place */
};

/*
 * Put the first error of NODE at AT into N->now; return the score, 0: no error.
 */
static size_t run_branch(struct schema_check *c, const struct schema_node *node,
			 const struct schema_place *at, struct nearest *n)
{
	struct schema_sink own = {
	    .errs = &n->now, .max = 1, .stop = ERRORS_COUNTED, .base = at};
	struct schema_sink *sink = c->sink;

	c->sink = &own;
	schema_run(c, node, at, NULL);
	c->sink = sink;
	return own.n + (own.mismatch ? FAR : 0);
}

static bool ends_with_expected(const struct schema_error *e)
{
	size_t end = strlen(e->text), tail = strlen(e->expected);

	return tail > 0 && end >= tail &&
	       strcmp(e->text + end - tail, e->expected) == 0;
}

static void tie(struct nearest *n)
{
	struct schema_error *e = &n->best;

	n->ties++;
	n->alike = n->alike && strcmp(n->best.pointer, n->now.pointer) == 0 &&
		   ends_with_expected(&n->best) && ends_with_expected(&n->now);
	/* "is 5; it must be a string" becomes "... a string or null" */
	if (n->alike && strstr(e->expected, n->now.expected) == NULL) {
		size_t end = strlen(e->text), tail = strlen(e->expected);
		struct schema_text x = {e->expected, sizeof(e->expected), tail};
		struct schema_text t = {e->text, sizeof(e->text), end - tail};

		schema_putf(&x, " or %s", n->now.expected);
		schema_put(&t, e->expected);
	}
	if (strstr(n->listed, n->now.text) != NULL)
		return;
	if (n->list.len + 80 < n->list.cap)
		schema_putf(&n->list, "; or %s", n->now.text);
}

static void conclude(struct nearest *n, const struct schema_op *op,
		     const struct schema_place *at)
{
	struct schema_error *e = &n->best;
	struct schema_text t = {e->text, sizeof(e->text), strlen(e->text)};
	struct schema_text k;

	if (n->ties == 1 && op->nnodes > 1) {
		schema_putf(&t, " (the nearest of %u alternatives)",
			    op->nnodes);
		return;
	}
	if (n->ties == 1)
		return;
	schema_text_init(&k, e->keyword, sizeof(e->keyword));
	schema_put(&k, op->keyword);
	if (n->alike)
		return;
	schema_text_init(&k, e->pointer, sizeof(e->pointer));
	schema_put_pointer(&k, at);
	schema_text_init(&k, e->expected, sizeof(e->expected));
	schema_putf(&k, "a value that one of %u alternatives allows",
		    op->nnodes);
	schema_text_init(&t, e->text, sizeof(e->text));
	schema_putf(&t, "no alternative of %u passes: %s", op->nnodes,
		    n->listed);
}

bool schema_explain_branches(struct schema_check *c, const struct schema_op *op,
			     const struct schema_place *at)
{
	struct nearest *n;

	if (!schema_wanted(c) || !schema_step(c, COST_ERROR))
		return false;
	n = xcalloc(1, sizeof(*n));
	for (uint32_t i = 0; i < op->nnodes && c->rc == 0; i++) {
		size_t score = run_branch(c, op->nodes[i], at, n);

		if (score == 0)
			continue;
		if (n->ties == 0 || score < n->score) {
			n->best = n->now;
			n->score = score;
			n->ties = 1;
			n->alike = true;
			schema_text_init(&n->list, n->listed,
					 sizeof(n->listed));
			schema_put(&n->list, n->now.text);
		} else if (score == n->score) {
			tie(n);
		}
	}
	if (n->ties == 0) {
		schema_fail(c, at, op->keyword,
			    "a value that one of the alternatives allows");
	} else {
		conclude(n, op, at);
		if (n->score >= FAR && c->sink->base == at)
			c->sink->mismatch = true;
		schema_sink_add(c, at, &n->best);
	}
	free(n);
	return false;
}
