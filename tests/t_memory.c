/* t_memory.c - the zygote's memory, laid out for its clones. */
#include "worker/memory.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

#define HOLES 500
#define PRESENT (UINT64_C(1) << 63) /* proc_pid_pagemap(5) */

extern const char __executable_start[], etext[];

/* How many percent of the code's pages are mapped in us, who ran but little? */
static int mapped(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), there = 0, n = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry;

	for (uintptr_t p = (uintptr_t)__executable_start / page;
	     p < (uintptr_t)etext / page; p++) {
		n++;
		if (pread(fd, &entry, sizeof(entry),
			  (off_t)(p * sizeof(entry))) == sizeof(entry))
			there += (entry & PRESENT) != 0;
	}
	close(fd);
	return n == 0 ? 0 : (int)(there * 100 / n);
}

static int mapped_in_child(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(mapped());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_text(void)
{
	int before = mapped_in_child(), after;

	memory_share_text();
	after = mapped_in_child();
	printf("# of its code a clone had %d %%, and has %d %%\n", before,
	       after);
	ok(before < 90, "a clone starts without the pages of a file");
	is_int(after, 100, "with the code shared it has them all");
}

static void test_heap(void)
{
	void *keep[HOLES], *holes[HOLES];
	uintptr_t last = 0;
	bool beyond = true;

	for (size_t i = 0; i < HOLES; i++) {
		holes[i] = malloc(16 + i * 7);
		keep[i] = malloc(100); /* or they would be one */
		last = (uintptr_t)keep[i];
	}
	for (size_t i = 0; i < HOLES; i++)
		free(holes[i]);
	memory_pack_heap();
	for (size_t i = 0; i < HOLES; i++) {
		holes[i] = malloc(16 + i * 7);
		beyond = beyond && (uintptr_t)holes[i] > last;
	}
	ok(beyond, "no allocation falls into a hole between others");
	for (size_t i = 0; i < HOLES; i++) {
		free(holes[i]);
		free(keep[i]);
	}
}

int main(void)
{
	test_text();
	if (SANITIZED)
		skip("under a sanitizer", "its heap is another one");
	else
		test_heap();
	return tap_done();
}
