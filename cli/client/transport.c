/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.c - the connection to a server: the daemon's socket, or a private
 * paddockd that is started, ended and reaped. client_open.c and client.c use
 * it. A failed start gives -errno and a sentence; a private server that does
 * not end in time is killed.
 */
#include "cli/client/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/signals.h"

#define PROGRAM "paddockd"

#define END_MS 10000 /* for a private server, whose runs have ended */
#define TERM_MS 5000

#define LOG_SHOWN 4096 /* bytes */

static const struct transport closed = {
    .in = -1, .out = -1, .pid = -1, .pidfd = -1, .log = -1};

/* ---- the daemon's socket ---- */

static const char *env_folder(const char *variable)
{
	const char *dir = getenv(variable);

	return dir != NULL && *dir == '/' ? dir : NULL;
}

char *transport_usual_socket(void)
{
	const char *dir;

	if (getuid() == 0)
		return xstrdup(TRANSPORT_SYSTEM_SOCKET);
	dir = env_folder("XDG_RUNTIME_DIR");
	if (dir != NULL)
		return xasprintf("%s/paddock/paddock.sock", dir);
	dir = env_folder("XDG_STATE_HOME");
	if (dir != NULL)
		return xasprintf("%s/paddock/paddock.sock", dir);
	dir = env_folder("HOME");
	return xasprintf("%s/.local/state/paddock/paddock.sock",
			 dir != NULL ? dir : "");
}

int transport_connect(struct transport *l, const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd, rc = 0;

	*l = closed;
	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	memcpy(a.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	l->in = l->out = fd;
	l->peer = xstrdup(path);
	return 0;
}

/* ---- a private server ---- */

char *transport_program(void)
{
	const char *at = getenv("PATH");
	char own[PATH_MAX + sizeof(PROGRAM)]; /* beside this program */
	ssize_t len = readlink("/proc/self/exe", own, PATH_MAX);

	if (len > 0) {
		own[len] = '\0';
		memcpy(strrchr(own, '/') + 1, PROGRAM, sizeof(PROGRAM));
		if (access(own, X_OK) == 0)
			return xstrdup(own);
	}
	while (at != NULL && *at != '\0') {
		size_t n = strcspn(at, ":");
		char *path = xasprintf("%.*s/" PROGRAM, (int)n, at);

		if (n > 0 && access(path, X_OK) == 0)
			return path;
		free(path);
		at += at[n] == ':' ? n + 1 : n;
	}
	return NULL;
}

static void add_flag(struct opt_list *args, const char *flag, const char *value)
{
	if (value == NULL)
		return;
	opt_list_add(args, flag);
	opt_list_add(args, value);
}

void transport_arguments(struct opt_list *args, const struct cli *cli,
			 const char *dir)
{
	add_flag(args, "--config", cli->config);
	add_flag(args, "--templates", dir);
	for (size_t i = 0; dir == NULL && i < cli->templates.n; i++)
		add_flag(args, "--templates", cli->templates.item[i]);
}

static void server_arguments(struct opt_list *args, const struct cli *cli,
			     const char *program)
{
	opt_list_add(args, program);
	opt_list_add(args, "--stdio");
	opt_list_add(args, "--no-takeover");
	add_flag(args, "--state-dir", cli->state_dir);
	transport_arguments(args, cli, NULL);
	for (size_t i = 0; i < cli->grants.n; i++)
		add_flag(args, "--grant", cli->grants.item[i]);
	opt_list_add(args, NULL);
}

/*
 * Become the private server, in the child, with a process group of its own:
 * ctrl-C then reaches paddock alone, and paddock cancels the run in order.
 */
static void exec_server(const struct opt_list *args, int in, int out, int log,
			pid_t parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(CLI_TROUBLE);
	signals_reset();
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    (log >= 0 && dup2(log, STDERR_FILENO) < 0))
		_exit(CLI_TROUBLE);
	execv(args->item[0], (char *const *)args->item);
	dprintf(STDERR_FILENO, "%s: %s\n", args->item[0], strerror(errno));
	_exit(CLI_TROUBLE);
}

static int start_server(struct transport *l, const struct opt_list *args,
			int in, int out)
{
	pid_t parent = getpid();

	l->pid = fork();
	if (l->pid < 0)
		return -errno;
	if (l->pid == 0)
		exec_server(args, in, out, l->log, parent);
	l->pidfd = (int)syscall(SYS_pidfd_open, l->pid, 0);
	return 0;
}

int transport_spawn(struct transport *l, const struct cli *cli, char *errmsg,
		    size_t size)
{
	struct opt_list args = {0};
	int to[2] = {-1, -1}, from[2] = {-1, -1};
	int rc = 0;

	*l = closed;
	l->peer = transport_program();
	if (l->peer == NULL) {
		errmsg_set(errmsg, size,
			   "%s is neither beside this program nor in "
			   "PATH; install it, or build it with make",
			   PROGRAM);
		return -ENOENT;
	}
	if (!cli->verbose)
		l->log = memfd_create("paddockd.log", MFD_CLOEXEC);
	server_arguments(&args, cli, l->peer);
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		rc = -errno;
	else
		rc = start_server(l, &args, to[0], from[1]);
	if (rc < 0)
		errmsg_set(errmsg, size, "%s: %s", l->peer, strerror(-rc));
	for (int i = 0; i < 2; i++) {
		int fd = i == 0 ? to[0] : from[1];

		if (fd >= 0)
			close(fd);
	}
	l->out = to[1];
	l->in = from[0];
	if (rc == 0) {
		fcntl(l->out, F_SETFL, O_NONBLOCK);
		fcntl(l->in, F_SETFL, O_NONBLOCK);
	}
	opt_list_free(&args);
	return rc;
}

/* ---- ending a private server ---- */

static bool ended_within(const struct transport *l, int ms)
{
	struct pollfd p = {.fd = l->pidfd, .events = POLLIN};
	int n;

	if (l->pidfd < 0)
		return false;
	do
		n = poll(&p, 1, ms);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

int transport_end(struct transport *l)
{
	int status = 0;

	if (l->out >= 0)
		close(l->out);
	if (l->in >= 0 && l->in != l->out)
		close(l->in);
	l->in = l->out = -1;
	/* stdin is closed, which asks a private server to end */
	if (l->pid > 0 && !ended_within(l, END_MS)) {
		kill(l->pid, SIGTERM);
		if (!ended_within(l, TERM_MS))
			kill(l->pid, SIGKILL);
	}
	while (l->pid > 0 && waitpid(l->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (l->pidfd >= 0)
		close(l->pidfd);
	l->pid = l->pidfd = -1;
	return status;
}

void transport_fini(struct transport *l)
{
	if (l->log >= 0)
		close(l->log);
	free(l->peer);
	*l = closed;
}

void transport_show_log(const struct transport *l)
{
	char text[LOG_SHOWN + 1];
	off_t end = l->log < 0 ? 0 : lseek(l->log, 0, SEEK_END);
	off_t from = end > LOG_SHOWN ? end - LOG_SHOWN : 0;
	ssize_t n = end <= 0 ? 0 : pread(l->log, text, LOG_SHOWN, from);
	char *line = text, *rest;

	if (n <= 0)
		return;
	text[n] = '\0';
	if (from > 0) {
		line = strchr(text, '\n');
		line = line == NULL ? text : line + 1;
	}
	message_more("what the private server logged:");
	while ((line = strtok_r(line, "\n", &rest)) != NULL) {
		message_more("  %s", line);
		line = NULL;
	}
}
