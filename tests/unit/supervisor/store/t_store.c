/* SPDX-License-Identifier: Apache-2.0 */
/* The store in normal operation: stored rows can be read, counted and listed. */
#include "supervisor/store/store.h"

#include "tests/unit/base/lock_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static void test_start(void)
{
	char *dir = help_dir(), *state = xasprintf("%s/new/state", dir), *path;
	struct store *s = store_start(state, "inst_a");
	struct answer a = {0};
	struct stat st;

	ok(!help_exists(dir, "new"), "starting the store touches no file");
	is_int(help_get(s, &a, "alice", "run_x"), -ENOENT,
	       "a read of a fresh folder finds nothing");
	ok(a.errmsg[0] != '\0', "the failed read has a text");
	stat(state, &st);
	is_int(st.st_mode & 07777, 0700, "the folder is its owner's alone");
	path = xasprintf("%s/paddock.db", state);
	if (stat(path, &st) != 0 && help_is_postgres())
		st.st_mode = 0600;
	is_int(st.st_mode & 07777, 0600, "the database's file is private");
	ok(help_exists(state, "instances/inst_a"), "the instance has its file");
	is_str(store_failing(s), NULL, "a working store has no failure");
	store_stop(s, 10000);
	ok(!help_exists(state, "instances/inst_a"),
	   "the instance's file is removed at the stop");
	store_stop(NULL, 0);
	help_clear(&a);
	free(path);
	free(state);
	help_remove(dir);
}

static void check_same(const struct store_run *w, const struct store_result *r)
{
	const struct store_run *g = r->runs;

	is_int(r->rc, 0, "a stored run is found");
	is_int(r->n_runs, 1, "a stored run is found once");
	if (g == NULL)
		return;
	ok(strcmp(g->id, w->id) == 0, "a stored run has the id");
	is_str(g->requestor, w->requestor, "a stored run has the requestor");
	is_str(g->template_id, w->template_id, "a stored run has the template");
	is_str(g->version, w->version, "a stored run has the version");
	is_str(g->digest, w->digest, "a stored run has the digest");
	is_int(g->status, w->status, "a stored run has the status");
	is_int(g->created_ms, w->created_ms,
	       "a stored run has the time of creation");
	is_int(g->started_ms, w->started_ms, "a stored run has the start time");
	is_int(g->updated_ms, w->updated_ms,
	       "a stored run has the time of change");
	is_int(g->finished_ms, w->finished_ms, "a stored run has the end time");
	is_int(g->expires_ms, w->expires_ms, "a stored run has the expiry");
	is_str(g->retried_from, w->retried_from,
	       "a stored run has the repeated run");
	is_str(g->inputs, NULL, "a stored run is read without inputs");
	is_str(g->options, w->options, "a stored run has the options");
	is_str(g->idem_key, w->idem_key,
	       "a stored run has the idempotency key");
	is_str(g->idem_digest, w->idem_digest,
	       "a stored run has the digest of the inputs");
	is_str(g->view, w->view, "a stored run has the view");
	is_str(g->log, w->log, "a stored run has the log");
}

struct expected {
	const struct store_run *want;
	int calls;
};

static void on_same(void *arg, const struct store_result *res)
{
	struct expected *e = arg;

	check_same(e->want, res);
	e->calls++;
}

static void compare(struct store *s, const struct store_run *want)
{
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
	struct expected e = {.want = want};

	store_get_run(s, want->requestor, want->id, on_same, &e);
	while (e.calls == 0 && poll(&p, 1, HELP_WAIT_MS) > 0)
		store_dispatch(s);
}

static void test_fields(struct store *s)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer mine = {0}, unknown = {0};

	is_int(help_put(s, &run, STORE_SYNC), 0, "a run is put at once");
	compare(s, &run);
	run.status = STORE_PARTIAL_SUCCESS;
	run.finished_ms = 77;
	run.expires_ms = INT64_MAX;
	run.inputs = run.options = NULL;
	run.view = "{\"runId\":\"\xc3\xa4\"}";
	run.log = "one\ntwo\n";
	run.idem_key = "k\x01";
	run.idem_digest = "ff";
	run.retried_from = "run_first";
	is_int(help_put(s, &run, STORE_RETRY), 0,
	       "a stored run is replaced as a whole");
	compare(s, &run);

	is_int(help_get(s, &mine, "bob", run.id), -ENOENT,
	       "another requestor does not find the run");
	help_get(s, &unknown, "bob", "run_aaaaaaaaaaaaaaaaaaaaaaaaaa");
	is_str(mine.errmsg, unknown.errmsg,
	       "another requestor gets the same text as for an unknown id");
	help_clear(&mine);
	help_clear(&unknown);
}

