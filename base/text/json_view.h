/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_view.h - reads JSON text in place: nothing is copied or built.
 *
 * Call json_view_check() first; the other functions take the value that passed,
 * and the parts of that value.
 */
#ifndef BASE_TEXT_JSON_VIEW_H
#define BASE_TEXT_JSON_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_view {
	const char *p;
	size_t n;
};

/*
 * Is all of T a JSON value: RFC 8259 in UTF-8, without lone surrogates or NULs,
 * at most JSON_SCAN_DEPTH_MAX deep? True: *VALUE is the value, without the
 * space around. False: *ERRMSG is the fault (static) and *AT its offset.
 */
bool json_view_check(struct json_view t, struct json_view *value,
		     const char **errmsg, size_t *at);

static inline bool json_view_is_object(struct json_view v)
{
	return v.n > 0 && v.p[0] == '{';
}

static inline bool json_view_is_string(struct json_view v)
{
	return v.n > 0 && v.p[0] == '"';
}

/*
 * Get the next member of an object. *AT is 0 at first, then private; *KEY keeps
 * its quotes. False: there are no more members.
 */
bool json_view_next(struct json_view object, size_t *at, struct json_view *key,
		    struct json_view *value);

/* Find the first member NAME of OBJECT; NAME must need no escapes. */
bool json_view_member(struct json_view object, const char *name,
		      struct json_view *value);

/* Is V, a string or a key, equal to NAME? */
bool json_view_equal(struct json_view v, const char *name);

/*
 * Write the characters of the string V to OUT, which has room for V.n bytes,
 * without a NUL. Return their number.
 */
size_t json_view_unquote(struct json_view v, char *out);

/* Is V an integer from 0 to 2^53? True: the integer is in *OUT. */
bool json_view_uint(struct json_view v, uint64_t *out);

#endif
