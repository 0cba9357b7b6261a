/* SPDX-License-Identifier: Apache-2.0 */
/* schema_build.h - declarations for schema_compile.c and schema_build.c. */
#ifndef PROTO_SCHEMA_SCHEMA_BUILD_H
#define PROTO_SCHEMA_SCHEMA_BUILD_H

#include "proto/schema/schema_compiler.h"

#define SCHEMA_OPS_MAX 48 /* above the number of checking keywords */

/* A node whose keywords become operations. */
struct build {
	struct schema_compiler *c;
	struct schema_node *n;
	struct schema_words w;
	struct schema_op ops[SCHEMA_OPS_MAX];
	uint32_t nops;
};

struct schema_op *build_add(struct build *b, const char *keyword,
			    unsigned types, schema_check_fn *check);
/* Return the strings of LIST. */
const char **build_names_of(struct build *b, struct json_object *list);
/* Compile PATTERN at KEYWORD; -EINVAL and its fault when refused. */
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