/* Requests of one queue are answered in the order of the requests. */
static void test_order(const char *dir, struct store *s)
{
	char text[] = "{\"first\":1}";
	struct store_run run = help_run("order", STORE_RUNNING);
	struct answer lazy = {0}, got = {0}, end = {0}, again = {0}, last = {0};
	struct help_db *hold = help_hold(dir, s);

	run.inputs = text;
	help_order = 0;
	store_put_run(s, &run, STORE_DEFERRED, help_done, &lazy);
	memset(text, 'x', sizeof(text) - 1);
	store_get_inputs(s, "order", run.id, help_done, &got);
	run.status = STORE_SUCCEEDED;
	run.inputs = NULL;
	store_put_run(s, &run, STORE_DEFERRED, help_done, &end);
	run.view = "{}";
	store_put_run(s, &run, STORE_RETRY, help_done, &again);
	store_get_run(s, "order", run.id, help_done, &last);
	help_unlock(hold);
	is_int(lazy.calls, 0, "no answer comes from within the call");
	help_wait(s, &last);
	ok(lazy.order == 1 && got.order == 2 && end.order == 3 &&
	       again.order == 4 && last.order == 5,
	   "answers come in the order of the questions");
	ok(lazy.calls == 1 && end.calls == 1 && again.calls == 1,
	   "each request has one answer, also merged puts");
	is_int(lazy.rc + end.rc + again.rc, 0,
	       "all requests of the queue succeed");
	is_int(got.n, 1, "a read sees the deferred write before the read");
	is_int(got.status[0], STORE_RUNNING,
	       "a read does not see the write after the read");
	is_str(got.inputs, "{\"first\":1}",
	       "the strings of a request were copied");
	is_int(last.status[0], STORE_SUCCEEDED,
	       "a later read sees the later write");
	is_str(last.view, "{}",
	       "a later read sees the last of the merged writes");
	help_clear(&got);
	help_clear(&last);
}

static void test_lazy(struct store *s)
{
	struct store_run run = help_run("lazy", STORE_QUEUED);

	is_int(help_put(s, &run, STORE_DEFERRED), 0,
	       "a lazy write without company is written all the same");
	store_put_run(s, &run, STORE_SYNC, NULL, NULL);
	is_int(help_put(s, &run, STORE_SYNC), 0,
	       "a put without a callback is done");
}

/*
 * A deferred write of one run, and another run's write which is not deferred. Did the
 * deferred write wait? Only for 50 ms at most, so a busy machine may take longer.
 */
static bool waits(struct store *s)
{
	struct store_run slow = help_run("lazy", STORE_RUNNING);
	struct store_run other = help_run("lazy", STORE_SUCCEEDED);
	struct answer first = {0}, last = {0};
	uint32_t before = help_commits(s);
	bool waited;

	store_put_run(s, &slow, STORE_DEFERRED, help_done, &first);
	help_put(s, &other, STORE_SYNC);
	waited = first.calls == 0;
	slow.status = STORE_SUCCEEDED;
	store_put_run(s, &slow, STORE_SYNC, help_done, &last);
	help_wait(s, &last);
	return waited && first.calls == 1 && help_commits(s) - before == 2;
}

static void test_waits(struct store *s)
{
	bool waited = false;

	for (int i = 0; i < 100 && !waited; i++)
		waited = waits(s);
	ok(waited, "a run's lazy first row waits, and is one with its last");
}

/*
 * The time at which a store with such a queue begins a commit; the first request came
 * at 1000.
 */
static int64_t due(size_t queued, size_t n_urgent, size_t ends, bool stopping)
{
	struct store s = {.queued = queued,
			  .n_urgent = n_urgent,
			  .ends = ends,
			  .urgent_ms = 1000,
			  .stopping = stopping};

	STAILQ_INIT(&s.queue);
	STAILQ_INIT(&s.retry_queue);
	return store_due_ms(&s);
}

static void test_due(void)
{
	is_int(due(2, 1, 1, false), 0, "a run alone is committed at once");
	is_int(due(5, 1, 1, false), 0,
	       "a run with 3 others open is committed at once");
	is_int(due(6, 1, 1, false), 1002,
	       "the commit of a run beside 4 others waits");
	is_int(due(69, 33, 33, false), 0,
	       "the commit does not wait if most runs have ended");
	is_int(due(80, 2, 1, false), 0,
	       "the commit does not wait for a task's creation");
	is_int(due(80, 2, 2, true), 0,
	       "the commit does not wait in a stopping store");
	is_int(due(80, 0, 0, false), INT64_MAX,
	       "the commit of an empty queue is never due");
}

