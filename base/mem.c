/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.c - calloc(3) and similar functions for every program, for sizes of our
 * own choice. They abort in place of returning NULL, so no caller checks. A
 * size chosen by a peer is bounded before the call.
 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *alive(void *p)
{
	if (p == NULL)
		abort();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	return alive(calloc(n > 0 ? n : 1, size > 0 ? size : 1));
}

void *xrealloc(void *p, size_t size)
{
	return alive(realloc(p, size > 0 ? size : 1));
}

char *xstrdup(const char *s)
{
	return alive(strdup(s));
}

char *xstrdup_opt(const char *s)
{
	return s == NULL ? NULL : xstrdup(s);
}

char *xstrndup(const char *s, size_t len)
{
	char *copy = alive(malloc(len + 1));

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	return s;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}
