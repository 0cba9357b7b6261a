/* SPDX-License-Identifier: Apache-2.0 */
/* Runs which are tasks: pages, expiry, recovery, and a file of version 1. */
#include "supervisor/store/store.h"

#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define TASKS 60
#define NOW 100000

struct page {
	int calls;
	size_t n;
	struct store_run rows[TASKS];
	char note[128];
};

static void on_page(void *arg, const struct store_result *res)
{
	struct page *p = arg;

	p->calls++;
	p->n = res->rc == 0 ? res->n_runs : 0;
	for (size_t i = 0; i < p->n && i < TASKS; i++) {
		p->rows[i] = res->runs[i];
		if (res->runs[i].task_note != NULL)
			snprintf(p->note, sizeof(p->note), "%s",
				 res->runs[i].task_note);
	}
}

static void wait_page(struct store *s, const struct page *p)
{
	struct pollfd fd = {.fd = store_fd(s), .events = POLLIN};

	while (p->calls == 0 && poll(&fd, 1, HELP_WAIT_MS) > 0)
		store_dispatch(s);
}

static struct page list(struct store *s, const char *requestor,
			const char *before, int64_t now, int limit)
{
	struct page p = {0};

	store_list_tasks(s, requestor, before, now, limit, on_page, &p);
	wait_page(s, &p);
	return p;
}

static struct page get(struct store *s, const char *id)
{
	struct page p = {0};

	store_get_task(s, "alice", id, on_page, &p);
	wait_page(s, &p);
	return p;
}

static struct store_run a_task(int n, enum store_status status)
{
	struct store_run run = help_run("alice", status);

	snprintf(run.id, sizeof(run.id), "run_%026d", n);
	run.task = STORE_TASK_OUTPUT;
	run.task_ttl_ms = 5000;
	run.task_expires_ms = NOW + 1000 * n + 1;
	return run;
}

/* Every third run is no task; a further run belongs to another requestor. */
static void fill(struct store *s)
{
	for (int n = 0; n < TASKS; n++) {
		struct store_run run =
		    a_task(n, n % 2 ? STORE_FAILED : STORE_RUNNING);

		if (n % 3 == 0) {
			run.task = STORE_TASK_NONE;
			run.task_ttl_ms = run.task_expires_ms = 0;
		}
		run.requestor = n == 1 ? "bob" : "alice";
		run.task_note = n % 2 ? "it failed" : NULL;
		store_put_run(s, &run, STORE_DEFERRED, NULL, NULL);
	}
}

static void test_pages(struct store *s)
{
	struct page p = list(s, "alice", NULL, NOW, 10);
	const char *before = NULL;
	char last[ID_SIZE];
	size_t seen = 0;
	bool falling = true;

	is_int(p.n, 10, "a page has the requested number of tasks");
	is_str(p.rows[0].id, "run_00000000000000000000000059",
	       "the newest task is first");
	ok(p.rows[0].task == STORE_TASK_OUTPUT &&
	       p.rows[0].task_ttl_ms == 5000 &&
	       p.rows[0].task_expires_ms == NOW + 59001,
	   "the members of a task are read");
	is_str(p.note, "it failed", "the note of a task is read");
	do {
		p = list(s, "alice", before, NOW, 7);
		for (size_t i = 0; i < p.n; i++, seen++) {
			falling = falling &&
				  (seen == 0 || strcmp(p.rows[i].id, last) < 0);
			memcpy(last, p.rows[i].id, ID_SIZE);
		}
		before = last;
	} while (p.n > 0);
	is_int(seen, TASKS - TASKS / 3 - 1,
	       "the pages hold every task of hers, and no other run");
	ok(falling, "each once, in order");
	p = list(s, "bob", NULL, NOW, 10);
	is_int(p.n, 1, "another requestor has one task");
	p = list(s, "carol", NULL, NOW, 10);
	is_int(p.n, 0, "a requestor without tasks has none");
}

static void test_changes(struct store *s)
{
	struct store_run fresh = a_task(90, STORE_RUNNING);
	struct page first = list(s, "alice", NULL, NOW, 5), rest;

	help_put(s, &fresh, STORE_SYNC);
	rest = list(s, "alice", first.rows[4].id, NOW, 5);
	ok(rest.n == 5 && strcmp(rest.rows[0].id, first.rows[4].id) < 0,
	   "a task that comes between two pages moves nothing");
	rest = list(s, "alice", "run_00000000000000000000000054", NOW, 1);
	is_str(rest.rows[0].id, "run_00000000000000000000000053",
	       "the place of what is no task is a place as well");
}

