/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_records.c - small records of the kernel which no cgroup and no limit counts:
 * locks on ranges, watches, timers, compiled filters, buffers of sockets, the shared
 * page cache. Attempts are bounded, since other programs use the same machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

enum { MANY = 40000 }; /* several times the allowed number for a run */

/* ---- locks on ranges of files ---- */

static int a_file(void)
{
	char name[] = "./locked-XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0 || unlink(name) != 0)
		abort();
	return fd;
}

/*
 * Take N locks which the kernel cannot join. The number of locks; errno has the reason.
 */
static int take_ranges(int fd, int command, int n)
{
	for (int i = 0; i < n; i++) {
		struct flock range = {.l_type = F_WRLCK,
				      .l_whence = SEEK_SET,
				      /* downwards: the list's head is quick */
				      .l_start = 2 * (MANY - i),
				      .l_len = 1};

		if (fcntl(fd, command, &range) != 0)
			return i;
	}
	errno = 0;
	return n;
}

static void tell_end(int n, int most)
{
	printf("{\"errno\":\"%s\",\"bounded\":%s}",
	       errno == 0 ? "0" : strerrorname_np(errno),
	       n > 0 && n <= most ? "true" : "false");
}

static void ranges(void)
{
	tell_end(take_ranges(a_file(), F_SETLK, MANY), 8192);
}

static void ranges_waited_for(void)
{
	tell_end(take_ranges(a_file(), F_SETLKW, MANY), 8192);
}

static void ranges_of_a_file(void)
{
	tell_end(take_ranges(a_file(), F_OFD_SETLK, MANY), 32768);
}

/* The children take 3,000 locks each and keep the locks; the sum is limited. */
static void ranges_of_many(void)
{
	int ends[2], sum = 0, n, last = 0;
	struct {
		int n, err;
	} one;

	if (pipe(ends) != 0)
		abort();
	for (int i = 0; i < 5; i++) {
		if (fork() == 0) {
			one.n = take_ranges(a_file(), F_SETLK, 3000);
			one.err = errno;
			(void)!write(ends[1], &one, sizeof(one));
			for (;;)
				pause();
		}
		n = (int)read(ends[0], &one, sizeof(one));
		if (n != (int)sizeof(one))
			abort();
		sum += one.n;
		last = one.err;
	}
	errno = last;
	tell_end(sum, 8192);
}

/*
 * A lock belongs to a table of descriptors, so locks outlive the locking process, but
 * still have the old pid.
 */
static void ranges_of_the_dead(void)
{
	int fd = a_file(), sum = 0, status;

	for (int i = 0; i < 5; i++) {
		pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD,
					   NULL, NULL, NULL, NULL);

		if (pid == 0) {
			struct flock range = {.l_type = F_WRLCK, .l_len = 1};
			int n = 0;

			do
				range.l_start = 2 * (i * 3000 + n);
			while (fcntl(fd, F_SETLK, &range) == 0 && ++n < 3000);
			_exit(n == 3000 ? 0 : errno);
		}
		if (waitpid(pid, &status, 0) != pid)
			abort();
		sum += 3000;
		errno = WEXITSTATUS(status);
		if (errno != 0)
			break;
	}
	tell_end(sum, 9000);
}

/* Taken and given back: far more than may be had at once. */
static void ranges_in_turn(void)
{
	struct flock range = {.l_len = 1};
	int fd = a_file(), n = 0;

	errno = 0;
	do {
		range.l_start = n % 100;
		range.l_type = n % 3 == 0 ? F_UNLCK : F_WRLCK;
	} while (fcntl(fd, F_SETLK, &range) == 0 && ++n < 30000);
	tell_end(n, 30000);
}

static void *rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/*
 * The same beside more descriptors than the watch looks at: each thread has a table.
 */
static void ranges_in_a_crowd(void)
{
	pthread_t thread;
	int file = a_file();

	while (dup(file) >= 0)
		;
	close(file + 1);
	for (int i = 0; i < 24; i++)
		if (pthread_create(&thread, NULL, rest, NULL) != 0)
			abort();
	ranges_in_turn();
}

