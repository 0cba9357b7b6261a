/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_pages.c - the use of pages' processes, from look to look, for
 * chromium_init.c. When a priority cannot be set, the kernel shares CPU time
 * as usual.
 */
#include "browser/process/chromium_pages.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/mem.h"

#define PAGES_MAX 256 /* further pages are counted only in the sum */
#define LOOKS 34      /* looks of 250 ms: the window and its begin */
#define NICE_NEW CHROMIUM_PAGES_NICE
#define NICE_BUSY CHROMIUM_PAGES_NICE_BUSY
#define BUSY_FOR_MS 4000 /* busy: half of a CPU for so long */

struct page {
	pid_t pid;
	bool seen;
	bool is_helper; /* Chromium's own work, for any page */
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
	unsigned cpus;
	bool raises;	  /* a priority can be raised again */
	uint64_t busy_ms; /* of the last BUSY_FOR_MS: a page with more yields */
} it = {.cpus = 1, .busy_ms = BUSY_FOR_MS / 2};

void chromium_pages_init(unsigned cpus, bool raises)
{
	it.cpus = cpus;
	it.raises = raises;
}

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

/*
 * Of many working pages none has half of a CPU: half of an equal part is much
 * then. A page which works for a moment goes before them.
 */
static uint64_t busy_ms(unsigned working)
{
	uint64_t half = BUSY_FOR_MS / 2, part;

	if (!it.raises || working == 0)
		return half;
	part = half * it.cpus / working;
	return part < half ? part : half;
}

void chromium_pages_look(int64_t now_ms)
{
	unsigned working = 0;

	for (size_t i = 0; i < ARRAY_LEN(it.pages); i++) {
		struct page *p = &it.pages[i];

		if (!p->seen)
			p->pid = 0;
		else if (!p->is_helper && used_in(p, BUSY_FOR_MS) > 0)
			working++;
		p->seen = false;
	}
	it.busy_ms = busy_ms(working);
	it.now = now_ms;
}

static struct page *note_page(pid_t pid, uint64_t cpu_ms)
{
	struct page *p = page_of(pid);

	if (p == NULL)
		return NULL;
	p->seen = true;
	p->look[p->looks % LOOKS].at = it.now;
	p->look[p->looks % LOOKS].cpu_ms = cpu_ms;
	p->looks++;
	return p;
}

void chromium_pages_saw(pid_t pid, uint64_t threads, uint64_t cpu_ms)
{
	struct page *p = note_page(pid, cpu_ms);
	uint64_t used;

	if (p == NULL)
		return;
	p->threads = threads;
	used = used_in(p, BUSY_FOR_MS);
	if (p->nice < NICE_NEW)
		set_nice(p, NICE_NEW);
	if (p->nice < NICE_BUSY && used >= it.busy_ms)
		set_nice(p, NICE_BUSY);
	else if (p->nice > NICE_NEW && it.raises && used < it.busy_ms / 2)
		set_nice(p, NICE_NEW);
}

void chromium_pages_saw_helper(pid_t pid, uint64_t cpu_ms)
{
	struct page *p = note_page(pid, cpu_ms);

	if (p != NULL)
		p->is_helper = true;
}

int chromium_pages_nice(pid_t pid)
{
	for (size_t i = 0; i < ARRAY_LEN(it.pages); i++)
		if (it.pages[i].pid == pid)
			return it.pages[i].nice;
	return 0;
}

struct chromium_pages_one chromium_pages_crowded(void)
{
	struct chromium_pages_one one = {.threads = CHROMIUM_PAGES_THREADS};

	for (size_t i = 0; i < ARRAY_LEN(it.pages); i++)
		if (it.pages[i].seen && !it.pages[i].is_helper &&
		    it.pages[i].threads > one.threads)
			one = (struct chromium_pages_one){
			    it.pages[i].pid, it.pages[i].threads, 0};
	return one;
}

/* The work of helpers is of no known page: when it is most, no page is at fault. */
struct chromium_pages_one chromium_pages_busiest(int64_t ms)
{
	struct chromium_pages_one one = {.cpu_ms = CHROMIUM_PAGES_BUSY_MS - 1};
	uint64_t of_pages = 0, of_helpers = 0;

	if (ms > CHROMIUM_PAGES_WINDOW_MS)
		ms = CHROMIUM_PAGES_WINDOW_MS;
	for (size_t i = 0; i < ARRAY_LEN(it.pages); i++) {
		const struct page *p = &it.pages[i];
		uint64_t used = p->seen ? used_in(p, ms) : 0;

		*(p->is_helper ? &of_helpers : &of_pages) += used;
		if (!p->is_helper && used > one.cpu_ms)
			one = (struct chromium_pages_one){p->pid, p->threads,
							  used};
	}
	return of_helpers > of_pages ? (struct chromium_pages_one){0} : one;
}