static void test_group(const char *dir, struct store *s)
{
	enum { PUTS = 200 };
	struct answer a = {0}, last = {0};
	uint32_t before = help_commits(s);
	struct help_db *other = help_lock(dir);
	struct store_run run;

	is_int(help_get(s, &a, "group", "run_x"), -ENOENT,
	       "reads need no write lock: another may hold it");
	is_int(help_commits(s) - before, 0, "reads cause no commit");
	help_unlock(other);
	other = help_hold(dir, s);
	for (int i = 0; i < PUTS; i++) {
		run = help_run("group", STORE_RUNNING);
		store_put_run(s, &run, STORE_SYNC, help_done,
			      i < PUTS - 1 ? &a : &last);
	}
	help_unlock(other);
	help_wait(s, &last);
	is_int(last.rc, 0, "writes wait for another's transaction");
	is_int(help_commits(s) - before, 2,
	       "requests queued during a foreign lock are one transaction");
	help_clear(&a);
}

static void test_idem(struct store *s)
{
	struct store_run run = help_run("idem", STORE_RUNNING), two;
	struct answer a = {0}, bad = {0}, good = {0};

	run.idem_key = "key-1";
	run.idem_digest = "ff";
	help_put(s, &run, STORE_SYNC);
	store_find_idem(s, "idem", "word_count", "key-1", help_done, &a);
	help_wait(s, &a);
	is_str(a.ids[0], run.id, "the run that holds a key is found");
	static const struct {
		const char *requestor, *template_id, *key, *name;
	} none[] = {
	    {"bob", "word_count", "key-1", "not for another requestor"},
	    {"idem", "csv_profile", "key-1", "not for another template"},
	    {"idem", "word_count", "key-2", "not by another key"},
	};
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		help_clear(&a);
		store_find_idem(s, none[i].requestor, none[i].template_id,
				none[i].key, help_done, &a);
		help_wait(s, &a);
		is_int(a.rc, -ENOENT, "%s", none[i].name);
	}
	two = help_run("idem", STORE_RUNNING);
	two.idem_key = "key-1";
	store_put_run(s, &two, STORE_DEFERRED, help_done, &bad);
	run.status = STORE_SUCCEEDED;
	store_put_run(s, &run, STORE_SYNC, help_done, &good);
	help_wait(s, &good);
	is_int(bad.rc, -EEXIST, "a second run cannot take the key");
	is_int(good.rc, 0,
	       "a refused key harms no other row of the transaction");
	is_int(help_get(s, &a, "idem", two.id), -ENOENT,
	       "the run with the refused key is not stored");
	two.idem_key = NULL;
	bad = good = (struct answer){0};
	store_put_run(s, &two, STORE_DEFERRED, help_done, &good);
	two.idem_key = "key-1";
	store_put_run(s, &two, STORE_SYNC, help_done, &bad);
	help_wait(s, &bad);
	help_wait(s, &good);
	is_int(bad.rc, -EEXIST,
	       "the second put of a row is refused for the key");
	/* with PostgreSQL, the two puts are tried separately */
	is_int(good.rc, help_is_postgres() ? 0 : -EEXIST,
	       "the first put, merged into the second, gets the same error");
	is_int(help_put(s, &two, STORE_RETRY), 0, "a promised run is written,");
	help_get(s, &a, "idem", two.id);
	is_str(a.idem_key, "", "the promised run is stored without the key");
	help_clear(&a);
}

static void test_poison(struct store *s)
{
	struct store_run good = help_run("poison", STORE_RUNNING), bad = good;
	struct answer a = {0}, b = {0}, c = {0};

	id_new(bad.id, "run");
	bad.template_id = NULL;
	store_put_run(s, &good, STORE_DEFERRED, help_done, &a);
	store_put_run(s, &bad, STORE_RETRY, help_done, &b);
	store_get_run(s, "poison", good.id, help_done, &c);
	help_wait(s, &c);
	is_int(b.rc, -EINVAL, "a row that the table refuses fails,");
	ok(strstr(b.errmsg, "template_id") != NULL, "names the column,");
	is_int(a.rc + c.rc, 0, "other rows of the batch are stored");
	bad.template_id = "t";
	bad.status = (enum store_status)STORE_STATUSES;
	is_int(help_put(s, &bad, STORE_SYNC), -EINVAL, "no seventh status");
	is_str(store_failing(s), NULL,
	       "a refused row is no failure of the store");
	help_clear(&c);
}

/*
 * A file keeps the page size chosen at creation; https://www.sqlite.org/fileformat.html
 */
