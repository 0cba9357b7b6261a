/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_io.h - JSON of files that the user names, new files for them, and JSON
 * for people to read.
 */
#ifndef CLI_JSON_IO_H
#define CLI_JSON_IO_H

#include <json-c/json.h>

#include "base/buf.h"

/* Append the file at PATH ("-": stdin). 0 or -errno. */
int file_read(struct buf *b, const char *path);

/*
 * Parse the file at PATH ("-": stdin) into *OUT, which the caller owns. 0, or
 * -errno after a line on stderr that says what is wrong and where.
 */
int json_file_read(struct json_object **out, const char *path);

/*
 * Write TEXT as the file NAME of folder DIR, where there is none of that name
 * yet. 0, or -errno after a line on stderr; a part of it may be there then.
 */
int json_file_create(const char *dir, const char *name, const char *text);

/*
 * Append V: indented by two, what fits within a line on one line. The text
 * stays the same JSON; characters that act on a terminal are escaped.
 */
void json_pretty_add(struct buf *out, struct json_object *v);

/* The same as one line, without blanks. */
void json_pretty_add_compact(struct buf *out, struct json_object *v);

/* On stdout with a newline: pretty, or COMPACT. */
void json_pretty_print(struct json_object *v, int compact);

#endif