/* Which of the inodes that others have, too, can be locked, and how? */
static void shared_locks(void)
{
	static const char *const paths[] = {"/", "/dev/null",
					    "/proc/self/ns/mnt"};
	struct flock range = {.l_type = F_RDLCK, .l_len = 1};
	int fds[5] = {eventfd(0, 0), epoll_create1(0)}, locked = 0;

	for (int i = 0; i < 3; i++)
		fds[i + 2] = open(paths[i], O_RDONLY);
	for (int i = 0; i < 5; i++) {
		if (fds[i] < 0)
			abort();
		locked += flock(fds[i], LOCK_SH | LOCK_NB) == 0;
		locked += fcntl(fds[i], F_SETLK, &range) == 0;
		locked += fcntl(fds[i], F_OFD_SETLK, &range) == 0;
	}
	printf("{\"locked\":%d,\"own\":%d}", locked,
	       flock(a_file(), LOCK_EX | LOCK_NB) == 0);
}

static int moved, own_file, others_file;

static void *move(void *arg)
{
	for (;;) {
		(void)dup2(own_file, moved);
		(void)dup2(others_file, moved);
	}
	return arg;
}

static int locks_of(int fd)
{
	char path[64], line[256];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		n += strncmp(line, "lock:", 5) == 0;
	return n;
}

/* The descriptor is another once the lock was found to be of an own file. */
static void shared_locks_moved(void)
{
	pthread_t thread;

	own_file = a_file();
	others_file = eventfd(0, 0);
	moved = dup(own_file);
	if (pthread_create(&thread, NULL, move, NULL) != 0)
		abort();
	for (int i = 0; i < 16000; i++) {
		struct flock range = {
		    .l_type = F_RDLCK, .l_start = 2 * i, .l_len = 1};

		(void)fcntl(moved, F_OFD_SETLK, &range);
	}
	printf("{\"bounded\":%s}",
	       locks_of(others_file) < 1024 ? "true" : "false");
}

/* ---- watches ---- */

/* Use many epolls, each with every number of one file. */
static int watch_all(int n)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int file = eventfd(0, 0), sum = 0;

	for (int i = 0; i < 100; i++)
		if (dup(file) < 0)
			abort();
	errno = 0;
	while (sum < n && errno == 0) {
		int ep = epoll_create1(0);

		for (int i = 0; i <= 100 && sum < n && errno == 0; i++)
			sum += epoll_ctl(ep, EPOLL_CTL_ADD, file + i, &ev) == 0;
	}
	return sum;
}

static void epoll_watches(void)
{
	tell_end(watch_all(10000), 4096);
}

static void watches_of_many(void)
{
	int sum = 0, status;

	for (int i = 0; i < 6; i++) {
		int ends[2];
		char byte;

		if (pipe(ends) != 0)
			abort();
		if (fork() == 0) {
			bool all = watch_all(1000) == 1000;

			(void)!write(ends[1], all ? "y" : "n", 1);
			if (!all)
				_exit(errno);
			for (;;)
				pause();
		}
		if (read(ends[0], &byte, 1) != 1)
			abort();
		if (byte == 'n') {
			errno = wait(&status) > 0 ? WEXITSTATUS(status) : 0;
			break;
		}
		sum += 1000;
		errno = 0;
	}
	tell_end(sum, 4096);
}

/*
 * Descriptors: of epolls, in one of two rows; the watched files; and numbers between.
 */
enum { EPOLLS = 40, LOW = 10, WATCHED = 360, EACH = 100, HIGH = 460 };

static void dup_to(int fd, int first, int n)
{
	for (int i = 0; i < n; i++)
		if (dup2(fd, first + i) < 0)
			abort();
}

/* Move descriptors between the rows, which a reader passes some time later. */
_Noreturn static void move_about(void)
{
	struct timespec a_while = {.tv_nsec = 1500000};

	for (int from = LOW, to = HIGH;; from ^= to, to ^= from, from ^= to) {
		for (int i = 0; i < EPOLLS; i++) {
			if (dup2(from + i, to + i) < 0)
				abort();
			close(from + i);
		}
		nanosleep(&a_while, NULL);
	}
}

_Noreturn static void hold_and_move(int done)
{
	struct epoll_event ev = {.events = EPOLLIN};

	dup_to(eventfd(0, 0), LOW + EPOLLS, HIGH - LOW - EPOLLS);
	for (int i = 0; i < EPOLLS; i++) {
		if (dup2(epoll_create1(0), LOW + i) < 0)
			abort();
		for (int n = 0; n < EACH; n++)
			if (epoll_ctl(LOW + i, EPOLL_CTL_ADD, WATCHED + n,
				      &ev) != 0)
				abort();
	}
	(void)!write(done, "x", 1);
	move_about();
}

