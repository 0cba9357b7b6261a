/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_io.h - reads JSON files that the user names, creates files, and prints
 * JSON for people.
 */
#ifndef CLI_JSON_IO_H
#define CLI_JSON_IO_H

#include <json-c/json.h>

#include "base/buf.h"

/* Append the file at PATH ("-": stdin) to B. 0 or -errno. */
int file_read(struct buf *b, const char *path);

/*
 * Parse the file at PATH ("-": stdin) into *OUT, which the caller owns. 0, or
 * -errno after a line on stderr with the error and its place.
 */
int json_file_read(struct json_object **out, const char *path);

/*
 * Write TEXT as the new file NAME of folder DIR; a file of that name is an
 * error. 0, or -errno after a line on stderr; a part of the file may remain.
 */
int json_file_create(const char *dir, const char *name, const char *text);

/*
 * Append V, indented by two, with each value on one line that fits there. The
 * text stays the same JSON; characters that act on a terminal are escaped.
 */
void json_pretty_add(struct buf *out, struct json_object *v);

/* Append V as one line, without blanks. */
void json_pretty_add_compact(struct buf *out, struct json_object *v);

/* Print V on stdout with a newline: pretty, or COMPACT. */
void json_pretty_print(struct json_object *v, int compact);

#endif
