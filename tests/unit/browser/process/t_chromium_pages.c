/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes of pages used, from look to look. Their ids are ones that no
 * process has, so that nobody's priority changes.
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
	is_int(chromium_pages_crowded().pid, 0, "as many as it may have");
	look(1, 0, 0, CHROMIUM_PAGES_THREADS + 1);
	is_int(chromium_pages_crowded().pid, A, "one more is too many");
	is_int((int64_t)chromium_pages_crowded().threads,
	       CHROMIUM_PAGES_THREADS + 1, "and how many is told");
	look(1, 0, 0, 1);
	is_int(chromium_pages_crowded().pid, 0, "until they have ended");
}

TEST(cpu)
{
	look(40, 0, 0, 1);
	is_int(chromium_pages_busiest(2000).pid, 0, "who does nothing is not");
	look(8, 124, 10, 1);
	is_int(chromium_pages_busiest(2000).pid, 0,
	       "nor who had less than a second");
	look(8, 125, 10, 1);
	is_int(chromium_pages_busiest(2000).pid, A, "a second is busy");
	is_int((int64_t)chromium_pages_busiest(2000).cpu_ms, 1000,
	       "and its time is told");
	look(8, 130, 250, 1);
	is_int(chromium_pages_busiest(2000).pid, B, "the busier one is named");
	is_int((int64_t)chromium_pages_busiest(1000000).cpu_ms, 3032,
	       "and another within the whole window");
	look(8, 0, 0, 1);
	is_int(chromium_pages_busiest(2000).pid, 0, "what was before is over");
	is_int(chromium_pages_busiest(4000).pid, B, "unless it is asked for");
	look(1, 0, UINT64_MAX, 1);
	is_int(chromium_pages_busiest(8000).pid, A,
	       "who is gone is named no more");
}
