/* SPDX-License-Identifier: Apache-2.0 */
/* The store on PostgreSQL: away, cut off, and used by several machines. */
#include <signal.h>

#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define PASSWORD "n0b0dys"

static void test_away(const char *dir)
{
	struct store *s;
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0}, kept = {0};

#undef store_start
	s = store_start(dir, "inst_away");
	store_set_url(s, "postgresql://ada:" PASSWORD
			 "@/runs?host=/nonexistent/folder");
	store_put_run(s, &run, STORE_RETRY, help_done, &kept);
	is_int(help_put(s, &run, STORE_SYNC), -ENOTCONN,
	       "a database that is not there fails what is asked");
	is_int(help_get(s, &a, "alice", run.id), -ENOTCONN,
	       "a missing database fails a read");
	ok(strstr(a.errmsg, "postgresql:///runs") != NULL &&
	       strstr(a.errmsg, "url") != NULL,
	   "naming it and the remedy");
	ok(strstr(a.errmsg, PASSWORD) == NULL &&
	       strstr(store_failing(s), PASSWORD) == NULL,
	   "the error of a missing database has no password");
	is_int(kept.calls, 0, "a promised write waits for the database");
	ok(!store_is_lost(s),
	   "a node without a database is not taken for dead");
	store_stop(s, 0);
	is_int(kept.rc, -ECANCELED, "a promised write is given up at the end");
	help_clear(&a);
}

/* End the store's connection, as an operator does. */
static void cut(const char *dir)
{
	struct help_db *db = help_open(dir);

	help_sql(db, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
		     " WHERE pid <> pg_backend_pid() AND application_name ="
		     " current_schema()");
	help_close(db);
}

static void test_cut(const char *dir)
{
	struct store *s = help_start(dir, "inst_a");
	struct store_run run = help_run("alice", STORE_RUNNING), end, idle;
	struct answer a = {0}, kept = {0};
	struct help_db *hold;
	struct store_database about;

	help_put(s, &run, STORE_SYNC);
	ok(store_about(s, &about) && about.reachable && about.nodes == 1,
	   "the first request tells of the database before the first heartbeat");
	cut(dir);
	idle = help_run("alice", STORE_RUNNING);
	store_put_run(s, &idle, STORE_RETRY, help_done, &kept);
	help_wait(s, &kept);
	is_int(kept.rc, 0, "a connection that was ended is made again");
	end = run;
	end.status = STORE_SUCCEEDED;
	kept = (struct answer){0};
	hold = help_hold(dir, s);
	store_put_run(s, &end, STORE_RETRY, help_done, &kept);
	help_unlock(hold);
	cut(dir);
	help_wait(s, &kept);
	is_int(kept.rc, 0,
	       "a promised write is done in spite of a cut connection");
	help_get(s, &a, "alice", run.id);
	is_int(a.status[0], STORE_SUCCEEDED, "the promised write is stored");
	is_int(help_list(s, &a,
			 &(struct store_filter){
			     .requestor = "alice", .status = -1, .limit = 9}),
	       0, "a list is read after a cut");
	is_int(a.total, 2, "no run is stored twice after a cut");
	is_str(store_failing(s), NULL, "the store is well");
	store_stop(s, 10000);
	help_clear(&a);
}

static void test_fenced(const char *dir)
{
	struct store *s = help_start(dir, "inst_late");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0}, kept = {0};
	char late[ID_SIZE];
	struct help_db *db;
	int rc;

	memcpy(late, run.id, sizeof(late));
	help_put(s, &run, STORE_SYNC);
	db = help_open(dir);
	help_sql(db, "DELETE FROM node WHERE id = 'inst_late'");
	help_close(db);
	run.status = STORE_SUCCEEDED;
	store_put_run(s, &run, STORE_RETRY, help_done, &kept);
	is_int(help_put(s, &run, STORE_SYNC), -EOWNERDEAD,
	       "a node taken for dead writes no more");
	ok(store_is_lost(s), "a node taken for dead knows of the take-over");
	cut(dir);
	do
		help_get(s, &a, "alice", run.id);
	while (a.rc == 0 || a.rc == -ENOTCONN);
	is_int(a.rc, -EOWNERDEAD,
	       "a new connection does not help a node taken for dead");
	is_int(kept.rc, -EOWNERDEAD,
	       "a promised write of a node taken for dead is refused");
	store_put_run(s, &run, STORE_DEFERRED, NULL, NULL);
	store_rejoin(s, "inst_anew");
	run = help_run("alice", STORE_RUNNING);
	do
		rc = help_put(s, &run, STORE_SYNC);
	while (rc == -EOWNERDEAD);
	is_int(rc, 0, "a node with a new name writes again");
	ok(!store_is_lost(s), "a node with a new name is not lost");
	help_get(s, &a, "alice", late);
	is_int(a.status[0], STORE_RUNNING,
	       "the late write of the old name is not done");
	ok(store_lease_left_ms(s) > 0, "a node with a new name has a lease");
	store_stop(s, 10000);
	help_clear(&a);
}

