/* SPDX-License-Identifier: Apache-2.0 */
/* buf.h - a byte buffer that grows up to a bound. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes [off, len) are held. An all-zero buf is empty and unbounded;
 * set max to refuse more than that many held bytes.
 */
struct buf {
	char *data;
	size_t off;
	size_t len;
	size_t cap;
	size_t max; /* 0: no bound */
};

void buf_fini(struct buf *b); /* frees the bytes; B is empty again */

static inline const char *buf_data(const struct buf *b)
{
	return b->off > 0 ? b->data + b->off : b->data;
}

static inline size_t buf_len(const struct buf *b)
{
	return b->len - b->off;
}

/* Copies N bytes in. 0, or -EMSGSIZE when more than max would be held. */
int buf_add(struct buf *b, const void *p, size_t n);
int buf_add_str(struct buf *b, const char *s);
int buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Lends at least N writable bytes; buf_wrote() then says how many are good. */
char *buf_room(struct buf *b, size_t n);
void buf_wrote(struct buf *b, size_t n);

void buf_drop(struct buf *b, size_t n); /* forgets the first N bytes */

/* Gives the bytes away, NUL-terminated; the caller owns them. B is empty. */
char *buf_take(struct buf *b, size_t *len);

/*
 * Append what FD has, to its end. 0; -EFBIG: that is more than MAX bytes, about
 * so many of which are held; or another -errno.
 */
int buf_read(struct buf *b, int fd, size_t max);

/*
 * The text, to about MAX bytes and as far as it can be read, of a file whose
 * size is not known before, as in /proc. The caller's; "" when there is none.
 */
char *buf_file(const char *path, size_t max);

#endif
