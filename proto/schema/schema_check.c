/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_check.c - runs the operations of a node on a value, with the
 * applicators allOf, anyOf, oneOf, not, if and the references; schema.c starts
 * it at the root. Steps and depth are counted: at a bound there is no verdict,
 * and the error blames the dearest part. For unevaluatedItems and
 * unevaluatedProperties a bit for each element or member says whether it was
 * evaluated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/schema/schema_private.h"

#define WORD_BITS 64u

static size_t bitmap_words(const struct schema_seen *s)
{
	return (s->n + WORD_BITS - 1) / WORD_BITS;
}

/* Mark no part of V as evaluated. S must not move until it is freed. */
static void schema_seen_init(struct schema_seen *s, struct json_object *v)
{
	s->n = 0;
	s->word = 0;
	s->bits = &s->word;
	if (json_object_get_type(v) == json_type_object)
		s->n = (size_t)json_object_object_length(v);
	else if (json_object_get_type(v) == json_type_array)
		s->n = json_object_array_length(v);
	if (s->n > WORD_BITS)
		s->bits = xcalloc(bitmap_words(s), sizeof(*s->bits));
}

static void schema_seen_fini(struct schema_seen *s)
{
	if (s->bits != &s->word)
		free(s->bits);
}

static void schema_seen_merge(struct schema_seen *s,
			      const struct schema_seen *from)
{
	for (size_t i = 0; i < bitmap_words(from); i++)
		s->bits[i] |= from->bits[i];
}

bool schema_give_up(struct schema_check *c, const struct schema_place *at,
		    const char *keyword, const char *fmt, ...)
{
	struct schema_error *e = c->stop;
	struct schema_text t;
	va_list ap;

	if (c->rc != 0)
		return false;
	c->rc = -E2BIG;
	c->blame_from = 0;
	if (e == NULL)
		return false;
	*e = (struct schema_error){.expected = "a value that is checked sooner",
				   .limit = "schema_depth",
				   .allowed = CHECK_DEPTH_MAX};
	schema_text_init(&t, e->keyword, sizeof(e->keyword));
	schema_put(&t, keyword);
	schema_text_init(&t, e->pointer, sizeof(e->pointer));
	schema_put_pointer(&t, at);
	schema_text_init(&t, e->text, sizeof(e->text));
	schema_putf(&t, "%s ",
		    e->pointer[0] != '\0' ? e->pointer : "the value");
	va_start(ap, fmt);
	schema_putv(&t, fmt, ap);
	va_end(ap);
	return false;
}

void schema_met(struct schema_check *c, const char *limit, uint64_t allowed)
{
	if (c->stop == NULL)
		return;
	c->stop->limit = limit;
	c->stop->allowed = allowed;
}

/* A quarter of the steps makes an operation the one to blame. */
#define MOST_OF_IT 4u

bool schema_look(struct schema_check *c)
{
	const struct schema_budget *b = c->budget;

	if (c->rc != 0)
		return false;
	if (c->steps > b->allowed) {
		schema_give_up(c, NULL, "",
			       "takes more than %llu steps to check",
			       (unsigned long long)b->allowed);
		schema_met(c, "schema_steps", b->allowed);
	} else if (b->goes_on != NULL && !b->goes_on(b->arg)) {
		schema_give_up(c, NULL, "",
			       "takes longer to check than there is time for");
		c->rc = -ETIME;
	} else {
		c->look_at = c->steps + SCHEMA_ASK_STEPS;
		if (c->look_at > b->allowed)
			c->look_at = b->allowed + 1;
		return true;
	}
	c->blame_from = c->steps / MOST_OF_IT;
	return false;
}

void schema_blame(struct schema_check *c, struct schema_error *e)
{
	struct schema_text t;

	schema_text_init(&t, e->schema, sizeof(e->schema));
	if (c->blamed == NULL)
		return;
	schema_put_place(&t, c->blamed);
	schema_put_token(&t, c->blamed_op->keyword);
	t = (struct schema_text){e->text, sizeof(e->text), strlen(e->text)};
	schema_putf(&t, " (by %s of the schema)", e->schema);
}

