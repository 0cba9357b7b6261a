/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_shared.c - attacks through resources shared by all runs, or by the shim and
 * its program.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

#define HUGE_PAGE (2u << 20)
#define KINDS 64 /* of signals */

/* ---- resources visible to all ---- */

/* Watch programs being opened by others. */
static void watch_programs(void)
{
	int fd = inotify_init1(0);

	tell_errno(fd < 0 || inotify_add_watch(fd, "/usr/bin", IN_OPEN) < 0);
}

/*
 * A datagram socket whose other end is closed is as good as a socket of socket(2), and
 * gets a name of its own when the process asks for credentials.
 */
static void lone_socket(void)
{
	int ends[2], on = 1;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) {
		tell_errno(true);
		return;
	}
	close(ends[1]);
	(void)!send(ends[0], "x", 1, MSG_NOSIGNAL);
	setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	(void)!send(ends[0], "x", 1, MSG_NOSIGNAL);
	tell_errno(false);
}

static void raw_socket(void)
{
	int ends[2];

	tell_errno(socketpair(AF_UNIX, SOCK_RAW, 0, ends) != 0);
}

/* Huge pages from the machine's reserve, which no limit of memory counts. */
static void huge_pages(void)
{
	void *p = mmap(
	    NULL, HUGE_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);

	tell_errno(p == MAP_FAILED);
}

/*
 * Merge pages: the time of a later write tells whether another process has an equal
 * page.
 */
static void merge_pages(void)
{
	void *p = mmap(NULL, HUGE_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	tell_errno(madvise(p, HUGE_PAGE, MADV_MERGEABLE) != 0);
}

/* Write to a page of a file mapped by all, through /proc/self/mem. */
static void shared_page(void)
{
	int file = open("/usr/bin/env", O_RDONLY);
	char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	int mem = open("/proc/self/mem", O_RDWR);

	tell_errno(mem < 0 || pwrite(mem, "x", 1, (off_t)(uintptr_t)p) != 1);
}

/* ---- the shim ---- */

/* Send every signal to the shim by every call; also as if from outside. */
static void signals_to_shim(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);

	for (int sig = 1; sig <= KINDS; sig++) {
		siginfo_t si = {.si_signo = sig, .si_code = SI_QUEUE};

		si.si_pid = 0;
		syscall(SYS_kill, 1, sig);
		syscall(SYS_tkill, 1, sig);
		syscall(SYS_tgkill, 1, 1, sig);
		syscall(SYS_rt_sigqueueinfo, 1, sig, &si);
		syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
		si.si_code = SI_USER;
		syscall(SYS_rt_sigqueueinfo, 1, sig, &si);
		syscall(SYS_pidfd_send_signal, pidfd, sig, &si, 0);
	}
	printf("1");
}

/* A child whose exit signal is SIGTERM, sent to the parent at the time: PID 1. */
static void last_signal(void)
{
	if (fork() == 0) {
		if (syscall(SYS_clone, SIGTERM, NULL, NULL, NULL, NULL) == 0) {
			while (getppid() != 1)
				usleep(1000);
			_exit(0);
		}
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		_exit(0);
	}
	wait(NULL);
	usleep(50000);
	printf("1");
}

/* Make as many reported calls at once as processes are allowed. */
static void all_reported(void)
{
	int go[2];
	char byte;

	if (pipe(go) != 0)
		abort();
	for (int i = 0; i < 40; i++)
		if (fork() == 0) {
			close(go[1]);
			(void)!read(go[0], &byte, 1);
			syscall(SYS_keyctl, 0, 0);
			_exit(0);
		}
	close(go[1]);
	while (wait(NULL) > 0)
		;
	printf("1");
}

/* Callers which exit before the shim can look at the process. */
static void gone_reported(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			syscall(SYS_keyctl, 0, 0);
			_exit(7);
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	printf("1");
}

/* A process name which tries to forge the report. */
static void odd_name(void)
{
	prctl(PR_SET_NAME, "\",\x1b[2J\xff\n\"x");
	syscall(SYS_keyctl, 0, 0);
}

/* Packet pipes, which also want to send signals. */
static void odd_pipes(void)
{
	for (int fd = 0; fd < 5; fd++)
		fcntl(fd, F_SETFL, O_DIRECT | O_ASYNC | O_NONBLOCK);
	dprintf(3, "{\"progress\":{\"done\":1,");
	dprintf(3, "\"total\":1}}\n");
	dprintf(1, "[1");
	dprintf(1, ",2]");
	_exit(0);
}

