/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the common queue: order, claims, cancels, dead instances. */
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define ALL "template d1gest\nrequestor alice\nrequestor bob\nuids"

/* The result of a look at the queue. */
struct look {
	int calls;
	bool waits, unserved;
	int64_t others;
};

static char *base;

static struct store *node(const char *name, const char *serves)
{
	char *own = xasprintf("%s/%s", base, name);
	struct store *s = help_start_beside(own, base, name);
	struct answer a = {0};

	store_serve(s, serves, help_done, &a);
	help_wait(s, &a);
	help_clear(&a);
	free(own);
	return s;
}

static struct store_run waiting(const char *requestor, int64_t weight)
{
	struct store_run run = help_run(requestor, STORE_QUEUED);

	run.digest = "d1gest";
	run.inputs = "{\"n\":1}";
	run.waits = STORE_WAITS_ANYWHERE;
	run.weight = weight;
	return run;
}

static void claim(struct store *s, struct answer *a, int limit,
		  const char *except)
{
	help_clear(a);
	store_claim(s,
		    &(struct store_claim){limit, .except = except, .busy = ""},
		    help_done, a);
	help_wait(s, a);
}

static void on_look(void *arg, const struct store_result *res)
{
	struct look *l = arg;

	l->calls++;
	l->waits = res->waits;
	l->unserved = res->unserved;
	for (size_t i = 0; i < res->n_uses; i++)
		l->others += res->uses[i].runs;
}

static struct look look(struct store *s)
{
	struct answer a = {0};
	struct look l = {0};

	store_look_at_queue(s, true, on_look, &l);
	store_probe(s, help_done, &a); /* answered after the look */
	help_wait(s, &a);
	help_clear(&a);
	return l;
}

static void sql(const char *text)
{
	struct help_db *db = help_open(base);

	help_sql(db, text);
	help_close(db);
}

/* The owners of the runs in A, as one message for each. */
static const char *turns(const struct answer *a, const struct store_run *runs,
			 size_t n)
{
	static char text[HELP_PAGE + 1];
	size_t len = 0;

	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < n; k++)
			if (strcmp(a->ids[i], runs[k].id) == 0)
				text[len++] = runs[k].requestor[0];
	text[len] = '\0';
	return text;
}

/* How many of 21 runs of alice, which three instances queue at once, are stored and refused. */
static void queue_at_once(struct store *s[3], int *stored, int *refused)
{
	struct answer a[24] = {{0}};

	*stored = *refused = 0;
	for (int i = 0; i < 24; i++) {
		struct store_run run = waiting(i % 8 == 7 ? "bob" : "alice", 1);

		run.queued_most = 6;
		store_put_run(s[i % 3], &run, STORE_SYNC, help_done, &a[i]);
	}
	for (int i = 0; i < 24; i++) {
		help_wait(s[i % 3], &a[i]);
		*stored += i % 8 != 7 && a[i].rc == 0;
		*refused += i % 8 != 7 && a[i].rc == -EXFULL;
		help_clear(&a[i]);
	}
}

/*
 * Three instances queue runs at once: together no more than the limit. A
 * transaction that waits in vain for another, as on a machine with much load,
 * may exceed the limit, and not each time.
 */
static void test_room(void)
{
	struct store *s[3] = {node("inst_a", ALL), node("inst_b", ALL),
			      node("inst_c", ALL)};
	struct store_run run;
	int stored = 0, refused = 0;

	for (int round = 0; round < 20 && stored != 6; round++) {
		if (round > 0)
			sql("DELETE FROM queue");
		queue_at_once(s, &stored, &refused);
	}
	is_int(stored, 6, "of many runs queued at once the limit is stored");
	is_int(refused, 15, "the runs beyond the limit are refused");
	is_int(look(s[0]).others + look(s[1]).others + look(s[2]).others, 2 * 9,
	       "another requestor's runs are queued");
	run = waiting("alice", 1);
	help_put(s[0], &run, STORE_SYNC);
	is_int(look(s[1]).others + look(s[0]).others + look(s[2]).others,
	       2 * 10,
	       "an instance without the limit is not held to the limit");
	for (int i = 0; i < 3; i++)
		store_stop(s[i], 10000);
}

