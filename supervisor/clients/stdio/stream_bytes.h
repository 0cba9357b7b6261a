/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_bytes.h - files on a stream of lines: a file from the client, who was
 * told to send it, and a file after an answer.
 */
#ifndef SUPERVISOR_STDIO_STREAM_BYTES_H
#define SUPERVISOR_STDIO_STREAM_BYTES_H

#include "base/buf.h"
#include "supervisor/run/artifacts/artifact_source.h"
#include "supervisor/session/session.h"

struct stream_bytes {
	/* receiving: COMING more bytes, for TO with ARG */
	int64_t coming;
	const struct session_bytes *to;
	void *arg;
	/* sending: LEAVING more bytes of SOURCE, then the lines of AFTER */
	int64_t leaving;
	struct artifact_source *source;
	struct buf after;
};

void stream_bytes_fini(struct stream_bytes *b);

/* Take B's bytes from REST, which came together with lines. */
void stream_bytes_from(struct stream_bytes *b, struct buf *rest);
/*
 * Read from FD, which is non-blocking, a few times. Returns how many bytes
 * came, 0 at the end of input, -ENOBUFS if session_bytes has no room now, or
 * -errno.
 */
ssize_t stream_bytes_read(struct stream_bytes *b, int fd);

/*
 * Send the bytes of SOURCE, which is *taken*, to OUT. ON_MORE is called when
 * SOURCE has bytes again. False: another source is being sent.
 */
bool stream_bytes_send(struct stream_bytes *b, int out,
		       struct artifact_source *source,
		       void (*on_more)(void *arg), void *arg);
/*
 * Write bytes to OUT. Returns how many, -ENODATA while SOURCE has no bytes, or
 * -errno. After the last byte SOURCE is closed.
 */
ssize_t stream_bytes_write(struct stream_bytes *b, int out);

#endif
