/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wipe.c - free(3) and realloc(3) of the program, which overwrite what is given up while
 * the keeper runs. mallopt(3)'s M_PERTURB leaves all but the first bytes of small pieces,
 * which the C library keeps apart for each thread.
 */
#include "egress/wipe.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

/* The C library's own. */
extern void libc_free(void *p) __asm__("__libc_free");
extern void *libc_realloc(void *p, size_t n) __asm__("__libc_realloc");

static bool wiping;

void free(void *p)
{
	if (wiping && p != NULL)
		explicit_bzero(p, malloc_usable_size(p));
	libc_free(p);
}

void *realloc(void *p, size_t n)
{
	size_t old = p == NULL ? 0 : malloc_usable_size(p);
	void *next;

	if (!wiping || p == NULL || n == 0)
		return libc_realloc(p, n);
	next = malloc(n);
	if (next == NULL)
		return NULL;
	memcpy(next, p, old < n ? old : n);
	free(p);
	return next;
}

void wipe_begin(void)
{
	wiping = true;
}

void wipe_end(void)
{
	wiping = false;
}
#else
void wipe_begin(void)
{
}

void wipe_end(void)
{
}
#endif