static void remember_secret(struct schema_check *c, struct json_object *v)
{
	if (c->nsecret == CHECK_SECRETS_MAX) {
		c->rc = -E2BIG;
		return;
	}
	if ((c->nsecret & (c->nsecret - 1)) == 0)
		c->secret =
		    xrealloc(c->secret, (c->nsecret * 2 + 1) *
					    sizeof(struct json_object *));
	c->secret[c->nsecret++] = v;
}

bool schema_enough(const struct schema_check *c)
{
	return !c->all || c->rc != 0 ||
	       (c->sink != NULL && c->sink->n >= c->sink->stop);
}

static bool run_ops(struct schema_check *c, const struct schema_node *n,
		    const struct schema_place *at, struct schema_seen *seen)
{
	unsigned type = schema_type_of(at->value);
	uint64_t began = c->steps;
	bool ok = true;

	for (uint32_t i = 0; i < n->nops; i++) {
		const struct schema_op *op = &n->ops[i];

		if (!(op->types & type) || (op->last && !ok && !c->mark))
			continue;
		if (op->check(c, op, at, seen))
			continue;
		ok = false;
		if (schema_enough(c)) {
			/* N used its share of steps; the innermost N wins */
			if (c->rc != 0 && c->blamed == NULL &&
			    c->steps - began >= c->blame_from) {
				c->blamed = n;
				c->blamed_op = op;
			}
			break;
		}
	}
	return ok && c->rc == 0;
}

/*
 * Run N, which has unevaluatedItems or unevaluatedProperties: they see the bits
 * of N's own keywords, not of N's neighbours. The neighbours see all bits of N.
 */
static bool run_watched(struct schema_check *c, const struct schema_node *n,
			const struct schema_place *at, struct schema_seen *seen)
{
	struct schema_seen own;
	bool ok;

	schema_seen_init(&own, at->value);
	ok = schema_step(c, COST_SEEN + own.n / 64) && run_ops(c, n, at, &own);
	if (ok && seen != NULL)
		schema_seen_merge(seen, &own);
	schema_seen_fini(&own);
	return ok;
}

bool schema_run(struct schema_check *c, const struct schema_node *n,
		const struct schema_place *at, struct schema_seen *seen)
{
	size_t nscope = c->nscope;
	bool ok;

	if (n->nops == 0 && !(c->mark && n->write_only))
		return c->rc == 0;
	if (!schema_step(c, 1))
		return false;
	if (c->depth == CHECK_DEPTH_MAX)
		return schema_give_up(c, at, "",
				      "needs more than %d subschemas "
				      "in each other",
				      CHECK_DEPTH_MAX);
	if (c->mark && n->write_only && at->value != NULL)
		remember_secret(c, at->value);
	if (nscope == 0 || c->scope[nscope - 1] != n->home)
		c->scope[c->nscope++] = n->home;
	c->depth++;
	ok = n->watch ? run_watched(c, n, at, seen) : run_ops(c, n, at, seen);
	c->depth--;
	c->nscope = nscope;
	return ok;
}

bool schema_check_ref(struct schema_check *c, const struct schema_op *op,
		      const struct schema_place *at, struct schema_seen *seen)
{
	return schema_run(c, op->nodes[0], at, seen);
}

/*
 * Follow $dynamicRef: the outermost resource on the way with the anchor wins.
 */
bool schema_check_dynamic_ref(struct schema_check *c,
			      const struct schema_op *op,
			      const struct schema_place *at,
			      struct schema_seen *seen)
{
	for (size_t i = 0; i < c->nscope; i++)
		for (const struct schema_anchor *a = c->scope[i]->anchors;
		     a != NULL; a = a->next) {
			if (!schema_step(c, 1))
				return false;
			if (a->dynamic && strcmp(a->name, op->u.anchor) == 0)
				return schema_run(c, a->node, at, seen);
		}
	return schema_run(c, op->nodes[0], at, seen);
}