static void test_order(void)
{
	struct store *s = node("inst_a", ALL), *t = node("inst_b", ALL);
	struct store_run runs[8];
	struct answer a = {0};
	struct look l;

	for (int i = 0; i < 8; i++) {
		runs[i] = i < 5 ? waiting("alice", 1) : waiting("bob", 2);
		help_put(s, &runs[i], STORE_SYNC);
	}
	l = look(s);
	ok(l.waits && l.others == 0, "an instance sees its own waiting runs");
	l = look(t);
	ok(l.waits && l.others == 8,
	   "another instance sees the waiting runs as others'");
	claim(t, &a, 6, "");
	is_str(turns(&a, runs, 8), "babbaa", "claims go in turn by weight");
	is_str(a.ids[1], runs[0].id,
	       "a requestor's first run is claimed first");
	ok(a.inputs != NULL, "a claimed run has the inputs");
	claim(s, &a, 6, "");
	is_int(a.n, 2, "the rest of the runs is claimed by another instance");
	claim(s, &a, 6, "");
	is_int(a.n, 0, "no run is left after all claims");
	ok(!look(s).waits, "a look sees no waiting run after all claims");
	for (int i = 0; i < 2; i++) {
		runs[i] = i < 1 ? waiting("alice", 1) : waiting("carol", 1);
		help_put(s, &runs[i], STORE_SYNC);
	}
	claim(s, &a, 6, "");
	is_str(a.ids[0], runs[0].id,
	       "a requestor with many turns waits for no later requestor");
	store_stop(s, 10000);
	store_stop(t, 10000);
	help_clear(&a);
}

static void test_served(void)
{
	struct store *s = node("inst_c", ALL);
	struct store *t = node("inst_d", "template d1gest\nrequestor alice");
	struct store *u;
	struct store_run other = waiting("alice", 1), bob, alice, pinned, uid;
	struct answer a = {0};
	struct look l;

	other.digest = "another";
	help_put(s, &other, STORE_SYNC);
	bob = waiting("bob", 1);
	help_put(s, &bob, STORE_SYNC);
	pinned = waiting("alice", 1);
	pinned.waits = STORE_WAITS_PINNED;
	help_put(s, &pinned, STORE_SYNC);
	uid = waiting("uid:7", 1);
	help_put(t, &uid, STORE_SYNC);
	u = node("inst_u", "template d1gest\nuids");
	claim(u, &a, 9, "nobody\t9");
	ok(a.n == 1 && strcmp(a.ids[0], uid.id) == 0,
	   "a node for uids claims runs of uids alone");
	store_stop(u, 10000);
	uid = waiting("uid:7", 1);
	help_put(t, &uid, STORE_SYNC);
	ok(!look(t).waits == false, "one's own is there to be claimed");
	claim(t, &a, 9, "uid:7\t9\nnobody\t9");
	is_int(a.n, 0, "not of a requestor that may have no more");
	alice = waiting("alice", 1);
	help_put(s, &alice, STORE_SYNC);
	claim(t, &a, 1, "");
	is_int(a.n, 1, "a run which the node serves is claimed");
	claim(t, &a, 9, "");
	is_int(a.n, 1, "a run behind unserved runs is claimed");
	claim(s, &a, 9, "");
	is_int(a.n, 3, "the queueing node claims the rest");
	help_put(s, &other, STORE_SYNC);
	store_stop(s, 10000);
	s = node("inst_e", ALL);
	l = look(s);
	ok(!l.waits && !l.unserved, "an unserved run waits for a while");
	sql("UPDATE queue SET queued_ms = 1");
	ok(look(s).unserved, "an unserved run is reported after a while");
	store_end_unserved(s);
	help_clear(&a);
	help_get(s, &a, "alice", other.id);
	is_int(a.status[0], STORE_FAILED, "an unserved run has failed");
	ok(!look(s).unserved, "an unserved run has left the queue");
	store_stop(s, 10000);
	store_stop(t, 10000);
	help_clear(&a);
}

/* Claim at S all runs of LEAST callers or more; OWN: that S queued; less EXCEPT's. */
static size_t claim_deep(struct store *s, unsigned least, bool own,
			 const char *except)
{
	struct answer a = {0};
	size_t n;

	store_claim(s, &(struct store_claim){9, least, own, except, ""},
		    help_done, &a);
	help_wait(s, &a);
	n = a.n;
	help_clear(&a);
	return n;
}

