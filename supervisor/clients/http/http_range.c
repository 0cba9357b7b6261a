/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_range.c - reads the header field Range for http_artifacts_get.c:
 * "bytes=4-7", "bytes=4-" or "bytes=-4". The caller ignores a field of any
 * other form: a server may always send the whole file.
 */
#include "supervisor/clients/http/http_range.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char digits[] = "0123456789";

/* Return the number of N digits at P, or INT64_MAX if the number is larger. */
static int64_t parse_position(const char *p, size_t n)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, p[i] - '0', &v))
			return INT64_MAX;
	return v;
}

/* Set *AT and *GOT to the last N bytes of a file of SIZE bytes. */
static int suffix(int64_t n, int64_t size, int64_t *at, int64_t *got)
{
	if (n == 0)
		return -ERANGE;
	if (size == 0)
		/* no Content-Range can describe a part of an empty file */
		return -ENOENT;
	*got = n < size ? n : size;
	*at = size - *got;
	return 0;
}

int http_range(const char *field, int64_t size, int64_t *at, int64_t *n)
{
	static const char unit[] = "bytes=";
	size_t first, last;
	int64_t from, to;
	const char *p;

	if (strncasecmp(field, unit, strlen(unit)) != 0)
		return -ENOENT;
	p = field + strlen(unit) + strspn(field + strlen(unit), " \t");
	first = strspn(p, digits);
	if (p[first] != '-')
		return -ENOENT;
	last = strspn(p + first + 1, digits);
	if (p[first + 1 + last + strspn(p + first + 1 + last, " \t")] != '\0' ||
	    first + last == 0)
		return -ENOENT;
	from = parse_position(p, first);
	to = last > 0 ? parse_position(p + first + 1, last) : INT64_MAX;
	if (first == 0)
		return suffix(to, size, at, n);
	if (to < from)
		return -ENOENT;
	if (from >= size)
		return -ERANGE;
	*at = from;
	*n = (to < size ? to + 1 : size) - from;
	return 0;
}
