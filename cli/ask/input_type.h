/* SPDX-License-Identifier: Apache-2.0 */
/* input_type.h - the types that a schema allows for a value; for input.c. */
#ifndef CLI_INPUT_TYPE_H
#define CLI_INPUT_TYPE_H

#include <json-c/json.h>
#include <stdbool.h>

enum {
	INPUT_NULL = 1 << 0,
	INPUT_BOOLEAN = 1 << 1,
	INPUT_INTEGER = 1 << 2,
	INPUT_NUMBER = 1 << 3, /* a number with a fraction */
	INPUT_STRING = 1 << 4,
	INPUT_ARRAY = 1 << 5,
	INPUT_OBJECT = 1 << 6,
};

/* Return the types that SCHEMA, part of ROOT, allows; 0: not specified. */
unsigned input_types(struct json_object *root, struct json_object *schema);
unsigned input_type_of(struct json_object *value);

/* Return SCHEMA, or the target of its "$ref" into ROOT. Borrowed. */
struct json_object *input_resolve(struct json_object *root,
				  struct json_object *schema);

/*
 * Return the schema of member KEY of an object of SCHEMA, borrowed; NULL: no
 * schema, and *CLOSED (unless NULL) says whether the member is forbidden.
 */
struct json_object *input_property(struct json_object *root,
				   struct json_object *schema, const char *key,
				   bool *closed);
/* Return the schema of elements, borrowed; may be NULL. */
struct json_object *input_items(struct json_object *root,
				struct json_object *schema);

/* Name the types: "an integer or a text". */
#define INPUT_TYPES_SIZE 128
void input_type_names(char out[INPUT_TYPES_SIZE], unsigned types);

#endif