/* Called runs may use places that callers lend, at a node without other room. */
static void test_called(void)
{
	struct store *s = node("inst_s", "uids"), *t = node("inst_t", ALL);
	struct store_run run = waiting("alice", 1), away;

	help_put(s, &run, STORE_SYNC);
	for (run.depth = 1; run.depth <= 2; run.depth++) {
		memcpy(run.id, help_run("alice", STORE_QUEUED).id,
		       sizeof(run.id));
		help_put(s, &run, STORE_SYNC);
	}
	is_int(claim_deep(t, 0, true, ""), 0, "a node may claim its own alone");
	is_int(claim_deep(t, 0, false, "alice\t9\t0\n"), 0,
	       "a full requestor's runs are left at each depth");
	is_int(claim_deep(t, 0, false, "alice\t0\t1\n"), 0,
	       "without a share the runs that their node can run are left");
	is_int(claim_deep(t, 0, false, "bob\t9\t0\nalice\t2\t0\n"), 1,
	       "a requestor with room for deep runs has deep runs claimed");
	is_int(claim_deep(t, 1, false, ""), 1, "deep runs alone are claimed");
	is_int(claim_deep(s, 0, true, ""), 1, "the node has its own run left");

	away = waiting("alice", 1);
	away.depth = 1;
	away.waits = STORE_WAITS_ELSEWHERE;
	help_put(s, &away, STORE_SYNC);
	is_int(claim_deep(s, 0, false, ""), 0,
	       "a run for other nodes is not for the node that queued the run");
	is_int(claim_deep(t, 0, false, "alice\t1\t1\n"), 1,
	       "a run that its caller's node cannot run needs no share");
	store_stop(s, 10000);
	store_stop(t, 10000);
}

static size_t n_orphans;

static void on_orphans(void *arg, const struct store_result *res)
{
	n_orphans = res->n_runs;
	((struct answer *)arg)->calls++;
}

/* Is the run CALLED, by CALLER at the instance AT, an orphan? */
static bool is_orphan(struct store *s, const char *caller, const char *at)
{
	struct answer a = {0};
	char *line = xasprintf("run_called\t%s\t%s\talice", caller, at);

	store_find_orphans(s, line, on_orphans, &a);
	help_wait(s, &a);
	help_clear(&a);
	free(line);
	return n_orphans == 1;
}

static void test_orphans(void)
{
	struct store *s = node("inst_s", ALL), *t = node("inst_t", ALL);
	struct store_run run = help_run("alice", STORE_RUNNING);

	help_put(s, &run, STORE_SYNC);
	ok(!is_orphan(t, run.id, "inst_s"), "a running caller keeps its call");
	ok(is_orphan(t, run.id, "inst_u"),
	   "a caller that runs at another instance again has lost its call");
	ok(is_orphan(t, "run_none", "inst_s"),
	   "a caller without a row is lost");
	run.cancelling = true;
	help_put(s, &run, STORE_SYNC);
	ok(is_orphan(t, run.id, "inst_s"), "a caller that is to end is lost");
	run.status = STORE_FAILED;
	help_put(s, &run, STORE_SYNC);
	ok(is_orphan(t, run.id, "inst_s"), "an ended caller is lost");
	store_stop(s, 10000);
	store_stop(t, 10000);
}

static char unheard[HELP_PAGE][ID_SIZE];
static size_t n_unheard;

static void on_unheard(void *arg, const struct store_result *res)
{
	n_unheard = res->n_runs;
	for (size_t i = 0; i < res->n_runs && i < HELP_PAGE; i++)
		memcpy(unheard[i], res->runs[i].id, ID_SIZE);
	((struct answer *)arg)->calls++;
}

/* A silent server which no instance has taken over may return in a moment. */
static void test_silent(void)
{
	struct store *s = node("inst_s", ALL), *t = node("inst_t", ALL);
	struct store_run pinned = waiting("alice", 1), other = pinned, gone;
	struct answer a = {0};
	char *ids;

	pinned.waits = STORE_WAITS_PINNED;
	help_put(s, &pinned, STORE_SYNC);
	memcpy(other.id, help_run("alice", STORE_QUEUED).id, sizeof(other.id));
	other.digest = "of no other's";
	help_put(s, &other, STORE_SYNC);
	sql("UPDATE queue SET queued_ms = 1");
	sql("UPDATE node SET lease_ms = 0 WHERE id = 'inst_s'");
	ok(look(t).unserved, "a run served by a silent server alone is seen");
	store_end_unserved(t);
	look(t);
	help_get(t, &a, "alice", pinned.id);
	is_int(a.status[0], STORE_QUEUED,
	       "a run pinned to a silent server waits");
	help_get(t, &a, "alice", other.id);
	is_int(a.status[0], STORE_QUEUED,
	       "a run served by a silent server alone waits");
	claim(s, &a, 9, "");
	is_int(a.n, 2, "the returned server claims both runs");

	gone = waiting("alice", 1);
	help_put(s, &gone, STORE_SYNC);
	other = waiting("alice", 1);
	help_put(s, &other, STORE_SYNC);
	pinned = waiting("bob", 1);
	help_put(s, &pinned, STORE_SYNC);
	claim(t, &a, 1, "bob\t9");
	sql("DELETE FROM queue WHERE run NOT IN (SELECT id FROM runs WHERE"
	    " requestor = 'bob')");
	ids = xasprintf("%s\n%s\n%s", gone.id, other.id, pinned.id);
	help_clear(&a);
	store_find_unheard(s, ids, on_unheard, &a);
	help_wait(s, &a);
	is_int(n_unheard, 1, "a run gone from the queue without news is found");
	is_str(unheard[0], other.id,
	       "the found run is the run gone from the queue");
	free(ids);
	store_stop(s, 10000);
	store_stop(t, 10000);
	help_clear(&a);
}

