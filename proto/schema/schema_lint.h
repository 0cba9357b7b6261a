/* SPDX-License-Identifier: Apache-2.0 */
/* schema_lint.h - remarks on likely mistakes in a schema, for its author. */
#ifndef PROTO_SCHEMA_SCHEMA_LINT_H
#define PROTO_SCHEMA_SCHEMA_LINT_H

#include <json-c/json.h>
#include <stdbool.h>

/*
 * A remark on the value at POINTER in the schema, or with NAME on the key
 * itself.
 */
struct schema_remark {
	const char *pointer;
	const char *text; /* a sentence; quotes the schema as it is */
	bool error;	  /* schema_compile() refuses the schema for this */
	bool name;
};

/*
 * Call ON_REMARK, until it returns false, for each keyword in DOC with a value
 * of the wrong shape, each keyword unknown to JSON Schema (except "x-..."),
 * each unknown format, and each required name without a property. Only
 * subschemas are walked: a property may have any name. Any DOC is accepted; the
 * time is at most linear; no $ref is followed.
 */
void schema_lint(struct json_object *doc,
		 bool (*on_remark)(void *arg, const struct schema_remark *r),
		 void *arg);

#endif
