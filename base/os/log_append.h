/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_append.h - lines at the end of a file that may be full: each is there whole,
 * or it is counted as lost, and no half of one joins the next.
 */
#ifndef BASE_OS_LOG_APPEND_H
#define BASE_OS_LOG_APPEND_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

struct log_append { /* all-zero but for FD */
	int fd;
	int err;       /* why the last line was lost; 0: it was not */
	bool torn;     /* a part of one is at the end */
	uint64_t lost; /* since log_append_lost() was asked */
};

/* One write(2) of N bytes at LINE, which end in a newline. 0, or -errno: it is
   lost. */
int log_append_line(struct log_append *a, const char *line, size_t n);

/*
 * How many were lost before the last line, which was written. 0: none, or it
 * still fails. They count once.
 */
uint64_t log_append_lost(struct log_append *a);

#endif
