/* SPDX-License-Identifier: Apache-2.0 */
/* The store when all is well: what is put can be got, counted and paged. */
#include "supervisor/store/store.h"

#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static void test_start(void)
{
	char *dir = help_dir(), *state = xasprintf("%s/new/state", dir), *path;
	struct store *s = store_start(state, "inst_a");
	struct answer a = {0};
	struct stat st;

	ok(!help_exists(dir, "new"), "to start the store touches nothing");
	is_int(help_get(s, &a, "alice", "run_x"), -ENOENT,
	       "a read of a fresh folder finds nothing");
	ok(a.errmsg[0] != '\0', "and says so in words");
	stat(state, &st);
	is_int(st.st_mode & 07777, 0700, "the folder is its owner's alone");
	path = xasprintf("%s/paddock.db", state);
	if (stat(path, &st) != 0 && help_is_postgres())
		st.st_mode = 0600;
	is_int(st.st_mode & 07777, 0600, "so is the database");
	ok(help_exists(state, "instances/inst_a"), "the instance has its file");
	is_str(store_failing(s), NULL, "a store that works is not sick");
	store_stop(s, 10000);
	ok(!help_exists(state, "instances/inst_a"),
	   "which goes when the store stops");
	store_stop(NULL, 0);
	help_clear(&a);
	free(path);
	free(state);
	help_remove(dir);
}

static void check_same(const struct store_run *w, const struct store_result *r)
{
	const struct store_run *g = r->runs;

	is_int(r->rc, 0, "a run that was put is found");
	is_int(r->n_runs, 1, "once");
	if (g == NULL)
		return;
	ok(strcmp(g->id, w->id) == 0, "with its id");
	is_str(g->requestor, w->requestor, "requestor");
	is_str(g->template_id, w->template_id, "template");
	is_str(g->version, w->version, "version");
	is_str(g->digest, w->digest, "digest");
	is_int(g->status, w->status, "status");
	is_int(g->created_ms, w->created_ms, "time of creation");
	is_int(g->started_ms, w->started_ms, "start");
	is_int(g->updated_ms, w->updated_ms, "change");
	is_int(g->finished_ms, w->finished_ms, "end");
	is_int(g->expires_ms, w->expires_ms, "expiry");
	is_str(g->retried_from, w->retried_from, "the run that it repeats");
	is_str(g->inputs, NULL, "no inputs");
	is_str(g->options, w->options, "options");
	is_str(g->idem_key, w->idem_key, "idempotency key");
	is_str(g->idem_digest, w->idem_digest, "digest of the inputs");
	is_str(g->view, w->view, "view");
	is_str(g->log, w->log, "log");
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
	is_int(help_put(s, &run, STORE_RETRY), 0, "and replaced as a whole");
	compare(s, &run);

	is_int(help_get(s, &mine, "bob", run.id), -ENOENT,
	       "another requestor does not find it");
	help_get(s, &unknown, "bob", "run_aaaaaaaaaaaaaaaaaaaaaaaaaa");
	is_str(mine.errmsg, unknown.errmsg,
	       "and hears what an unknown id would");
	help_clear(&mine);
	help_clear(&unknown);
}

/* The rows of one queue are answered in the order in which they came. */
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
	   "each once, also of puts that became one");
	is_int(lazy.rc + end.rc + again.rc, 0, "and all went well");
	is_int(got.n, 1, "a read sees the lazy write before it");
	is_int(got.status[0], STORE_RUNNING, "and not the one after it");
	is_str(got.inputs, "{\"first\":1}", "strings were copied");
	is_int(last.status[0], STORE_SUCCEEDED, "a later read sees the later");
	is_str(last.view, "{}", "and the last of the writes that merged");
	help_clear(&got);
	help_clear(&last);
}

static void test_lazy(struct store *s)
{
	struct store_run run = help_run("lazy", STORE_QUEUED);

	is_int(help_put(s, &run, STORE_DEFERRED), 0,
	       "a lazy write without company is written all the same");
	store_put_run(s, &run, STORE_SYNC, NULL, NULL);
	is_int(help_put(s, &run, STORE_SYNC), 0, "nobody need listen");
}

/*
 * A lazy write of one run, and another run's that is not. Has it waited? Not
 * always: for 50 ms at most, which a busy machine may take.
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

/* When a store that holds so much begins a commit; the first came at 1000. */
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
	is_int(due(5, 1, 1, false), 0, "so is one with 3 others under way");
	is_int(due(6, 1, 1, false), 1002,
	       "with 4, some of them are waited for");
	is_int(due(69, 33, 33, false), 0, "unless most have ended");
	is_int(due(80, 2, 1, false), 0, "or one is no end: a task is made");
	is_int(due(80, 2, 2, true), 0, "or the store stops");
	is_int(due(80, 0, 0, false), INT64_MAX,
	       "with nothing in the queue, never");
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
	is_int(help_commits(s) - before, 0, "and are no commit");
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
	       "what had queued meanwhile is one transaction");
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
	is_int(good.rc, 0, "and harms no other in the same transaction");
	is_int(help_get(s, &a, "idem", two.id), -ENOENT, "it is not there");
	two.idem_key = NULL;
	bad = good = (struct answer){0};
	store_put_run(s, &two, STORE_DEFERRED, help_done, &good);
	two.idem_key = "key-1";
	store_put_run(s, &two, STORE_SYNC, help_done, &bad);
	help_wait(s, &bad);
	help_wait(s, &good);
	is_int(bad.rc, -EEXIST, "nor as the second that is asked of its row");
	/* there the two are tried each by itself */
	is_int(good.rc, help_is_postgres() ? 0 : -EEXIST,
	       "which the first, left out for it, hears, too");
	is_int(help_put(s, &two, STORE_RETRY), 0, "a promised run is written,");
	help_get(s, &a, "idem", two.id);
	is_str(a.idem_key, "", "but without the key");
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
	is_int(a.rc + c.rc, 0, "and its companions do not");
	bad.template_id = "t";
	bad.status = (enum store_status)STORE_STATUSES;
	is_int(help_put(s, &bad, STORE_SYNC), -EINVAL, "no seventh status");
	is_str(store_failing(s), NULL, "which does not make the store sick");
	help_clear(&c);
}

/* A file has the pages that it was made with; https://www.sqlite.org/fileformat.html */
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
		   "whose pages are small");
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
	   "and it says so, with the path");
	ok(store_failing(s) != NULL, "that store is sick");
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
	is_int(a.total, 1, "also what an answer asked for in the meantime");
	store_stop(s, 10000);
	help_clear(&a);
	help_remove(dir);
}

/* Two supervisors of one folder, here in one process, write at once. */
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
		/* to read takes along what is in no hurry */
		help_get(s[k], &a, "both", "run_none");
	}
	for (int k = 0; k < 2; k++) {
		help_list(s[k], &a,
			  &(struct store_filter){.requestor = "both",
						 .status = STORE_RUNNING,
						 .limit = 1});
		is_int(a.total, EACH * 2, "and store %d counts all", k + 1);
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
	return tap_done();
}
