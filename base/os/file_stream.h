/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_stream.h - plain files over a stream, from a process that may be lying
 * to one that keeps them: who builds a package in a cage, and the command.
 *
 * A record is a type, the length of its head as four bytes (little-endian), and
 * the head; of a file its bytes follow.
 */
#ifndef BASE_OS_FILE_STREAM_H
#define BASE_OS_FILE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define FILE_STREAM_HEAD_MAX 4096u

enum file_stream_type {
	/* executable? (one byte), size (eight, little-endian), name */
	FILE_STREAM_FILE = 'F',
	FILE_STREAM_SAID = 'S', /* some of what a program printed */
	FILE_STREAM_FAIL = 'X', /* a sentence: that was all */
	FILE_STREAM_DONE = 'D', /* that was all, and all is well */
};

/* ---- to ---- */

/* Send a record to FD, which blocks. 0 or -errno. */
int file_stream_put(int fd, enum file_stream_type type, const void *head,
		    size_t len);

/*
 * Send the plain file PATH below the folder AT, as NAME; it has to stay as long
 * as it is. 0 or -errno.
 */
int file_stream_put_file(int fd, int at, const char *path, const char *name);

/* Send LEN bytes as the file NAME. 0 or -errno. */
int file_stream_put_bytes(int fd, const char *name, const void *data,
			  size_t len);

/* ---- from ---- */

struct file_stream {
	int at;		   /* lent: where files are created; -1: none is */
	struct buf said;   /* the last of what was printed: max of it is kept */
	bool done, failed; /* no more comes */
	char errmsg[512];  /* of one that failed */
	/* read only: */
	size_t files, entries;
	uint64_t bytes;
	/* its own: */
	struct buf held;
	size_t need;
	int file;
	uint64_t left;
};

void file_stream_init(struct file_stream *s, int at);
void file_stream_fini(struct file_stream *s);

/*
 * Take N bytes that were received. Folders are created for files, which are new
 * and reached through no link; all together they stay within dir_walk.h's
 * bounds. 0; or -EINVAL, with errmsg: the other side broke the format, left the
 * bounds or named what is no plain name; or another -errno, with errmsg: it
 * could not be written.
 */
int file_stream_take(struct file_stream *s, const char *p, size_t n);

#endif
