/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_reader.c - cuts a stream of bytes into lines of bounded length, for
 * stream_conn.c. A longer line is reported once and skipped to its end. The
 * reader can be paused between lines.
 */
#include "supervisor/clients/stdio/line_reader.h"

#include <string.h>

#include "base/mem.h"

#define KEEP_BYTES 65536 /* a buffer grown beyond this is freed */

void line_reader_fini(struct line_reader *l)
{
	buf_fini(&l->held);
	buf_fini(&l->rest);
}

static void tell_line(const char *text, size_t len,
		      const struct line_reader_ops *ops, void *arg)
{
	if (len > 0 && text[len - 1] == '\r')
		len--;
	if (len > 0)
		ops->on_line(arg, text, len);
}

char *line_reader_take(struct line_reader *l, const char *text, size_t len)
{
	if (buf_len(&l->held) == 0 || text != buf_data(&l->held))
		return xstrndup(text, len);
	return buf_take(&l->held, NULL);
}

/* End a line with these N bytes (without the newline). */
static void finish_line(struct line_reader *l, const char *data, size_t n,
			const struct line_reader_ops *ops, void *arg)
{
	if (l->skipping) {
		l->skipping = false;
		return;
	}
	if (buf_len(&l->held) + n > l->max) {
		ops->on_too_long(arg);
	} else if (buf_len(&l->held) == 0) {
		tell_line(data, n, ops, arg); /* no copy: the line came whole */
	} else {
		buf_add(&l->held, data, n);
		tell_line(buf_data(&l->held), buf_len(&l->held), ops, arg);
	}
	if (l->held.cap > KEEP_BYTES)
		buf_fini(&l->held);
	else
		buf_drop(&l->held, buf_len(&l->held));
}

static void hold_part(struct line_reader *l, const char *data, size_t n,
		      const struct line_reader_ops *ops, void *arg)
{
	if (l->skipping || n == 0)
		return;
	if (buf_len(&l->held) + n > l->max) {
		l->skipping = true;
		buf_fini(&l->held);
		ops->on_too_long(arg);
		return;
	}
	buf_add(&l->held, data, n);
}

/* Report lines until l->paused. Returns how many bytes were used. */
static size_t split_lines(struct line_reader *l, const char *data, size_t n,
			  const struct line_reader_ops *ops, void *arg)
{
	const char *at = data, *end = data + n, *newline;

	while (!l->paused && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		finish_line(l, at, (size_t)(newline - at), ops, arg);
		at = newline + 1;
	}
	if (!l->paused) {
		hold_part(l, at, (size_t)(end - at), ops, arg);
		at = end;
	}
	return (size_t)(at - data);
}

void line_reader_feed(struct line_reader *l, const char *data, size_t n,
		      const struct line_reader_ops *ops, void *arg)
{
	size_t used = 0;

	if (buf_len(&l->rest) > 0)
		buf_drop(&l->rest, split_lines(l, buf_data(&l->rest),
					       buf_len(&l->rest), ops, arg));
	if (buf_len(&l->rest) == 0) {
		buf_fini(&l->rest);
		used = split_lines(l, data, n, ops, arg);
	}
	buf_add(&l->rest, data + used, n - used);
}
