/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.h - reads JSON (RFC 8259) in place, token by token, for all readers
 * of JSON. The caller checks the UTF-8 of strings.
 */
#ifndef BASE_TEXT_JSON_SCAN_H
#define BASE_TEXT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_SCAN_DEPTH_MAX 64

/* The tokens that may come next. */
enum json_want {
	JSON_WANT_VALUE,
	JSON_WANT_FIRST_ITEM,
	JSON_WANT_MORE_ITEMS,
	JSON_WANT_FIRST_KEY,
	JSON_WANT_KEY,
	JSON_WANT_COLON,
	JSON_WANT_MORE_MEMBERS,
	JSON_WANT_END,
	JSON_WANTS
};

enum json_event {
	JSON_FAULT, /* of the text, or the caller's call after the end */
	JSON_END,   /* after a whole value */
	JSON_OBJECT,
	JSON_ARRAY,
	JSON_CLOSE, /* of the innermost object or array */
	JSON_KEY,   /* a member's name; the value follows */
	JSON_STRING,
	JSON_NUMBER,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NULL
};

enum json_fault {
	JSON_FAULT_NONE,
	JSON_FAULT_UNWANTED, /* no token that may come next, or the end */
	JSON_FAULT_TOO_DEEP, /* a container below JSON_SCAN_DEPTH_MAX others */
	JSON_FAULT_NO_DIGIT, /* a digit is missing */
	JSON_FAULT_LEADING_ZERO,   /* a 0 before more digits */
	JSON_FAULT_CONTROL,	   /* a control character in a string */
	JSON_FAULT_NO_END,	   /* a string does not end */
	JSON_FAULT_NO_ESCAPE,	   /* an escape that JSON does not have */
	JSON_FAULT_NO_HEX,	   /* an escape \u without four digits */
	JSON_FAULT_LONE_SURROGATE, /* half of a surrogate pair */
	JSON_FAULTS
};

/* Fill P and END; all else is zero at first. */
struct json_scan {
	const char *p; /* past the token; of a fault: the place */
	const char *end;
	const char *token; /* the first byte of the token */
	enum json_want want;
	enum json_fault fault;
	bool plain;   /* the string or key has no escapes */
	bool integer; /* the number is an integer */
	unsigned depth;
	uint64_t objects; /* a bit for each open container, the lowest inmost */
};

/* Read the next token, with the blanks, commas and colons before the token. */
enum json_event json_scan_next(struct json_scan *s);

static inline const char *json_scan_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/*
 * Return the place past the value at P, of text that was found good. Other text
 * gives any place up to END.
 */
const char *json_scan_skip(const char *p, const char *end);

/* Read the absolute value of the integer [P, END). False: over 64 bits. */
bool json_scan_integer(const char *p, const char *end, uint64_t *out);

/*
 * Read the escape at P (the backslash) in a string that ends at END: its
 * length, and the character in *C. Or -FAULT.
 */
int json_scan_escape(const char *p, const char *end, uint32_t *c);

/*
 * Write the string [*P, END) without escapes to OUT, which needs the same room:
 * *N bytes. *P moves to END, or to the backslash of a fault.
 */
enum json_fault json_scan_unescape(char *out, size_t *n, const char **p,
				   const char *end);

#endif
