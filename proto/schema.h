/*
 * schema.h - JSON Schema 2020-12: compile once, then validate.
 *
 * https://json-schema.org/draft/2020-12 (core and validation).
 */
#ifndef PROTO_SCHEMA_H
#define PROTO_SCHEMA_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

struct schema; /* opaque; immutable once compiled */

struct schema_error {
	char pointer[256]; /* JSON Pointer (RFC 6901): into the instance when
			      validating, into the schema when compiling */
	char keyword[48];  /* "type", "minimum", …; "" where none is to blame */
	char expected[256]; /* what would pass: "an integer" */
	char text[512];	   /* one sentence for people: what came, what would
			      pass. Never shows a value that is writeOnly */
};

/* Looks up a schema document by absolute URI; NULL: unknown. Borrowed. */
typedef struct json_object *(*schema_resolver)(const char *uri, void *arg);

struct schema_options {
	bool assert_formats;	  /* "format" refuses, instead of annotating */
	schema_resolver resolver; /* NULL: every remote $ref is refused */
	void *resolver_arg;
};

/*
 * Compile DOC (an object or a boolean; lent for the schema's life, which
 * keeps a reference). OPT may be NULL. 0 and the schema in *OUT, or -EINVAL
 * with *ERR filled: not a valid schema, an unknown dialect, a remote $ref,
 * a bad pattern, deeper or larger than the bounds in schema_int.h. A schema
 * whose "$schema" is a metaschema that the resolver knows is held to that
 * metaschema's $vocabulary, and has to be valid against it.
 */
int schema_compile(struct schema **out, struct json_object *doc,
		   const struct schema_options *opt, struct schema_error *err);
void schema_free(struct schema *s); /* NULL is fine */

/*
 * 0: INSTANCE (NULL is JSON null) is valid. -EINVAL: it is not, and *ERR
 * (may be NULL) has the first error. -E2BIG: the step or depth bound was
 * met before there was a verdict; *ERR says so.
 */
int schema_validate(const struct schema *s, struct json_object *instance,
		    struct schema_error *err);

/*
 * Every error, but no more than MAX of them, in ERRS; how many are there.
 * When a bound is met that is the one error.
 */
size_t schema_validate_all(const struct schema *s, struct json_object *instance,
			   struct schema_error *errs, size_t max);

#endif
