/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_append.h - appends lines to a file that may be full, or to a pipe or socket
 * that nobody reads: a line is written whole, or counted as lost, and a torn line
 * never joins the next line. No call waits for a reader.
 */
#ifndef BASE_OS_LOG_APPEND_H
#define BASE_OS_LOG_APPEND_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>

struct log_append { /* a log file; zeroed, with FD set, before the first line */
	int fd;
	int err;       /* errno of the last line; 0: it was written */
	bool torn;     /* a part of a line is at the end */
	uint64_t lost; /* lines since log_append_lost() */
};

/* Write N bytes at LINE, which end in a newline, by one write(2) where FD is a file.
 * 0, or -errno: the line is lost. */
int log_append_line(struct log_append *a, const char *line, size_t n);

/* As write(2), but -1 and EAGAIN where that would wait, whatever the flags of FD. */
ssize_t log_append_bytes(int fd, const char *p, size_t n);

/* The cause of ERR, an errno of the above, in words. */
const char *log_append_why(int err);

/*
 * Return the number of lines lost before the last line, which was written, and
 * reset the count. 0: no line was lost, or writing still fails.
 */
uint64_t log_append_lost(struct log_append *a);

#endif
