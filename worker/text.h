/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - text that may be sent: bounded, UTF-8, quoted. Async-signal-safe. */
#ifndef WORKER_TEXT_H
#define WORKER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies as many whole characters of the N bytes at P as fit into MAX bytes, with U+FFFD
 * for each byte that is not UTF-8 and for NUL. The length; no NUL is written.
 */
size_t text_clean(char *out, size_t max, const char *p, size_t n);

/* Is it 1 to MAX bytes of UTF-8 without control characters? */
bool text_is_name(const char *p, size_t n, size_t max);

/*
 * Why an artifact was refused: copies the code that begins the N bytes at P to
 * CODE (TEXT_CODE_SIZE bytes); the offset of the text behind it.
 */
#define TEXT_CODE_SIZE 65u
size_t text_refusal(char *code, const char *p, size_t n);

/* JSON written into a fixed buffer; text that does not fit sets full. */
struct text {
	char *p;
	size_t n;
	size_t size;
	bool full;
};

void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *p, size_t n);
void text_add_int(struct text *t, uint64_t v);
void text_add_hex(struct text *t, uint64_t v); /* "0x1f", with the quotes */
void text_add_quoted(struct text *t, const char *p, size_t n); /* cleaned */

/* The details of RESOURCE_LIMIT. No word of them needs an escape. */
void text_add_limit(struct text *t, const char *limit, uint64_t used,
		    uint64_t allowed, const char *unit, const char *who);

#endif
