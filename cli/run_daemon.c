/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_daemon.c - runs paddockd to its end for what it prints, not as a server;
 * template_findings.c calls it. -errno when it cannot be started; more than
 * RUN_DAEMON_OUTPUT_MAX is read and let go.
 */
#include "cli/run_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

#define READ_BYTES 4096

static int start(pid_t *pid, const char *program, const struct opt_list *args,
		 int out, int err)
{
	const char **argv = xcalloc(args->n + 2, sizeof(*argv));
	posix_spawn_file_actions_t fa;
	int rc;

	argv[0] = program;
	for (size_t i = 0; i < args->n; i++)
		argv[i + 1] = args->item[i];
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&fa, err, STDERR_FILENO);
	rc = posix_spawn(pid, program, &fa, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	free(argv);
	return -rc;
}

/* False at the end. More than the bound is read, and let go. */
static bool read_some(int fd, struct buf *b)
{
	char data[READ_BYTES];
	ssize_t n = read(fd, data, sizeof(data));

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	if (buf_len(b) < RUN_DAEMON_OUTPUT_MAX)
		buf_add(b, data, (size_t)n);
	return true;
}

static void read_both(int out_fd, struct buf *out, int err_fd, struct buf *err)
{
	struct pollfd p[2] = {{.fd = out_fd, .events = POLLIN},
			      {.fd = err_fd, .events = POLLIN}};

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].fd >= 0 && p[0].revents != 0 &&
		    !read_some(out_fd, out))
			p[0].fd = -1;
		if (p[1].fd >= 0 && p[1].revents != 0 &&
		    !read_some(err_fd, err))
			p[1].fd = -1;
	}
}

int run_daemon(const char *program, const struct opt_list *args,
	       struct buf *out, struct buf *err)
{
	int o[2] = {-1, -1}, e[2] = {-1, -1}, status = 0, rc;
	pid_t pid = -1;

	if (pipe2(o, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(e, O_CLOEXEC) < 0) {
		rc = -errno;
	} else {
		rc = start(&pid, program, args, o[1], e[1]);
		close(e[1]);
	}
	close(o[1]);
	if (rc == 0) {
		read_both(o[0], out, e[0], err);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		rc = WIFEXITED(status) ? WEXITSTATUS(status)
				       : 128 + WTERMSIG(status);
	}
	close(o[0]);
	if (e[0] >= 0)
		close(e[0]);
	return rc;
}
