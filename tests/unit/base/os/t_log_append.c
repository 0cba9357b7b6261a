/* SPDX-License-Identifier: Apache-2.0 */
/* t_log_append.c - lines for a pipe or socket without a reader are lost, and the writer never waits. */
#include "base/os/log_append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/tap.h"

#define HANG_S 60 /* SIGALRM ends a test with a waiting write */
#define LINES 100000

static char line[9000];

static size_t fill_line(size_t n)
{
	memset(line, 'x', n);
	line[n - 1] = '\n';
	return n;
}

/* Read FD until FD is empty. The number of bytes. */
static size_t drain(int fd)
{
	static char bytes[65536];
	size_t n = 0;
	ssize_t got;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		n += (size_t)got;
	return n;
}

/* Append lines of N bytes until a line is lost. The number of written lines. */
static int fill(struct log_append *a, size_t n, int *rc)
{
	int taken = 0;

	for (*rc = 0; *rc == 0 && taken < LINES; taken += *rc == 0)
		*rc = log_append_line(a, line, n);
	return taken;
}

static void unread(const char *what, int to, int from, size_t n)
{
	struct log_append a = {.fd = to};
	int rc, taken;

	fill_line(n);
	alarm(HANG_S);
	taken = fill(&a, n, &rc);
	ok(taken > 0 && taken < LINES, "%s takes some lines of %zu bytes", what,
	   n);
	is_int(rc, -EAGAIN, "a line to a full reader is lost without a wait");
	is_int(log_append_line(&a, line, n), -EAGAIN,
	       "a second line to a full reader is lost");
	ok(drain(from) > 0, "the reader drains the log");
	is_int(log_append_line(&a, line, n), 0,
	       "lines are written again after the drain");
	is_int((int)log_append_lost(&a), 2, "the two lost lines are counted");
	alarm(0);
	close(to);
	close(from);
}

TEST(pipe)
{
	static const size_t sizes[] = {100, 4096, 9000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int p[2];

		if (pipe(p) != 0)
			abort();
		unread("a pipe that nobody reads", p[1], p[0], sizes[i]);
	}
}

TEST(socket)
{
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0)
		abort();
	unread("a socket that nobody reads", s[1], s[0], 2000);
}

TEST(words)
{
	is_str(log_append_why(EAGAIN),
	       "the program which reads the log does not read on",
	       "the cause is told");
	is_str(log_append_why(ENOSPC), strerror(ENOSPC),
	       "other causes have the text of the errno");
}
