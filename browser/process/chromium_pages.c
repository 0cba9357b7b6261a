/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_pages.c - the use of pages' processes, from look to look, for
 * chromium_init.c. When a priority cannot be lowered, the kernel shares CPU
 * time as usual.
 */
#include "browser/process/chromium_pages.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/mem.h"

#define PAGES_MAX 256 /* further pages are counted only in the sum */
#define LOOKS 34      /* looks of 250 ms: the window and its begin */
/* Chromium itself has 5, as it has to answer whatever pages do. */
#define NICE_NEW 10
#define NICE_BUSY 19
#define BUSY_FOR_MS 4000 /* busy: half of a CPU for so long */

struct page {
	pid_t pid;
	bool seen;
	int nice;
	uint64_t threads;
	unsigned looks; /* count of looks; the last is at (looks - 1) % LOOKS */
	struct {
		int64_t at;
		uint64_t cpu_ms;
	} look[LOOKS];
};

static struct {
	struct page pages[PAGES_MAX];
	int64_t now;
} it;

/* Return the CPU time of P in the last MS. */
static uint64_t used_in(const struct page *p, int64_t ms)
{
	unsigned n = p->looks < LOOKS ? p->looks : LOOKS;
	uint64_t last, first;

	if (n == 0)
		return 0;
	last = first = p->look[(p->looks - 1) % LOOKS].cpu_ms;
	for (unsigned i = 1; i <= n; i++) {
		unsigned at = (p->looks - i) % LOOKS;

		first = p->look[at].cpu_ms;
		if (it.now - p->look[at].at >= ms)
			break;
	}
	return last - first;
}

/* Set the priority of each thread of P; new threads inherit it. */
static void set_nice(struct page *p, int nice)
{
	char path[64];
	const struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)p->pid);
	d = opendir(path);
	while (d != NULL && (e = readdir(d)) != NULL) {
		long tid = strtol(e->d_name, NULL, 10);

		if (tid > 0)
			setpriority(PRIO_PROCESS, (id_t)tid, nice);
	}
	if (d != NULL)
		closedir(d);
	p->nice = nice;
}

static struct page *page_of(pid_t pid)
{
	struct page *free_one = NULL;

	for (size_t i = 0; i < ARRAY_LEN(it.pages); i++) {
		if (it.pages[i].pid == pid)
			return &it.pages[i];
		if (free_one == NULL && it.pages[i].pid == 0)
			free_one = &it.pages[i];
	}
	if (free_one != NULL)
		*free_one = (struct page){.pid = pid};
	return free_one;
}

void chromium_pages_look(int64_t now_ms)
{
	for (size_t i = 0; i < ARRAY_LEN(it.pages); i++) {
		if (!it.pages[i].seen)
			it.pages[i].pid = 0;
		it.pages[i].seen = false;
	}
	it.now = now_ms;
}

void chromium_pages_saw(pid_t pid, uint64_t threads, uint64_t cpu_ms)
{
	struct page *p = page_of(pid);

	if (p == NULL)
		return;
	p->seen = true;
	p->threads = threads;
	p->look[p->looks % LOOKS].at = it.now;
	p->look[p->looks % LOOKS].cpu_ms = cpu_ms;
	p->looks++;
	if (p->nice < NICE_NEW)
		set_nice(p, NICE_NEW);
	if (p->nice < NICE_BUSY && used_in(p, BUSY_FOR_MS) >= BUSY_FOR_MS / 2)
		set_nice(p, NICE_BUSY);
}

struct chromium_pages_one chromium_pages_crowded(void)
{
	struct chromium_pages_one one = {.threads = CHROMIUM_PAGES_THREADS};

	for (size_t i = 0; i < ARRAY_LEN(it.pages); i++)
		if (it.pages[i].seen && it.pages[i].threads > one.threads)
			one = (struct chromium_pages_one){
			    it.pages[i].pid, it.pages[i].threads, 0};
	return one;
}

struct chromium_pages_one chromium_pages_busiest(int64_t ms)
{
	struct chromium_pages_one one = {.cpu_ms = CHROMIUM_PAGES_BUSY_MS - 1};

	if (ms > CHROMIUM_PAGES_WINDOW_MS)
		ms = CHROMIUM_PAGES_WINDOW_MS;
	for (size_t i = 0; i < ARRAY_LEN(it.pages); i++) {
		const struct page *p = &it.pages[i];
		uint64_t used = p->seen ? used_in(p, ms) : 0;

		if (used > one.cpu_ms)
			one = (struct chromium_pages_one){p->pid, p->threads,
							  used};
	}
	return one;
}
