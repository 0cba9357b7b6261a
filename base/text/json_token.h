/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_token.h - JSON's numbers and strings (RFC 8259) where they lie: for all
 * who read JSON, whatever they make of it. A string's UTF-8 is theirs to check.
 */
#ifndef BASE_TEXT_JSON_TOKEN_H
#define BASE_TEXT_JSON_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is wrong; *P is then where. */
enum json_token_fault {
	JSON_TOKEN_GOOD,
	JSON_TOKEN_NO_DIGIT,	 /* where one must be */
	JSON_TOKEN_LEADING_ZERO, /* before more digits */
	JSON_TOKEN_CONTROL,	 /* a control character in a string */
	JSON_TOKEN_NO_END,	 /* of a string */
	/* of these *P is at the backslash */
	JSON_TOKEN_NO_ESCAPE,	   /* it escapes no such thing */
	JSON_TOKEN_NO_HEX,	   /* \u without four digits */
	JSON_TOKEN_LONE_SURROGATE, /* half a pair */
	JSON_TOKEN_FAULTS
};

/* Moves *P, at a number, past it; is it *INTEGER? */
enum json_token_fault json_token_number(const char **p, const char *end,
					bool *integer);

/* What the integer from P to END is but for its sign. False: over 64 bits. */
bool json_token_integer(const char *p, const char *end, uint64_t *out);

/*
 * Moves *P, past a quote, to the one that closes; *PLAIN: nothing is escaped.
 * Here, since most strings are short.
 */
static inline enum json_token_fault
json_token_string(const char **p, const char *end, bool *plain)
{
	const char *at = *p;

	*plain = true;
	for (; at < end && *at != '"'; at++) {
		if ((unsigned char)*at < ' ') {
			*p = at;
			return JSON_TOKEN_CONTROL;
		}
		if (*at == '\\') {
			*plain = false;
			at++; /* what it escapes does not close the string */
		}
	}
	*p = at < end ? at : end;
	return at < end ? JSON_TOKEN_GOOD : JSON_TOKEN_NO_END;
}

/*
 * How long the escape is whose backslash is at P, in a string that ends at END,
 * and the character *C that it stands for. Or -FAULT.
 */
int json_token_escape(const char *p, const char *end, uint32_t *c);

/*
 * Writes the string from *P to END without its escapes to OUT, which has room
 * for as many bytes: *N of them. *P moves to END.
 */
enum json_token_fault json_token_unescape(char *out, size_t *n, const char **p,
					  const char *end);

#endif
