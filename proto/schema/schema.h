/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - JSON Schema 2020-12: compile once, then validate.
 *
 * https://json-schema.org/draft/2020-12 (core and validation).
 */
#ifndef PROTO_SCHEMA_SCHEMA_H
#define PROTO_SCHEMA_SCHEMA_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schema; /* opaque; immutable once compiled */

/*
 * What checks and compilations may cost together, in steps: one is what the
 * plainest subschema takes, some 20 ns. Long strings, numbers of many digits,
 * regular expressions, searches and the wording of an error are as many steps
 * as they take longer.
 */
struct schema_budget {
	uint64_t allowed;
	uint64_t used; /* so far: it counts on from one call to the next */
	/* May it go on? NULL, or asked each SCHEMA_ASK_STEPS or sooner. */
	bool (*goes_on)(void *arg);
	void *arg;
};

#define SCHEMA_STEPS_INLINE 100000 /* 2 ms: what a loop may be away for */
#define SCHEMA_STEPS_MAX 10000000  /* where nobody waits but who asked */
#define SCHEMA_ASK_STEPS 25000
#define SCHEMA_STEPS_PER_MS 50000

struct schema_error {
	char pointer[256]; /* JSON Pointer (RFC 6901): into the instance when
			      validating, into the schema when compiling */
	char keyword[48]; /* "type", "minimum", …; "" where none is to blame */
	char expected[256]; /* what would pass: "an integer" */
	char text[512];	    /* one sentence for people: what came, what would
			      pass. Never shows a value that is writeOnly */
	char schema[256];  /* -E2BIG, -ETIME: where the schema spends its steps,
			     a JSON Pointer that ends in a keyword; else "" */
	const char *limit; /* -E2BIG: which was met ("schema_steps",… */
	uint64_t allowed;  /* …"pattern_steps", "schema_depth"), and is so */
};

/* Looks up a schema document by absolute URI; NULL: unknown. Borrowed. */
typedef struct json_object *(*schema_resolver)(const char *uri, void *arg);

struct schema_options {
	bool assert_formats;	  /* "format" refuses, instead of annotating */
	schema_resolver resolver; /* NULL: every remote $ref is refused */
	void *resolver_arg;
	struct schema_budget *budget; /* NULL: SCHEMA_STEPS_MAX */
};

/*
 * Compile DOC (an object or a boolean; lent for the schema's life, which
 * keeps a reference). OPT may be NULL. 0 and the schema in *OUT, or -EINVAL
 * with *ERR filled: not a valid schema, an unknown dialect, a remote $ref,
 * a bad pattern, deeper, larger or dearer than the bounds. A schema
 * whose "$schema" is a metaschema that the resolver knows is held to that
 * metaschema's $vocabulary, and has to be valid against it.
 */
int schema_compile(struct schema **out, struct json_object *doc,
		   const struct schema_options *opt, struct schema_error *err);
void schema_free(struct schema *s); /* NULL is fine */

/*
 * 0: INSTANCE (NULL is JSON null) is valid. -EINVAL: it is not, and *ERR
 * (may be NULL) has the first error, or, when B was used up by then, that
 * there is one. -E2BIG: B or the bound on depth was met before there was a
 * verdict; -ETIME: B said to stop. *ERR says so, and names the place in the
 * schema. S may be used by several threads at once; INSTANCE by this alone.
 */
int schema_check(const struct schema *s, struct json_object *instance,
		 struct schema_budget *b, struct schema_error *err);

/* The same within SCHEMA_STEPS_MAX: for programs that serve nobody else. */
int schema_validate(const struct schema *s, struct json_object *instance,
		    struct schema_error *err);

/*
 * Every error, but no more than MAX of them, in ERRS; how many are there.
 * When a bound is met that is the one error.
 */
size_t schema_validate_all(const struct schema *s, struct json_object *instance,
			   struct schema_error *errs, size_t max);

#endif
