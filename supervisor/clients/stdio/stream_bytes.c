/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_bytes.c - files among lines, for stream_conn.c: received into a
 * session_bytes as it has room, and sent as artifact_source.c has bytes. A file
 * shorter than announced breaks the connection.
 */
#include "supervisor/clients/stdio/stream_bytes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/os/sys.h"

#define READS 8 /* in a turn; a read gets what the socket holds */

void stream_bytes_fini(struct stream_bytes *b)
{
	if (b->leaving > 0)
		artifact_source_close(b->source);
	b->leaving = b->coming = 0;
	buf_fini(&b->after);
}

/* ---- in ---- */

static void came(struct stream_bytes *b, size_t n)
{
	const struct session_bytes *to = b->to;
	void *arg = b->arg;

	b->coming -= (int64_t)n;
	to->wrote(arg, n);
	if (b->coming == 0)
		to->end(arg);
}

/* Return where the next bytes go, and in *N how many. */
static char *stream_room(struct stream_bytes *b, size_t *n)
{
	char *p = b->to->room(b->arg, n);

	if ((int64_t)*n > b->coming)
		*n = (size_t)b->coming;
	return p;
}

void stream_bytes_from(struct stream_bytes *b, struct buf *rest)
{
	while (b->coming > 0 && buf_len(rest) > 0) {
		size_t n;
		char *p = stream_room(b, &n);

		if (n == 0)
			return;
		if (n > buf_len(rest))
			n = buf_len(rest);
		memcpy(p, buf_data(rest), n);
		buf_drop(rest, n);
		came(b, n);
	}
}

static ssize_t read_once(struct stream_bytes *b, int fd)
{
	size_t n;
	char *p = stream_room(b, &n);
	ssize_t got;

	if (n == 0)
		return -ENOBUFS;
	got = read(fd, p, n);
	if (got < 0)
		return -errno;
	if (got > 0)
		came(b, (size_t)got);
	return got;
}

/*
 * Read several times: a socket holds little, and each wake of the loop costs as
 * much.
 */
ssize_t stream_bytes_read(struct stream_bytes *b, int fd)
{
	ssize_t n = read_once(b, fd), all = n;

	for (int i = 1; i < READS && n > 0 && b->coming > 0; i++) {
		n = read_once(b, fd);
		/* an error shows again at the next read */
		all += n > 0 ? n : 0;
	}
	return all;
}

/* ---- out ---- */

bool stream_bytes_send(struct stream_bytes *b, int out,
		       struct artifact_source *source,
		       void (*on_more)(void *arg), void *arg)
{
	int64_t size = artifact_source_left(source);

	if (b->leaving > 0 || size == 0) {
		artifact_source_close(source);
		return size == 0;
	}
	sys_roomy(out);
	artifact_source_watch(source, on_more, arg);
	b->source = source;
	b->leaving = size;
	return true;
}

ssize_t stream_bytes_write(struct stream_bytes *b, int out)
{
	ssize_t n = artifact_source_write(b->source, out);

	if (n > 0)
		b->leaving -= n;
	if (b->leaving == 0)
		artifact_source_close(b->source);
	return n;
}