/* In partitions by age, a page may have tasks of several partitions. */
static void test_ages(struct store *s)
{
	static const int days[] = {0, 0, 2, 3, 10, 40, 100, 300};
	const int64_t now = clock_wall_ms();
	char ids[ARRAY_LEN(days)][ID_SIZE];
	struct page p;
	bool same = true;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(days); i++) {
		struct store_run run = a_task(1, STORE_FAILED);

		id_since(ids[i], "run",
			 now - days[i] * INT64_C(86400000) - (int64_t)i);
		memcpy(run.id, ids[i], ID_SIZE);
		run.requestor = "dave";
		store_put_run(s, &run, STORE_DEFERRED, NULL, NULL);
	}
	do {
		p = list(s, "dave", n > 0 ? ids[n - 1] : NULL, NOW, 3);
		for (size_t i = 0; i < p.n && n < ARRAY_LEN(days); i++)
			same = strcmp(p.rows[i].id, ids[n++]) == 0 && same;
	} while (p.n > 0 && n < ARRAY_LEN(days));
	ok(same && n == ARRAY_LEN(days), "tasks of all ages, the newest first");
	is_int(list(s, "dave", ids[n - 1], NOW, 3).n, 0,
	       "no task follows the oldest");
}

static void test_expiry(struct store *s)
{
	struct answer a = {0};
	struct page p = list(s, "alice", NULL, NOW + 50000, TASKS);

	is_int(p.rows[p.n - 1].task_expires_ms, NOW + 50001,
	       "an expired task is not listed before the sweep");
	store_sweep(s, NOW + 50000);
	p = get(s, "run_00000000000000000000000049");
	is_int(p.rows[0].task_expires_ms, 0,
	       "the sweep removes the task of the run");
	is_int(help_get(s, &a, "alice", "run_00000000000000000000000049"), 0,
	       "the run of a removed task stays");
	p = list(s, "alice", NULL, 1, TASKS);
	is_str(p.rows[p.n - 1].id, "run_00000000000000000000000050",
	       "a removed task is in no list, whatever the time");
	help_clear(&a);
}

/* A folder of its own, whose instance has ended without a word. */
static void test_recovery(void)
{
	struct store_run run = a_task(1, STORE_RUNNING);
	struct store_run asked = a_task(2, STORE_RUNNING);
	struct store_run waits = a_task(3, STORE_QUEUED);
	struct store_run bobs = a_task(4, STORE_RUNNING);
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");
	struct answer a = {0};
	/* static, since an analyzer loses a value on the stack */
	static struct page p;
	struct help_db *db;

	asked.cancelling = true;
	run.task_expires_ms = INT64_MAX / 2;
	help_put(s, &run, STORE_SYNC);
	help_put(s, &asked, STORE_SYNC);
	help_put(s, &waits, STORE_SYNC);
	bobs.requestor = "bob";
	help_put(s, &bobs, STORE_SYNC);
	p = get(s, asked.id);
	ok(p.rows[0].cancelling, "the row says that the task was asked to end");
	store_stop(s, 10000);
	db = help_lock(dir);
	help_sql(db, "UPDATE runs SET instance = 'inst_dead'");
	help_sql(db, "COMMIT");
	help_unlock(db);
	s = store_start(dir, "inst_b");
	store_keep_lost(s, 1000, 1000, &(struct store_keep){"bob", 77}, 1);
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	help_claim(s, &a);
	is_int(a.interrupted, 3, "three runs were running");
	is_int(a.n, 1, "one run was waiting");
	is_int(help_get(s, &a, "bob", bobs.id), 0,
	       "another requestor's run is read");
	is_int(a.expires_ms - a.finished_ms, 77,
	       "another requestor's run has the requestor's time to live");
	help_get(s, &a, "alice", asked.id);
	is_int(a.expires_ms - a.finished_ms, 1000,
	       "other runs have the common time to live");
	p = get(s, run.id);
	is_int(p.rows[0].status, STORE_FAILED, "the running run has failed");
	ok(p.rows[0].task == STORE_TASK_OUTPUT &&
	       p.rows[0].task_expires_ms == INT64_MAX / 2 &&
	       p.rows[0].expires_ms >= p.rows[0].task_expires_ms,
	   "the failed run is still a task, and its row lasts as long");
	p = get(s, asked.id);
	is_int(p.rows[0].status, STORE_CANCELED,
	       "the run to be cancelled is canceled, not interrupted");
	store_stop(s, 10000);
	help_clear(&a);
	help_remove(dir);
}

