/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - the library's entry: compiles a schema, checks instances within a
 * budget of steps, and frees the schema. Called through schema.h by manifests,
 * tool arguments, results, forms and the command. -EINVAL: the schema or the
 * instance is bad, with the first error. -E2BIG and -ETIME: the budget ended
 * before a verdict.
 */
#include "proto/schema/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/schema/schema_compiler.h"

#define CHUNK_BYTES 8192u

/* A block of a schema's memory; schema_free() frees all blocks. */
struct schema_chunk {
	struct schema_chunk *next;
	size_t used, size;
	_Alignas(16) char data[];
};

struct schema_holder {
	struct schema_holder *next;
	struct json_object *doc;
};

void *schema_alloc(struct schema *s, size_t n, size_t size)
{
	size_t need = (n * size + 15) & ~(size_t)15;
	struct schema_chunk *c = s->arena;

	if (c == NULL || c->size - c->used < need) {
		size_t room = need > CHUNK_BYTES ? need : CHUNK_BYTES;

		c = xcalloc(1, sizeof(*c) + room);
		c->size = room;
		c->next = s->arena;
		s->arena = c;
	}
	c->used += need;
	return c->data + c->used - need;
}

char *schema_strdup(struct schema *s, const char *p)
{
	size_t len = strlen(p);
	char *copy = schema_alloc(s, len + 1, 1);

	memcpy(copy, p, len + 1);
	return copy;
}

void schema_keep(struct schema *s, struct json_object *doc)
{
	struct schema_holder *h = schema_alloc(s, 1, sizeof(*h));

	*h = (struct schema_holder){s->kept, doc};
	s->kept = h;
}

int schema_keep_pattern(struct schema *s, struct schema_pattern **out,
			const char *p, size_t len, struct schema_text *errmsg)
{
	int rc = schema_pattern_new(out, p, len, errmsg);

	if (rc != 0)
		return rc;
	if ((s->npatterns & (s->npatterns - 1)) == 0)
		s->patterns =
		    xrealloc(s->patterns, (s->npatterns * 2 + 1) *
					      sizeof(struct schema_pattern *));
	s->patterns[s->npatterns++] = *out;
	s->pattern_bytes += schema_pattern_bytes(*out);
	if (s->pattern_bytes <= SCHEMA_PATTERNS_BYTES)
		return 0;
	schema_putf(errmsg,
		    "with it the regular expressions of the schema take more "
		    "than %u bytes of memory",
		    SCHEMA_PATTERNS_BYTES);
	return -EINVAL;
}

