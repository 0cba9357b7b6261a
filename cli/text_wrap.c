/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_wrap.c - "template show" and "ps" fit on a terminal by this. A word that is
 * longer than a line stands on one of its own, whole. Nothing here can fail.
 */
#include "cli/text_wrap.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/buf.h"
#include "cli/sanitize.h"
#include "cli/safe_printf.h"

#define COLUMNS 80 /* of what is no terminal, or does not say */

size_t text_wrap_columns(int fd)
{
	struct winsize w = {0};

	return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col
							      : COLUMNS;
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
