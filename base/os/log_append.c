/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_append.c - appends lines for the log and the audit log. A caller that
 * writes to a file from several threads holds a lock. A line that cannot be
 * written is counted as lost.
 */
#include "base/os/log_append.h"

#include <errno.h>
#include <unistd.h>

#include "base/loop_guard.h"

static ssize_t write_again(int fd, const char *p, size_t n)
{
	ssize_t wrote;

	loop_guard_allow("a line, which is bounded, as are lines in a minute");
	do
		wrote = write(fd, p, n);
	while (wrote < 0 && errno == EINTR);
	loop_guard_forbid();
	return wrote;
}

static int lose(struct log_append *a, int err)
{
	a->lost++;
	a->err = err;
	return -err;
}

int log_append_line(struct log_append *a, const char *line, size_t n)
{
	size_t done = 0;

	if (a->torn && write_again(a->fd, "\n", 1) != 1)
		return lose(a, errno);
	a->torn = false;
	while (done < n) {
		ssize_t wrote = write_again(a->fd, line + done, n - done);

		if (wrote < 0) {
			a->torn = done > 0;
			return lose(a, errno);
		}
		done += (size_t)wrote;
	}
	a->err = 0;
	return 0;
}

uint64_t log_append_lost(struct log_append *a)
{
	uint64_t lost = a->err == 0 ? a->lost : 0;

	a->lost -= lost;
	return lost;
}
