/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - strict JSON text (RFC 8259) to json-c trees and back.
 *
 * json-c's own parser, even when strict, takes duplicate keys, NaN, single
 * quotes and raw control characters, and clamps large integers. This one
 * scans the text itself and builds the tree by json-c's constructors.
 *
 * Integers within int64 are json_type_int; within uint64 likewise
 * (json_object_new_uint64); every other number is a double that keeps its
 * text (json_object_new_double_s), so that it is written back as it came. A
 * number that a double cannot hold (1e400) is refused. -0 is the integer 0.
 */
#ifndef PROTO_JSON_JSON_H
#define PROTO_JSON_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 64
#define JSON_VALUES_MAX 1000000 /* a tree costs up to 190 bytes for each */

/* What was wrong and where: "byte 17: duplicate key \"a\"". */
struct json_error {
	size_t at; /* offset in bytes from the start of the text */
	char text[160];
};

/* A member's value, as the bytes that came: [off, off + len) of the text. */
struct json_span {
	size_t off;
	size_t len;
};

/*
 * Parse LEN bytes at TEXT. 0 and the tree in *OUT (the caller owns it and
 * puts it; the JSON text null gives NULL), or -EBADMSG (not JSON: syntax,
 * invalid UTF-8, a lone surrogate, a duplicate key, a NUL in a key, trailing
 * bytes) or -EMSGSIZE (deeper than JSON_DEPTH_MAX, more values than JSON_VALUES_MAX, or
 * more than INT_MAX bytes) with *ERR filled (ERR may be NULL) and *OUT NULL. The time is linear in LEN.
 */
int json_parse(struct json_object **out, const char *text, size_t len,
	       struct json_error *err);

/* The same, with -EMSGSIZE for more than VALUES_MAX: the tree stays small. */
int json_parse_few(struct json_object **out, const char *text, size_t len,
		   size_t values_max, struct json_error *err);

/*
 * Find where the value of member KEY lies in TEXT, an object that
 * json_parse() accepts. 0, or -ENOENT. Only its own members are looked at.
 */
int json_find(struct json_span *out, const char *text, size_t len,
	      const char *key);

/*
 * Walk the elements of TEXT, an array that json_parse() accepts: *AT is 0 at
 * first and moves on. 0 and the next one's span, or -ENOENT at the end.
 */
int json_next(struct json_span *out, const char *text, size_t len, size_t *at);

/*
 * The offset in TEXT, which json_parse() accepts, of what POINTER (RFC 6901)
 * leads to, or of the name before it where that is asked for and it is a
 * member. A pointer that leads nowhere: of the last part of it that is there.
 */
size_t json_locate(const char *text, size_t len, const char *pointer,
		   bool name);

/*
 * The tree as compact text, lent by OBJ until its next json_text(); "null" for
 * NULL, and for what JSON cannot say (NaN, infinities). A double that has no
 * text of its own is written by 15 to 17 digits, as few as read back the same.
 * The strings in it must be UTF-8. LEN may be NULL.
 */
const char *json_text(struct json_object *obj, size_t *len);

/* KEY of O becomes TEXT, in which what is no UTF-8 is replaced; NULL: nothing. */
void json_set_mended(struct json_object *o, const char *key, const char *text);

/*
 * Of TEXT, which a person wrote, ERR then says the line and the column instead
 * of the byte: "line 3, column 7: duplicate key \"a\"".
 */
void json_error_place(struct json_error *err, const char *text);
/* What was wrong alone, for who tells where in another way. Borrowed. */
const char *json_error_reason(const struct json_error *err);

/* Member KEY of OBJ, borrowed; NULL when OBJ is no object, has none, or null. */
struct json_object *json_member(struct json_object *obj, const char *key);
/*
 * About how many bytes V has as text, and never more than it has; once that is over
 * MOST no more is looked at.
 */
size_t json_weigh(struct json_object *v, size_t most);
/* How many elements it has when it is an array; else 0. */
size_t json_length(struct json_object *list);
/*
 * For each element of the array OF, which is ITEM in the body; for none of what
 * is no array. "break" and "continue" do as in any loop.
 */
#define json_each(item, of)                                                    \
	for (struct json_items in_##item = {.list = (of)};                     \
	     json_items_next(&in_##item);)                                     \
		for (struct json_object *item = in_##item.v; !in_##item.done;  \
		     in_##item.done = true)
struct json_items {
	struct json_object *list, *v;
	size_t next;
	bool done; /* the body has come to its end */
};
bool json_items_next(struct json_items *i);

/* Its text, up to a NUL, when it is a string; else NULL. Borrowed. */
const char *json_member_str(struct json_object *obj, const char *key);
bool json_member_is(struct json_object *obj, const char *key, const char *text);
/* Its value when it is a number, or a boolean; else 0, or false. */
int64_t json_member_int(struct json_object *obj, const char *key);
bool json_member_bool(struct json_object *obj, const char *key);

#endif
