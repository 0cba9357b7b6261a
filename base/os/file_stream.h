/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_stream.h - plain files over a stream, from a process that may lie (a
 * caged builder of a package) to the command, which keeps the files.
 *
 * A record is a type, the length of its head as four bytes (little-endian), and
 * the head. After the head of a file come its bytes.
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
	FILE_STREAM_SAID = 'S', /* a part of the text that a program printed */
	FILE_STREAM_FAIL = 'X', /* a sentence; no record follows */
	FILE_STREAM_DONE = 'D', /* success; no record follows */
};

/* ---- sending ---- */

/* Send a record to FD, which blocks. 0 or -errno. */
int file_stream_put(int fd, enum file_stream_type type, const void *head,
		    size_t len);

/*
 * Send the plain file PATH below the folder AT, as NAME; its length must not
 * change meanwhile. 0 or -errno.
 */
int file_stream_put_file(int fd, int at, const char *path, const char *name);

/* Send LEN bytes as the file NAME. 0 or -errno. */
int file_stream_put_bytes(int fd, const char *name, const void *data,
			  size_t len);

/* ---- receiving ---- */

struct file_stream {
	int at;		   /* lent: where files are created; -1: create
			      nothing */
	struct buf said;   /* the last 64 KiB of the printed text */
	bool done, failed; /* no record follows */
	char errmsg[512];  /* the sentence, after a failure */
	/* counts, for reading only: */
	size_t files, entries;
	uint64_t bytes;
	/* private state: */
	struct buf held;
	size_t need;
	int file;
	uint64_t left;
};

void file_stream_init(struct file_stream *s, int at);
void file_stream_fini(struct file_stream *s);

/*
 * Take N received bytes. Folders are created for files; files are new, and
 * reached through no link; all together stay within dir_walk.h's bounds. 0; or
 * -EINVAL, with errmsg: the sender broke the format, left the bounds or sent a
 * name that is not plain; or another -errno, with errmsg: writing failed.
 */
int file_stream_take(struct file_stream *s, const char *p, size_t n);

#endif
