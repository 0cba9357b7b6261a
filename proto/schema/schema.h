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

struct schema; /* a compiled schema: opaque and immutable */

/*
 * A budget of steps for several checks and compilations. A step is the time of
 * the plainest subschema, some 20 ns. Long strings, numbers of many digits,
 * regular expressions, searches and the wording of errors cost more steps, in
 * proportion to their time.
 */
struct schema_budget {
	uint64_t allowed;
	uint64_t used; /* counts on from one call to the next */
	/*
	 * Return false to stop the check. Called every SCHEMA_ASK_STEPS or
	 * sooner; NULL: no such limit.
	 */
	bool (*goes_on)(void *arg);
	void *arg;
};

#define SCHEMA_STEPS_INLINE 100000 /* the bound in an event loop: 2 ms */
/* the bound where nobody but the caller waits */
#define SCHEMA_STEPS_MAX 10000000
#define SCHEMA_ASK_STEPS 25000
#define SCHEMA_STEPS_PER_MS 50000

struct schema_error {
	char pointer[256];  /* JSON Pointer (RFC 6901): into the instance when
			      validating, into the schema when compiling */
	char keyword[48];   /* a keyword such as "type"; "" when no keyword
			       is to blame */
	char expected[256]; /* the values that would pass: "an integer" */
	char text[512];	    /* a sentence: the fault, what would pass; shows
			       no writeOnly value */
	char schema[256];   /* -E2BIG, -ETIME: the keyword that used the
			      steps, a JSON Pointer into the schema; else "" */
	const char *limit;  /* -E2BIG: "schema_steps", "pattern_steps" or
			      "schema_depth" */
	uint64_t allowed;   /* -E2BIG: the value of that limit */
};

/* Return the schema document at the absolute URI, borrowed; NULL: unknown. */
typedef struct json_object *(*schema_resolver)(const char *uri, void *arg);

struct schema_options {
	bool assert_formats;	  /* "format" refuses values, instead of only
				     annotating */
	schema_resolver resolver; /* NULL: every remote $ref is refused */
	void *resolver_arg;
	struct schema_budget *budget; /* the budget; NULL: SCHEMA_STEPS_MAX */
};

/*
 * Compile DOC (an object or a boolean; lent for the schema's life, which keeps
 * a reference). OPT may be NULL. 0 and the schema in *OUT, or -EINVAL with *ERR
 * filled: not a valid schema, an unknown dialect, a remote $ref, a bad pattern,
 * deeper, larger or dearer than the bounds. When "$schema" names a metaschema
 * known to the resolver, the schema has to be valid against the metaschema, and
 * its $vocabulary applies.
 */
int schema_compile(struct schema **out, struct json_object *doc,
		   const struct schema_options *opt, struct schema_error *err);
void schema_free(struct schema *s); /* frees S; NULL is fine */

/*
 * Check INSTANCE (NULL is JSON null). 0: valid. -EINVAL: not valid, and *ERR
 * (may be NULL) has the first error, or only the fact when B was used up by
 * then. -E2BIG: B or the bound on depth ended the check without a verdict;
 * -ETIME: B said to stop; *ERR names the place in the schema. Several threads
 * may use S at once, but each its own INSTANCE.
 */
int schema_check(const struct schema *s, struct json_object *instance,
		 struct schema_budget *b, struct schema_error *err);

/*
 * Check as schema_check() does, within SCHEMA_STEPS_MAX: for programs that
 * serve nobody else.
 */
int schema_validate(const struct schema *s, struct json_object *instance,
		    struct schema_error *err);

/*
 * Write every error, MAX at most, to ERRS and return their number. When a bound
 * ends the check, that is the only error.
 */
size_t schema_validate_all(const struct schema *s, struct json_object *instance,
			   struct schema_error *errs, size_t max);

#endif
