/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_sink.h - writes an artifact's bytes into a file, on a thread: the loop
 * calls no file, and waits for no disk, however many bytes a client sends.
 *
 * The loop fills one of two blocks while a thread digests and writes the other;
 * when both are full there is no room, and the client is not read. The file is
 * made, closed and removed on a thread as well.
 */
#ifndef SUPERVISOR_THREADS_FILE_SINK_H
#define SUPERVISOR_THREADS_FILE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct requestor;
struct thread_pool;
struct file_sink;

#define FILE_SINK_UNKNOWN (-1)
#define FILE_SINK_LEAST 65536 /* most bytes that come at once */

struct file_sink_ask {
	struct thread_pool *pool; /* lent */
	/* lent: gives the lane, and pays the CPU time */
	struct requestor *requestor;
	const struct config *config; /* lent for the call: names the folder */
	const char *instance;	     /* lent for the call */
	int64_t size; /* size of the artifact, or FILE_SINK_UNKNOWN */
};

struct file_sink_end {
	int rc;		    /* 0; or -errno, and PATH is NULL */
	const char *says;   /* rc != 0: lack of room on the disk; or NULL */
	char *path;	    /* the file, taken by the callee */
	const char *sha256; /* lent by the sink, until file_sink_free() */
};

struct file_sink_ops {
	/* There was no room, and there is some now. */
	void (*on_room)(void *arg);
	/* Called once, in a separate turn of the loop: writing failed, or
	   the file is complete. */
	void (*on_done)(void *arg, const struct file_sink_end *end);
};

/*
 * Make a sink. OPS are lent for good. The file is made when a block is full, or
 * the last byte has come.
 */
struct file_sink *file_sink_new(const struct file_sink_ask *ask,
				const struct file_sink_ops *ops, void *arg);

/*
 * Make the file now, before there is anything to write. 0, or -errno as
 * file_sink_wrote() returns.
 */
int file_sink_begin(struct file_sink *s);
/*
 * Is there room for FILE_SINK_LEAST bytes, or for all bytes still to come? If
 * not, on_room() follows.
 */
bool file_sink_wants(struct file_sink *s);
/* Return the place for up to *N bytes; *N is 0 when there is no room now. */
char *file_sink_room(struct file_sink *s, size_t *n);
/*
 * N bytes were put there. 0, or -errno: no thread takes the bytes, and
 * on_done() does not follow.
 */
int file_sink_wrote(struct file_sink *s, size_t n);
/*
 * The last byte has come: on_done() follows. 0, or -errno as file_sink_wrote()
 * returns.
 */
int file_sink_finish(struct file_sink *s);

/*
 * Free S; on_done() is not called any more. A thread removes the file, and then
 * ON_GONE (or NULL) is called with ARG, so that the room of the file can be
 * given back; at once when there is no file or S is NULL.
 */
void file_sink_free(struct file_sink *s, void (*on_gone)(void *arg), void *arg);

/*
 * Remove the file PATH (taken) on a thread, in Q's lane; then call ON_GONE as
 * above.
 */
void file_sink_remove(struct thread_pool *pool, struct requestor *q, char *path,
		      void (*on_gone)(void *arg), void *arg);

#endif
