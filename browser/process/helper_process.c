/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper_process.c - the common part of chromium_starter.c and resolver.c: a
 * fork with a socket, and a loop of requests. The process ends when its socket
 * is closed; a failed fork is -errno, and main.c exits.
 */
#include "browser/process/helper_process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void on_child(int sig)
{
	(void)sig; /* the signal interrupts ppoll() */
}

static void settle_in(const char *name, int sock)
{
	struct sigaction sa = {.sa_handler = on_child};
	sigset_t all;

	sigfillset(&all);
	/* only the end of its socket ends the process */
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigaction(SIGCHLD, &sa, NULL);
	prctl(PR_SET_NAME, name);
	if (dup2(sock, HELPER_PROCESS_FD) < 0)
		_exit(1);
	syscall(SYS_close_range, HELPER_PROCESS_FD + 1u, ~0u, 0u);
}

int helper_process_fork(const char *name, pid_t *pid)
{
	int ends[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	*pid = fork();
	if (*pid == 0) {
		settle_in(name, ends[1]);
		return HELPER_PROCESS_FD;
	}
	rc = *pid < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ? -errno : 0;
	close(ends[1]);
	if (rc == 0)
		return ends[0];
	close(ends[0]);
	return rc;
}

/* Take a request; false: the socket is closed. */
static bool take_request(const struct helper_process *h)
{
	_Alignas(max_align_t) char request[HELPER_PROCESS_REQUEST_MAX];
	ssize_t n = recv(HELPER_PROCESS_FD, request, h->order_size, 0);

	if (n != (ssize_t)h->order_size)
		return n < 0 && errno == EINTR;
	h->on_request(request);
	return true;
}

_Noreturn void helper_process_serve(const struct helper_process *h)
{
	struct pollfd p = {.fd = HELPER_PROCESS_FD, .events = POLLIN};
	sigset_t set;

	assert(h->order_size <= HELPER_PROCESS_REQUEST_MAX);
	sigfillset(&set);
	sigdelset(&set, SIGCHLD);
	for (;;) {
		int n = ppoll(&p, 1, NULL, &set);

		if (n < 0 && errno != EINTR)
			break;
		h->reap();
		if (n > 0 && !take_request(h))
			break;
	}
	h->end();
	_exit(0);
}
