/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.c - prints everything that cli/ writes for people: cleans the words
 * of templates and servers of characters that act on a terminal, counts
 * columns, formats and folds. Nothing here fails: bytes that are not UTF-8
 * become "?", and errors of writing to stderr are not reported.
 */
#include "cli/terminal/terminal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/utf8.h"

#define ELLIPSIS "\xE2\x80\xA6"
#define COLUMNS 80 /* when the width of the output is not known */
#define COLUMNS_MAX 10000

/* Return how many columns a terminal gives POINT: 1 or 2. */
static unsigned sanitize_columns(int32_t point)
{
	static const struct {
		int32_t from, to;
	} wide[] = {{0x1100, 0x115F},	{0x2E80, 0x303E},  {0x3041, 0xA4CF},
		    {0xAC00, 0xD7A3},	{0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
		    {0xFF00, 0xFF60},	{0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
		    {0x1F680, 0x1FAFF}, {0x20000, 0x3FFFD}};

	for (size_t i = 0; i < ARRAY_LEN(wide); i++)
		if (point >= wide[i].from && point <= wide[i].to)
			return 2;
	return 1;
}

size_t sanitize_width(const char *s, size_t n)
{
	size_t columns = 0, len;

	for (size_t i = 0; i < n; i += len)
		columns += sanitize_columns(utf8_decode(s + i, n - i, &len));
	return columns;
}

/*
 * Put the character at P (N bytes follow, *LEN are used) into IN, made
 * harmless. Returns the bytes in IN.
 */
static size_t harmless(char in[4], const char *p, size_t n, size_t *len)
{
	int32_t point = utf8_decode(p, n, len);

	if (*p == '\n' || *p == '\r' || *p == '\t') {
		in[0] = ' ';
		return 1;
	}
	if (point < 0 || utf8_is_control(point)) {
		in[0] = '?';
		return 1;
	}
	memcpy(in, p, *len);
	return *len;
}

void sanitize_add(struct buf *out, const char *s, size_t n, size_t columns)
{
	size_t start = buf_len(out), used = 0, len;
	size_t cut = start; /* length of OUT at which an ellipsis still fits */

	for (size_t i = 0; i < n; i += len) {
		char c[4];
		size_t bytes = harmless(c, s + i, n - i, &len);
		size_t wide = sanitize_width(c, bytes);

		if (used + wide > columns) {
			out->len = out->off + cut;
			if (columns > 0)
				buf_add_str(out, ELLIPSIS);
			return;
		}
		buf_add(out, c, bytes);
		used += wide;
		if (used + 1 <= columns)
			cut = buf_len(out);
	}
}

struct spec {	       /* a conversion, as %-24.8s */
	char text[32]; /* the conversion for printf, each '*' replaced */
	bool left;
	int width, most; /* width and precision; -1: not given */
	char size;	 /* 'l', 'L' for ll, 'z', or NUL */
	char kind;
};

/* Read a number at *FMT, or take the next argument for '*'. */
static int take_int_arg(const char **fmt, va_list *ap)
{
	if (**fmt != '*')
		return (int)strtol(*fmt, (char **)fmt, 10);
	++*fmt;
	return va_arg(*ap, int);
}

/* Read the conversion after the '%' that stands before *FMT. */
static struct spec read_spec(const char **fmt, va_list *ap)
{
	struct spec s = {.width = -1, .most = -1};
	char flags[8] = "";
	size_t n = strspn(*fmt, "-0 +#"), used;

	snprintf(flags, sizeof(flags), "%.*s", (int)n, *fmt);
	s.left = strchr(flags, '-') != NULL;
	*fmt += n;
	if (**fmt == '*' || (**fmt >= '1' && **fmt <= '9'))
		s.width = take_int_arg(fmt, ap);
	if (**fmt == '.') {
		++*fmt;
		s.most = take_int_arg(fmt, ap);
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

	if (words == NULL) /* a member that the server left out */
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

/* The compiler has checked the format at the caller: attribute "format". */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
static void add_number(struct buf *out, const struct spec *s, va_list *ap)
{
	char text[128];

	/* NOLINTBEGIN(bugprone-branch-clone): the types differ */
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

static void put_text(FILE *to, const char *fmt, va_list *ap)
{
	struct buf out = {0};

	while (*fmt != '\0') {
		size_t n = strcspn(fmt, "%");
		struct spec s;

		buf_add(&out, fmt, n);
		fmt += n;
		if (*fmt == '\0')
			break;
		fmt++;
		s = read_spec(&fmt, ap);
		assert(strchr("diuxcsf%", s.kind) != NULL);
		if (s.kind == '%')
			buf_add(&out, "%", 1);
		else if (s.kind == 's')
			add_words(&out, &s, va_arg(*ap, const char *));
		else
			add_number(&out, &s, ap);
	}
	if (buf_len(&out) > 0)
		fwrite(buf_data(&out), 1, buf_len(&out), to);
	buf_fini(&out);
}

void safe_printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_text(stdout, fmt, &ap);
	va_end(ap);
}

void safe_fprintf(FILE *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_text(to, fmt, &ap);
	va_end(ap);
}

void safe_print_cut(const char *text, size_t least, size_t most)
{
	struct buf out = {0};

	sanitize_add(&out, text != NULL ? text : "",
		     text != NULL ? strlen(text) : 0, most);
	buf_add(&out, "", 1);
	safe_printf("%-*s", (int)least, buf_data(&out));
	buf_fini(&out);
}

static void put_line(const char *prefix, const char *fmt, va_list ap)
{
	struct buf out = {0};
	char *text = xvasprintf(fmt, ap);

	buf_add_str(&out, prefix);
	sanitize_add(&out, text, strlen(text), SANITIZE_NO_LIMIT);
	buf_add_str(&out, "\n");
	fflush(stdout); /* may be the same file; main() reports failures */
	fwrite(buf_data(&out), 1, buf_len(&out), stderr);
	buf_fini(&out);
	free(text);
}

void message_print(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line("paddock: ", fmt, ap);
	va_end(ap);
}

int message_fail(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line("paddock: ", fmt, ap);
	va_end(ap);
	return status;
}

void message_more(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line("", fmt, ap);
	va_end(ap);
}

bool message_is_terminal(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term != NULL && *term != '\0' &&
	       strcmp(term, "dumb") != 0;
}

bool message_has_colours(int fd)
{
	const char *no = getenv("NO_COLOR");

	return message_is_terminal(fd) && (no == NULL || *no == '\0');
}

size_t text_wrap_columns(int fd)
{
	const char *said = getenv("COLUMNS");
	struct winsize w = {0};
	size_t columns;

	if (ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
		return w.ws_col;
	columns = said != NULL ? strtoul(said, NULL, 10) : 0;
	return columns > 0 && columns <= COLUMNS_MAX ? columns : COLUMNS;
}

static void put_word(const char *word, size_t n, size_t blanks)
{
	safe_printf("%*s%.*s", (int)blanks, "", (int)n, word);
}

void text_wrap_print(const char *text, size_t at, size_t indent, size_t columns)
{
	struct buf clean = {0};
	size_t len;
	const char *p, *end;
	bool first = true;

	sanitize_add(&clean, text, strlen(text), SANITIZE_NO_LIMIT);
	len = buf_len(&clean);
	p = len > 0 ? buf_data(&clean) : "";
	for (end = p + len; p < end; first = false) {
		const char *blank = memchr(p, ' ', (size_t)(end - p));
		size_t n = (size_t)((blank != NULL ? blank : end) - p);
		size_t wide = sanitize_width(p, n);

		if (!first && at + 1 + wide > columns) {
			safe_printf("\n");
			put_word(p, n, indent);
			at = indent + wide;
		} else {
			put_word(p, n, first ? 0 : 1);
			at += wide + (first ? 0 : 1);
		}
		for (p += n; p < end && *p == ' ';)
			p++;
	}
	safe_printf("\n");
	buf_fini(&clean);
}
