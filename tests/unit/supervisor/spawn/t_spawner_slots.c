/* SPDX-License-Identifier: Apache-2.0 */
/* t_spawner_slots.c - slots of workers: each has a uid, where root started the server. */
#include "tests/unit/supervisor/spawn/spawner_fixture.h"

#define SLOTS ((int)ZYGOTE_PROTO_SLOTS)

static struct hand many[SLOTS + 1];

/* Do the slots have a worker at once, without a slot for one more? */
static void all_usable(const char *after)
{
	bool seen[SLOTS] = {false};
	int asked = 0, twice = 0;

	for (; asked < SLOTS && ask(&many[asked], BEAR) == 0; asked++) {
		twice += seen[many[asked].child.slot];
		seen[many[asked].child.slot] = true;
		until(&many[asked].spawned, 1);
		if (many[asked].err != 0)
			break;
	}
	ok(asked == SLOTS && twice == 0,
	   "after %s each of %d slots has a worker, %d had", after, SLOTS,
	   asked);
	is_int(ask(&many[SLOTS], BEAR), -EAGAIN,
	       "an order without a free slot is refused");
	for (int i = 0; i < asked; i++)
		kill(many[i].pid, SIGKILL);
	for (int i = 0; i < asked; i++)
		until(&many[i].exits, 1);
}

static void test_slots_come_back(void)
{
	enum { PENDING = 64 };
	int failed = 0, lost = 0;

	start("slots");
	until(&reports, 1);
	for (int i = 0; i < SLOTS + 9; i++) {
		struct hand h;

		if (ask(&h, REFUSE) != 0)
			break;
		until(&h.spawned, 1);
		failed += h.err == EAGAIN;
	}
	is_int(failed, SLOTS + 9, "more births fail than there are slots");
	all_usable("failed births");

	for (int round = 1; lost <= SLOTS; round++) {
		int n = 0;

		while (n < PENDING && ask(&many[n], IGNORE) == 0)
			n++;
		if (n < PENDING)
			break;
		kill(spawner_zygote_pid(spawner, RUNTIME_LUA), SIGKILL);
		for (int i = 0; i < PENDING; i++, lost++)
			until(&many[i].spawned, 1);
		until(&reports, round + 1);
	}
	all_usable("zygotes that died with births to do");

	/* reaped before the report of the birth, and after */
	for (int i = 0; i < SLOTS + 9; i++) {
		if (ask(&many[0], i % 8 == 0 ? BEAR_DEAD : BEAR) != 0)
			break;
		until(&many[0].spawned, 1);
		if (many[0].pid > 0)
			kill(many[0].pid, SIGKILL);
		until(&many[0].exits, 1);
	}
	all_usable("workers that ended");
	stop("slots");
}

/* Orders beyond the room in the zygote's socket. */
static void test_slots_of_unsent(void)
{
	int small = 1, sent = 0, refused = 0;
	siginfo_t stopped;

	start("full");
	until(&reports, 1);
	setsockopt(LIST_FIRST(&spawner->zygotes)->control, SOL_SOCKET,
		   SO_SNDBUF, &small, sizeof(small));
	kill(spawner_zygote_pid(spawner, RUNTIME_LUA), SIGSTOP);
	/* wait for the stop, since a running zygote takes some more orders */
	waitid(P_PID, (id_t)spawner_zygote_pid(spawner, RUNTIME_LUA), &stopped,
	       WSTOPPED | WNOWAIT);
	while (sent < SLOTS && ask(&many[sent], IGNORE) == 0)
		sent++;
	ok(sent > 0 && sent < SLOTS / 2, "a stopped zygote takes few orders");
	for (int i = 0; i <= SLOTS; i++)
		refused += ask(&many[SLOTS], BEAR) == -EAGAIN;
	is_int(refused, SLOTS + 1, "the others are refused");
	kill(spawner_zygote_pid(spawner, RUNTIME_LUA), SIGKILL);
	until(&reports, 2);
	all_usable("orders that could not be sent");
	stop("full");
}

/* Bear a worker that ends at once, or fail to bear one; return the slot, or -1. */
static int slot_of_birth(enum order order)
{
	struct hand h;

	if (ask(&h, order) != 0)
		return -1;
	until(&h.spawned, 1);
	if (h.pid > 0)
		kill(h.pid, SIGKILL);
	if (h.pid > 0)
		until(&h.exits, 1);
	return (int)h.child.slot;
}

/* A process of an earlier run may still be dying when the next is spawned. */
static void test_slots_rest(void)
{
	int last[SLOTS] = {0}, early = 0;

	start("rest");
	until(&reports, 1);
	for (int i = 1; i <= 2 * SLOTS; i++) {
		int slot = slot_of_birth(i % 2 == 0 ? BEAR : REFUSE);

		if (slot < 0)
			break;
		early += last[slot] > 0 && i - last[slot] < (int)SLOTS_REST;
		last[slot] = i;
	}
	is_int(early, 0,
	       "a slot rests for %u births, also after a birth that failed",
	       SLOTS_REST);
	stop("rest");
}

/* A program sees its slot, by the user id and by the name of its cgroup. */
static void test_slots_tell_nothing(void)
{
	int next = 0, before = -1;

	start("random");
	until(&reports, 1);
	for (int i = 0; i < 9; i++) {
		int slot = slot_of_birth(BEAR);

		next += slot == (before + 1) % SLOTS;
		before = slot;
	}
	ok(next < 8, "the slots of workers do not count the workers before");
	stop("random");
}

static void tests(void)
{
	test_slots_come_back();
	test_slots_of_unsent();
	test_slots_rest();
	test_slots_tell_nothing();
}

int main(int argc, char **argv)
{
	return spawner_main(argc, argv, tests);
}
