/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack_memory.c - memory outside of the resident size: page tables, mappings, shared
 * memory, inodes, stacks. Only a limit of the run ends such an attack.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

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
	thread_rest(NULL);
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
	thread_rest(NULL);
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
	thread_rest(NULL);
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
	return thread_rest(arg);
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
	thread_rest(NULL);
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

const struct attack memory_attacks[] = {
    {"page_tables", page_tables},
    {"split_mappings", split_mappings},
    {"forked_mappings", forked_mappings},
    {"many_files", many_files},
    {"shared_dropped", shared_dropped},
    {"shared_in_turn", shared_in_turn},
    {"shared_zero", shared_zero},
    {"memory_without_leader", memory_without_leader},
    {"named_mappings", named_mappings},
    {"grows_down", grows_down},
    {"stack_moved", stack_moved},
    {NULL, NULL},
};
