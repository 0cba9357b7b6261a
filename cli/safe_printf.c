/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safe_printf.c - every line with somebody else's words in it goes through here. A
 * write that fails is noticed at the end, by main(), as for all of stdout.
 */
#include "cli/safe_printf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sanitize.h"

struct spec {	       /* %-24.8s */
	char text[32]; /* for printf; its '*' are there */
	bool left;
	int width, most; /* -1: none */
	char size;	 /* 'l', 'L' for ll, 'z', or NUL */
	char kind;
};

/* A number, or the next argument, at *FMT. */
static int count(const char **fmt, va_list *ap)
{
	if (**fmt != '*')
		return (int)strtol(*fmt, (char **)fmt, 10);
	++*fmt;
	return va_arg(*ap, int);
}

/* What follows the '%' before *FMT. */
static struct spec read_spec(const char **fmt, va_list *ap)
{
	struct spec s = {.width = -1, .most = -1};
	char flags[8] = "";
	size_t n = strspn(*fmt, "-0 +#"), used;

	snprintf(flags, sizeof(flags), "%.*s", (int)n, *fmt);
	s.left = strchr(flags, '-') != NULL;
	*fmt += n;
	if (**fmt == '*' || (**fmt >= '1' && **fmt <= '9'))
		s.width = count(fmt, ap);
	if (**fmt == '.') {
		++*fmt;
		s.most = count(fmt, ap);
	}
	if (**fmt == 'l' || **fmt == 'z') {
		s.size = *(*fmt)++;
		if (s.size == 'l' && **fmt == 'l') {
			s.size = 'L';
			++*fmt;
		}
	}
	s.kind = *(*fmt)++;
	used = (size_t)snprintf(s.text, sizeof(s.text), "%%%s", flags);
	if (s.width >= 0)
		used += (size_t)snprintf(s.text + used, sizeof(s.text) - used,
					 "%d", s.width);
	if (s.most >= 0)
		used += (size_t)snprintf(s.text + used, sizeof(s.text) - used,
					 ".%d", s.most);
	snprintf(s.text + used, sizeof(s.text) - used, "%s%c",
		 s.size == 'L'	 ? "ll"
		 : s.size == 'l' ? "l"
		 : s.size == 'z' ? "z"
				 : "",
		 s.kind);
	return s;
}

static void pad(struct buf *out, int columns)
{
	for (; columns > 0; columns--)
		buf_add(out, " ", 1);
}

static void add_words(struct buf *out, const struct spec *s, const char *words)
{
	struct buf clean = {0};
	size_t n;
	int gap;

	if (words == NULL) /* a server left it out */
		words = "";
	n = s->most < 0 ? strlen(words) : strnlen(words, (size_t)s->most);
	sanitize_add(&clean, words, n, SANITIZE_NO_LIMIT);
	gap = s->width -
	      (int)sanitize_width(buf_len(&clean) > 0 ? buf_data(&clean) : "",
				  buf_len(&clean));
	if (!s->left)
		pad(out, gap);
	if (buf_len(&clean) > 0)
		buf_add(out, buf_data(&clean), buf_len(&clean));
	if (s->left)
		pad(out, gap);
	buf_fini(&clean);
}

/* The format has been checked where it was given. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
static void add_number(struct buf *out, const struct spec *s, va_list *ap)
{
	char text[128];

	/* NOLINTBEGIN(bugprone-branch-clone): another type each */
	if (s->kind == 'f')
		snprintf(text, sizeof(text), s->text, va_arg(*ap, double));
	else if (s->size == 'L')
		snprintf(text, sizeof(text), s->text, va_arg(*ap, long long));
	else if (s->size == 'l')
		snprintf(text, sizeof(text), s->text, va_arg(*ap, long));
	else if (s->size == 'z')
		snprintf(text, sizeof(text), s->text, va_arg(*ap, size_t));
	else
		snprintf(text, sizeof(text), s->text, va_arg(*ap, int));
	/* NOLINTEND(bugprone-branch-clone) */
	buf_add_str(out, text);
}
#pragma GCC diagnostic pop

static void add_all(struct buf *out, const char *fmt, va_list *ap)
{
	while (*fmt != '\0') {
		size_t n = strcspn(fmt, "%");
		struct spec s;

		buf_add(out, fmt, n);
		fmt += n;
		if (*fmt == '\0')
			return;
		fmt++;
		s = read_spec(&fmt, ap);
		assert(strchr("diuxcsf%", s.kind) != NULL);
		if (s.kind == '%')
			buf_add(out, "%", 1);
		else if (s.kind == 's')
			add_words(out, &s, va_arg(*ap, const char *));
		else
			add_number(out, &s, ap);
	}
}

static void put(FILE *to, const char *fmt, va_list *ap)
{
	struct buf out = {0};

	add_all(&out, fmt, ap);
	if (buf_len(&out) > 0)
		fwrite(buf_data(&out), 1, buf_len(&out), to);
	buf_fini(&out);
}

void safe_printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(stdout, fmt, &ap);
	va_end(ap);
}

void safe_fprintf(FILE *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(to, fmt, &ap);
	va_end(ap);
}
