/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_append.h - appends lines to a file that may be full: a line is written
 * whole, or counted as lost, and a torn line never joins the next line.
 */
#ifndef BASE_OS_LOG_APPEND_H
#define BASE_OS_LOG_APPEND_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

struct log_append { /* a log file; zeroed, with FD set, before the first line */
	int fd;
	int err;       /* errno of the last line; 0: it was written */
	bool torn;     /* a part of a line is at the end */
	uint64_t lost; /* lines since log_append_lost() */
};

/* Write N bytes at LINE, which end in a newline, by one write(2). 0, or -errno:
 * the line is lost. */
int log_append_line(struct log_append *a, const char *line, size_t n);

/*
 * Return the number of lines lost before the last line, which was written, and
 * reset the count. 0: no line was lost, or writing still fails.
 */
uint64_t log_append_lost(struct log_append *a);

#endif
