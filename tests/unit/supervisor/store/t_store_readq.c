/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many reads of one requestor delay another requestor's read by a few reads only.
 */
#include "supervisor/store/store_readq.h"

#include "tests/unit/base/clock_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define MANY 100

static void test_fair(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");
	struct store_run run = help_run("alice", STORE_SUCCEEDED);
	struct answer a[MANY] = {0}, b = {0};
	bool in_order = true, all = true;

	help_put(s, &run, STORE_SYNC);
	help_order = 0;
	for (int i = 0; i < MANY; i++)
		store_get_run(s, "alice", run.id, help_done, &a[i]);
	store_get_run(s, "bob", run.id, help_done, &b);
	help_wait(s, &a[MANY - 1]);
	for (int i = 0; i < MANY; i++) {
		in_order = in_order && (i == 0 || a[i].order > a[i - 1].order);
		all = all && a[i].rc == 0 && a[i].calls == 1;
	}
	ok(all, "%d reads of one requestor are all answered, once", MANY);
	ok(in_order, "the reads of a requestor are answered in order");
	ok(b.order >= 1 && b.order <= STORE_READS_EACH + 1,
	   "another's waits for %d of them at the most, not for all",
	   STORE_READS_EACH);
	for (int i = 0; i < MANY; i++)
		help_clear(&a[i]);
	help_clear(&b);
	store_stop(s, 10000);
	help_remove(dir);
}

/* Waiting reads get an answer when the store is stopped, or out of time. */
static void test_stop(int timeout_ms)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");
	struct answer a[MANY] = {0};
	int told = 0;

	for (int i = 0; i < MANY; i++)
		store_get_run(s, "alice", "run_x", help_done, &a[i]);
	store_stop(s, timeout_ms);
	for (int i = 0; i < MANY; i++)
		told += a[i].calls;
	is_int(told, MANY, "a store that stops tells all, in %d ms",
	       timeout_ms);
	for (int i = 0; i < MANY; i++)
		help_clear(&a[i]);
	help_remove(dir);
}

static atomic_bool asked_again;

/* Does the stopping thread sleep, in store_stop() itself? */
static bool main_waits(void)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	f = fopen(path, "re");
	if (f == NULL)
		return true;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'S';
	fclose(f);
	return atomic_load(&asked_again) && state == 'S';
}

static int slow_exec(struct store *s, struct store_req *r)
{
	(void)s;
	(void)r;
	while (!main_waits())
		sched_yield();
	return 0;
}

static const struct store_op slow_op = {.exec = slow_exec};

struct asks_again {
	struct store *s;
	struct answer last;
};

/*
 * The last callback at the end makes one more request, which the thread has begun.
 */
static void ask_again(void *arg, const struct store_result *res)
{
	struct asks_again *again = arg;
	struct store_req asked = {
	    .done = help_done, .arg = &again->last, .urgent = true};
	bool taken = false;

	(void)res;
	store_ask(again->s, &slow_op, &asked);
	while (!taken) {
		pthread_mutex_lock(&again->s->lock);
		taken = STAILQ_EMPTY(&again->s->queue);
		pthread_mutex_unlock(&again->s->lock);
		sched_yield();
	}
	atomic_store(&asked_again, true);
}

static void test_stop_while_busy(void)
{
	char *dir = help_dir();
	struct asks_again again = {.s = store_start(dir, "inst_a")};

	store_get_run(again.s, "alice", "run_x", ask_again, &again);
	store_stop(again.s, 10000);
	is_int(again.last.calls, 1,
	       "a request begun during the stop gets an answer");
	help_clear(&again.last);
	help_remove(dir);
}

/* A write is not delayed, and a read sees earlier writes. */
static void test_writes(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");
	struct store_run run = help_run("alice", STORE_SUCCEEDED);
	struct answer a[MANY] = {0}, w = {0}, last = {0};

	for (int i = 0; i < MANY; i++)
		store_get_run(s, "alice", run.id, help_done, &a[i]);
	store_put_run(s, &run, STORE_SYNC, help_done, &w);
	store_get_run(s, "alice", run.id, help_done, &last);
	help_wait(s, &last);
	ok(w.calls == 1 && w.order < last.order, "a write goes by what waits");
	is_int(last.rc, 0, "a read finds what was written before it was asked");
	for (int i = 0; i < MANY; i++)
		help_clear(&a[i]);
	help_clear(&w);
	help_clear(&last);
	store_stop(s, 10000);
	help_remove(dir);
}

static void take_long(void *arg, const struct store_result *res)
{
	(void)res;
	++*(int *)arg;
	clock_skip(10);
}

static void until_idle(struct store *s)
{
	bool idle = false;

	while (!idle) {
		pthread_mutex_lock(&s->lock);
		idle = !s->busy && STAILQ_EMPTY(&s->queue);
		pthread_mutex_unlock(&s->lock);
		sched_yield();
	}
}

/* Callbacks which take long leave turns to other work of the loop. */
static void test_turns(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
	int told = 0;

	for (int i = 0; i < STORE_READS_EACH; i++)
		store_get_run(s, "alice", "run_x", take_long, &told);
	until_idle(s);
	for (int i = 1; i <= STORE_READS_EACH; i++) {
		is_int(poll(&p, 1, HELP_WAIT_MS), 1, "the store has answers");
		store_dispatch(s);
		is_int(told, i, "an answer that takes 10 ms is told alone");
	}
	store_stop(s, 10000);
	help_remove(dir);
}

int main(void)
{
	test_turns();
	test_fair();
	test_stop(10000);
	test_stop(0);
	test_stop_while_busy();
	test_writes();
	return tap_done();
}
