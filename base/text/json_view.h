/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_view.h - JSON text, looked at where it lies: nothing is copied or built.
 *
 * json_view_check() comes first; the other functions take what it passed, and
 * the pieces of it that they give.
 */
#ifndef BASE_TEXT_JSON_VIEW_H
#define BASE_TEXT_JSON_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_VIEW_DEPTH_MAX 64

struct json_view {
	const char *p;
	size_t n;
};

/*
 * Is all of T one JSON value: RFC 8259 in UTF-8, without lone surrogates or
 * NULs, at most JSON_VIEW_DEPTH_MAX deep? Gives the value, without the space
 * around it, in *VALUE; or false, with the offence in *ERRMSG (static) and where
 * it is in *AT.
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
 * The next member of an object. *AT is 0 at first, and ours; *KEY keeps its
 * quotes. False: there is none left.
 */
bool json_view_next(struct json_view object, size_t *at, struct json_view *key,
		    struct json_view *value);

/* The first member of OBJECT called NAME, which needs no escapes. */
bool json_view_member(struct json_view object, const char *name,
		      struct json_view *value);

/* Is V, a string or a key, NAME? */
bool json_view_equal(struct json_view v, const char *name);

/*
 * Writes the characters of the string V to OUT, which has room for V.n
 * bytes; no NUL. Their length.
 */
size_t json_view_unquote(struct json_view v, char *out);

/* Is V an integer from 0 to 2^53? Then it is *OUT. */
bool json_view_uint(struct json_view v, uint64_t *out);

#endif
