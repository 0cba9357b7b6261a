/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_view.h - JSON text, looked at where it lies: nothing is copied or built.
 *
 * jtext_check() comes first; the other functions take what it passed, and
 * the pieces of it that they give.
 */
#ifndef BASE_TEXT_JSON_VIEW_H
#define BASE_TEXT_JSON_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JTEXT_DEPTH_MAX 64

struct jtext {
	const char *p;
	size_t n;
};

/*
 * Is all of T one JSON value: RFC 8259 in UTF-8, without lone surrogates or
 * NULs, at most JTEXT_DEPTH_MAX deep? Gives the value, without the space
 * around it, in *VALUE; or false, with the offence in *WHY (static) and where
 * it is in *AT.
 */
bool jtext_check(struct jtext t, struct jtext *value, const char **why,
		 size_t *at);

static inline bool jtext_is_object(struct jtext v)
{
	return v.n > 0 && v.p[0] == '{';
}

static inline bool jtext_is_string(struct jtext v)
{
	return v.n > 0 && v.p[0] == '"';
}

/*
 * The next member of an object. *AT is 0 at first, and ours; *KEY keeps its
 * quotes. False: there is none left.
 */
bool jtext_next(struct jtext object, size_t *at, struct jtext *key,
		struct jtext *value);

/* The first member of OBJECT called NAME, which needs no escapes. */
bool jtext_member(struct jtext object, const char *name, struct jtext *value);

/* Is V, a string or a key, NAME? */
bool jtext_equal(struct jtext v, const char *name);

/*
 * Writes the characters of the string V to OUT, which has room for V.n
 * bytes; no NUL. Their length.
 */
size_t jtext_unquote(struct jtext v, char *out);

/* Is V an integer from 0 to 2^53? Then it is *OUT. */
bool jtext_uint(struct jtext v, uint64_t *out);

#endif
