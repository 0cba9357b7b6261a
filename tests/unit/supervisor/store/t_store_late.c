/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of tests/unit/model/ with the real store and PostgreSQL: lost answers, late
 * requests, and ends written after a take-over.
 */
#include "tests/unit/supervisor/store/relay_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#undef store_start

/* A store whose connections go through a relay. */
struct node {
	struct relay *relay;
	struct store *store;
	char *dir;
};

static struct node start_node(const char *dir, const char *name)
{
	struct node n = {.dir = xasprintf("%s/%s", dir, name)};
	char *url = help_url(dir), *by;

	mkdir(n.dir, 0700);
	n.relay = relay_start(n.dir, url);
	n.store = store_start(n.dir, name);
	by = relay_url(n.relay);
	store_set_url(n.store, by);
	free(by);
	free(url);
	return n;
}

static void stop_node(struct node *n)
{
	store_stop(n->store, 10000);
	relay_stop(n->relay);
	free(n->dir);
}

static enum store_status status_of(struct store *s, const char *run)
{
	struct answer a = {0};
	enum store_status status;

	help_get(s, &a, "alice", run);
	status = a.status[0];
	help_clear(&a);
	return status;
}

static void sql(const char *dir, const char *text)
{
	struct help_db *db = help_open(dir);

	help_sql(db, text);
	help_close(db);
}

/*
 * Put RUN in a transaction of two requests, since a single request's result is asked
 * for before the commit.
 */
static void put(struct node *n, const struct store_run *run, struct answer *a)
{
	*a = (struct answer){0};
	store_put_run(n->store, run, STORE_DEFERRED, help_done, a);
	store_drop_session(n->store, "none", STORE_SYNC, NULL, NULL);
}

/* The commit was done, and the acknowledgement was lost. */
static void test_lost_answer(const char *dir)
{
	struct node n = start_node(dir, "inst_lost");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a;
	uint32_t before;

	help_put(n.store, &run, STORE_SYNC);
	before = help_commits(n.store);
	run.status = STORE_SUCCEEDED;
	relay_lose_answer(n.relay);
	put(&n, &run, &a);
	help_wait(n.store, &a);
	is_int(a.rc, 0, "an end whose acknowledgement was lost is kept");
	is_int(status_of(n.store, run.id), STORE_SUCCEEDED,
	       "the end is stored");
	is_int(help_commits(n.store) - before, 1,
	       "the end is stored by one commit");
	stop_node(&n);
}

/* False: the connection was complete before the cut's place. */
static bool cut_once(const char *dir, struct relay_cut cut, unsigned *lost,
		     unsigned *twice)
{
	struct node n = start_node(dir, "inst_cut");
	struct store_run first = help_run("alice", STORE_RUNNING),
			 run = help_run("alice", STORE_RUNNING);
	struct answer a;
	uint32_t before;
	bool has_cut;

	help_put(n.store, &first, STORE_SYNC);
	before = help_commits(n.store);
	relay_cut(n.relay, cut);
	put(&n, &run, &a);
	help_wait(n.store, &a);
	has_cut = relay_has_cut(n.relay);
	relay_pass(n.relay);
	if (a.rc == 0 && status_of(n.store, run.id) != STORE_RUNNING) {
		++*lost;
		printf("# lost, cut at %s %u after one that was %sdone\n",
		       cut.is_answer ? "answer" : "message", cut.at,
		       cut.is_done ? "" : "not ");
	}
	*twice += cut.is_done && help_commits(n.store) - before != 1;
	stop_node(&n);
	return has_cut;
}

/*
 * The connection on which a node asks for the result of a commit ends, too, at each
 * message and each answer in turn.
 */
static void test_cut_again(const char *dir)
{
	unsigned lost = 0, twice = 0, n = 0;

	for (unsigned how = 0; how < 4; how++) {
		struct relay_cut cut = {.is_done = how % 2 != 0,
					.is_answer = how / 2 != 0};

		while (cut_once(dir, cut, &lost, &twice))
			cut.at++;
		n += cut.at;
	}
	ok(n > 30,
	   "a connection that is lost while it is asked what became of "
	   "a commit: %u ways",
	   n);
	is_int(lost, 0, "no undone commit is reported as done");
	is_int(twice, 0, "no commit is done twice");
}

/* A request on an ended connection arrives after a later request. */
static void test_late_write(const char *dir)
{
	struct node n = start_node(dir, "inst_late");
	struct store_run run = help_run("alice", STORE_RUNNING), end;
	struct answer a, b;

	help_put(n.store, &run, STORE_SYNC);
	end = run;
	end.status = STORE_SUCCEEDED;
	relay_hold(n.relay);
	run.cancelling = true;
	put(&n, &run, &a);
	relay_cut_held(n.relay);
	relay_pass(n.relay);
	help_wait(n.store, &a);
	put(&n, &end, &b);
	help_wait(n.store, &b);
	is_int(b.rc, 0, "the later end of the run is stored");
	relay_release(n.relay);
	is_int(status_of(n.store, run.id), STORE_SUCCEEDED,
	       "a late first write changes nothing");
	is_int(help_put(n.store, &end, STORE_SYNC), 0,
	       "the node writes on after a late write");
	stop_node(&n);
}

