/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - strict JSON text (RFC 8259) to json-c trees and back.
 *
 * json-c's own parser, even when strict, takes duplicate keys, NaN, single
 * quotes and raw control characters, and clamps large integers. This parser
 * scans the text itself and builds the tree by json-c's constructors.
 *
 * Integers within int64 are json_type_int; within uint64 likewise
 * (json_object_new_uint64). Every other number is a double with its text
 * (json_object_new_double_s), so that the number is written back as it came. A
 * number that a double cannot hold (1e400) is refused. -0 is the integer 0.
 */
#ifndef PROTO_JSON_JSON_H
#define PROTO_JSON_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 64
#define JSON_VALUES_MAX 1000000

/* The fault and its place: "byte 17: duplicate key \"a\"". */
struct json_error {
	size_t at;     /* offset in bytes from the start of the text */
	bool too_many; /* the fault: more values than allowed */
	bool unfit;    /* the fault: JSON that is not taken */
	char text[160];
};

/* The place of a member's value: bytes [off, off + len) of the text. */
struct json_span {
	size_t off;
	size_t len;
};

/*
 * Parse LEN bytes at TEXT. Return 0 and the tree in *OUT (the caller owns the
 * tree and puts it; the JSON text null gives NULL). Else return -EBADMSG (not
 * JSON: syntax, invalid UTF-8, a lone surrogate, a duplicate key, a NUL in a
 * key, trailing bytes) or -EMSGSIZE (deeper than JSON_DEPTH_MAX, more values
 * than JSON_VALUES_MAX, or more than INT_MAX bytes), with *ERR filled (ERR may
 * be NULL) and *OUT NULL. The time is linear in LEN.
 */
int json_parse(struct json_object **out, const char *text, size_t len,
	       struct json_error *err);

/*
 * Parse as json_parse() does, with -EMSGSIZE for more than VALUES_MAX values, so
 * that the tree stays small. *COST is the approximate number of bytes of
 * memory of the tree; after a failure, of the part built so far.
 */
int json_parse_cost(struct json_object **out, const char *text, size_t len,
		    size_t values_max, size_t *cost, struct json_error *err);
/*
 * Return an upper bound, found without parsing, of the bytes of memory of a
 * tree of the LEN bytes at TEXT, JSON or not.
 */
size_t json_cost_most(const char *text, size_t len);
/*
 * Parse as json_parse() does, but keep only the outermost value and its
 * members. Deeper values are checked and released, so that the tree is always
 * small. Names that come twice in a deeper object are not found.
 */
int json_skim(struct json_object **out, const char *text, size_t len,
	      struct json_error *err);

/*
 * Find where the value of member KEY lies in TEXT, an object that json_parse()
 * accepts. 0, or -ENOENT. Only the object's own members are searched.
 */
int json_find(struct json_span *out, const char *text, size_t len,
	      const char *key);

/*
 * Walk the elements of TEXT, an array that json_parse() accepts: *AT is 0 at
 * first and moves on. 0 and the span of the next element, or -ENOENT at the
 * end.
 */
int json_next(struct json_span *out, const char *text, size_t len, size_t *at);

/*
 * Return the offset in TEXT, which json_parse() accepts, of the value at
 * POINTER (RFC 6901). With NAME true, and a value that is a member, return the
 * offset of the member's name. A pointer that leads nowhere gives the offset of
 * its longest part that exists.
 */
size_t json_locate(const char *text, size_t len, const char *pointer,
		   bool name);

/*
 * Return the tree as compact text, lent by OBJ until its next json_text(). NULL
 * and numbers that JSON lacks (NaN, infinities) give "null". A double that has
 * no text of its own is written by 15 to 17 digits, as few as read back the
 * same. The strings in OBJ must be UTF-8. LEN may be NULL.
 */
const char *json_text(struct json_object *obj, size_t *len);

/*
 * Make a string of the LEN bytes at TEXT, without the bytes that are not UTF-8:
 * "%.64s" may have cut within a character, and paths and configuration may have
 * any bytes.
 */
struct json_object *json_text_of(const char *text, size_t len);
struct json_object *json_text_new(const char *text); /* TEXT ends at its NUL */

/*
 * Set member KEY of O to TEXT; bytes that are not UTF-8 are replaced. NULL TEXT
 * does nothing.
 */
void json_set_mended(struct json_object *o, const char *key, const char *text);

/*
 * Make ERR say the line and the column in TEXT, which a person wrote, instead
 * of the byte: "line 3, column 7: duplicate key \"a\"".
 */
void json_error_place(struct json_error *err, const char *text);
/* Return the fault without its place, borrowed from ERR. */
const char *json_error_reason(const struct json_error *err);

/*
 * Return member KEY of OBJ, borrowed; NULL when OBJ is no object, or has no
 * such member, or the member is null.
 */
struct json_object *json_member(struct json_object *obj, const char *key);
/*
 * Return about how many bytes V has as text, never more than the true number.
 * The count stops once it is above MOST.
 */
size_t json_weigh(struct json_object *v, size_t most);
/* Return the number of elements of an array; 0 for another type. */
size_t json_length(struct json_object *list);
/*
 * Run the body for each element of the array OF, with ITEM as the element; not
 * at all when OF is no array. "break" and "continue" do as in any loop.
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

/*
 * Return the text of member KEY, up to a NUL, borrowed; NULL when it is no
 * string.
 */
const char *json_member_str(struct json_object *obj, const char *key);
bool json_member_is(struct json_object *obj, const char *key, const char *text);
/* Return the number, or the boolean, at KEY; else 0, or false. */
int64_t json_member_int(struct json_object *obj, const char *key);
bool json_member_bool(struct json_object *obj, const char *key);

#endif
