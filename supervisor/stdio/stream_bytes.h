/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_bytes.h - bytes on a stream of lines that are no lines: a file that a
 * client sends after it was told to, and one that follows an answer.
 */
#ifndef SUPERVISOR_STDIO_STREAM_BYTES_H
#define SUPERVISOR_STDIO_STREAM_BYTES_H

#include "base/buf.h"
#include "supervisor/artifacts/artifact_source.h"
#include "supervisor/session/session.h"

struct stream_bytes {
	/* what comes: so many of them still, and whose they are */
	int64_t coming;
	const struct session_bytes *to;
	void *arg;
	/* what leaves: so many of SOURCE, and the lines after it */
	int64_t leaving;
	struct artifact_source *source;
	struct buf after;
};

void stream_bytes_fini(struct stream_bytes *b);

/* Those of REST, which came with lines, that are B's. */
void stream_bytes_from(struct stream_bytes *b, struct buf *rest);
/*
 * Read a few times from FD, which does not block. How many came; 0: the end; -ENOBUFS: there is no room, until
 * somebody says so; or -errno.
 */
ssize_t stream_bytes_read(struct stream_bytes *b, int fd);

/*
 * The bytes of SOURCE (taken) are to leave by OUT; ON_MORE is told when there are some, after
 * there were none. False: others do already.
 */
bool stream_bytes_send(struct stream_bytes *b, int out,
		       struct artifact_source *source,
		       void (*on_more)(void *arg), void *arg);
/*
 * Write some of them to OUT: how many; -ENODATA: more come; or -errno. The last one
 * closes the source.
 */
ssize_t stream_bytes_write(struct stream_bytes *b, int out);

#endif
