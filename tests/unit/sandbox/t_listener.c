/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call received by a listener must be answered exactly once, whatever signals arrive
 * meanwhile.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/filter.h"
#include "tests/unit/tap.h"

#define WAIT_KILLABLE (1UL << 5) /* Linux 5.19 */
#define CALLS 200
#define ANSWER EXFULL /* an errno which epoll_ctl(2) itself never returns */

static struct sock_fprog filter;

static bool is_known(unsigned long flags)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL) < 0 &&
	       errno == EFAULT;
}

static void on_signal(int sig)
{
	(void)
	    /*
	     * no SA_RESTART: an interrupted call ends with EINTR, or begins again
	     */
	    sig;
}

/* The calling process; its listener is a descriptor that the test shares. */
static int calls(int told)
{
	struct sigaction sa = {.sa_handler = on_signal};
	int fd;

	if (sigaction(SIGUSR1, &sa, NULL) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 1;
	fd = filter_load_listening(&filter);
	if (write(told, &fd, sizeof(fd)) != (ssize_t)sizeof(fd) || fd < 0)
		return 2;
	for (int i = 0; i < CALLS; i++)
		if (syscall(SYS_epoll_ctl, -1, EPOLL_CTL_ADD, -1, NULL) != -1 ||
		    errno != ANSWER)
			return 3;
	return 0;
}

/* Answer all calls; returns the number of accepted answers. */
static int answer_all(int listener, pid_t pid)
{
	int taken = 0;

	for (int i = 0; i < CALLS; i++) {
		struct seccomp_notif call = {0};
		struct seccomp_notif_resp answer = {.error = -ANSWER};

		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
			break;
		kill(pid, SIGUSR1);
		sched_yield(); /* let the caller run, if possible */
		answer.id = call.id;
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) != 0)
			break;
		taken++;
	}
	return taken;
}

int main(void)
{
	int ends[2], listener = -1, status = -1;
	pid_t pid;

	is_int(filter_make(FILTER_PROGRAM, &filter), 0,
	       "a program's filter compiles");
	ok(is_known(SECCOMP_FILTER_FLAG_NEW_LISTENER),
	   "the kernel has listeners");
	if (pipe(ends) != 0)
		return 1;
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL,
			     NULL);
	if (pid == 0)
		_exit(calls(ends[1]));
	ok(read(ends[0], &listener, sizeof(listener)) ==
		   (ssize_t)sizeof(listener) &&
	       listener >= 0,
	   "a filter has one");
	if (is_known(SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE))
		is_int(answer_all(listener, pid), CALLS,
		       "each call takes its answer");
	else
		is_int(kill(pid, SIGKILL), 0,
		       "before Linux 5.19 signals interrupt calls");
	waitpid(pid, &status, 0);
	ok(status == 0 || status == SIGKILL,
	   "before Linux 5.19 no signal is tested");
	free(filter.filter);
	return tap_done();
}
