/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_counters.c - kernel counters for a user or for the machine, used up and held;
 * and a program which needs a little of each counter and runs at the same time, in the
 * cage and as the server's user outside of the cage.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

/* ---- a little of each ---- */

static bool pipe_works(void)
{
	int ends[2];
	char byte;
	bool works = pipe(ends) == 0 && write(ends[1], "x", 1) == 1 &&
		     read(ends[0], &byte, 1) == 1;

	close(ends[0]);
	close(ends[1]);
	return works;
}

static bool pair_works(void)
{
	int ends[2];
	char byte;
	bool works = socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 &&
		     write(ends[1], "x", 1) == 1 &&
		     read(ends[0], &byte, 1) == 1;

	close(ends[0]);
	close(ends[1]);
	return works;
}

static bool epoll_works(void)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int ep = epoll_create1(0), fd = eventfd(1, 0);
	bool works = epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) == 0 &&
		     epoll_wait(ep, &ev, 1, -1) == 1;

	close(ep);
	close(fd);
	return works;
}

static bool timer_works(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_NONE};
	timer_t timer;

	return timer_create(CLOCK_MONOTONIC, &ev, &timer) == 0 &&
	       timer_delete(timer) == 0;
}

static bool range_works(void)
{
	struct flock range = {.l_type = F_WRLCK, .l_start = 5, .l_len = 1};
	char name[] = "./ranges-XXXXXX";
	int fd = mkstemp(name);

	return fd >= 0 && unlink(name) == 0 &&
	       fcntl(fd, F_SETLK, &range) == 0 && close(fd) == 0;
}

static bool queue_works(void)
{
	union sigval v = {.sival_int = 5};
	sigset_t set;
	siginfo_t si;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return sigqueue(getpid(), SIGRTMIN + 1, v) == 0 &&
	       sigwaitinfo(&set, &si) == SIGRTMIN + 1 &&
	       si.si_value.sival_int == 5;
}

static bool fork_works(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(3);
	return pid > 0 && waitpid(pid, &status, 0) == pid &&
	       WEXITSTATUS(status) == 3;
}

static void *end(void *arg)
{
	return arg;
}

static bool thread_works(void)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, end, NULL);
	return errno == 0 && pthread_join(thread, NULL) == 0;
}

static bool lock_works(void)
{
	static char page[4096] __attribute__((aligned(4096)));

	return mlock(page, sizeof(page)) == 0 &&
	       munlock(page, sizeof(page)) == 0;
}

static bool file_works(void)
{
	char name[] = "./of-my-own-XXXXXX";
	int fd = mkstemp(name);

	return fd >= 0 && unlink(name) == 0 && close(fd) == 0;
}

static const struct {
	const char *name;
	bool (*works)(void);
} needs[] = {
    {"pipe", pipe_works},   {"socketpair", pair_works},
    {"epoll", epoll_works}, {"timer", timer_works},
    {"range", range_works}, {"sigqueue", queue_works},
    {"fork", fork_works},   {"thread", thread_works},
    {"mlock", lock_works},  {"file", file_works},
};

static void a_little_of_each(void)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (!needs[i].works()) {
			printf("\"%s: %s\"", needs[i].name,
			       strerrorname_np(errno));
			return;
		}
	printf("210");
}

/* ---- use up one counter ---- */

/* Report that the counter is used up, and keep everything. */
_Noreturn static void hold(void)
{
	tell_progress("full");
	for (;;)
		pause();
}

/*
 * N more processes which take by TAKE and keep the resource; fork order tells the
 * processes apart.
 */
static void with_others(int n, void (*take)(void))
{
	int ready[2];
	char byte;

	if (pipe(ready) != 0)
		abort();
	for (int i = 0; i < n; i++)
		if (fork() == 0) {
			take();
			(void)!write(ready[1], "x", 1);
			for (;;)
				pause();
		}
	take();
	for (int i = 0; i < n; i++)
		(void)!read(ready[0], &byte, 1);
	hold();
}

static void block_all(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

static void take_signals(void)
{
	union sigval v = {.sival_int = 1};

	block_all();
	while (sigqueue(getpid(), SIGRTMIN + 2, v) == 0)
		;
}

static void take_timers(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL,
			      .sigev_signo = SIGRTMIN + 3};
	timer_t timer;

	while (timer_create(CLOCK_MONOTONIC, &ev, &timer) == 0)
		;
}

/* Take full pipes, since the pages count, too. */
static void take_pipes(void)
{
	static char bytes[65536];
	int ends[2];

	while (pipe2(ends, O_NONBLOCK) == 0)
		(void)!write(ends[1], bytes, sizeof(bytes));
}