static volatile sig_atomic_t goes_on;

static void on_continue(int sig)
{
	(void)sig;
	goes_on++;
}

/* The watch stops all processes and continues them: goes_on counts the looks. */
static void count_looks(void)
{
	struct sigaction sa = {.sa_handler = on_continue,
			       .sa_flags = SA_RESTART};

	if (sigaction(SIGCONT, &sa, NULL) != 0)
		abort();
}

/* Continue this process by a timer, whoever stops the process. */
static void continue_always(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL,
			      .sigev_signo = SIGCONT};
	struct itimerspec often = {{.tv_nsec = 300000}, {.tv_nsec = 300000}};
	timer_t timer;

	count_looks();
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) != 0 ||
	    timer_settime(timer, 0, &often, NULL) != 0)
		abort();
}

/*
 * A process holds nearly the allowed number and moves the descriptors; a second process
 * tries for more until looked at LOOKS times.
 */
enum { LOOKS = 12 };
static void try_beside_moving(void (*prepare)(void))
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct timespec a_while = {.tv_nsec = 5000000};
	int ends[2], sum = EPOLLS * EACH, refused = 0, ep = -1;
	char byte;

	if (pipe(ends) != 0)
		abort();
	if (fork() == 0) {
		prepare();
		hold_and_move(ends[1]);
	}
	if (read(ends[0], &byte, 1) != 1)
		abort();
	dup_to(eventfd(0, 0), WATCHED, EACH);
	count_looks();
	for (int n = 0; goes_on < LOOKS && sum < 6000;) {
		if (n % EACH == 0)
			ep = epoll_create1(0);
		if (epoll_ctl(ep, EPOLL_CTL_ADD, WATCHED + n % EACH, &ev) ==
		    0) {
			sum++;
			n++;
			continue;
		}
		refused++;
		nanosleep(&a_while, NULL);
	}
	errno = refused > 0 ? ENOSPC : 0;
	tell_end(sum, 4096);
}

static void nothing(void)
{
}

static void watches_moved(void)
{
	try_beside_moving(nothing);
}

static void watches_continued(void)
{
	try_beside_moving(continue_always);
}

/* ---- a process already stopped ---- */

static char state_of(pid_t pid)
{
	char path[32], text[256], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f != NULL && fgets(text, sizeof(text), f) != NULL)
		sscanf(text, "%*d (%*[^)]) %c", &state);
	if (f != NULL)
		fclose(f);
	return state;
}

/*
 * A process stopped before is still stopped after many looks, and continues when told.
 */