/* Close the answers' descriptor, so answers cannot be read. */
static void no_answers(void)
{
	close(4);
	for (int i = 0; i < 64; i++)
		dprintf(
		    3, "{\"call\":{\"id\":%d,\"tool\":\"none\",\"args\":{}}}\n",
		    i);
	printf("1");
}

/* ---- more than allowed ---- */

/* Sockets within sockets, until the kernel must search for the holders. */
static void sockets_in_sockets(void)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} c;
	struct iovec iov = {(void *)"x", 1};
	int n = 0;

	for (;; n++) {
		struct msghdr m = {.msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = &c,
				   .msg_controllen = sizeof(c)};
		int ends[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
			break;
		memset(&c, 0, sizeof(c));
		c.header.cmsg_level = SOL_SOCKET;
		c.header.cmsg_type = SCM_RIGHTS;
		c.header.cmsg_len = CMSG_LEN(2 * sizeof(int));
		memcpy(CMSG_DATA(&c.header), ends, 2 * sizeof(int));
		if (sendmsg(ends[0], &m, MSG_NOSIGNAL) < 0)
			break;
		close(ends[0]);
		close(ends[1]);
	}
	tell_errno(true);
}

static void raise_limits(void)
{
	static const int kinds[] = {
	    RLIMIT_NPROC, RLIMIT_NOFILE,  RLIMIT_FSIZE, RLIMIT_DATA,
	    RLIMIT_CPU,	  RLIMIT_MEMLOCK, RLIMIT_CORE,	RLIMIT_MSGQUEUE};
	const struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (syscall(SYS_prlimit64, 0, kinds[i], &most, NULL) == 0) {
			printf("%d", kinds[i]);
			return;
		}
	tell_errno(true);
}

/* A program from nowhere: a file without a name, where nothing is executed. */
static void nameless_program(void)
{
	char *argv[] = {(char *)"x", NULL}, *none[] = {NULL};
	int fd = open("/tmp", O_TMPFILE | O_RDWR, 0700);

	(void)!write(fd, "#!/bin/true\n", 12);
	syscall(SYS_execveat, fd, "", argv, none, AT_EMPTY_PATH);
	tell_errno(true);
}

static void last_victim(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY);

	tell_errno(fd < 0 || write(fd, "999", 3) != 3);
}

/* Open the parent namespaces. */
static void outer_namespace(void)
{
	int fd = open("/proc/self/ns/user", O_RDONLY);
	int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);

	if (syscall(SYS_ioctl, fd, 0xb701) >= 0 ||
	    syscall(SYS_ioctl, fd, 0xb702) >= 0 ||
	    syscall(SYS_ioctl, pidfd, 0xff04) >= 0)
		printf("\"it has one\"");
	else
		tell_errno(true);
}

/* Calls of Linux 6.6 to 6.17, which are not reviewed here. */
static void new_calls(void)
{
	for (long nr = 451; nr <= 470; nr++)
		if (nr != 462 && /* mseal(2) of nothing is nothing */
		    (syscall(nr, 0L, 0L, 0L, 0L, 0L, 0L) >= 0 ||
		     errno != ENOSYS)) {
			printf("%ld", nr);
			return;
		}
	printf("\"none\"");
}

/*
 * Have signals sent for descriptors of a device: the kernel has one list of such
 * descriptors for the machine, and walks the list with a lock of the machine held.
 */
static void device_signals(void)
{
	int fd = open("/dev/urandom", O_RDONLY);

	tell_errno(fd < 0 || fcntl(fd, F_SETFL, O_ASYNC) != 0);
}

const struct attack shared_attacks[] = {
    {"watch_programs", watch_programs},
    {"lone_socket", lone_socket},
    {"raw_socket", raw_socket},
    {"huge_pages", huge_pages},
    {"merge_pages", merge_pages},
    {"shared_page", shared_page},
    {"signals_to_shim", signals_to_shim},
    {"last_signal", last_signal},
    {"all_reported", all_reported},
    {"gone_reported", gone_reported},
    {"odd_name", odd_name},
    {"odd_pipes", odd_pipes},
    {"no_answers", no_answers},
    {"sockets_in_sockets", sockets_in_sockets},
    {"raise_limits", raise_limits},
    {"nameless_program", nameless_program},
    {"last_victim", last_victim},
    {"outer_namespace", outer_namespace},
    {"new_calls", new_calls},
    {"device_signals", device_signals},
    {NULL, NULL},
};
