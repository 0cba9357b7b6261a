/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_span.c - finds where a value lies in text that json_parse() has
 * accepted. Nothing is checked again, so other text gives a useless span, but
 * never a span beyond the text.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/json.h"
#include "proto/json/json_lex.h"
#include "proto/json/json_pointer.h"

/* Return the offset past the string whose quote is at AT. */
static size_t skip_string(const char *text, size_t len, size_t at)
{
	for (at++; at < len && text[at] != '"'; at++)
		if (text[at] == '\\')
			at++;
	return at < len ? at + 1 : len;
}

/* Return the offset past the number or word at AT. */
static size_t skip_plain(const char *text, size_t len, size_t at)
{
	static const bool ends[UCHAR_MAX + 1] = {
	    [','] = true,  [']'] = true,  ['}'] = true, [' '] = true,
	    ['\t'] = true, ['\r'] = true, ['\n'] = true};

	while (at < len && !ends[(unsigned char)text[at]])
		at++;
	return at;
}

/* Return the offset past the value at AT. */
static size_t skip_value(const char *text, size_t len, size_t at)
{
	size_t depth = 0;

	if (at < len && text[at] != '"' && text[at] != '{' && text[at] != '[')
		return skip_plain(text, len, at);
	while (at < len) {
		char c = text[at];

		if (c == '"')
			at = skip_string(text, len, at);
		else
			at++;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && depth > 0)
			depth--;
		if (depth == 0)
			break;
	}
	return at;
}

/* Return the next value at *AT, and move *AT past the value. */
static struct json_span take_value(const char *text, size_t len, size_t *at)
{
	struct json_span v = {.off = json_lex_space(text, len, *at)};

	*at = skip_value(text, len, v.off);
	v.len = *at - v.off;
	return v;
}

/*
 * Is KEY, of N bytes, the string at AT, which has its quotes and escapes and
 * ends before END?
 */
static bool is_key(struct json_lex *x, size_t at, size_t end, const char *key,
		   size_t n)
{
	const char *p = x->text + at + 1;
	size_t got = end - at - 2;

	if (end < at + 2)
		return false;
	if (got < n) /* an escape is longer than its character */
		return false;
	if (memchr(p, '\\', got) == NULL)
		return got == n && memcmp(p, key, n) == 0;
	x->at = at;
	return json_lex_string(x, &p, &got) == 0 && got == n &&
	       memcmp(p, key, n) == 0;
}

/* Return the offset past blanks and C, or 0 when C is not there. */
static size_t past(const char *text, size_t len, size_t at, char c)
{
	at = json_lex_space(text, len, at);
	return at < len && text[at] == c ? at + 1 : 0;
}

/* Find the member KEY: the place of its name's quote, and its value. */
static int find_member(size_t *at_name, struct json_span *out, const char *text,
		       size_t len, const char *key)
{
	struct json_error unread;
	struct json_lex x = {.text = text, .len = len, .err = &unread};
	size_t n = strlen(key), at = past(text, len, 0, '{'), name, end;
	int rc = -ENOENT;

	while (at != 0) {
		name = past(text, len, at, '"');
		if (name == 0)
			break;
		end = skip_string(text, len, name - 1);
		at = past(text, len, end, ':');
		if (at == 0)
			break;
		*out = take_value(text, len, &at);
		if (is_key(&x, name - 1, end, key, n)) {
			*at_name = name - 1;
			rc = 0;
			break;
		}
		at = past(text, len, at, ',');
	}
	buf_fini(&x.scratch);
	return rc;
}

int json_find(struct json_span *out, const char *text, size_t len,
	      const char *key)
{
	size_t name;

	return find_member(&name, out, text, len, key);
}

int json_next(struct json_span *out, const char *text, size_t len, size_t *at)
{
	size_t from = past(text, len, *at, *at == 0 ? '[' : ',');

	if (from == 0 || past(text, len, from, ']') != 0)
		return -ENOENT;
	*out = take_value(text, len, &from);
	*at = from;
	return 0;
}

/* Find the element of the array TEXT whose index is TOKEN. */
static int find_element(struct json_span *out, const char *text, size_t len,
			const char *token)
{
	size_t i = 0, at = 0, want = strtoul(token, NULL, 10);
	int rc;

	if (*token == '\0' || token[strspn(token, "0123456789")] != '\0')
		return -ENOENT;
	do
		rc = json_next(out, text, len, &at);
	while (rc == 0 && i++ < want);
	return rc;
}

size_t json_locate(const char *text, size_t len, const char *pointer, bool name)
{
	struct json_span in, v = {.off = json_lex_space(text, len, 0)};
	size_t place = v.off;
	int rc = 0;

	v.len = len - v.off;
	while (rc == 0 && *pointer == '/' && v.len > 0) {
		const char *from = text + v.off;
		char *token = json_pointer_token(&pointer);
		size_t quote = SIZE_MAX;

		rc = *from == '['
			 ? find_element(&in, from, v.len, token)
			 : find_member(&quote, &in, from, v.len, token);
		free(token);
		if (rc < 0)
			break;
		place = v.off + (name && quote < in.off ? quote : in.off);
		v = (struct json_span){v.off + in.off, in.len};
	}
	return place;
}