void schema_free(struct schema *s)
{
	struct schema_chunk *c, *next;

	if (s == NULL)
		return;
	for (size_t i = 0; i < s->npatterns; i++)
		schema_pattern_free(s->patterns[i]);
	free(s->patterns);
	for (struct schema_holder *h = s->kept; h != NULL; h = h->next)
		json_object_put(h->doc);
	for (c = s->arena; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	free(s);
}

static int compile_document(struct schema **out, struct json_object *doc,
			    const struct schema_options *opt,
			    struct schema_error *err, bool by_metaschema);

/*
 * Check DOC against the metaschema in its "$schema", unless that is built in.
 */
static int check_by_metaschema(struct schema_compiler *c,
			       struct json_object *doc)
{
	struct json_object *uri;
	struct schema *meta = NULL;
	char *plain;
	int rc = 0;

	if (!json_object_object_get_ex(doc, "$schema", &uri))
		return 0;
	plain = schema_uri_resolve("", json_object_get_string(uri));
	if (!schema_dialect_known(plain)) {
		rc = compile_document(&meta, schema_document(c, plain), &c->opt,
				      c->err, false);
		if (rc == 0)
			rc = schema_check(meta, doc, c->opt.budget, c->err);
		schema_free(meta);
	}
	free(plain);
	return rc != 0 ? -EINVAL : 0;
}

/* Clear only the members read before they are written; SCOPE is large. */
static void check_init(struct schema_check *c, const struct schema *s,
		       struct schema_budget *b)
{
	memset(c, 0, offsetof(struct schema_check, scope));
	c->s = s;
	c->budget = b;
	c->steps = b->used;
	c->look_at = b->used; /* makes the first step ask the budget */
}

static int compile_document(struct schema **out, struct json_object *doc,
			    const struct schema_options *opt,
			    struct schema_error *err, bool by_metaschema)
{
	struct schema_budget own = {.allowed = SCHEMA_STEPS_MAX};
	struct schema_compiler c = {.err = err};
	struct schema_check meter;
	int rc;

	if (opt != NULL)
		c.opt = *opt;
	if (c.opt.budget == NULL)
		c.opt.budget = &own;
	check_init(&meter, NULL, c.opt.budget);
	c.meter = &meter;
	c.s = xcalloc(1, sizeof(*c.s));
	c.last = &c.first;
	schema_keep(c.s, json_object_get(doc));
	rc = schema_compile_into(&c, doc);
	c.opt.budget->used = meter.steps;
	if (rc == 0 && by_metaschema &&
	    json_object_get_type(doc) == json_type_object)
		rc = check_by_metaschema(&c, doc);
	schema_map_fini(&c.by_json);
	HASH_CLEAR(hh, c.by_uri);
	if (rc != 0) {
		schema_free(c.s);
		c.s = NULL;
	}
	*out = c.s;
	return rc;
}

int schema_compile(struct schema **out, struct json_object *doc,
		   const struct schema_options *opt, struct schema_error *err)
{
	if (err != NULL)
		*err = (struct schema_error){0};
	return compile_document(out, doc, opt, err, true);
}

/* ---- checking ---- */

static void check_fini(struct schema_check *c)
{
	c->budget->used = c->steps;
	schema_matcher_free(c->matcher);
	free(c->secret);
}

/*
 * Return 1: valid; 0: not valid; -E2BIG or -ETIME, with *STOP filled unless
 * NULL.
 */
static int verdict(const struct schema *s, struct json_object *instance,
		   struct schema_budget *b, struct schema_error *stop)
{
	struct schema_place root = {.value = instance};
	struct schema_check c;
	bool pass;

	check_init(&c, s, b);
	c.stop = stop;
	pass = schema_run(&c, s->root, &root, NULL);
	if (c.rc != 0 && stop != NULL)
		schema_blame(&c, stop);
	check_fini(&c);
	return c.rc != 0 ? c.rc : pass;
}

static int by_address(const void *a, const void *b)
{
	const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Write at most MAX errors of INSTANCE, which is not valid, to ERRS; return
 * their number.
 */
static size_t explain_errors(const struct schema *s,
			     struct json_object *instance,
			     struct schema_budget *b, struct schema_error *errs,
			     size_t max)
{
	struct schema_place root = {.value = instance};
	struct schema_sink sink = {.errs = errs, .max = max, .stop = max};
	struct schema_check c;

	check_init(&c, s, b);
	c.all = true;
	if (s->secrets) {
		/* find writeOnly values anywhere; every branch is walked */
		c.mark = true;
		schema_run(&c, s->root, &root, NULL);
		c.hide = c.rc != 0; /* some are unknown: show no value */
		c.mark = false;
		c.rc = 0;
	}
	if (c.nsecret > 0)
		qsort(c.secret, c.nsecret, sizeof(struct json_object *),
		      by_address);
	c.sink = &sink;
	schema_run(&c, s->root, &root, NULL);
	check_fini(&c);
	if (sink.n > 0)
		return sink.n < max ? sink.n : max;
	/* an error without a place: the steps are used up */
	*errs =
	    (struct schema_error){.expected = "a value that the schema allows"};
	snprintf(errs->text, sizeof(errs->text),
		 "the value is not what the schema allows; to say where takes "
		 "more steps than are left of those that a check may take");
	return 1;
}

int schema_check(const struct schema *s, struct json_object *instance,
		 struct schema_budget *b, struct schema_error *err)
{
	int rc = verdict(s, instance, b, err);

	if (rc < 0)
		return rc;
	if (rc == 0 && err != NULL)
		explain_errors(s, instance, b, err, 1);
	return rc == 1 ? 0 : -EINVAL;
}

int schema_validate(const struct schema *s, struct json_object *instance,
		    struct schema_error *err)
{
	struct schema_budget b = {.allowed = SCHEMA_STEPS_MAX};

	return schema_check(s, instance, &b, err);
}

size_t schema_validate_all(const struct schema *s, struct json_object *instance,
			   struct schema_error *errs, size_t max)
{
	struct schema_budget b = {.allowed = SCHEMA_STEPS_MAX};
	int rc;

	if (max == 0)
		return 0;
	rc = verdict(s, instance, &b, errs);
	if (rc < 0)
		return 1;
	return rc == 1 ? 0 : explain_errors(s, instance, &b, errs, max);
}
