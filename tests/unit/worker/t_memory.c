/* SPDX-License-Identifier: Apache-2.0 */
/* t_memory.c - the layout of the zygote's memory for its clones. */
#include "worker/memory.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define HOLES 500
#define PAGE 4096
#define SYS_THP "/sys/kernel/mm/transparent_hugepage/enabled"

/* Constants enough to be worth a huge page. */
#define X16(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x
static const uint64_t constants[] = {
    X16(X16(X16(X16(UINT64_C(0x0123456789abcdef))))),
};

static uint64_t sum(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(constants); i++)
		n = n * 31 + ((const volatile uint64_t *)constants)[i];
	return n;
}

/* The protection of the constants' mapping, and its size in huge pages. */
static long huge_kb(char perms[5])
{
	FILE *f = fopen("/proc/self/smaps", "re");
	uintptr_t at = (uintptr_t)constants;
	char line[512], p[5] = "";
	unsigned long from, to;
	bool here = false;
	long kb = -1;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%lx-%lx %4s", &from, &to, p) == 3) {
			here = from <= at && at < to;
			if (here)
				memcpy(perms, p, 5);
		}
		if (here)
			sscanf(line, "AnonHugePages: %ld", &kb);
	}
	if (f != NULL)
		fclose(f);
	return kb;
}

static bool has_huge_pages(void)
{
	char line[64] = "[never]";
	FILE *f = fopen(SYS_THP, "re");

	if (f != NULL && fgets(line, sizeof(line), f) == NULL)
		line[0] = '\0';
	if (f != NULL)
		fclose(f);
	return strstr(line, "[never]") == NULL;
}

/* The end of a child which writes to a constant. */
static int end_of_writer(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		uintptr_t at = (uintptr_t)constants;

		/* hides the value from static analyzers */
		__asm__ volatile("" : "+r"(at));
		signal(SIGSEGV, SIG_DFL);
		*(volatile uint64_t *)at = 0;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_text(void)
{
	char perms[5] = "";
	uint64_t before = sum();

	is_int(huge_kb(perms), 0,
	       "a program's constants are pages of its file");
	memory_share_text();
	if (has_huge_pages())
		ok(huge_kb(perms) >= 2048, "shared, they are in a huge page");
	else
		skip(SYS_THP " says never", "shared, they are in a huge page");
	is_str(perms, "r--p", "the shared constants are read-only");
	is_int(end_of_writer(), SIGSEGV,
	       "a writer to the constants gets SIGSEGV");
	ok(sum() == before, "the shared constants keep their values");
}

static void test_heap(void)
{
	void *keep[HOLES], *holes[HOLES], *page;
	uintptr_t last = 0;
	bool beyond = true;

	for (size_t i = 0; i < HOLES; i++) {
		holes[i] = malloc(16 + i * 7);
		keep[i] = malloc(100); /* keeps neighbouring holes apart */
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
	memory_begin_page();
	page = malloc(100);
	/* cppcheck-suppress uninitdata; the address is tested, not the contents */
	ok((uintptr_t)page % PAGE < 64, "the next block can begin a page");
	free(page);
	for (size_t i = 0; i < HOLES; i++) {
		free(holes[i]);
		free(keep[i]);
	}
}

#define FRONT 100

struct seen {
	uintptr_t room, here;
	int sum; /* of all bytes */
};

static void look(void *room, void *arg)
{
	struct seen *seen = arg;
	const unsigned char *p = room;

	seen->room = (uintptr_t)room;
	seen->here = (uintptr_t)__builtin_frame_address(0);
	for (size_t i = 0; i < 3 * PAGE; i++)
		seen->sum += p[i];
}

static void test_stack(void)
{
	struct seen seen = {0};
	uintptr_t page;

	memory_pack_stack(look, (size_t)3 * PAGE, FRONT, &seen);
	page = seen.room & ~(uintptr_t)(PAGE - 1);
	ok(seen.room + FRONT <= page + PAGE &&
	       seen.room + FRONT + 32 > page + PAGE,
	   "the written part of a room on the stack ends a page");
	ok(seen.here < seen.room && seen.here > page + PAGE / 2,
	   "the owner of a room on the stack begins in the same page");
	is_int(seen.sum, 0, "the room on the stack is zero");
}

/* A clone would have to be registered for rseq, which no clone is. */
static void test_cpu(void)
{
#if defined(RSEQ_SIG) && __has_builtin(__builtin_thread_pointer)
	struct rseq *own =
	    (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);

	memory_forget_cpu();
	is_int((int)own->cpu_id, RSEQ_CPU_ID_UNINITIALIZED,
	       "the kernel notes our processor no more");
#else
	skip("this libc asks for no such note",
	     "the kernel notes our processor no more");
#endif
}

int main(void)
{
	if (SANITIZED) {
		skip("under a sanitizer",
		     "a sanitizer guards what is between constants");
		skip("under a sanitizer", "a sanitizer has another heap");
	} else {
		test_text();
		test_heap();
		test_stack();
		test_cpu();
	}
	return tap_done();
}