static int messages[8];

static void on_mail(void *arg, const struct store_result *res)
{
	memset(messages, 0, sizeof(messages));
	for (size_t i = 0; i < res->n_mail; i++)
		messages[res->mail[i].kind]++;
	((struct answer *)arg)->calls++;
}

static void read_mail(struct store *s)
{
	struct answer a = {0};

	store_read_mail(s, true, on_mail, &a);
	help_wait(s, &a);
}

static int send(struct store *s, const struct store_run *run,
		enum store_mail kind)
{
	struct answer a = {0};
	int rc;

	store_send_mail(s, run->requestor, run->id, kind, INT64_MAX, help_done,
			&a);
	help_wait(s, &a);
	rc = a.rc;
	help_clear(&a);
	return rc;
}

static void cancel(struct store *s, const struct store_run *run)
{
	is_int(send(s, run, STORE_MAIL_CANCEL), 0, "cancelling is asked");
}

static void test_cancel(void)
{
	struct store *s = node("inst_f", ALL), *t = node("inst_g", ALL);
	struct store_run run = waiting("alice", 1), claimed, theirs, waits;
	struct answer a = {0};

	help_put(s, &run, STORE_SYNC);
	theirs = run;
	theirs.requestor = "bob";
	cancel(t, &theirs);
	ok(look(t).waits, "a cancel of another requestor's run has no effect");
	cancel(t, &run);
	help_get(t, &a, "alice", run.id);
	is_int(a.status[0], STORE_CANCELED,
	       "any instance cancels a waiting run");
	claim(t, &a, 1, "");
	is_int(a.n, 0, "a cancelled run is not claimed");
	read_mail(s);
	is_int(messages[STORE_MAIL_OVER], 1,
	       "the queueing instance hears of the end");
	store_heard(s, run.id);
	read_mail(s);
	is_int(messages[STORE_MAIL_OVER], 0,
	       "the queueing instance hears of the end once");

	claimed = waiting("alice", 1);
	help_put(s, &claimed, STORE_SYNC);
	claim(t, &a, 1, "");
	read_mail(s);
	is_int(messages[STORE_MAIL_CLAIMED], 1,
	       "the queueing instance hears of the claim");
	cancel(s, &claimed);
	read_mail(t);
	is_int(messages[STORE_MAIL_CANCEL], 1,
	       "the cancel of a claimed run goes to the claimer");
	claimed.status = STORE_SUCCEEDED;
	help_put(s, &claimed, STORE_SYNC);
	help_get(s, &a, "alice", claimed.id);
	is_int(a.status[0], STORE_QUEUED,
	       "the queueing instance cannot write a claimed run");
	help_put(t, &claimed, STORE_SYNC);
	read_mail(s);
	ok(messages[STORE_MAIL_OVER] == 1 && messages[STORE_MAIL_CLAIMED] == 0,
	   "the queueing instance hears of the end of a claimed run");
	waits = waiting("alice", 1);
	help_put(s, &waits, STORE_SYNC);
	send(t, &waits, STORE_MAIL_WATCH);
	claim(t, &a, 1, "");
	read_mail(t);
	is_int(messages[STORE_MAIL_WATCH], 1,
	       "a request about a waiting run goes to the claimer");
	store_stop(s, 10000);
	store_stop(t, 10000);
	help_clear(&a);
}