bool schema_check_all_of(struct schema_check *c, const struct schema_op *op,
			 const struct schema_place *at,
			 struct schema_seen *seen)
{
	bool ok = true;

	for (uint32_t i = 0; i < op->nnodes && schema_step(c, 1); i++)
		if (!schema_run(c, op->nodes[i], at, seen)) {
			ok = false;
			if (schema_enough(c))
				break;
		}
	return ok && c->rc == 0;
}

bool schema_passes(struct schema_check *c, const struct schema_node *n,
		   const struct schema_place *at, struct schema_seen *seen)
{
	struct schema_sink *sink = c->sink;
	bool all = c->all, ok;
	struct schema_seen own;

	c->sink = NULL;
	c->all = c->mark;
	if (seen == NULL) {
		ok = schema_run(c, n, at, NULL);
	} else {
		schema_seen_init(&own, at->value);
		ok = schema_step(c, COST_SEEN + own.n / 64) &&
		     schema_run(c, n, at, &own);
		if (ok)
			schema_seen_merge(seen, &own);
		schema_seen_fini(&own);
	}
	c->sink = sink;
	c->all = all;
	return ok;
}

bool schema_check_any_of(struct schema_check *c, const struct schema_op *op,
			 const struct schema_place *at,
			 struct schema_seen *seen)
{
	bool ok = false;

	for (uint32_t i = 0; i < op->nnodes && schema_step(c, 1); i++) {
		if (schema_passes(c, op->nodes[i], at, seen))
			ok = true;
		if (ok && seen == NULL && !c->mark)
			return true;
	}
	if (ok || c->rc != 0)
		return ok;
	return schema_explain_branches(c, op, at);
}

bool schema_check_one_of(struct schema_check *c, const struct schema_op *op,
			 const struct schema_place *at,
			 struct schema_seen *seen)
{
	uint32_t found = 0, first = 0;

	for (uint32_t i = 0; i < op->nnodes && schema_step(c, 1); i++) {
		if (!schema_passes(c, op->nodes[i], at, seen))
			continue;
		if (found++ == 0)
			first = i;
		else if (!c->mark)
			return schema_fail_text(
			    c, at, op->keyword,
			    "a value that exactly one alternative allows",
			    "passes alternatives %u and %u of %u; it must "
			    "pass exactly one",
			    first + 1, i + 1, op->nnodes);
	}
	if (found == 1 || c->rc != 0)
		return found == 1;
	return schema_explain_branches(c, op, at);
}

bool schema_check_not(struct schema_check *c, const struct schema_op *op,
		      const struct schema_place *at, struct schema_seen *seen)
{
	(void)seen;
	if (!schema_passes(c, op->nodes[0], at, NULL))
		return c->rc == 0;
	return schema_fail(c, at, op->keyword,
			   "a value that the schema under not refuses");
}

/* Check if; nodes are if, then, else. */
bool schema_check_if(struct schema_check *c, const struct schema_op *op,
		     const struct schema_place *at, struct schema_seen *seen)
{
	bool yes = schema_passes(c, op->nodes[0], at, seen);
	const struct schema_node *next = op->nodes[yes ? 1 : 2];

	if (c->rc != 0)
		return false;
	if (c->mark && op->nodes[yes ? 2 : 1] != NULL)
		schema_run(c, op->nodes[yes ? 2 : 1], at, seen);
	return next == NULL || schema_run(c, next, at, seen);
}

bool schema_check_dependent_schemas(struct schema_check *c,
				    const struct schema_op *op,
				    const struct schema_place *at,
				    struct schema_seen *seen)
{
	bool ok = schema_step(c, op->n * COST_LOOKUP);

	for (size_t i = 0; i < op->n && c->rc == 0; i++) {
		if (!json_object_object_get_ex(at->value, op->u.names[i], NULL))
			continue;
		if (!schema_run(c, op->nodes[i], at, seen)) {
			ok = false;
			if (schema_enough(c))
				break;
		}
	}
	return ok;
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
