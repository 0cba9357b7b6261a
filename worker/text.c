/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - cleans and quotes text for messages, for both runtimes and signal handlers,
 * without allocation or failure. Text that does not fit sets FULL in the written text.
 */
#include "worker/text.h"

#include <string.h>

#include "base/text/utf8.h"

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */
#define REPLACEMENT_LEN (sizeof(replacement) - 1)

/* The length of the valid UTF-8 without NUL at P, at most MAX. */
static size_t clean_len(const char *p, size_t n, size_t max)
{
	size_t span =
	    n < max + 4 ? n : max + 4; /* a whole character past MAX */
	const char *nul = memchr(p, '\0', span);

	if (nul != NULL)
		span = (size_t)(nul - p);
	return utf8_cut(p, utf8_valid_len(p, span), max);
}

size_t text_clean(char *out, size_t max, const char *p, size_t n)
{
	size_t to = 0;

	while (n > 0) {
		size_t len = clean_len(p, n, max - to);

		memcpy(out + to, p, len);
		to += len;
		p += len;
		n -= len;
		if (n == 0 || max - to < REPLACEMENT_LEN)
			break;
		if (*p != '\0' && utf8_valid_len(p, n) > 0)
			break; /* the character does not fit */
		memcpy(out + to, replacement, REPLACEMENT_LEN);
		to += REPLACEMENT_LEN;
		p++;
		n--;
	}
	return to;
}

bool text_is_name(const char *p, size_t n, size_t max)
{
	return n > 0 && n <= max && utf8_printable(p, n);
}

size_t text_refusal(char *code, const char *p, size_t n)
{
	const char *blank = memchr(p, ' ', n);
	size_t len = blank != NULL ? (size_t)(blank - p) : 0;

	/* the supervisor always sends a code */
	if (len == 0 || len >= TEXT_CODE_SIZE) {
		memcpy(code, "STORE_UNAVAILABLE", sizeof("STORE_UNAVAILABLE"));
		return 0;
	}
	memcpy(code, p, len);
	code[len] = '\0';
	return len + 1;
}

void text_add_n(struct text *t, const char *p, size_t n)
{
	if (n > t->size - t->n) {
		t->full = true;
		return;
	}
	memcpy(t->p + t->n, p, n);
	t->n += n;
}

void text_add(struct text *t, const char *s)
{
	text_add_n(t, s, strlen(s));
}

static void add_digits(struct text *t, uint64_t v, unsigned base)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v > 0);
	text_add_n(t, digits + at, sizeof(digits) - at);
}

void text_add_int(struct text *t, uint64_t v)
{
	add_digits(t, v, 10);
}

void text_add_hex(struct text *t, uint64_t v)
{
	text_add(t, "\"0x");
	add_digits(t, v, 16);
	text_add(t, "\"");
}

static void add_escaped(struct text *t, unsigned char c)
{
	const char *hex = "0123456789abcdef";

	if (c == '"' || c == '\\') {
		text_add_n(t, (const char[]){'\\', (char)c}, 2);
	} else if (c < 0x20) {
		text_add(t, "\\u00");
		text_add_n(t, (const char[]){hex[c >> 4], hex[c & 15]}, 2);
	} else {
		text_add_n(t, (const char *)&c, 1);
	}
}

void text_add_quoted(struct text *t, const char *p, size_t n)
{
	text_add(t, "\"");
	while (n > 0) {
		size_t len = clean_len(p, n, n);

		for (size_t i = 0; i < len; i++)
			add_escaped(t, (unsigned char)p[i]);
		p += len;
		n -= len;
		if (n > 0) {
			text_add(t, replacement);
			p++;
			n--;
		}
	}
	text_add(t, "\"");
}

void text_add_limit(struct text *t, const char *limit, uint64_t used,
		    uint64_t allowed, const char *unit, const char *who)
{
	text_add(t, "{\"limit\":\"");
	text_add(t, limit);
	text_add(t, "\",\"used\":");
	text_add_int(t, used);
	text_add(t, ",\"allowed\":");
	text_add_int(t, allowed);
	text_add(t, ",\"unit\":\"");
	text_add(t, unit);
	text_add(t, "\",\"whoCanRaise\":\"");
	text_add(t, who);
	text_add(t, "\"}");
}
