/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shares of several instances in a common limit: the sum must never exceed the
 * limit.
 */
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define NODES 3

struct told {
	int calls, rc;
	struct store_share share;
};

static char *base;

static struct store *node(const char *name)
{
	char *own = xasprintf("%s/%s", base, name);
	struct store *s = help_start_beside(own, base, name);

	free(own);
	return s;
}

static void on_told(void *arg, const struct store_result *res)
{
	struct told *t = arg;

	t->rc = res->rc;
	t->share = res->share;
	t->calls++;
}

static void ask_all(struct store **s, const struct store_share *ask,
		    struct told *t, int n)
{
	for (int i = 0; i < n; i++)
		store_share(s[i], &ask[i], on_told, &t[i]);
	for (int i = 0; i < n; i++) {
		struct pollfd p = {.fd = store_fd(s[i]), .events = POLLIN};

		while (t[i].calls == 0 && poll(&p, 1, HELP_WAIT_MS) > 0)
			store_dispatch(s[i]);
	}
}

/*
 * Ask for SHARE; a refusal because another instance asks at the time is repeated.
 */
static struct told ask(struct store *s, struct store_share share)
{
	struct told t;

	do {
		t = (struct told){0};
		ask_all(&s, &share, &t, 1);
	} while (t.rc == -EAGAIN);
	return t;
}

static struct store_share runs(int64_t used, int64_t wanted, int64_t most)
{
	return (struct store_share){.requestor = "alice",
				    .runs_used = used,
				    .runs_wanted = wanted,
				    .runs_most = most};
}

static void test_runs(struct store **s)
{
	struct told t = ask(s[0], runs(0, 3, 5));

	is_int(t.rc, 0, "a share request is answered");
	is_int(t.share.runs, 3, "an instance gets the share while available");
	is_int(ask(s[1], runs(0, 4, 5)).share.runs, 2,
	       "another instance gets the rest");
	is_int(ask(s[2], runs(0, 1, 5)).share.runs, 0,
	       "a third instance gets no share");
	is_int(ask(s[0], runs(2, 1, 5)).share.runs, 2,
	       "a share in use is not taken back");
	is_int(ask(s[2], runs(0, 9, 5)).share.runs, 1,
	       "a returned share goes to another instance");
	is_int(ask(s[1], runs(2, 4, 3)).share.runs, 2,
	       "a lowered limit takes no share in use");
	is_int(ask(s[2], runs(0, 9, 3)).share.runs, 0,
	       "a lowered limit leaves no share for another instance");
	t = ask(s[2], (struct store_share){.requestor = "bob",
					   .runs_wanted = 9,
					   .runs_most = 5});
	is_int(t.share.runs, 5, "another requestor has a limit of its own");
	store_stop(s[1], 10000);
	s[1] = node("late");
	is_int(ask(s[1], runs(0, 9, 5)).share.runs, 3,
	       "the share of a stopped instance is free");
}

static struct store_share rate(int64_t wanted, int64_t most)
{
	return (struct store_share){
	    .requestor = "alice", .rate_wanted = wanted, .rate_most = most};
}

static void test_rate(struct store **s)
{
	int64_t all = 0;

	is_int(ask(s[0], rate(0, 12000)).share.rate, 2000,
	       "each instance has a part of half the rate");
	is_int(ask(s[0], rate(99000, 12000)).share.rate, 8000,
	       "an instance gets more of the rate, except the parts of others");
	is_int(ask(s[1], rate(99000, 12000)).share.rate, 2000,
	       "the other instance keeps its part of the rate");
	ask(s[0], rate(0, 12000));
	all = ask(s[1], rate(99000, 12000)).share.rate;
	is_int(all, 8000, "unused rate comes back");
}

static void test_cpu(struct store **s)
{
	struct store_share used = {.requestor = "alice", .cpu_ms = 700};

	is_int(ask(s[0], used).share.cpu_others_ms, 0,
	       "one's own CPU time is not the others'");
	used.cpu_ms = 40;
	ask(s[1], used);
	used.cpu_ms = 2;
	is_int(ask(s[2], used).share.cpu_others_ms, 740,
	       "the CPU time of other instances is told");
	used.cpu_ms = 0;
	is_int(ask(s[0], used).share.cpu_others_ms, 42,
	       "another instance's CPU time is told to the first");
}

/* At once, again and again: whoever comes first, all have no more than there is. */
static void test_race(struct store **s)
{
	int64_t have[NODES] = {0};
	int over = 0, asked = 0;
	unsigned seed = 1;

	for (int i = 0; i < 200; i++) {
		struct store_share a[NODES];
		struct told t[NODES] = {{0}};
		int64_t sum = 0;

		for (int k = 0; k < NODES; k++) {
			seed = seed * 1103515245 + 12345;
			a[k] = runs(0, (seed >> 16) % 8, 7);
		}
		ask_all(s, a, t, NODES);
		for (int k = 0; k < NODES; k++) {
			if (t[k].rc == 0)
				have[k] = t[k].share.runs;
			asked += t[k].rc == 0;
			sum += have[k];
		}
		over += sum > 7;
	}
	is_int(over, 0, "three that ask at once never have more than there is");
	ok(asked > 0, "instances asking at once get answers");
}

int main(void)
{
	static const char *const names[NODES] = {"inst_a", "inst_b", "inst_c"};
	static void (*const tests[])(struct store * *s) = {test_runs, test_rate,
							   test_cpu, test_race};
	struct store *s[NODES];

	if (!help_is_postgres()) {
		base = help_dir();
		s[0] = help_start(base, "inst_a");
		ok(!store_is_shared(s[0]), "an unshared store has no shares");
		store_stop(s[0], 10000);
		help_remove(base);
		return tap_done();
	}
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		base = help_dir();
		for (size_t k = 0; k < NODES; k++)
			s[k] = node(names[k]);
		for (size_t k = 0; k < NODES; k++)
			ask(s[k], (struct store_share){.requestor = "eve"});
		tests[i](s);
		for (size_t k = 0; k < NODES; k++)
			store_stop(s[k], 10000);
		help_remove(base);
	}
	return tap_done();
}
