/* SPDX-License-Identifier: Apache-2.0 */
/* t_requestor_memory.c - who may keep how much, and who is refused first. */
#include "supervisor/requestor/memory.h"
#include "tests/unit/tap.h"

#define MOST 1200

static struct memory all = {.most = MOST};
static struct memory_account a = {.all = &all}, b = {.all = &all},
			     c = {.all = &all};

/* As much as Q gets, a little at a time. */
static long long fill(struct memory_account *q)
{
	while (memory_take(q, 1))
		;
	return q->held;
}

TEST(shares)
{
	is_int(fill(&a), MOST / 2, "one alone may keep a half of all");
	ok(!memory_is_over(&a),
	   "an account with half of all memory is not over the share");
	is_int(fill(&b), MOST / 4, "the next one a half of what is left");
	ok(memory_is_over(&a),
	   "the first account is over the share beside a second");
	ok(memory_room(&a) == 0 && !memory_take(&a, 1),
	   "the account over the share is refused");
	is_int(a.held, MOST / 2, "a refused claim counts for nothing");
	memory_give(&a, 150);
	ok(!memory_take(&a, 1),
	   "an account over the share is refused before enough was given back");
	memory_give(&a, 1);
	ok(memory_take(&a, 1) && memory_take(&b, 100),
	   "both accounts have room when enough was given back");
	memory_give(&a, (size_t)a.held), memory_give(&b, (size_t)b.held);
	is_int(all.held, 0, "nothing is left of those that have gone");
}

TEST(at_once)
{
	ok(!memory_take(&a, MOST + 1), "more than there is at all is refused");
	ok(memory_take(&a, MOST), "all at once is not, where nobody has any");
	ok(memory_is_full(&b), "memory is full when one account has all");
	ok(!memory_take(&b, 1),
	   "another account is refused when memory is full");
	is_int((long long)b.refused, 2, "a refusal is counted");
	memory_change(&a, MOST, 10);
	is_int(all.held, 10, "what became less is counted as that");
	memory_add(&c, 2 * (size_t)MOST);
	ok(memory_is_over(&c) && memory_is_over(&a),
	   "what cannot be refused is counted beyond the bound");
	memory_give(&c, 2 * (size_t)MOST);
	memory_give(&a, 10);
}

TEST(none)
{
	struct memory_account alone = {0};

	ok(memory_take(NULL, 1) && memory_take(&alone, SIZE_MAX / 4) &&
	       !memory_is_over(&alone) && !memory_is_full(&alone),
	   "without a bound nobody is refused");
	all.most = 0;
	ok(memory_take(&a, 10 * (size_t)MOST),
	   "memory is not refused without a bound");
	memory_give(&a, 10 * (size_t)MOST);
	is_int(
	    memory_of(1 << 30), 672 << 20,
	    "of a process's memory clients fill what is left by its own part");
	is_int(memory_of_results(1 << 30), 224 << 20,
	       "results fill a part of a process's memory");
	is_int(memory_of(128 << 20) + memory_of_results(128 << 20), 80 << 20,
	       "a process's own part is 48 MiB at least");
	ok(memory_of(0) == 0 && memory_of_results(0) == INT64_MAX,
	   "without a bound there are no parts");
}
