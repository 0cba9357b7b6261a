/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_lint.h - what a schema says that its author can hardly have meant.
 */
#ifndef PROTO_SCHEMA_SCHEMA_LINT_H
#define PROTO_SCHEMA_SCHEMA_LINT_H

#include <json-c/json.h>
#include <stdbool.h>

/* About what POINTER (into the schema) leads to; NAME: about its name. */
struct schema_remark {
	const char *pointer;
	const char *text; /* one sentence; quotes the schema as it is */
	bool error;	  /* schema_compile() refuses it */
	bool name;
};

/*
 * Tell ON_REMARK, until it answers false, of each keyword in DOC that has the
 * wrong shape; that JSON Schema does not know ("x-..." may be anything); of
 * formats that it does not know, and required names that no property has.
 * Walks subschemas alone: a property may be called anything. Not more than
 * linear, and whatever DOC is; no $ref is followed.
 */
void schema_lint(struct json_object *doc,
		 bool (*on_remark)(void *arg, const struct schema_remark *r),
		 void *arg);

#endif
