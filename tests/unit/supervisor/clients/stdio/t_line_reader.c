/* SPDX-License-Identifier: Apache-2.0 */
/* t_line_reader.c - messages parsed from bytes in pieces of any size. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/clients/stdio/line_reader.h"
#include "tests/unit/tap.h"

static char seen[256];

static void on_line(void *arg, const char *text, size_t len)
{
	(void)arg;
	snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "<%.*s>",
		 (int)len, text);
}

static void on_too_long(void *arg)
{
	(void)arg;
	snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "!");
}

static const struct line_reader_ops ops = {on_line, on_too_long};

static const struct {
	const char *in, *want, *name;
} cases[] = {
    {"a\nb\n", "<a><b>", "two lines"},
    {"a\r\nb\n", "<a><b>", "a carriage return before the newline is let go"},
    {"\n\n\r\na\n", "<a>", "blank lines are not told"},
    {"abc", "", "a line without an end is held"},
    {"12345678\nx\n", "<12345678><x>", "a line of exactly the bound passes"},
    {"123456789\nx\n", "!<x>", "one byte more is refused, the next line read"},
    {"12345678901234567890\n12345678901\nok\n", "!!<ok>",
     "each line that is too long is told once"},
};

/* Pause after each line, as a client does which has to wait. */
static void on_line_pause(void *arg, const char *text, size_t len)
{
	struct line_reader *l = arg;

	on_line(NULL, text, len);
	l->paused = true;
}

static void test_pause(void)
{
	static const struct line_reader_ops pausing = {on_line_pause,
						       on_too_long};
	struct line_reader l = {.max = 8};

	seen[0] = '\0';
	line_reader_feed(&l, "a\nb\nc\nde", 8, &pausing, &l);
	is_str(seen, "<a>", "a paused reader delivers no further line");
	line_reader_feed(&l, "", 0, &pausing, &l);
	is_str(seen, "<a>",
	       "a paused reader delivers no line at the next call");
	for (int i = 0; i < 3; i++) {
		l.paused = false;
		line_reader_feed(&l, "", 0, &pausing, &l);
	}
	is_str(seen, "<a><b><c>",
	       "a resumed reader delivers the remaining lines");
	l.paused = false;
	line_reader_feed(&l, "f\n", 2, &pausing, &l);
	is_str(seen, "<a><b><c><def>",
	       "an unfinished line is completed by the next bytes");
	line_reader_fini(&l);
}

/* Take the line's memory, as a client does which parses on a thread. */
static void on_line_take(void *arg, const char *text, size_t len)
{
	char *taken = line_reader_take(arg, text, len);

	ok(len == 4 && memcmp(taken, "a\0bc", 5) == 0,
	   "a line that is taken has all of its bytes, behind a NUL as well");
	free(taken);
}

static void test_take(void)
{
	static const struct line_reader_ops taking = {on_line_take,
						      on_too_long};
	struct line_reader l = {.max = 8};

	line_reader_feed(&l, "a\0bc\n", 5, &taking, &l);
	line_reader_feed(&l, "a\0", 2, &taking, &l);
	line_reader_feed(&l, "bc\n", 3, &taking, &l);
	line_reader_fini(&l);
}

int main(void)
{
	test_pause();
	test_take();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (size_t cut = 1; cut <= strlen(cases[i].in); cut++) {
			struct line_reader l = {.max = 8};
			const char *at = cases[i].in;
			size_t left = strlen(at);

			seen[0] = '\0';
			while (left > 0) {
				size_t n = left < cut ? left : cut;

				line_reader_feed(&l, at, n, &ops, NULL);
				at += n;
				left -= n;
			}
			is_str(seen, cases[i].want, "%s (%zu bytes at a time)",
			       cases[i].name, cut);
			line_reader_fini(&l);
		}
	return tap_done();
}
