/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_records.c - small records of the kernel which no cgroup and no limit counts:
 * locks on ranges, watches, executed files, mappings of files, what ended processes leave.
 * Attempts are bounded, since other programs use the same machine.
 */
#include <errno.h>
#include <fcntl.h>
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

static void ranges(void)
{
	tell_end(take_ranges(a_file(), F_SETLK, MANY), 8192);
}

static void ranges_waited_for(void)
{
	tell_end(take_ranges(a_file(), F_SETLKW, MANY), 8192);
}

/* Of several files, since the kernel walks all locks of a file for each lock. */
static void ranges_of_a_file(void)
{
	int sum = 0, n = 1;

	while (sum < MANY && n > 0) {
		n = take_ranges(a_file(), F_OFD_SETLK, 1024);
		sum += n;
	}
	tell_end(sum, 32768);
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
		if (pthread_create(&thread, NULL, thread_rest, NULL) != 0)
			abort();
	ranges_in_turn();
}

/* Try each kind of lock on the inodes that other processes share. */
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

enum { ENDS = 100, THREADS_OF_ONE = 100, FILES_OF_ONE = 16 };

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
		if (pthread_create(&thread, &small, thread_rest, NULL) != 0)
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
    {NULL, NULL},
};
