/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heartbeat of a node: the beginning of the lease; and no lock, slow statement or
 * dead connection may stop the heartbeat.
 */
#include "tests/unit/base/lock_fixture.h"
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
	   "the lease counts from the sending of the heartbeat");
	ok(beaten(&n) <= asked,
	   "the silence counts from the sending of the heartbeat");
	stop_node(&n, 10000);
}

/* A second connection locks the table of runs, as VACUUM FULL or REINDEX does. */
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
	ok(await_beats(&n, 5),
	   "a node waiting for a lock keeps the heartbeat and the lease");
	help_wait(n.store, &a);
	is_int(a.rc, -EBUSY, "a read during the lock is refused");
	is_int(end.calls, 0, "a promised write waits for the lock");
	ok(!store_is_lost(n.store),
	   "a node waiting for a lock is not taken for dead");
	help_unlock(lock);
	help_wait(n.store, &end);
	is_int(end.rc, 0, "a promised write is done after the lock");
	help_clear(&a);
	stop_node(&n, 10000);
}

/* A wire is pulled: no bytes arrive, and no error is reported. */
static void test_deaf(const char *dir)
{
	struct node n = start_node(dir, "6000");
	struct store_run run = help_run("alice", STORE_RUNNING);

	help_put(n.store, &run, STORE_SYNC);
	await_beats(&n, 1);
	relay_deafen(n.relay);
	ok(await_beats(&n, 2), "a connection that died without a sign is made "
			       "again before the lease is over");
	is_int(help_put(n.store, &run, STORE_SYNC), 0,
	       "a node writes on a new connection");
	stop_node(&n, 10000);
}

/*
 * The steps of a new connection are answered within a quarter of the lease each, but
 * together take longer: time for another connection, which may be faster, must be left.
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
	       "a node writes on a faster connection");
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
	is_int(locks_left_out(), 0, "no thread unlocks what nobody had locked");
	help_remove(dir);
	return tap_done();
}
