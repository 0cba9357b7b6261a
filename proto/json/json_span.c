/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_span.c - finds the place of a value in text after json_parse() without a
 * second check: other text gives a useless span, but never a span beyond the
 * text.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text/json_scan.h"
#include "base/text/json_view.h"
#include "proto/json/json.h"
#include "proto/json/json_pointer.h"

/* Is KEY, of N bytes, the string NAME with quotes and escapes? */
static bool is_key(struct buf *scratch, struct json_view name, const char *key,
		   size_t n)
{
	const char *p = name.p + 1;
	size_t got = name.n < 2 ? 0 : name.n - 2;
	char *to;

	if (name.n < 2 || got < n) /* an escape is longer than its character */
		return false;
	if (memchr(p, '\\', got) == NULL)
		return got == n && memcmp(p, key, n) == 0;
	buf_drop(scratch, buf_len(scratch));
	to = buf_room(scratch, got);
	return json_scan_unescape(to, &got, &p, p + got) == JSON_FAULT_NONE &&
	       got == n && memcmp(to, key, n) == 0;
}

/* Find the member KEY: the place of the name's quote, and the value. */
static int find_member(size_t *at_name, struct json_span *out, const char *text,
		       size_t len, const char *key)
{
	const char *from = json_scan_space(text, text + len);
	struct json_view in = {from, (size_t)(text + len - from)}, name, v;
	struct buf scratch = {0};
	size_t n = strlen(key), at = 0;
	int rc = -ENOENT;

	while (rc != 0 && json_view_is_object(in) &&
	       json_view_next(in, &at, &name, &v)) {
		if (!is_key(&scratch, name, key, n))
			continue;
		*at_name = (size_t)(name.p - text);
		*out = (struct json_span){(size_t)(v.p - text), v.n};
		rc = 0;
	}
	buf_fini(&scratch);
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
	const char *end = text + len, *p = json_scan_space(text + *at, end);

	if (p == end || *p != (*at == 0 ? '[' : ','))
		return -ENOENT;
	p = json_scan_space(p + 1, end);
	if (p < end && *p == ']')
		return -ENOENT;
	out->off = (size_t)(p - text);
	*at = (size_t)(json_scan_skip(p, end) - text);
	out->len = *at - out->off;
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
	struct json_span in,
	    v = {.off = (size_t)(json_scan_space(text, text + len) - text)};
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
