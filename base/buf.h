/* SPDX-License-Identifier: Apache-2.0 */
/* buf.h - a byte buffer that grows up to a bound. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes [off, len) are held. An all-zero buf is empty and unbounded; set max to
 * refuse more than that many held bytes.
 */
struct buf {
	char *data;
	size_t off;
	size_t len;
	size_t cap;
	size_t max; /* the most bytes held; 0: no bound */
};

void buf_fini(struct buf *b); /* frees the bytes and empties B */

static inline const char *buf_data(const struct buf *b)
{
	return b->off > 0 ? b->data + b->off : b->data;
}

static inline size_t buf_len(const struct buf *b)
{
	return b->len - b->off;
}

/* Copy N bytes in. 0, or -EMSGSIZE when B would hold more than max. */
int buf_add(struct buf *b, const void *p, size_t n);
int buf_add_str(struct buf *b, const char *s);
int buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Lend at least N writable bytes; then buf_wrote() says how many were written.
 */
char *buf_room(struct buf *b, size_t n);
void buf_wrote(struct buf *b, size_t n);

void buf_drop(struct buf *b, size_t n); /* removes the first N bytes */

/*
 * Give the bytes away, NUL-terminated; the caller owns them. B becomes empty.
 */
char *buf_take(struct buf *b, size_t *len);

/*
 * Append the bytes of FD up to its end. 0; -EFBIG when B then holds more than
 * MAX bytes, with about MAX kept; or another -errno.
 */
int buf_read(struct buf *b, int fd, size_t max);

/*
 * Return the text of a file of unknown size, such as in /proc, as far as
 * readable and cut at about MAX bytes. The caller owns the text; "" when there
 * is no file.
 */
char *buf_file(const char *path, size_t max);

#endif
