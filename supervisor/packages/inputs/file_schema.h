/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_schema.h - finds which of a template's inputs are files: wherever
 * inputsSchema says {"type": "string", "format": "paddock-file"}.
 */
#ifndef SUPERVISOR_INPUTS_FILE_SCHEMA_H
#define SUPERVISOR_INPUTS_FILE_SCHEMA_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#define FILE_SCHEMA_FORMAT "paddock-file"
#define FILE_SCHEMA_ARTIFACT "$artifact" /* the member that names an artifact */

/* A place in the inputs, and the places below. */
struct file_spot {
	char *key; /* name or index; NULL: any other key */
	bool is_file;
	struct file_spot *below; /* the first place below */
	struct file_spot *next;	 /* the next place of the same depth */
};

/*
 * Return the places of SCHEMA that have files, the caller's; NULL: there are no
 * files. Visits properties, items, "$ref" and the combining keywords, within
 * bounds.
 */
struct file_spot *file_schema_find(struct json_object *schema);
void file_schema_free(struct file_spot *all); /* NULL is fine */

/*
 * Return the part of IN for the member or element KEY; NULL: there are no
 * files.
 */
const struct file_spot *file_schema_below(const struct file_spot *in,
					  const char *key);

/*
 * Describe in SCHEMA, for each file, what a caller may give: the text, or an
 * object with text, base64 or the id of an artifact. The format goes, so that
 * clients and checks need not know it.
 */
void file_schema_expand(struct json_object *schema);

#endif