static void ranges_beside_stopped(void)
{
	int fd = a_file(), status, n;
	pid_t pid = fork();
	char state;

	if (pid == 0) {
		raise(SIGSTOP);
		_exit(7);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		abort();
	count_looks();
	for (n = 0; goes_on < 3; n++) {
		struct flock range = {.l_len = 1, .l_type = F_WRLCK};

		range.l_type = n % 2 == 0 ? F_WRLCK : F_UNLCK;
		if (fcntl(fd, F_SETLK, &range) != 0)
			abort();
	}
	state = state_of(pid);
	kill(pid, SIGCONT);
	if (waitpid(pid, &status, 0) != pid)
		abort();
	printf("{\"state\":\"%c\",\"status\":%d}", state,
	       WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* ---- programs started by the kernel for an unknown executable ---- */

/* Before Linux 6.14: modprobe, as root, since no format begins so. */
static void executions(void)
{
	char name[] = "./odd-XXXXXX", *none[] = {NULL};
	int fd = mkstemp(name), sum = 0, status;

	if (fd < 0 || write(fd, "\376\377\376\377", 4) != 4 ||
	    fchmod(fd, 0700) != 0 || close(fd) != 0)
		abort();
	for (errno = 0; sum < MANY && errno == 0; sum += 1000) {
		if (fork() == 0) {
			int n = 0;

			while (n < 1000 && execve(name, none, none) != 0 &&
			       errno == ENOEXEC)
				n++;
			_exit(n == 1000 ? 0 : errno);
		}
		if (wait(&status) < 0)
			abort();
		errno = WEXITSTATUS(status);
	}
	tell_end(sum, 17000);
}

/* ---- files kept by a mapping alone ---- */

static int map_files(int n)
{
	for (int i = 0; i < n; i++) {
		int fd = open("/bin/sh", O_RDONLY);
		bool shared = i % 2 == 0;
		void *at =
		    mmap(NULL, 4096, PROT_READ,
			 shared ? MAP_SHARED | MAP_ANONYMOUS : MAP_PRIVATE,
			 shared ? -1 : fd, 0);

		if (at == MAP_FAILED)
			return i;
		close(fd);
	}
	errno = 0;
	return n;
}

/* A child's answer. */
struct mapped {
	int n, err;
};

/*
 * A process with one page of shared memory was refused more, because of the number of
 * all mappings; after the other processes have ended, a little is allowed. The watch
 * counts the mappings: LOOKS looks are too many.
 */
static int share_after_refusal(pid_t others, char *one)
{
	struct timespec a_while = {.tv_nsec = 5000000};

	count_looks();
	for (int i = 0; i < 64; i++)
		if (mmap(NULL, 16 << 20, PROT_READ, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0) != MAP_FAILED)
			return EALREADY;
	if (kill(-others, SIGKILL) != 0)
		return errno;
	for (int seen = goes_on; goes_on - seen < LOOKS;) {
		if (mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1,
			 0) != MAP_FAILED)
			return one[0];
		nanosleep(&a_while, NULL);
	}
	return EDQUOT;
}

static void mapped_files(void)
{
	char *one =
	    mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct mapped m = {0};
	int ends[2], sum = 0, rc;
	pid_t others = 0, pid;

	if (pipe(ends) != 0)
		abort();
	for (int i = 0; i < 5 && m.err == 0; i++) {
		pid = fork();
		if (pid == 0) {
			m.n = map_files(20000);
			m.err = errno;
			(void)!write(ends[1], &m, sizeof(m));
			for (;;)
				pause();
		}
		others = i == 0 ? pid : others;
		if (setpgid(pid, others) != 0 ||
		    read(ends[0], &m, sizeof(m)) != (ssize_t)sizeof(m))
			abort();
		sum += m.n;
	}
	rc = m.err != 0 ? share_after_refusal(others, one) : 0;
	errno = rc != 0 ? rc : m.err;
	tell_end(sum, 65536);
}

/* ---- ending processes ---- */

enum { ENDS = 300, THREADS_OF_ONE = 100, FILES_OF_ONE = 16 };

/* End a process whose threads share one table of descriptors. */
_Noreturn static void be_many_and_end(int file)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	while (dup(file) < FILES_OF_ONE)
		;
	for (int i = 0; i < THREADS_OF_ONE; i++)
		if (pthread_create(&thread, &small, rest, NULL) != 0)
			_exit(1);
	_exit(0);
}

/* Processes in turn: open files must count once, also at the end of a process. */
static void threads_that_end(void)
{
	int file = a_file(), status, bad = 0;

	for (int i = 0; i < ENDS; i++) {
		if (fork() == 0)
			be_many_and_end(file);
		if (wait(&status) < 0)
			abort();
		bad += status != 0;
	}
	printf("{\"bad\":%d}", bad);
}

/* ---- memory outside of the resident size; only a limit ends the run ---- */

/*
 * Use a page table of 4 KiB for each 2 MiB, with one page read: all pages are zero.
 */
static void page_tables(void)
{
	const size_t each = (size_t)1 << 30, step = 2 << 20;

	for (size_t gb = 0; gb < 512; gb++) {
		char *at =
		    mmap(NULL, each, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED)
			break;
		madvise(at, each, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < each; i += step)
			(void)*(volatile char *)(at + i);
	}
	rest(NULL);
}

/* Make every second page writable, so no mapping can be joined with the next. */
static void split_mappings(void)
{
	const size_t n = 60000, page = 4096;
	int ends[2];
	char byte;

	if (pipe(ends) != 0)
		abort();
	for (int i = 0; i < 12; i++) {
		char *at;

		if (fork() != 0)
			continue;
		at = mmap(NULL, n * page, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t p = 0; p < n; p += 2)
			mprotect(at + p * page, page, PROT_READ);
		(void)!write(ends[1], "x", 1);
		for (;;)
			pause();
	}
	for (int i = 0; i < 12; i++)
		(void)!read(ends[0], &byte, 1);
	rest(NULL);
}

/*
 * After forks, each mapping of a process is linked to the mappings of the parents.
 */
static void forked_mappings(void)
{
	const size_t n = 1200, page = 4096;
	char *at = mmap(NULL, n * page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(at, n * page, MADV_NOHUGEPAGE);
	for (size_t p = 0; p < n; p += 2) {
		at[p * page] = 1;
		mprotect(at + p * page, page, PROT_READ);
	}
	for (int i = 0; i < 48; i++)
		if (fork() != 0)
			break;
	rest(NULL);
}

/* Pages of shared memory outlive the mapping, outside of any resident size. */
static void shared_dropped(void)
{
	const size_t each = 16 << 20;
	int n = 0;

	for (errno = 0; n < 20; n++) {
		char *at = mmap(NULL, each, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			break;
		memset(at, 1, each);
		if (munmap(at + 4096, each - 4096) != 0)
			abort();
	}
	tell_end(n, 4);
}

static void shared_in_turn(void)
{
	int n;

	errno = 0;
	for (n = 0; n < 100; n++) {
		void *at = mmap(NULL, 40 << 20, PROT_READ,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED || munmap(at, 40 << 20) != 0)
			break;
	}
	tell_end(n, 100);
}

static void shared_zero(void)
{
	int fd = open("/dev/zero", O_RDWR);
	char byte = 1;

	if (read(fd, &byte, 1) != 1 || byte != 0)
		abort();
	tell_errno(mmap(NULL, 16 << 20, PROT_READ, MAP_SHARED, fd, 0) ==
		   MAP_FAILED);
}

static void *fill(void *arg)
{
	const size_t size = 200 << 20;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		abort();
	memset(at, 1, size);
	return rest(arg);
}

/* The first thread ends; the watch must still find the memory of the process. */
static void memory_without_leader(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fill, NULL) != 0)
		abort();
	syscall(SYS_exit, 0);
}

static void many_files(void)
{
	char name[32];

	for (int i = 0; i < 120000; i++) {
		int fd;

		snprintf(name, sizeof(name), "./%d", i);
		fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0)
			break;
		close(fd);
	}
	rest(NULL);
}

