/*
 * starter.c - forked by main.c before the broker gives up what starting
 * Chromium takes. No byte of a page comes here: orders are two numbers. What
 * cannot be started is told by a note with the reason, and tried again only
 * when the broker says so.
 */
#include "broker/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "ipc/pass.h"

#define ORDER_FD 3

static struct {
	const struct launch_plan *plan;
	pid_t world; /* PID 1 of what was started; -1: none */
	uint32_t start;
} it = {.world = -1};

static void tell(enum starter_note_kind kind, int32_t value, const char *why,
		 int fd)
{
	struct starter_note n = {
	    .kind = kind, .start = it.start, .value = value};

	snprintf(n.why, sizeof(n.why), "%s", why);
	(void)pass_send(ORDER_FD, &n, sizeof(n), fd, 0);
	if (fd >= 0)
		close(fd);
}

static void stop(void)
{
	int status;

	if (it.world <= 0)
		return;
	kill(it.world, SIGKILL); /* and the kernel ends all that is in there */
	while (waitpid(it.world, &status, 0) < 0 && errno == EINTR)
		;
	it.world = -1;
}

static void start(uint32_t number)
{
	struct launched l;
	char why[STARTER_WHY];

	stop();
	it.start = number;
	if (launch(&l, it.plan, why, sizeof(why)) < 0) {
		tell(STARTER_FAILED, 0, why, -1);
		return;
	}
	it.world = l.pid;
	tell(STARTER_TO, 0, "", l.to);
	tell(STARTER_FROM, 0, "", l.from);
	tell(STARTER_LISTENER, 0, "", l.listener);
	tell(STARTER_WORLD, l.pid, "", l.watch);
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != it.world)
			continue;
		it.world = -1;
		tell(STARTER_ENDED, status, "", -1);
	}
}

/* False: there is nobody any more to take orders from. */
static bool obey(void)
{
	struct starter_order o;
	ssize_t n = recv(ORDER_FD, &o, sizeof(o), 0);

	if (n != sizeof(o))
		return n < 0 && errno == EINTR;
	if (o.kind == STARTER_START)
		start(o.start);
	else if (o.kind == STARTER_STOP && o.start == it.start)
		stop();
	return true;
}

static void on_child(int sig)
{
	(void)sig; /* it ends ppoll() */
}

static _Noreturn void serve(int sock)
{
	struct sigaction sa = {.sa_handler = on_child};
	struct pollfd p = {.fd = ORDER_FD, .events = POLLIN};
	sigset_t blocked, none;

	sigfillset(&blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL); /* it ends with its socket */
	sigaction(SIGCHLD, &sa, NULL);
	sigfillset(&none);
	sigdelset(&none, SIGCHLD);
	prctl(PR_SET_NAME, "paddock-starter");
	if (dup2(sock, ORDER_FD) < 0)
		_exit(1);
	syscall(SYS_close_range, ORDER_FD + 1u, ~0u, 0u);
	for (;;) {
		int n = ppoll(&p, 1, NULL, &none);

		if (n < 0 && errno != EINTR)
			break;
		reap();
		if (n > 0 && !obey())
			break;
	}
	stop();
	_exit(0);
}

int starter_fork(const struct launch_plan *plan, pid_t *pid)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	*pid = fork();
	if (*pid == 0) {
		it.plan = plan;
		serve(ends[1]);
	}
	close(ends[1]);
	if (*pid < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
		int rc = -errno;

		close(ends[0]);
		return rc;
	}
	return ends[0];
}
