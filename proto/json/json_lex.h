/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_lex.h - values of JSON's strings and numbers, and words for faults; for
 * json.c alone.
 */
#ifndef PROTO_JSON_JSON_LEX_H
#define PROTO_JSON_JSON_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/text/json_scan.h"
#include "proto/json/json.h"

struct json_lex {
	const char *text;
	struct json_scan scan;
	struct buf scratch; /* the token when its text has escapes, and the
			       text of a double */
	struct json_error *err;
};

/*
 * Read the string or key of the last event: N bytes at *P, borrowed from the
 * text or from scratch. 0, or -EBADMSG.
 */
int json_lex_string(struct json_lex *x, const char **p, size_t *n);

/*
 * Read the number of the last event into *OUT, which the caller owns. 0, or
 * -EBADMSG.
 */
int json_lex_number(struct json_lex *x, struct json_object **out);

/* Write *ERR with the place AT, and return -EBADMSG. */
int json_lex_fail(struct json_lex *x, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same of JSON that is not taken. */
#define json_lex_unfit(x, at, ...)                                             \
	((x)->err->unfit = true, json_lex_fail(x, at, __VA_ARGS__))
int json_lex_unexpected(struct json_lex *x, const char *at,
			const char *expected);
/* The same of the token FAULT, found at P. */
int json_lex_fault(struct json_lex *x, enum json_fault fault, const char *p);

#endif
