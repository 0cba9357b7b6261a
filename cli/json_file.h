/* SPDX-License-Identifier: Apache-2.0 */
/* json_file.h - JSON files that the user names, and new files for them. */
#ifndef CLI_JSON_FILE_H
#define CLI_JSON_FILE_H

#include <json-c/json.h>

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

#endif
