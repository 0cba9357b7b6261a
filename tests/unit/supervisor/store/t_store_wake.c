/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes with one database which wake each other: the woken node, the reason, and the
 * poll interval of a node which can or cannot be woken.
 */
#include "tests/unit/base/lock_fixture.h"
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define STEP_MS 20
#define ALL (STORE_WOKEN_MAIL | STORE_WOKEN_QUEUE)

static struct store *node(const char *dir, const char *name)
{
	char *own = xasprintf("%s/%s", dir, name);
	struct store *s = help_start_beside(own, dir, name);
	struct answer a = {0};

	store_tell_load(s, &(struct store_load){.room = 1});
	store_serve(s, "template d1gest\nuids\nrequestor alice", help_done, &a);
	help_wait(s, &a);
	help_clear(&a);
	free(own);
	return s;
}

/* Is S woken in time for WHAT, and for no other reason? */
static bool is_woken(struct store *s, unsigned what)
{
	unsigned woken = 0;

	for (int ms = 0; woken == 0 && ms < HELP_WAIT_MS; ms += STEP_MS) {
		poll(NULL, 0, STEP_MS);
		woken = store_woken(s);
	}
	return woken == what;
}

static bool is_polled(struct store *s, int64_t every_ms)
{
	for (int ms = 0; store_poll_ms(s) != every_ms && ms < HELP_WAIT_MS;
	     ms += STEP_MS)
		poll(NULL, 0, STEP_MS);
	return store_poll_ms(s) == every_ms;
}

static struct store_run queued(void)
{
	struct store_run run = help_run("alice", STORE_QUEUED);

	run.digest = "d1gest";
	run.inputs = "{}";
	run.waits = STORE_WAITS_ANYWHERE;
	return run;
}

static void cancel(struct store *s, const struct store_run *run)
{
	struct answer a = {0};

	store_send_mail(s, "alice", run->id, STORE_MAIL_CANCEL, INT64_MAX,
			help_done, &a);
	help_wait(s, &a);
}

static void claim(struct store *s, const struct store_run *run)
{
	struct answer a = {0};

	store_claim(s, &(struct store_claim){1, .except = "", .busy = ""},
		    help_done, &a);
	help_wait(s, &a);
	ok(a.n == 1 && strcmp(a.ids[0], run->id) == 0, "another claims it");
	help_clear(&a);
}

static void test_mail(struct store *a, struct store *b)
{
	struct store_run run = help_run("alice", STORE_RUNNING);

	ok(is_woken(a, ALL),
	   "a node which begins to listen looks at everything");
	ok(is_polled(a, STORE_POLL_WOKEN_MS), "a listening node polls rarely");
	(void)is_woken(b, ALL);
	help_put(a, &run, STORE_SYNC);
	cancel(b, &run);
	ok(is_woken(a, STORE_WOKEN_MAIL), "a node with new mail is woken");
	cancel(a, &run);
	run.status = STORE_CANCELED;
	help_put(a, &run, STORE_SYNC);
	is_int(store_woken(b), 0, "a node without news is not woken");
}

/* The heartbeat tells B of A's free places after a time: until then nodes poll. */
static void test_queue(struct store *a, struct store *b)
{
	struct store_run run;
	unsigned woken = 0;

	for (int ms = 0; woken == 0 && ms < HELP_WAIT_MS; ms += STEP_MS) {
		run = queued();
		help_put(b, &run, STORE_SYNC);
		poll(NULL, 0, STEP_MS);
		woken = store_woken(a);
		if (woken == 0)
			cancel(b, &run);
	}
	is_int(woken, STORE_WOKEN_QUEUE,
	       "a node with a free place is woken for the queue");
	claim(a, &run);
	ok(is_woken(b, STORE_WOKEN_MAIL),
	   "the queueing node is woken by the claim");
	run.status = STORE_SUCCEEDED;
	snprintf(run.home, sizeof(run.home), "%s", "inst_wake_b");
	help_put(a, &run, STORE_SYNC);
	ok(is_woken(b, STORE_WOKEN_MAIL),
	   "the queueing node is woken by the end");
	is_int(store_woken(a), 0, "the end wakes no other node");
}

/* Lock the row of RUN in DB, so that writers of the row wait. */
static struct help_db *lock_row(const char *dir, const struct store_run *run)
{
	struct help_db *db = help_open(dir);
	char *sql = xasprintf("BEGIN; UPDATE runs SET cancelling = cancelling"
			      " WHERE id = '%s'",
			      run->id);

	help_sql(db, sql);
	free(sql);
	return db;
}

