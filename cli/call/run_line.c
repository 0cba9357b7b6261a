/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_line.c - the connection of a process inside a run to the run, for the commands of
 * main.c: a FIFO for lines and a FIFO for answers. The common name of both is written to
 * the FIFO of the run.
 */
#include "cli/call/run_line.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/sys.h"
#include "base/text/errmsg.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"

#define DOOR "/dev/shm/.paddock"
#define ANSWER_MAX ((size_t)64 << 20)

struct ends {
	const char *door;
	char name[64];
	int lines, answers;
};

static const char *path_of(const struct ends *e, char out[PATH_MAX],
			   const char *end)
{
	snprintf(out, PATH_MAX, "%s.%s.%s", e->door, e->name, end);
	return out;
}

/* Tell the run the name. Without O_NONBLOCK open(2) would wait for a run. */
static int knock(const struct ends *e)
{
	char line[sizeof(e->name) + 1];
	int n = snprintf(line, sizeof(line), "%s\n", e->name);
	int door = open(e->door, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	int rc = door < 0 || fcntl(door, F_SETFL, 0) != 0 ||
			 write(door, line, (size_t)n) != n
		     ? -errno
		     : 0;

	sys_close(door);
	return rc;
}

static int open_ends(struct ends *e)
{
	char lines[PATH_MAX], answers[PATH_MAX];
	int rc = 0;

	path_of(e, lines, "lines");
	path_of(e, answers, "answers");
	if (mkfifo(lines, 0600) != 0 || mkfifo(answers, 0600) != 0)
		rc = -errno;
	if (rc == 0) {
		e->answers = open(answers, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		rc = e->answers < 0 ? -errno : knock(e);
	}
	if (rc == 0) {
		e->lines =
		    open(lines, O_WRONLY | O_CLOEXEC); /* once accepted */
		rc = e->lines < 0 ? -errno : 0;
	}
	unlink(lines);
	unlink(answers);
	return rc;
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t wrote = write(fd, p, n);

		if (wrote < 0 && errno != EINTR)
			return -errno;
		if (wrote > 0) {
			p += wrote;
			n -= (size_t)wrote;
		}
	}
	return 0;
}

/* Wait for a line. -EPIPE: the run has ended. */
static int read_line(int fd, struct buf *b)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char *newline = NULL;

	b->max = ANSWER_MAX;
	while (newline == NULL) {
		ssize_t n;

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return -errno;
		n = read(fd, buf_room(b, 65536), 65536);
		if (n == 0)
			return -EPIPE;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n <= 0)
			continue;
		newline = memchr(buf_data(b) + buf_len(b), '\n', (size_t)n);
		buf_wrote(b, (size_t)n);
		if (buf_len(b) >= ANSWER_MAX)
			return -EMSGSIZE;
	}
	return 0;
}

/* ANSWER is NULL, or gets the answer. */
static int talk(struct ends *e, const char *text, size_t n, struct buf *answer)
{
	uint64_t unique;
	int rc;

	if (getrandom(&unique, sizeof(unique), 0) != sizeof(unique))
		return -EIO;
	snprintf(e->name, sizeof(e->name), "%ld-%016llx", (long)getpid(),
		 (unsigned long long)unique);
	rc = open_ends(e);
	if (rc == 0)
		rc = write_all(e->lines, text, n);
	if (rc == 0)
		rc = write_all(e->lines, "\n", 1);
	if (rc == 0 && answer != NULL)
		rc = read_line(e->answers, answer);
	return rc;
}

int run_line(struct json_object *line, struct buf *answer, char *errmsg,
	     size_t size)
{
	const char *door = getenv("PADDOCK_CALLS");
	struct ends e = {
	    .door = door != NULL ? door : DOOR, .lines = -1, .answers = -1};
	size_t n;
	const char *text = json_text(line, &n);
	int rc = talk(&e, text, n, answer);

	sys_close(e.lines);
	sys_close(e.answers);
	if (rc == -EPIPE)
		errmsg_set(errmsg, size,
			   "the run has ended, and answers nothing any more");
	else if (rc == -ENOSPC)
		errmsg_set(errmsg, size,
			   "/dev/shm is full, where a connection to the run "
			   "needs two files: remove some");
	else if (rc == -ENOENT || rc == -ENXIO)
		errmsg_set(errmsg, size, "no run of paddock listens at %s: %s",
			   e.door, strerror(-rc));
	else if (rc < 0)
		errmsg_set(errmsg, size,
			   "this process cannot speak with its run: %s",
			   strerror(-rc));
	return rc < 0 ? -1 : 0;
}
