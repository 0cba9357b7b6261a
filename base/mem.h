/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - allocation that cannot fail, for sizes that we chose ourselves. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* The struct of TYPE whose MEMBER is at P. */
#define CONTAINER(p, type, member)                                             \
	((type *)((char *)(p)-offsetof(type, member)))

/*
 * As calloc(3), realloc(3), strdup(3), strndup(3), asprintf(3), vasprintf(3),
 * but they abort where those would return NULL. A size that a peer chose is
 * bounded before it comes here. The caller owns what is returned; free(3)
 * releases it.
 */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrdup_opt(const char *s); /* NULL for NULL */
char *xstrndup(const char *s, size_t len);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));

#endif