static void recover(struct node *n, struct answer *a)
{
	*a = (struct answer){0};
	store_recover(n->store, help_done, a);
}

/* Makes other nodes see an expired lease. */
#define IS_OVER(id) "UPDATE node SET heartbeat_ms = 0 WHERE id = '" id "'"

/* The end of a run, from a node taken for dead by another node. */
static void test_taken_over(const char *dir)
{
	struct node one = start_node(dir, "inst_one"),
		    two = start_node(dir, "inst_two");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a;

	help_put(one.store, &run, STORE_SYNC);
	recover(&two, &a);
	help_wait(two.store, &a);
	is_int(a.interrupted, 0, "a node that lives keeps its run");
	relay_hold(one.relay);
	run.status = STORE_SUCCEEDED;
	put(&one, &run, &a);
	relay_cut_held(one.relay);
	sql(dir, IS_OVER("inst_one"));
	recover(&two, &a);
	help_wait(two.store, &a);
	is_int(a.interrupted, 1, "the runs of a silent node are interrupted");
	relay_release(one.relay);
	is_int(status_of(two.store, run.id), STORE_FAILED,
	       "a late end changes no interrupted run");
	relay_pass(one.relay);
	while (!store_is_lost(one.store))
		store_dispatch(one.store);
	ok(store_is_lost(one.store),
	   "a node taken for dead learns of the take-over");
	is_int(status_of(two.store, run.id), STORE_FAILED, "the first stays");
	store_stop(one.store, 0);
	relay_stop(one.relay);
	free(one.dir);
	stop_node(&two);
}

/* A take-over with a lost answer, or a take-over which arrives twice. */
static void test_claim(const char *dir)
{
	struct node one = start_node(dir, "inst_dead"),
		    two = start_node(dir, "inst_heir");
	struct store_run queued = help_run("alice", STORE_QUEUED),
			 running = help_run("alice", STORE_RUNNING);
	struct answer a, b;

	help_put(one.store, &queued, STORE_SYNC);
	help_put(one.store, &running, STORE_SYNC);
	help_put(two.store, &(struct store_run){0}, STORE_SYNC);
	sql(dir, IS_OVER("inst_dead"));
	relay_lose_answer(two.relay);
	recover(&two, &a);
	help_wait(two.store, &a);
	recover(&two, &b);
	help_wait(two.store, &b);
	is_int(a.interrupted + b.interrupted, 1,
	       "a take-over whose answer was lost is told once");
	is_int(status_of(two.store, running.id), STORE_FAILED,
	       "running runs of the dead node have ended");
	is_int(status_of(two.store, queued.id), STORE_QUEUED,
	       "queued runs of the dead node still wait");
	store_stop(one.store, 0);
	relay_stop(one.relay);
	free(one.dir);
	stop_node(&two);
}

static void claim_one(struct node *n, struct answer *a)
{
	*a = (struct answer){0};
	store_claim(n->store,
		    &(struct store_claim){1, .except = "", .busy = ""},
		    help_done, a);
	help_wait(n->store, a);
}

static void on_waits(void *arg, const struct store_result *res)
{
	*(int *)arg = res->rc == 0 ? res->waits : res->rc;
}

/* Does N learn of a run waiting to be claimed? */
static int waits(struct node *n)
{
	struct answer a = {0};
	int told = 0;

	store_look_at_queue(n->store, false, on_waits, &told);
	store_probe(n->store, help_done, &a); /* answered after the look */
	help_wait(n->store, &a);
	help_clear(&a);
	return told;
}

/* A claim was done, but the database was away for longer than any request waits. */
static void test_lost_claim(const char *dir)
{
	struct node n = start_node(dir, "inst_claims");
	struct store_run run = help_run("alice", STORE_QUEUED),
			 here = help_run("alice", STORE_QUEUED);
	struct answer a;

	run.digest = here.digest = "d";
	run.waits = STORE_WAITS_ANYWHERE;
	help_put(n.store, &run, STORE_SYNC);
	store_serve(n.store, "template d\nrequestor alice", NULL, NULL);
	store_probe(n.store, NULL, NULL);
	relay_lose_all(n.relay);
	claim_one(&n, &a);
	ok(a.rc < 0, "a claim whose outcome nobody can tell fails");
	relay_pass(n.relay);
	while (help_put(n.store, &here, STORE_SYNC) != 0)
		usleep(20000);
	is_int(waits(&n), 1, "a look tells that there may be what it claimed");
	claim_one(&n, &a);
	is_int(a.n, 2, "the next claim brings the run of the lost claim, too");
	ok(strcmp(a.ids[0], run.id) == 0 || strcmp(a.ids[1], run.id) == 0,
	   "the claim with the lost answer is among the claimed runs");
	help_clear(&a);
	is_int(waits(&n), 0, "no run waits after the second claim");
	claim_one(&n, &a);
	is_int(a.n, 0, "a third claim brings no run");
	help_clear(&a);
	stop_node(&n);
}

int main(void)
{
	static void (*const tests[])(const char *) = {
	    test_lost_answer, test_cut_again, test_late_write,
	    test_taken_over,  test_claim,     test_lost_claim};
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
