/* SPDX-License-Identifier: Apache-2.0 */
/* input_type.h - what a schema says of a value's type; for input.c. */
#ifndef CLI_INPUT_TYPE_H
#define CLI_INPUT_TYPE_H

#include <json-c/json.h>
#include <stdbool.h>

enum {
	INPUT_NULL = 1 << 0,
	INPUT_BOOLEAN = 1 << 1,
	INPUT_INTEGER = 1 << 2,
	INPUT_NUMBER = 1 << 3, /* one that is no integer */
	INPUT_STRING = 1 << 4,
	INPUT_ARRAY = 1 << 5,
	INPUT_OBJECT = 1 << 6,
};

/* The types that SCHEMA, part of ROOT, lets through; 0: it does not say. */
unsigned input_types(struct json_object *root, struct json_object *schema);
unsigned input_type_of(struct json_object *value);

/* SCHEMA, or where its "$ref" into ROOT leads. Borrowed. */
struct json_object *input_resolve(struct json_object *root,
				  struct json_object *schema);

/*
 * The schema of member KEY of an object of SCHEMA, borrowed; NULL: it has none
 * of its own, and then *CLOSED (unless NULL) says that it may not be there.
 */
struct json_object *input_property(struct json_object *root,
				   struct json_object *schema, const char *key,
				   bool *closed);
/* The schema of elements; may be NULL. Borrowed. */
struct json_object *input_items(struct json_object *root,
				struct json_object *schema);

/* "an integer or a text" */
#define INPUT_TYPES_SIZE 128
void input_type_names(char out[INPUT_TYPES_SIZE], unsigned types);

#endif
