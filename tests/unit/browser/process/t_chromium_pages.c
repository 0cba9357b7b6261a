/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU time and threads of page processes, from look to look. The ids belong to no
 * process, so the priority of real processes does not change.
 */
#include "browser/process/chromium_pages.h"

#include "tests/unit/tap.h"

#define A 0x7ffffff0
#define B 0x7ffffff1
#define TICK 250

/* N looks at A and B, which had so much CPU time in each; A has THREADS. */
static void look(int n, uint64_t a_ms, uint64_t b_ms, uint64_t threads)
{
	static int64_t now;
	static uint64_t a, b;

	for (int i = 0; i < n; i++) {
		now += TICK;
		chromium_pages_look(now);
		chromium_pages_saw(A, threads, a += a_ms);
		if (b_ms != UINT64_MAX)
			chromium_pages_saw(B, 7, b += b_ms);
	}
}

TEST(threads)
{
	look(1, 0, 0, CHROMIUM_PAGES_THREADS);
	is_int(chromium_pages_crowded().pid, 0,
	       "a page with the most allowed threads is not crowded");
	look(1, 0, 0, CHROMIUM_PAGES_THREADS + 1);
	is_int(chromium_pages_crowded().pid, A,
	       "a page with one thread more is crowded");
	is_int((int64_t)chromium_pages_crowded().threads,
	       CHROMIUM_PAGES_THREADS + 1,
	       "the crowded page's number of threads is told");
	look(1, 0, 0, 1);
	is_int(chromium_pages_crowded().pid, 0,
	       "a page whose threads ended is not crowded");
}

TEST(cpu)
{
	look(40, 0, 0, 1);
	is_int(chromium_pages_busiest(2000).pid, 0, "an idle page is not busy");
	look(8, 124, 10, 1);
	is_int(chromium_pages_busiest(2000).pid, 0,
	       "a page with less than a second of CPU is not busy");
	look(8, 125, 10, 1);
	is_int(chromium_pages_busiest(2000).pid, A,
	       "a page with a second of CPU is busy");
	is_int((int64_t)chromium_pages_busiest(2000).cpu_ms, 1000,
	       "the busy page's CPU time is told");
	look(8, 130, 250, 1);
	is_int(chromium_pages_busiest(2000).pid, B, "the busier one is named");
	is_int((int64_t)chromium_pages_busiest(1000000).cpu_ms, 3032,
	       "another page is the busiest of the whole window");
	look(8, 0, 0, 1);
	is_int(chromium_pages_busiest(2000).pid, 0,
	       "CPU time before the window does not count");
	is_int(chromium_pages_busiest(4000).pid, B,
	       "CPU time within a longer window counts");
	look(1, 0, UINT64_MAX, 1);
	is_int(chromium_pages_busiest(8000).pid, A,
	       "an ended process is never the busiest");
}

#define HELPER 0x7ffffff2
#define CROWD 30
#define FIRST 0x7fffff00

static int64_t later = 1000000000;

TEST(of_helpers)
{
	uint64_t cpu = 0;

	for (int i = 0; i < 40; i++) {
		chromium_pages_look(later += TICK);
		chromium_pages_saw(A, 1, cpu += 150);
		chromium_pages_saw_helper(HELPER, i < 20 ? 0 : cpu * 2);
		if (i == 19)
			is_int(chromium_pages_busiest(2000).pid, A,
			       "a page is busy beside a helper that is not");
	}
	is_int(chromium_pages_busiest(2000).pid, 0,
	       "no page is to blame for what a helper does");
	is_int(chromium_pages_nice(HELPER), 0,
	       "a busy helper keeps the priority");
}

/* Looks for so long, in each of which A has A_MS and each of CROWD pages MS. */
static void look_at_crowd(int n, uint64_t a_ms, uint64_t ms)
{
	static uint64_t a, each;

	for (int i = 0; i < n; i++) {
		chromium_pages_look(later += TICK);
		chromium_pages_saw(A, 1, a += a_ms);
		each += ms;
		for (pid_t pid = FIRST; pid < FIRST + CROWD; pid++)
			chromium_pages_saw(pid, 1, each);
	}
}

TEST(priorities)
{
	chromium_pages_init(2, true);
	look_at_crowd(20, 250, 0);
	is_int(chromium_pages_nice(A), CHROMIUM_PAGES_NICE_BUSY,
	       "a busy page yields");
	is_int(chromium_pages_nice(FIRST), CHROMIUM_PAGES_NICE,
	       "an idle page keeps the priority");
	look_at_crowd(20, 0, 0);
	is_int(chromium_pages_nice(A), CHROMIUM_PAGES_NICE,
	       "a page that is busy no more has the usual priority");
	look_at_crowd(20, 2, 15);
	is_int(chromium_pages_nice(FIRST), CHROMIUM_PAGES_NICE_BUSY,
	       "of many pages each that has its part yields");
	is_int(chromium_pages_nice(A), CHROMIUM_PAGES_NICE,
	       "  to one that has done little");
	look_at_crowd(20, 0, 0);
	chromium_pages_init(2, false);
	look_at_crowd(20, 0, 15);
	is_int(
	    chromium_pages_nice(FIRST), CHROMIUM_PAGES_NICE,
	    "a page with some CPU time keeps the priority if priorities cannot rise");
	look_at_crowd(20, 250, 0);
	look_at_crowd(20, 0, 0);
	is_int(chromium_pages_nice(A), CHROMIUM_PAGES_NICE_BUSY,
	       "a lowered priority stays if priorities cannot rise");
}