/*
 * A stack counts as data for no limit: a growing mapping, and a page below the first
 * stack.
 */
static void grows_down(void)
{
	tell_errno(mmap(NULL, 1 << 30, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1,
			0) == MAP_FAILED);
}

static void stack_moved(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long lowest = 0;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, "[stack]") != NULL)
			lowest = strtoul(line, NULL, 16);
	if (lowest == 0)
		abort();
	/* page upon page could be had so */
	tell_errno(mremap((void *)lowest, 4096, 1 << 30, MREMAP_MAYMOVE) ==
		   MAP_FAILED);
}

static void named_mappings(void)
{
	tell_errno(prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME,
			 mmap(NULL, 4096, PROT_READ,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			 4096, "name") != 0);
}

/* ---- missing calls and options ---- */

#define ABSENT(name, ...)                                                      \
	static void name(void)                                                 \
	{                                                                      \
		tell_errno(syscall(__VA_ARGS__) < 0);                          \
	}

ABSENT(no_timerfd, SYS_timerfd_create, 1, 0)
ABSENT(no_signalfd, SYS_signalfd4, -1, &(unsigned long){1}, 8, 0)

/* Try all options of all possible levels: the settable options. */
static void socket_options(void)
{
	static const int levels[] = {0,	  1,   6,   17,	 41,  132, 136, 263,
				     270, 271, 279, 280, 281, 282, 284};
	struct sock_filter pass = {0x06, 0, 0, 0xffff};
	struct sock_fprog prog = {1, &pass};
	int ends[2], n = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	printf("[");
	for (size_t l = 0; l < sizeof(levels) / sizeof(levels[0]); l++)
		for (int option = 0; option < 256; option++)
			if (setsockopt(ends[0], levels[l], option, &prog,
				       sizeof(prog)) == 0 ||
			    errno != ENOPROTOOPT)
				printf("%s\"%d:%d\"", n++ > 0 ? "," : "",
				       levels[l], option);
	printf("]");
}