/* The table of version 1, with a row. */
static const char version_1[] =
    "CREATE TABLE runs(id TEXT NOT NULL, requestor TEXT NOT NULL,"
    " template_id TEXT NOT NULL, version TEXT NOT NULL,"
    " digest TEXT NOT NULL, instance TEXT NOT NULL,"
    " status INTEGER NOT NULL CHECK(status BETWEEN 0 AND 5),"
    " created_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL,"
    " updated_ms INTEGER NOT NULL, finished_ms INTEGER NOT NULL,"
    " expires_ms INTEGER NOT NULL, ended INTEGER NOT NULL, idem_key TEXT,"
    " idem_digest TEXT, inputs TEXT, options TEXT, view TEXT, log TEXT,"
    " PRIMARY KEY(requestor, id)) STRICT;"
    "CREATE INDEX runs_open ON runs(requestor, status, id, template_id, ended)"
    " WHERE ended = 0;"
    "CREATE INDEX runs_ended ON runs(requestor, status, id, ended)"
    " WHERE ended = 1;"
    "CREATE INDEX runs_template ON runs(requestor, template_id, status, id,"
    " ended) WHERE ended = 1;"
    "CREATE UNIQUE INDEX runs_idem ON runs(requestor, template_id, idem_key)"
    " WHERE idem_key IS NOT NULL;"
    "CREATE INDEX runs_expiry ON runs(expires_ms) WHERE expires_ms > 0;"
    "CREATE TABLE counts(requestor TEXT NOT NULL, template_id TEXT NOT NULL,"
    " status INTEGER NOT NULL, n INTEGER NOT NULL,"
    " PRIMARY KEY(requestor, template_id, status)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE artifacts(id TEXT PRIMARY KEY NOT NULL,"
    " run_id TEXT NOT NULL, requestor TEXT NOT NULL, name TEXT NOT NULL,"
    " mime_type TEXT NOT NULL, sha256 TEXT NOT NULL,"
    " size INTEGER NOT NULL CHECK(size >= 0), created_ms INTEGER NOT NULL,"
    " expires_ms INTEGER NOT NULL, gone INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE INDEX artifacts_run ON artifacts(run_id);"
    "CREATE INDEX artifacts_expiry ON artifacts(expires_ms)"
    " WHERE gone = 0 AND expires_ms > 0;"
    "CREATE TABLE usage(requestor TEXT PRIMARY KEY NOT NULL,"
    " artifact_bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO runs VALUES('run_22222222222222222222222222', 'alice', 't',"
    " '1.0.0', 'd', 'inst_old', 2, 1, 2, 3, 4, 9000000, 1, NULL, NULL, NULL,"
    " NULL, '{\"old\":1}', NULL);"
    "PRAGMA user_version=1;";

static void test_version_1(void)
{
	char *dir = help_dir(), *path = xasprintf("%s/paddock.db", dir);
	struct store_run run = a_task(7, STORE_RUNNING);
	struct answer a = {0};
	struct store *s, *t;
	struct page p;
	sqlite3 *db;

	sqlite3_open(path, &db);
	is_int(sqlite3_exec(db, version_1, NULL, NULL, NULL), SQLITE_OK,
	       "a file of version 1");
	sqlite3_close(db);
	s = store_start(dir, "inst_a");
	t = store_start(dir, "inst_b"); /* the two stores migrate the file */
	store_put_run(t, &run, STORE_SYNC, NULL, NULL);
	is_int(help_get(s, &a, "alice", "run_22222222222222222222222222"), 0,
	       "the runs of version 1 are still there");
	is_str(a.view, "{\"old\":1}", "a run of version 1 has the view");
	help_clear(&a);
	store_usage(s, "alice", help_done, &a);
	help_wait(s, &a);
	ok(a.row_bytes >= STORE_ROW_BYTES + 9,
	   "the runs of version 1 are counted");
	p = get(s, "run_22222222222222222222222222");
	is_int(p.rows[0].task, STORE_TASK_NONE,
	       "the runs of version 1 are no tasks");
	help_get(t, &a, "alice", run.id);
	p = list(s, "alice", NULL, NOW, 9);
	is_int(p.n, 1, "new tasks are kept beside them");
	store_stop(s, 10000);
	store_stop(t, 10000);
	help_clear(&a);
	free(path);
	help_remove(dir);
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_t");

	fill(s);
	test_pages(s);
	test_changes(s);
	test_ages(s);
	test_expiry(s);
	store_stop(s, 10000);
	help_remove(dir);
	test_recovery();
	if (help_is_postgres())
		skip("that is SQLite's", "an older file");
	else
		test_version_1();
	return tap_done();
}
