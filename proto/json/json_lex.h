/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_lex.h - JSON's blanks, strings and numbers; for json.c alone.
 */
#ifndef PROTO_JSON_JSON_LEX_H
#define PROTO_JSON_JSON_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "proto/json/json.h"

struct json_lex {
	const char *text;
	size_t len;
	size_t at;
	struct buf scratch; /* the token when its text has escapes, and the
			       text of a double */
	struct json_error *err;
};

static inline size_t json_lex_space(const char *text, size_t len, size_t at)
{
	while (at < len && (text[at] == ' ' || text[at] == '\t' ||
			    text[at] == '\n' || text[at] == '\r'))
		at++;
	return at;
}

/*
 * Read the string whose quote is at x->at: N bytes at *P, borrowed from the
 * text or from scratch. 0 and x->at past the string, or -EBADMSG.
 */
int json_lex_string(struct json_lex *x, const char **p, size_t *n);

/* Read the number at x->at into *OUT, which the caller owns. 0, or -EBADMSG. */
int json_lex_number(struct json_lex *x, struct json_object **out);

/* Write *ERR and return -EBADMSG. */
int json_lex_fail(struct json_lex *x, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same of JSON that is not taken. */
#define json_lex_unfit(x, at, ...)                                             \
	((x)->err->unfit = true, json_lex_fail(x, at, __VA_ARGS__))
int json_lex_unexpected(struct json_lex *x, size_t at, const char *expected);

#endif
