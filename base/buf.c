/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.c - the byte buffer of the parsers and writers of every program. Bytes
 * beyond a buffer's limit are refused with -EMSGSIZE; memory that runs out
 * aborts the process, as in mem.c.
 */
#include "base/buf.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define BUF_MIN 256u
#define BLOCK_BYTES ((size_t)65536) /* read at a time from a long file */

void buf_fini(struct buf *b)
{
	free(b->data);
	*b = (struct buf){.max = b->max};
}

char *buf_room(struct buf *b, size_t n)
{
	size_t held = buf_len(b);
	size_t cap = b->cap > 0 ? b->cap : BUF_MIN;

	if (b->cap - b->len >= n)
		return b->data + b->len;
	if (b->off > 0) {
		memmove(b->data, b->data + b->off, held);
		b->off = 0;
		b->len = held;
	}
	while (cap - held < n)
		cap *= 2;
	if (cap != b->cap) {
		b->data = xrealloc(b->data, cap);
		b->cap = cap;
	}
	return b->data + b->len;
}

void buf_wrote(struct buf *b, size_t n)
{
	assert(b->cap - b->len >= n);
	b->len += n;
}

int buf_add(struct buf *b, const void *p, size_t n)
{
	if (b->max > 0 && n > b->max - buf_len(b))
		return -EMSGSIZE;
	if (n > 0)
		memcpy(buf_room(b, n), p, n);
	b->len += n;
	return 0;
}

int buf_add_str(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n, rc;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	rc = buf_add(b, s, (size_t)n);
	free(s);
	return rc;
}

void buf_drop(struct buf *b, size_t n)
{
	assert(n <= buf_len(b));
	b->off += n;
	if (b->off == b->len)
		b->off = b->len = 0;
}

char *buf_take(struct buf *b, size_t *len)
{
	size_t held = buf_len(b);
	char *p;

	*buf_room(b, 1) = '\0';
	if (b->off > 0)
		memmove(b->data, b->data + b->off, held + 1);
	p = b->data;
	if (len != NULL)
		*len = held;
	*b = (struct buf){.max = b->max};
	return p;
}

int buf_read(struct buf *b, int fd, size_t max)
{
	for (;;) {
		size_t room =
		    buf_len(b) < BLOCK_BYTES ? BLOCK_BYTES / 16 : BLOCK_BYTES;
		ssize_t n = read(fd, buf_room(b, room), room);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		buf_wrote(b, (size_t)n);
		if (buf_len(b) > max)
			return -EFBIG;
	}
}

char *buf_file(const char *path, size_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct buf b = {0};

	if (fd >= 0) {
		(void)buf_read(&b, fd, max);
		close(fd);
	}
	return buf_take(&b, NULL);
}
