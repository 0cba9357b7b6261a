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
	is_int(help_get(s, &a, "alice", run.id), -ENOTCONN, "reads too");
	ok(strstr(a.errmsg, "postgresql:///runs") != NULL &&
	       strstr(a.errmsg, "url") != NULL,
	   "naming it and the remedy");
	ok(strstr(a.errmsg, PASSWORD) == NULL &&
	       strstr(store_failing(s), PASSWORD) == NULL,
	   "and no password");
	is_int(kept.calls, 0, "what was promised waits");
	ok(!store_is_lost(s), "nobody has taken us for dead");
	store_stop(s, 0);
	is_int(kept.rc, -ECANCELED, "until the end");
	help_clear(&a);
}

/* What the server does to a connection that an operator ends. */
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
	   "what the first request reached is told of before the first beat");
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
	is_int(kept.rc, 0, "what was promised is kept in spite of it");
	help_get(s, &a, "alice", run.id);
	is_int(a.status[0], STORE_SUCCEEDED, "and is there");
	is_int(help_list(s, &a,
			 &(struct store_filter){
			     .requestor = "alice", .status = -1, .limit = 9}),
	       0, "all goes on");
	is_int(a.total, 2, "and nothing is there twice");
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
	       "who was taken for dead writes no more");
	ok(store_is_lost(s), "and knows it");
	cut(dir);
	do
		help_get(s, &a, "alice", run.id);
	while (a.rc == 0 || a.rc == -ENOTCONN);
	is_int(a.rc, -EOWNERDEAD, "nor is it back by a new connection");
	is_int(kept.rc, -EOWNERDEAD,
	       "what was promised is not written over another's");
	store_put_run(s, &run, STORE_DEFERRED, NULL, NULL);
	store_rejoin(s, "inst_anew");
	run = help_run("alice", STORE_RUNNING);
	do
		rc = help_put(s, &run, STORE_SYNC);
	while (rc == -EOWNERDEAD);
	is_int(rc, 0, "under another name it writes again");
	ok(!store_is_lost(s), "and is well");
	help_get(s, &a, "alice", late);
	is_int(a.status[0], STORE_RUNNING,
	       "but not what the other one was about to");
	ok(store_lease_left_ms(s) > 0, "its lease is its own");
	store_stop(s, 10000);
	help_clear(&a);
}

/* A text that no UTF-8 is cannot be kept; that the run ended can. */
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
	       "what the database cannot hold is refused");
	is_int(help_put(s, &run, STORE_RETRY), 0,
	       "an end that was promised is written without it");
	help_get(s, &a, "alice", run.id);
	ok(a.status[0] == STORE_SUCCEEDED && a.view == NULL,
	   "so the run has ended, though nobody knows with what");
	is_str(store_failing(s), NULL, "the store is well");
	store_stop(s, 10000);
	help_clear(&a);
}

/* By its heartbeat alone, however the database's clock is. */
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
	is_int(a.interrupted, 0, "who was not seen to be silent lives");
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
	    "who has a heartbeat that never changes is dead, though it is of "
	    "a time to come");
	help_sql(db,
		 "DO $$BEGIN ASSERT (SELECT count(*) FROM node) = 1; END$$");
	help_close(db);
	store_stop(t, 10000);
	help_clear(&a);
	free(one);
	free(two);
}

/* A machine that dies: its folder is nowhere to be seen. */
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

static void on_letters(void *arg, const struct store_result *res)
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
	is_int(a.interrupted + a.n, 0, "which lets the living be");
	three = help_start_beside(one, dir, "inst_three");
	help_put(s, &own, STORE_SYNC);
	help_clear(&a);
	store_send_mail(three, "alice", own.id, STORE_MAIL_CANCEL,
			clock_wall_ms() + 10000, help_done, &a);
	help_wait(three, &a);
	help_clear(&a);
	store_read_mail(s, true, on_letters, &a);
	help_wait(s, &a);
	is_int(a.total, 1, "what one asks of another's run gets there");
	store_stop(three, 10000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* as if its lease were over */
	db = help_open(dir);
	help_sql(db, "UPDATE node SET heartbeat_ms = 0 WHERE id = 'inst_one'");
	help_close(db);
	help_clear(&a);
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	help_claim(s, &a);
	is_int(a.interrupted, 1, "when it has died, what it ran has failed");
	is_int(a.n, 1, "what it had queued is the other's");
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