static void take_pairs(void)
{
	int ends[2];

	static char bytes[4096];

	while (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
		while (send(ends[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
			;
}

static void take_files(void)
{
	while (open("/dev/null", O_RDONLY) >= 0)
		;
}

/*
 * A watch is a pair of a number and a file, so use many of both, with many epolls.
 */
static void take_watches(void)
{
	enum { EPOLLS = 20, FILES = 40, NUMBERS = 40 };
	struct epoll_event ev = {.events = EPOLLIN};
	int ep[EPOLLS], file[FILES];

	for (int i = 0; i < EPOLLS; i++)
		ep[i] = epoll_create1(0);
	for (int i = 0; i < FILES; i++)
		file[i] = eventfd(0, 0);
	for (int i = 0; i < FILES; i++)
		for (int n = 0; n < NUMBERS; n++) {
			int number = dup2(file[i], 200 + n);

			for (int e = 0; e < EPOLLS; e++)
				epoll_ctl(ep[e], EPOLL_CTL_ADD, number, &ev);
		}
}

static void take_locked(void)
{
	while (mlock(mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		     4096) == 0)
		;
}

static void all_signals(void)
{
	with_others(3, take_signals);
}
static void all_timers(void)
{
	with_others(3, take_timers);
}
static void all_pipes(void)
{
	with_others(8, take_pipes);
}
static void all_pairs(void)
{
	with_others(8, take_pairs);
}
static void all_files(void)
{
	with_others(8, take_files);
}
static void all_watches(void)
{
	with_others(3, take_watches);
}
static void all_locked(void)
{
	with_others(3, take_locked);
}

static void all_processes(void)
{
	pid_t pid;

	while ((pid = fork()) > 0)
		;
	if (pid == 0)
		for (;;)
			pause();
	hold();
}

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void all_threads(void)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	while (pthread_create(&thread, &small, sleep_on, NULL) == 0)
		;
	hold();
}

/* Unshare the descriptors from here on. */
static void *take_alone(void *done)
{
	if (syscall(SYS_close_range, ~0u, ~0u, 1u << 1) != 0)
		abort();
	take_files();
	(void)!write(*(int *)done, "x", 1);
	return sleep_on(NULL);
}

static void all_files_of_threads(void)
{
	pthread_t thread;
	int ready[2];
	char byte;

	if (pipe(ready) != 0)
		abort();
	for (int i = 0; i < 8; i++)
		if (pthread_create(&thread, NULL, take_alone, &ready[1]) != 0)
			abort();
	for (int i = 0; i < 8; i++)
		(void)!read(ready[0], &byte, 1);
	hold();
}

/*
 * Busy processes, each in a session of its own, for which some kernels have a share of
 * CPU time.
 */
static void all_sessions(void)
{
	for (int i = 0; i < 40; i++)
		if (fork() == 0) {
			setsid();
			for (;;)
				;
		}
	hold();
}

/* Descriptors in flight, each in a socket of its own. */
static void all_descriptors_sent(void)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} c = {.header = {.cmsg_level = SOL_SOCKET,
			  .cmsg_type = SCM_RIGHTS,
			  .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec iov = {(void *)"x", 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &c,
			   .msg_controllen = sizeof(c)};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	while (sendmsg(ends[0], &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		;
	tell_errno(true);
}

static void several_sent(void)
{
	struct mmsghdr m = {.msg_len = 0};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	tell_errno(sendmmsg(ends[0], &m, 1, 0) < 0);
}

/* A byte out of band: the kernel's handling in sockets had security faults. */
static bool oob_refused(long rc)
{
	return rc < 0 && errno == EOPNOTSUPP;
}

static void no_oob(void)
{
	const int types[] = {SOCK_STREAM, SOCK_SEQPACKET}, on = 1;
	char byte = 'x';
	struct iovec at = {&byte, 1};
	struct msghdr m = {.msg_iov = &at, .msg_iovlen = 1};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		int ends[2], flags = MSG_OOB | MSG_DONTWAIT;

		if (socketpair(AF_UNIX, types[i], 0, ends) != 0)
			abort();
		if (!oob_refused(send(ends[0], &byte, 1, flags)) ||
		    !oob_refused(recv(ends[1], &byte, 1, flags)) ||
		    !oob_refused(recvmsg(ends[1], &m, flags | MSG_PEEK)) ||
		    setsockopt(ends[0], SOL_SOCKET, SO_OOBINLINE, &on,
			       sizeof(on)) == 0)
			abort();
		if (send(ends[0], &byte, 1, MSG_DONTWAIT) != 1 ||
		    recv(ends[1], &byte, 1, MSG_DONTWAIT) != 1)
			abort();
	}
	errno = EOPNOTSUPP;
	tell_errno(true);
}

/* A call which must be missing, so that its counter cannot be used up. */
#define ABSENT(name, ...)                                                      \
	static void name(void)                                                 \
	{                                                                      \
		tell_errno(syscall(__VA_ARGS__) < 0);                          \
	}

ABSENT(no_inotify, SYS_inotify_init1, 0)
ABSENT(no_mqueue, SYS_mq_open, "/x", O_CREAT | O_RDWR, 0600, NULL)
ABSENT(no_aio, SYS_io_setup, 128, &(unsigned long){0})
ABSENT(no_msgget, SYS_msgget, 0, 0600)
ABSENT(no_semget, SYS_semget, 0, 1, 0600)
ABSENT(no_memfd, SYS_memfd_create, "x", 0)
ABSENT(no_larger_pipe, SYS_fcntl, 1, F_SETPIPE_SZ, 1 << 20)
ABSENT(a_key, SYS_add_key, "user", "x", "y", 1, -2)
ABSENT(a_namespace, SYS_unshare, 0x10000000 /* CLONE_NEWUSER */)

const struct attack counter_attacks[] = {
    {"sibling", a_little_of_each},
    {"all_signals", all_signals},
    {"all_timers", all_timers},
    {"all_pipes", all_pipes},
    {"all_pairs", all_pairs},
    {"all_files", all_files},
    {"all_files_of_threads", all_files_of_threads},
    {"all_watches", all_watches},
    {"all_locked", all_locked},
    {"all_processes", all_processes},
    {"all_threads", all_threads},
    {"all_sessions", all_sessions},
    {"all_descriptors_sent", all_descriptors_sent},
    {"several_sent", several_sent},
    {"no_oob", no_oob},
    {"no_inotify", no_inotify},
    {"no_mqueue", no_mqueue},
    {"no_aio", no_aio},
    {"no_msgget", no_msgget},
    {"no_semget", no_semget},
    {"no_memfd", no_memfd},
    {"no_larger_pipe", no_larger_pipe},
    {"a_key", a_key},
    {"a_namespace", a_namespace},
    {NULL, NULL},
};