/* A cancel is written while the run ends. */
static void test_cancel_late(void)
{
	struct store *s = node("inst_v", ALL), *t = node("inst_w", ALL);
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct help_db *end = help_open(base), *db = help_open(base);
	struct answer a = {0};
	char *text;

	help_put(s, &run, STORE_SYNC);
	text = xasprintf("BEGIN; UPDATE runs SET status = 2, ended = 1"
			 " WHERE id = '%s'",
			 run.id);
	help_sql(end, text);
	free(text);
	store_send_mail(t, "alice", run.id, STORE_MAIL_CANCEL, INT64_MAX,
			help_done, &a);
	while (a.calls == 0 &&
	       help_number(db,
			   "SELECT count(*) FROM pg_locks WHERE NOT granted"
			   " AND pid IN (SELECT pid FROM pg_stat_activity"
			   " WHERE application_name = current_schema())") == 0)
		store_dispatch(t);
	help_sql(end, "COMMIT");
	help_wait(t, &a);
	is_int(help_number(db, "SELECT count(*) FROM mail"), 0,
	       "of a cancel that comes while its run ends nothing is left");
	help_sql(db, "INSERT INTO mail(run, kind, instance, until_ms) VALUES("
		     "'run_gone', 1, 'x', 9223372036854775807)");
	store_sweep(t, clock_wall_ms());
	help_swept(t);
	is_int(help_number(db, "SELECT count(*) FROM mail"), 0,
	       "leftover mail is removed by the sweep");
	help_close(end);
	help_close(db);
	help_clear(&a);
	store_stop(s, 10000);
	store_stop(t, 10000);
}

/* As if NAME's lease were over. */
static void die(struct store *s, struct store *survivor, const char *name)
{
	char *text =
	    xasprintf("UPDATE node SET heartbeat_ms = 0 WHERE id = '%s'", name);
	struct answer a = {0};

	sql(text);
	store_recover(survivor, help_done, &a);
	help_wait(survivor, &a);
	is_int(a.rc, 0, "a dead node is taken over");
	is_int(a.n, 0, "a take-over claims no run");
	store_stop(s, 0);
	help_clear(&a);
	free(text);
}

static void test_dead(void)
{
	struct store *s = node("inst_h", ALL), *t = node("inst_i", ALL), *u;
	struct store_run queued, pinned, secret, held, again;
	struct answer a = {0};

	held = waiting("alice", 1);
	help_put(s, &held, STORE_SYNC);
	claim(s, &a, 1, ""); /* claimed, not yet begun */
	queued = waiting("alice", 1);
	help_put(s, &queued, STORE_SYNC);
	pinned = waiting("alice", 1);
	pinned.waits = STORE_WAITS_PINNED;
	help_put(s, &pinned, STORE_SYNC);
	secret = pinned;
	memcpy(secret.id, help_run("alice", STORE_QUEUED).id,
	       sizeof(secret.id));
	secret.inputs = NULL;
	help_put(s, &secret, STORE_SYNC);
	again = waiting("alice", 1);
	die(s, t, "inst_h");
	u = node("inst_j", ALL);
	help_put(u, &again, STORE_SYNC);
	claim(t, &a, 9, "");
	is_int(a.n, 4, "the waiting runs of a dead node are claimed");
	is_str(a.ids[3], again.id,
	       "an earlier run of the dead node is claimed first");
	help_get(t, &a, "alice", secret.id);
	is_int(a.status[0], STORE_FAILED,
	       "a run which no other node can start has failed");
	claim(u, &a, 9, "");
	is_int(a.n, 0, "no run is claimed twice");
	store_stop(t, 10000);
	store_stop(u, 10000);
	help_clear(&a);
}

/* Many nodes claim at once: each run goes to one node. */
static void on_owner(void *arg, const struct store_result *res)
{
	struct answer *a = arg;

	a->calls++;
	a->rc = res->rc == 0 ? (int)res->runs->owner : res->rc;
}

static int owner_of(struct store *s, const struct store_run *run)
{
	struct answer a = {0};

	store_get_run(s, run->requestor, run->id, on_owner, &a);
	help_wait(s, &a);
	return a.rc;
}