static void test_pages(void)
{
	struct store_run run = help_run("x", STORE_RUNNING);
	char *dir = help_dir(), *path = xasprintf("%s/paddock.db", dir);
	struct store *s = store_start(dir, "inst_p");
	unsigned char size[2] = {0};
	int fd;

	is_int(help_put(s, &run, STORE_SYNC), 0, "a run in a new store");
	store_stop(s, 10000);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!help_is_postgres()) {
		ok(pread(fd, size, sizeof(size), 16) == sizeof(size) &&
		       size[0] << 8 == 2048,
		   "the pages of a new file are small");
	}
	if (fd >= 0)
		close(fd);
	free(path);
	help_remove(dir);
}

static void test_version(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_v");
	struct help_db *db = help_open(dir);
	bool postgres = help_is_postgres();
	struct answer a = {0};

	help_sql(db, postgres ? "CREATE TABLE paddock_schema"
				" AS SELECT 99 AS version"
			      : "PRAGMA user_version=99");
	help_close(db);
	is_int(help_get(s, &a, "x", "run_x"),
	       postgres ? -EPROTONOSUPPORT : -ENOTSUP,
	       "the tables of a newer version are left alone");
	ok(strstr(a.errmsg, "newer") != NULL &&
	       strstr(a.errmsg, postgres ? "99" : dir) != NULL,
	   "the error names newer tables and the path");
	ok(store_failing(s) != NULL, "a store with newer tables fails");
	store_stop(s, 1000);
	help_clear(&a);
	help_remove(dir);
}

static void on_nested(void *arg, const struct store_result *res)
{
	struct store *s = *(struct store **)arg;
	struct store_run run = help_run("nested", STORE_RUNNING);

	(void)res;
	store_put_run(s, &run, STORE_DEFERRED, NULL, NULL);
}

static void test_stop(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_s");
	struct store_run run = help_run("stop", STORE_SUCCEEDED);
	struct answer lazy = {0}, retry = {0}, a = {0};

	store_put_run(s, &run, STORE_DEFERRED, help_done, &lazy);
	store_put_run(s, &run, STORE_RETRY, help_done, &retry);
	store_get_run(s, "stop", run.id, on_nested, &s);
	store_stop(s, 60000);
	ok(lazy.calls == 1 && retry.calls == 1 && lazy.rc + retry.rc == 0,
	   "to stop is to finish first, and to tell");
	s = store_start(dir, "inst_t");
	is_int(help_get(s, &a, "stop", run.id), 0, "another store finds it");
	help_list(s, &a,
		  &(struct store_filter){
		      .requestor = "nested", .status = -1, .limit = 5});
	is_int(a.total, 1,
	       "a write made from a callback at the stop is stored");
	store_stop(s, 10000);
	help_clear(&a);
	help_remove(dir);
}

/* Two supervisors with one folder, here in one process, write at once. */
static void test_two(void)
{
	enum { EACH = 500 };
	char *dir = help_dir();
	struct store *s[2] = {store_start(dir, "inst_1"),
			      store_start(dir, "inst_2")};
	struct answer a = {0}, last[2] = {{0}, {0}};

	for (int i = 0; i < EACH * 2; i++) {
		struct store_run run = help_run("both", STORE_RUNNING);
		int k = i % 2;

		store_put_run(s[k], &run,
			      i % 3 == 0 ? STORE_SYNC : STORE_DEFERRED, NULL,
			      NULL);
		if (i >= EACH * 2 - 2)
			store_put_run(s[k], &run, STORE_SYNC, help_done,
				      &last[k]);
	}
	for (int k = 0; k < 2; k++) {
		help_wait(s[k], &last[k]);
		is_int(last[k].rc, 0, "store %d of two has written", k + 1);
		/* a read commits the deferred writes */
		help_get(s[k], &a, "both", "run_none");
	}
	for (int k = 0; k < 2; k++) {
		help_list(s[k], &a,
			  &(struct store_filter){.requestor = "both",
						 .status = STORE_RUNNING,
						 .limit = 1});
		is_int(a.total, EACH * 2, "store %d counts the rows of both",
		       k + 1);
	}
	store_stop(s[0], 10000);
	store_stop(s[1], 10000);
	help_clear(&a);
	help_remove(dir);
}

int main(void)
{
	char *dir;
	struct store *s;

	test_start();
	dir = help_dir();
	s = store_start(dir, "inst_a");
	test_fields(s);
	test_order(dir, s);
	test_lazy(s);
	test_waits(s);
	test_due();
	test_group(dir, s);
	test_idem(s);
	test_poison(s);
	store_stop(s, 10000);
	help_remove(dir);
	test_pages();
	test_version();
	test_stop();
	test_two();
	is_int(locks_left_out(), 0, "no thread unlocks what nobody had locked");
	return tap_done();
}
