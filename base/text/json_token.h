/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_token.h - reads JSON's numbers and strings (RFC 8259) in place, for all
 * readers of JSON. The caller checks the UTF-8 of strings.
 */
#ifndef BASE_TEXT_JSON_TOKEN_H
#define BASE_TEXT_JSON_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fault of a token; *P is then its place. */
enum json_token_fault {
	JSON_TOKEN_GOOD,
	JSON_TOKEN_NO_DIGIT,	 /* a digit is missing */
	JSON_TOKEN_LEADING_ZERO, /* a 0 before more digits */
	JSON_TOKEN_CONTROL,	 /* a control character in a string */
	JSON_TOKEN_NO_END,	 /* a string does not end */
	/* faults with *P at the backslash: */
	JSON_TOKEN_NO_ESCAPE,	   /* an escape that JSON does not have */
	JSON_TOKEN_NO_HEX,	   /* an escape \u without four digits */
	JSON_TOKEN_LONE_SURROGATE, /* half of a surrogate pair */
	JSON_TOKEN_FAULTS
};

/* Move *P, at a number, past the number. *INTEGER: is the number an integer? */
enum json_token_fault json_token_number(const char **p, const char *end,
					bool *integer);

/* Read the absolute value of the integer [P, END). False: over 64 bits. */
bool json_token_integer(const char *p, const char *end, uint64_t *out);

/*
 * Move *P, past an opening quote, to the closing quote; *PLAIN: there are no
 * escapes. Inline, since most strings are short.
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
			at++; /* an escaped quote does not close the string */
		}
	}
	*p = at < end ? at : end;
	return at < end ? JSON_TOKEN_GOOD : JSON_TOKEN_NO_END;
}

/*
 * Read the escape at P (the backslash) in a string that ends at END: its
 * length, and the character in *C. Or -FAULT.
 */
int json_token_escape(const char *p, const char *end, uint32_t *c);

/*
 * Write the string [*P, END) without escapes to OUT, which needs the same room:
 * *N bytes. *P moves to END.
 */
enum json_token_fault json_token_unescape(char *out, size_t *n, const char **p,
					  const char *end);

#endif
