/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_schema.h - which of a template's inputs are files: wherever its
 * inputsSchema says {"type": "string", "format": "paddock-file"}.
 */
#ifndef SUPERVISOR_INPUTS_FILE_SCHEMA_H
#define SUPERVISOR_INPUTS_FILE_SCHEMA_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#define FILE_SCHEMA_FORMAT "paddock-file"
#define FILE_SCHEMA_ARTIFACT "$artifact" /* the member that names one */

/* A place in the inputs, and what is below it. */
struct file_spot {
	char
	    *key; /* of a member or an element; NULL: any that no other names */
	bool is_file;
	struct file_spot *below; /* the first of those, and… */
	struct file_spot *next;	 /* …the one after this */
};

/*
 * Where SCHEMA has files: the caller's; NULL: nowhere. Properties, items and
 * what "$ref" and the combining keywords lead to are looked at, to a bound.
 */
struct file_spot *file_schema_find(struct json_object *schema);
void file_schema_free(struct file_spot *all); /* NULL is fine */

/* The part of IN for the member or element KEY; NULL: there are no files. */
const struct file_spot *file_schema_below(const struct file_spot *in,
					  const char *key);

/*
 * Have SCHEMA say of each file what a caller may give for it: its text, or an
 * object with text, base64 or the id of an artifact. Clients and checks then
 * need to know nothing of the format, which goes.
 */
void file_schema_expand(struct json_object *schema);

#endif
