/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placeholder.h - names in braces that a value takes the place of: {id} in
 * a URI template (RFC 6570, level 1), {{topic}} in a prompt, {key.property}
 * in what is filled with a user's answers. Pure functions.
 *
 * A name has letters, digits, "_" and "."; but in a URI template "-" too.
 * Anything else in braces is text as it stands.
 */
#ifndef SUPERVISOR_PACKAGE_PLACEHOLDER_H
#define SUPERVISOR_PACKAGE_PLACEHOLDER_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define PLACEHOLDER_NAME_MAX 192 /* bytes */
/* in one uriTemplate: each is sought in a URI */
#define PLACEHOLDER_URI_NAMES 16

enum placeholder_style {
	PLACEHOLDER_URI,
	PLACEHOLDER_PROMPT,
	PLACEHOLDER_ANSWERS, /* braces as a URI's, names as a prompt's */
};

/* A part of a text, borrowed from it: what stands there, or a NAME's. */
struct placeholder_part {
	const char *text;
	size_t len;
	bool is_name; /* TEXT is the name, without its braces */
};

/* The next part of *AT, which moves on; false at the end. */
bool placeholder_next(struct placeholder_part *p, enum placeholder_style style,
		      const char **at);

/*
 * Append TEXT to OUT with what VALUES (an object of strings) has for each
 * name. What it lacks becomes nothing in a prompt, where it is an argument
 * that was not given, and else stays. 0, or -EMSGSIZE when OUT is full.
 */
int placeholder_fill(struct buf *out, enum placeholder_style style,
		     const char *text, struct json_object *values);

/*
 * Add to VALUES, as KEY.PROPERTY, each of PROPERTIES (an object): what CONTENT
 * (NULL: nothing) has of it as text, a list with ", " between.
 */
void placeholder_add_answers(struct json_object *values, const char *key,
			     struct json_object *properties,
			     struct json_object *content);

/* What keeps TEXT from being a URI template of level 1; NULL: nothing. */
const char *placeholder_uri_fault(const char *text);

/*
 * What the names of TEXT, a good URI template, stand for in URI, as an object
 * of decoded strings that the caller owns; NULL: URI is no such one. A
 * value has at least one character, and ends where the text after it first
 * comes.
 */
struct json_object *placeholder_uri_match(const char *text, const char *uri);

#endif