/* A server which ends leaves the nodes, and may leave runs. */
static void test_left(void)
{
	struct store *s = node("inst_l", ALL), *t = node("inst_m", ALL);
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0};
	struct help_db *db = help_open(base);
	unsigned char key[2][STORE_SEAL_BYTES];

	ok(store_seal_key(s, key[0]) && store_seal_key(t, key[1]) &&
	       memcmp(key[0], key[1], sizeof(key[0])) == 0,
	   "all nodes seal with one key");
	is_int(help_number(db, "SELECT count(*) - count(DISTINCT slot)"
			       " FROM node"),
	       0, "each node has counters of its own");
	help_put(s, &run, STORE_SYNC);
	is_int(owner_of(t, &run), STORE_OWNER_OTHER,
	       "a running run belongs to its node");
	store_stop(s, 10000);
	is_int(owner_of(t, &run), STORE_OWNER_DEAD,
	       "a stopped node's run has a dead owner");
	is_int(help_number(db, "SELECT count(*) FROM node WHERE id = 'inst_l'"),
	       0, "a stopped node has no row");
	store_recover(t, help_done, &a);
	help_wait(t, &a);
	is_int(a.interrupted, 1, "a stopped node's run is interrupted at once");
	help_close(db);
	help_clear(&a);
	store_stop(t, 10000);
}

static void test_once(void)
{
	enum { RUNS = 60, NODES = 3 };
	struct store *s[NODES] = {node("inst_k", ALL), node("inst_l", ALL),
				  node("inst_m", ALL)};
	struct answer a[NODES] = {{0}, {0}, {0}};
	char given[RUNS][ID_SIZE];
	size_t n = 0, twice = 0;
	bool more = true;

	for (int i = 0; i < RUNS; i++) {
		struct store_run run = waiting(i % 2 ? "alice" : "bob", 1);

		help_put(s[i % NODES], &run, STORE_SYNC);
	}
	while (more) {
		for (int i = 0; i < NODES; i++) {
			help_clear(&a[i]);
			store_claim(
			    s[i],
			    &(struct store_claim){3, .except = "", .busy = ""},
			    help_done, &a[i]);
		}
		more = false;
		for (int i = 0; i < NODES; i++) {
			help_wait(s[i], &a[i]);
			for (size_t k = 0; k < a[i].n; k++) {
				for (size_t j = 0; j < n; j++)
					twice +=
					    strcmp(given[j], a[i].ids[k]) == 0;
				if (n < RUNS)
					memcpy(given[n++], a[i].ids[k],
					       ID_SIZE);
			}
			more |= a[i].n > 0;
		}
	}
	is_int(n, RUNS, "of many that claim at once, each run is given");
	is_int(twice, 0, "no run is given to two claimers");
	for (int i = 0; i < NODES; i++) {
		store_stop(s[i], 10000);
		help_clear(&a[i]);
	}
}

/*
 * The rows of a node which ended in order are removed by a sweep without a take-over.
 */
static void test_ended(void)
{
	struct store *s = node("inst_e", ALL), *t = node("inst_f", ALL);
	struct help_db *db = help_open(base);
	int64_t own = help_number(
	    db, "SELECT count(*) FROM serves WHERE node = 'inst_f'");

	help_sql(db, "INSERT INTO share_cpu VALUES('alice', 1, 'inst_e', 7),"
		     " ('alice', 1, 'inst_f', 7),"
		     " ('alice', paddock_now() / 60000, 'inst_e', 7)");
	store_stop(s, 10000);
	store_sweep(t, clock_wall_ms());
	help_swept(t);
	is_int(help_number(db, "SELECT count(*) FROM serves"), own,
	       "the rows of an ended node are removed");
	ok(own > 0, "the rows of another node stay");
	is_int(help_number(db, "SELECT count(*) FROM share_cpu"), 2,
	       "of the CPU time that it told the last hour is left");
	help_close(db);
	store_stop(t, 10000);
}

static void test_none(void)
{
	char *dir = help_dir();
	unsigned char key[STORE_SEAL_BYTES];
	struct store *s = help_start(dir, "inst_n");
	struct store_run run = waiting("alice", 1);
	struct answer a = {0};

	is_int(store_is_shared(s), 0, "one machine has no queue of all");
	is_int(help_put(s, &run, STORE_SYNC), 0,
	       "a run for the common queue is stored on one machine");
	is_int(help_get(s, &a, "alice", run.id), 0,
	       "a stored run for the common queue is an ordinary row");
	ok(!store_seal_key(s, key), "one machine has no key of nodes");
	store_stop(s, 10000);
	help_clear(&a);
	help_remove(dir);
}

int main(void)
{
	static void (*const tests[])(void) = {
	    test_order,	      test_served, test_silent, test_cancel,
	    test_cancel_late, test_dead,   test_left,	test_once,
	    test_room,	      test_ended,  test_called, test_orphans};

	if (!help_is_postgres()) {
		test_none();
		return tap_done();
	}
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		base = help_dir();
		tests[i]();
		help_remove(base);
	}
	return tap_done();
}
