/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heartbeat of a node: what it is counted from, and that neither a lock, nor a
 * statement that takes long, nor a connection that is dead keeps it from being sent.
 */
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#undef store_start

#define STEP_MS 5

struct node {
	struct relay *relay;
	struct store *store;
};

/* By a relay in DIR, with a lease of LEASE_MS. */
static struct node start_node(const char *dir, const char *lease_ms)
{
	char *plain = help_url(dir), *by, *url;
	const char *rest = strstr(plain, "&application_name");
	struct node n;

	url = xasprintf("%.*s%%20-cpaddock.lease_ms%%3D%s%s",
			(int)(rest - plain), plain, lease_ms, rest);
	n.relay = relay_start(dir, url);
	n.store = store_start(dir, "inst_beats");
	by = relay_url(n.relay);
	store_set_url(n.store, by);
	free(by);
	free(url);
	free(plain);
	return n;
}

static void stop_node(struct node *n, int timeout_ms)
{
	store_stop(n->store, timeout_ms);
	relay_stop(n->relay);
}

static int64_t beaten(const struct node *n)
{
	return atomic_load(&n->store->beaten_ms);
}

/* Until N more beats were answered; false: the lease was over before. */
static bool await_beats(struct node *n, int beats)
{
	for (int64_t last = beaten(n); beats > 0;) {
		if (store_lease_left_ms(n->store) <= 0)
			return false;
		if (beaten(n) > last) {
			last = beaten(n);
			beats--;
		}
		store_dispatch(n->store);
		poll(NULL, 0, STEP_MS);
	}
	return true;
}

static void test_delayed(const char *dir)
{
	struct node n = start_node(dir, "60000");
	struct store_run run = help_run("alice", STORE_RUNNING);
	int64_t before, asked;

	help_put(n.store, &run, STORE_SYNC);
	relay_hold_beats(n.relay);
	asked = clock_boot_ms();
	before = atomic_load(&n.store->lease_until_ms);
	ok(store_silent_ms(n.store) >= 0, "a heartbeat is on its way");
	while (clock_boot_ms() < asked + 300)
		poll(NULL, 0, STEP_MS);
	relay_release_beat(n.relay);
	while (atomic_load(&n.store->lease_until_ms) == before)
		poll(NULL, 0, STEP_MS);
	ok(atomic_load(&n.store->lease_until_ms) <= asked + 45000,
	   "its lease is counted from when it was sent, not from its answer");
	ok(beaten(&n) <= asked, "  as is how long the database is silent");
	stop_node(&n, 10000);
}

/* Somebody works on the table of runs, as VACUUM FULL or REINDEX does. */
static void test_locked(const char *dir)
{
	struct node n = start_node(dir, "3000");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0}, end = {0};
	struct help_db *lock;

	help_put(n.store, &run, STORE_SYNC);
	lock = help_open(dir);
	help_sql(lock, "BEGIN; LOCK TABLE runs IN ACCESS EXCLUSIVE MODE");
	run.status = STORE_SUCCEEDED;
	store_put_run(n.store, &run, STORE_RETRY, help_done, &end);
	store_get_run(n.store, "alice", run.id, help_done, &a);
	ok(await_beats(&n, 5), "who waits for a lock beats on, and keeps its "
			       "lease");
	help_wait(n.store, &a);
	is_int(a.rc, -EBUSY, "  what is asked meanwhile is told so");
	is_int(end.calls, 0, "  what was promised waits");
	ok(!store_is_lost(n.store), "  and nobody has taken it for dead");
	help_unlock(lock);
	help_wait(n.store, &end);
	is_int(end.rc, 0, "  until it can be written");
	help_clear(&a);
	stop_node(&n, 10000);
}

/* A wire is pulled: nothing comes, and nobody says so. */
static void test_deaf(const char *dir)
{
	struct node n = start_node(dir, "6000");
	struct store_run run = help_run("alice", STORE_RUNNING);

	help_put(n.store, &run, STORE_SYNC);
	await_beats(&n, 1);
	relay_deafen(n.relay);
	ok(await_beats(&n, 2), "a connection that died without a sign is made "
			       "again before the lease is over");
	is_int(help_put(n.store, &run, STORE_SYNC), 0, "  and all goes on");
	stop_node(&n, 10000);
}

/*
 * Each step of a new connection is answered within a quarter of the lease, and all of
 * them together are not: there is time for another connection, which may be faster.
 */
static void test_slow(const char *dir)
{
	struct node n = start_node(dir, "4000");
	struct store_run run = help_run("alice", STORE_RUNNING);
	int64_t last;
	size_t before;

	help_put(n.store, &run, STORE_SYNC);
	await_beats(&n, 1);
	before = relay_slow(n.relay, 600);
	last = beaten(&n);
	relay_deafen(n.relay);
	while (relay_slow(n.relay, 600) < before + 2 &&
	       beaten(&n) < last + 2 * STORE_BEAT_MS)
		poll(NULL, 0, STEP_MS);
	ok(relay_slow(n.relay, 0) >= before + 2,
	   "steps that are slow one after the other are given up together");
	while (beaten(&n) == last)
		poll(NULL, 0, STEP_MS);
	is_int(help_put(n.store, &run, STORE_SYNC), 0,
	       "  and all goes on with one that is not");
	stop_node(&n, 10000);
}

int main(void)
{
	static void (*const tests[])(const char *) = {test_delayed, test_locked,
						      test_deaf, test_slow};
	char *dir;

	if (!help_is_postgres()) {
		printf("1..0 # SKIP tests/tools/with-postgres is not beside\n");
		return 0;
	}
	dir = help_dir();
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		char *sub = xasprintf("%s/%zu", dir, i);

		mkdir(sub, 0700);
		tests[i](sub);
		free(sub);
	}
	help_remove(dir);
	return tap_done();
}
