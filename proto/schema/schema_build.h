/* SPDX-License-Identifier: Apache-2.0 */
/* schema_build.h - what schema_compile.c and schema_build.c share. */
#ifndef PROTO_SCHEMA_SCHEMA_BUILD_H
#define PROTO_SCHEMA_SCHEMA_BUILD_H

#include "proto/schema/schema_compiler.h"

#define SCHEMA_OPS_MAX 48 /* more than there are keywords that check */

/* One node on its way to operations. */
struct build {
	struct schema_compiler *c;
	struct schema_node *n;
	struct schema_words w;
	struct schema_op ops[SCHEMA_OPS_MAX];
	uint32_t nops;
};

struct schema_op *build_add(struct build *b, const char *keyword,
			    unsigned types, schema_check_fn *check);
/* The strings of LIST. */
const char **build_names_of(struct build *b, struct json_object *list);
/* PATTERN, or what is wrong with it, at KEYWORD. */
int build_pattern(struct build *b, const char *keyword, const char *pattern,
		  size_t len, struct schema_pattern **out);
uint64_t build_count_of(struct json_object *v);

/* schema_build.c: keywords without subschemas. */
int build_type(struct build *b);
int build_values(struct build *b);
int build_numbers(struct build *b);
int build_counts(struct build *b);
int build_string(struct build *b);
int build_required(struct build *b);
int build_unique(struct build *b);

#endif