/* Wait until S's thread has taken all requests. */
static void taken(struct store *s)
{
	for (bool is = false; !is; sched_yield()) {
		pthread_mutex_lock(&s->lock);
		is = s->busy && STAILQ_EMPTY(&s->queue);
		pthread_mutex_unlock(&s->lock);
	}
}

/*
 * A's thread goes from one batch to the next without a rest, and stays in the second.
 */
static void test_busy(const char *dir, struct store *a)
{
	struct store *c = node(dir, "inst_wake_c");
	struct store_run first = help_run("alice", STORE_RUNNING);
	struct store_run second = help_run("alice", STORE_RUNNING);
	struct store_run third = help_run("alice", STORE_RUNNING);
	struct help_db *locks[2];
	struct answer done = {0};
	bool woken;

	help_put(a, &first, STORE_SYNC);
	help_put(a, &second, STORE_SYNC);
	help_put(a, &third, STORE_SYNC);
	locks[0] = lock_row(dir, &first);
	locks[1] = lock_row(dir, &second);
	store_woken(a);
	store_put_run(a, &first, STORE_SYNC, NULL, NULL);
	taken(a);
	store_put_run(a, &second, STORE_SYNC, help_done, &done);
	cancel(c, &third);    /* the row is not locked */
	store_stop(c, 10000); /* the stop waits for all wake-ups */
	help_unlock(locks[0]);
	woken = is_woken(a, STORE_WOKEN_MAIL);
	help_unlock(locks[1]);
	help_wait(a, &done);
	/*
	 * not by the end of the second batch, which the database gives up at last
	 */
	ok(woken && done.rc == 0, "a busy node is woken between two batches");
}

/* A request to A is done although the wake-up is lost. */
static void test_lost(const char *dir, struct store *a, struct store *b)
{
	struct help_db *db = help_open(dir);
	struct store_run run = help_run("alice", STORE_RUNNING);

	help_sql(db, "CREATE OR REPLACE FUNCTION paddock_wake(node text,"
		     " what text) RETURNS void LANGUAGE plpgsql AS $$BEGIN"
		     " RAISE EXCEPTION 'none'; END$$");
	help_close(db);
	help_put(a, &run, STORE_SYNC);
	cancel(b, &run);
	cancel(b, &run);
	is_int(store_woken(a), 0, "a failed wake-up is lost");
	ok(store_failing(b) == NULL,
	   "a lost wake-up is no failure of the store");
}

static void test_deaf(const char *dir)
{
	char *own = xasprintf("%s/far", dir), *url = help_url(dir), *by;
	struct relay *relay;
	struct store *s;
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0};

	mkdir(own, 0700);
	relay = relay_start(own, url);
#undef store_start
	s = store_start(own, "inst_wake_far");
	by = relay_url(relay);
	store_set_url(s, by);
	is_int(store_poll_ms(s), STORE_POLL_MS,
	       "a node which cannot be woken yet polls often");
	help_put(s, &run, STORE_SYNC);
	(void)is_woken(s, ALL);
	is_int(store_poll_ms(s), STORE_POLL_WOKEN_MS,
	       "a node which can be woken polls rarely");
	relay_hold(relay);
	store_put_run(s, &run, STORE_RETRY, help_done, &a);
	store_drop_session(s, "none", STORE_SYNC, NULL, NULL);
	relay_cut_held(relay);
	ok(is_polled(s, STORE_POLL_MS),
	   "a disconnected node polls often at once");
	(void)is_woken(s, ALL);
	relay_pass(relay);
	help_wait(s, &a);
	ok(is_polled(s, STORE_POLL_WOKEN_MS),
	   "a node polls rarely once listening again");
	ok(is_woken(s, ALL), "a node which listens again looks at everything");
	store_stop(s, 10000);
	relay_stop(relay);
	free(by);
	free(url);
	free(own);
}

int main(void)
{
	char *dir;
	struct store *a, *b;

	if (!help_is_postgres()) {
		printf("1..0 # SKIP instances of one machine nudge each other "
		       "by files\n");
		return 0;
	}
	dir = help_dir();
	/*
	 * an id is a channel of all schemas, and other tests may use the id at the same
	 * time
	 */
	a = node(dir, "inst_wake_a");
	b = node(dir, "inst_wake_b");
	test_mail(a, b);
	test_queue(a, b);
	test_busy(dir, a);
	test_lost(dir, a, b);
	store_stop(a, 10000);
	store_stop(b, 10000);
	test_deaf(dir);
	is_int(locks_left_out(), 0, "no thread unlocks what nobody had locked");
	help_remove(dir);
	return tap_done();
}
