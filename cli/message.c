/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - sentences for people on stderr, by all of cli/. What acts on a
 * terminal is taken out of the whole line; a stderr that is gone is nobody's to
 * be told.
 */
#include "cli/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/sanitize.h"

static void line(const char *prefix, const char *fmt, va_list ap)
{
	struct buf out = {0};
	char *text = xvasprintf(fmt, ap);

	buf_add_str(&out, prefix);
	sanitize_add(&out, text, strlen(text), SANITIZE_NO_LIMIT);
	buf_add_str(&out, "\n");
	fwrite(buf_data(&out), 1, buf_len(&out), stderr);
	buf_fini(&out);
	free(text);
}

void message_print(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line("paddock: ", fmt, ap);
	va_end(ap);
}

void message_more(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line("", fmt, ap);
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
