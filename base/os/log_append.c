/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_append.c - appends lines for the log, the audit log and stderr. A caller that
 * writes to a file from several threads holds a lock. A line that cannot be
 * written, or would have to wait for a reader, is counted as lost.
 */
#include "base/os/log_append.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loop_guard.h"

/* Does a write to FD never wait for a reader? */
static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

ssize_t log_append_bytes(int fd, const char *p, size_t n)
{
	/* the flags of FD are often blocking and shared with another program: poll(2) asks */
	struct pollfd room = {.fd = fd, .events = POLLOUT};
	ssize_t wrote;

	loop_guard_allow("a line, which is bounded, as are lines in a minute");
	/* a pipe with any room has room for PIPE_BUF bytes */
	if (n > PIPE_BUF && !is_file(fd))
		n = PIPE_BUF;
	do {
		errno = EAGAIN;
		wrote = poll(&room, 1, 0) == 0 ? -1 : write(fd, p, n);
	} while (wrote < 0 && errno == EINTR);
	loop_guard_forbid();
	return wrote;
}

const char *log_append_why(int err)
{
	if (err == ENXIO)
		return "it is a FIFO that no program reads, or a socket";
	return err == EAGAIN
		   ? "the program which reads the log does not read on"
		   : strerror(err);
}

static int count_lost_line(struct log_append *a, int err)
{
	a->lost++;
	a->err = err;
	return -err;
}

int log_append_line(struct log_append *a, const char *line, size_t n)
{
	size_t done = 0;

	if (a->torn && log_append_bytes(a->fd, "\n", 1) != 1)
		return count_lost_line(a, errno);
	a->torn = false;
	while (done < n) {
		ssize_t wrote = log_append_bytes(a->fd, line + done, n - done);

		if (wrote < 0) {
			a->torn = done > 0;
			return count_lost_line(a, errno);
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
