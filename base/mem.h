/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - allocation that cannot fail, for sizes of our own choice. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* The struct of TYPE around its MEMBER at P. */
#define CONTAINER(p, type, member)                                             \
	((type *)((char *)(p)-offsetof(type, member)))

/*
 * Work as calloc(3), realloc(3), strdup(3), asprintf(3), vasprintf(3), but
 * abort in place of returning NULL. A size chosen by a peer must be bounded
 * before the call. The caller owns the result; free(3) releases it.
 */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrdup_opt(const char *s); /* returns NULL for NULL */
/* Copy LEN bytes from S and add a NUL; NULs among the bytes stay. */
char *xstrndup(const char *s, size_t len);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));

#endif
