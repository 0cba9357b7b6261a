/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placeholder.h - replaces names in braces by values: {id} in a URI template
 * (RFC 6570, level 1), {{topic}} in a prompt, {key.property} in a text filled
 * with a user's answers. Pure functions.
 *
 * A name has letters, digits, "_" and "."; except in a URI template also "-".
 * Anything else in braces is plain text.
 */
#ifndef SUPERVISOR_PACKAGE_PLACEHOLDER_H
#define SUPERVISOR_PACKAGE_PLACEHOLDER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define PLACEHOLDER_NAME_MAX 192 /* bytes */
/* in one uriTemplate: each name is searched for in a URI */
#define PLACEHOLDER_URI_NAMES 16

enum placeholder_style {
	PLACEHOLDER_URI,
	PLACEHOLDER_PROMPT,
	PLACEHOLDER_ANSWERS, /* braces as in a URI, names as in a prompt */
};

/* A part of a text, borrowed: plain text, or a name. */
struct placeholder_part {
	const char *text;
	size_t len;
	bool is_name; /* TEXT is the name, without braces */
};

/* Take the next part of *AT, and move *AT on; false at the end. */
bool placeholder_next(struct placeholder_part *p, enum placeholder_style style,
		      const char **at);

/*
 * Append TEXT to OUT with each name replaced by its value in VALUES (an object
 * of strings). A name without a value becomes nothing in a prompt, as an
 * argument that was not given, and else stays. 0, or -EMSGSIZE when OUT is
 * full.
 */
int placeholder_fill(struct buf *out, enum placeholder_style style,
		     const char *text, struct json_object *values);

/*
 * Add to VALUES, as KEY.PROPERTY, each of PROPERTIES (an object): its value in
 * CONTENT (NULL: nothing) as text, a list with ", " between.
 */
void placeholder_add_answers(struct json_object *values, const char *key,
			     struct json_object *properties,
			     struct json_object *content);

/*
 * Return why TEXT is no URI template of level 1; NULL: TEXT is a URI template.
 */
const char *placeholder_uri_fault(const char *text);

/*
 * Match URI against TEXT, a good URI template. Returns an object of the names
 * with their decoded values, the caller's; NULL: no match. A value has at least
 * one character, and ends where the text after the name first comes.
 */
struct json_object *placeholder_uri_match(const char *text, const char *uri);

#endif
