/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_held.c - kernel memory of a program beside resident pages: page tables of
 * small processes, buffers of open files of /proc; memory that grows while a look is held
 * up; and births, whose memory is freed later. A limit alone ends most of these runs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

_Noreturn static void rest(void)
{
	for (;;)
		pause();
}

/* Without this end a run goes on after a cgroup killed a process of the run. */
_Noreturn static void wait_for_one(void)
{
	(void)wait(NULL);
	_exit(1);
}

/* Of a process with few MiB of addresses every page that is read needs two page tables. */
_Noreturn static void read_apart(void)
{
	const size_t n = 1000, apart = (size_t)1 << 30, page = 4096;
	char *const from = (char *)((size_t)1 << 44);

	for (size_t k = 0; k < n; k++) {
		char *at = mmap(
		    from + k * apart, page, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (at == MAP_FAILED)
			break;
		(void)*(volatile char *)at;
	}
	rest();
}

static void tables_of_small(void)
{
	for (int i = 0; i < 28; i++)
		if (fork() == 0)
			read_apart();
	wait_for_one();
}

/* An open file of /proc keeps the text that was read, here a line a lock. */
static void proc_buffers(void)
{
	struct flock range = {
	    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int file = open("./locked", O_CREAT | O_RDWR, 0600);
	char path[64], byte;

	if (file < 0)
		abort();
	for (int i = 4000; i > 0; i--) {
		range.l_start = (off_t)2 * i;
		if (fcntl(file, F_OFD_SETLK, &range) != 0)
			abort();
	}
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", file);
	for (int i = 0; i < 900; i++) {
		int fd = open(path, O_RDONLY);

		if (fd < 0 || read(fd, &byte, 1) != 1)
			abort();
	}
	rest();
}

/* A process in mprotect(2) nearly always holds the lock of the mappings. */
_Noreturn static void keep_lock(void)
{
	const size_t n = 64 << 20, page = 4096;
	char *at = mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(at, n, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i += page)
		(void)*(volatile char *)(at + i);
	for (;;) {
		mprotect(at, n, PROT_NONE);
		mprotect(at, n, PROT_READ);
	}
}

/* A look at memory waits for locks of processes that wait for a processor. */
static void looks_held_up(void)
{
	const size_t n = 100 << 20;

	for (int i = 0; i < 200; i++)
		if (fork() == 0)
			keep_lock();
	sleep(2);
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			char *at = mmap(NULL, n, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (at != MAP_FAILED)
				memset(at, 1, n);
			rest();
		}
	wait_for_one();
}

_Noreturn static void rename_always(int i)
{
	char one[32], other[32];

	snprintf(one, sizeof(one), "./names/a%d", i);
	snprintf(other, sizeof(other), "./names/b%d", i);
	close(open(one, O_CREAT | O_WRONLY, 0600));
	for (;;) {
		rename(one, other);
		rename(other, one);
	}
}

/* The shim looks for a missing name in a folder whose lock such processes have. */
static void names_held_up(void)
{
	mkdir("./names", 0700);
	for (int i = 0; i < 200; i++)
		if (fork() == 0) {
			if (i % 2 == 0)
				rename_always(i);
			for (;;)
				;
		}
	sleep(2);
	dprintf(3, "{\"artifact\":{\"path\":\"names/c\",\"name\":\"c\"}}\n");
	rest();
}

static void *end_at_once(void *arg)
{
	return arg;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

/*
 * Threads, processes and sessions that end at once, far more than in a moment: a thousand
 * are allowed at once, and a thousand a second. All births take no less than that.
 */
static void births(void)
{
	const int threads = 1500, processes = 750; /* with a session each */
	double begun = now_ms();
	int failed = 0;

	for (int i = 0; i < threads; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, end_at_once, NULL) != 0)
			failed++;
		else
			pthread_join(t, NULL);
	}
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(setsid() < 0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			failed++;
	}
	printf("{\"failed\":%d,\"paced\":%s}", failed,
	       now_ms() - begun >= threads + 2 * processes - 1000 - 1
		   ? "true"
		   : "false");
}

const struct attack held_attacks[] = {{"tables_of_small", tables_of_small},
				      {"proc_buffers", proc_buffers},
				      {"looks_held_up", looks_held_up},
				      {"names_held_up", names_held_up},
				      {"births", births},
				      {NULL, NULL}};