/* A text which is no UTF-8 cannot be stored, but the end of the run can. */
static void test_refused_end(const char *dir)
{
	struct store *s = help_start(dir, "inst_text");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0};

	help_put(s, &run, STORE_SYNC);
	run.status = STORE_SUCCEEDED;
	run.finished_ms = 1003;
	run.view = "{\"v\":\"\xff\"}";
	is_int(help_put(s, &run, STORE_SYNC), -EINVAL,
	       "a text which is no UTF-8 is refused");
	is_int(help_put(s, &run, STORE_RETRY), 0,
	       "a promised end is written without the refused view");
	help_get(s, &a, "alice", run.id);
	ok(a.status[0] == STORE_SUCCEEDED && a.view == NULL,
	   "the run has ended without the refused view");
	is_str(store_failing(s), NULL, "the store is well");
	store_stop(s, 10000);
	help_clear(&a);
}

/* A node is silent by its heartbeat alone, whatever the database's clock says. */
static void test_silent(const char *dir)
{
	char *one = xasprintf("%s/one", dir), *two = xasprintf("%s/two", dir);
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct store *s = help_start_beside(one, dir, "inst_silent"), *t;
	struct answer a = {0};
	struct help_db *db;

	help_put(s, &run, STORE_SYNC);
	is_int(store_lease_left_ms(s) <= 7500, true,
	       "a node counts a quarter less than its lease");
	store_stop(s, 10000);
	t = help_start_beside(two, dir, "inst_hears");
	help_get(t, &a, "alice", run.id);
	db = help_open(dir);
	help_sql(db, "INSERT INTO node(id, heartbeat_ms, lease_ms) VALUES"
		     "('inst_silent', paddock_now() + 3600000, 3600000),"
		     "('inst_dead', paddock_now() - 3600000, 1500)");
	help_clear(&a);
	store_recover(t, help_done, &a);
	help_wait(t, &a);
	is_int(a.interrupted, 0, "a node not yet seen silent is alive");
	while (!store_found_dead(t))
		poll(NULL, 0, 5);
	help_sql(db,
		 "UPDATE node SET lease_ms = 1000 WHERE id = 'inst_silent'");
	while (a.interrupted == 0) {
		help_clear(&a);
		store_recover(t, help_done, &a);
		help_wait(t, &a);
		poll(NULL, 0, 5);
	}
	is_int(
	    a.interrupted, 1,
	    "a node with an unchanged heartbeat is dead, though the heartbeat is in the future");
	help_sql(db,
		 "DO $$BEGIN ASSERT (SELECT count(*) FROM node) = 1; END$$");
	help_close(db);
	store_stop(t, 10000);
	help_clear(&a);
	free(one);
	free(two);
}

/* A machine which dies: the folder of the machine is out of reach. */
static pid_t start_machine(const char *own, const char *dir,
			   const struct store_run runs[2])
{
	int fds[2];
	char c = 0;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		struct store *s = help_start_beside(own, dir, "inst_one");

		for (int i = 0; i < 2; i++)
			help_put(s, &runs[i], STORE_SYNC);
		(void)!write(fds[1], &c, 1);
		for (;;)
			pause();
	}
	close(fds[1]);
	(void)!read(fds[0], &c, 1);
	close(fds[0]);
	return pid;
}

static void on_messages(void *arg, const struct store_result *res)
{
	struct answer *a = arg;

	a->total = (int64_t)res->n_mail;
	a->calls++;
}

static void test_machines(const char *dir)
{
	char *one = xasprintf("%s/one", dir), *two = xasprintf("%s/two", dir);
	struct store_run runs[2] = {help_run("alice", STORE_RUNNING),
				    help_run("alice", STORE_QUEUED)};
	struct store_run own = help_run("alice", STORE_RUNNING);
	pid_t pid = start_machine(one, dir, runs);
	struct store *s = help_start_beside(two, dir, "inst_two"), *three;
	struct answer a = {0};
	struct help_db *db;

	is_int(help_get(s, &a, "alice", runs[0].id), 0,
	       "a run is seen by another machine");
	help_clear(&a);
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	is_int(a.interrupted + a.n, 0,
	       "the runs of a living machine are not taken over");
	three = help_start_beside(one, dir, "inst_three");
	help_put(s, &own, STORE_SYNC);
	help_clear(&a);
	store_send_mail(three, "alice", own.id, STORE_MAIL_CANCEL,
			clock_wall_ms() + 10000, help_done, &a);
	help_wait(three, &a);
	help_clear(&a);
	store_read_mail(s, true, on_messages, &a);
	help_wait(s, &a);
	is_int(a.total, 1, "a request about another machine's run arrives");
	store_stop(three, 10000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* as if the lease had expired */
	db = help_open(dir);
	help_sql(db, "UPDATE node SET heartbeat_ms = 0 WHERE id = 'inst_one'");
	help_close(db);
	help_clear(&a);
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	help_claim(s, &a);
	is_int(a.interrupted, 1,
	       "the running run of a dead machine has failed");
	is_int(a.n, 1, "the queued run of a dead machine is claimed");
	store_stop(s, 10000);
	help_clear(&a);
	free(one);
	free(two);
}

int main(void)
{
	static void (*const tests[])(const char *) = {
	    test_machines,    test_away,   test_cut,
	    test_refused_end, test_fenced, test_silent};
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