static void socket_buffers(void)
{
	int ends[2], was, is, want = 64 << 20;
	socklen_t size = sizeof(was);

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
	    getsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &was, &size) != 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &want, size) != 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVBUF, &want, size) != 0 ||
	    getsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &is, &size) != 0)
		abort();
	printf("{\"grown\":%s}", is > was ? "true" : "false");
}

/* Fill pairs of sockets up to the limit. */
static void sockets_filled(void)
{
	static char block[1 << 16];
	int ends[2];

	for (int i = 0; i < 400; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) !=
		    0)
			abort();
		for (int end = 0; end < 2; end++)
			while (write(ends[end], block, sizeof(block)) > 0)
				;
	}
	rest(NULL);
}

/* ---- the page cache ---- */

/* A place in poll(2) takes uncounted memory, and time of each wake-up. */
static void many_polled(void)
{
	static struct pollfd all[2000];
	struct timespec none = {0};
	bool refused = true;

	for (int i = 0; i < 2000; i++)
		all[i].fd = -1;
	refused &= syscall(SYS_poll, all, 2000, 0) < 0 && errno == EINVAL;
	refused &= syscall(SYS_ppoll, all, 2000, &none, NULL, 0) < 0 &&
		   errno == EINVAL;
	refused &= syscall(SYS_select, 1100, NULL, NULL, NULL, NULL) < 0 &&
		   errno == EINVAL;
	refused &=
	    syscall(SYS_pselect6, 1100, NULL, NULL, NULL, &none, NULL) < 0 &&
	    errno == EINVAL;
	printf("{\"refused\":%s,\"few\":%d}", refused ? "true" : "false",
	       poll(all, 1024, 0));
}

static void cached_pages(void)
{
	char byte;
	struct iovec iov = {&byte, 1};
	int fd = open("/bin/sh", O_RDONLY);

	tell_errno(preadv2(fd, &iov, 1, 0, RWF_NOWAIT) < 0);
}

static const char *how(long rc)
{
	return rc < 0 ? strerrorname_np(errno) : "0";
}

/*
 * On a mapped file, whose owner the kernel knows, and whose pages can be dropped.
 */
static void mapped_pages(void)
{
	unsigned char in;
	int fd = open("/bin/sh", O_RDONLY);
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		abort();
	printf("{\"told\":\"%s\"", how(syscall(SYS_mincore, at, 4096, &in)));
	printf(",\"cold\":\"%s\"", how(madvise(at, 4096, MADV_COLD)));
	printf(",\"out\":\"%s\"}", how(madvise(at, 4096, MADV_PAGEOUT)));
}

const struct attack record_attacks[] = {
    {"ranges", ranges},
    {"ranges_waited_for", ranges_waited_for},
    {"ranges_of_a_file", ranges_of_a_file},
    {"ranges_of_many", ranges_of_many},
    {"ranges_of_the_dead", ranges_of_the_dead},
    {"shared_locks", shared_locks},
    {"shared_locks_moved", shared_locks_moved},
    {"ranges_in_turn", ranges_in_turn},
    {"ranges_in_a_crowd", ranges_in_a_crowd},
    {"epoll_watches", epoll_watches},
    {"watches_of_many", watches_of_many},
    {"watches_moved", watches_moved},
    {"watches_continued", watches_continued},
    {"ranges_beside_stopped", ranges_beside_stopped},
    {"mapped_files", mapped_files},
    {"executions", executions},
    {"threads_that_end", threads_that_end},
    {"page_tables", page_tables},
    {"split_mappings", split_mappings},
    {"forked_mappings", forked_mappings},
    {"many_files", many_files},
    {"shared_dropped", shared_dropped},
    {"shared_in_turn", shared_in_turn},
    {"shared_zero", shared_zero},
    {"memory_without_leader", memory_without_leader},
    {"named_mappings", named_mappings},
    {"no_timerfd", no_timerfd},
    {"no_signalfd", no_signalfd},
    {"socket_options", socket_options},
    {"socket_buffers", socket_buffers},
    {"sockets_filled", sockets_filled},
    {"many_polled", many_polled},
    {"cached_pages", cached_pages},
    {"mapped_pages", mapped_pages},
    {"grows_down", grows_down},
    {"stack_moved", stack_moved},
    {NULL, NULL},
};
