/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store_staged.c - SQLite stages ends of runs: commits the ends into a table of their
 * own. No request may show a difference, whatever the request and whichever the
 * process; moved rows must equal rows written at once.
 */
#include "base/buf.h"
#include "base/os/log.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define AT_ONCE 6 /* as many of a batch are staged */

static void test_staged(const char *dir)
{
	struct store *s = help_start_still(dir, "inst_a");
	struct store_run runs[3], large = help_ended("alice"), key = large;
	static char view[20000];
	struct answer a = {0};

	for (size_t i = 0; i < ARRAY_LEN(runs); i++)
		runs[i] = help_put_ended(s);
	is_int(help_staged(dir), 3, "an ended run is staged");
	is_int(help_moved(dir), 0,
	       "a staged run is not yet in the table of runs");
	is_int(help_get(s, &a, "alice", runs[1].id), 0,
	       "a read finds a staged run");
	is_str(a.view, runs[1].view, "a staged run has the view");
	is_int(help_staged(dir), 0, "a read moves the staged run first");
	is_int(help_moved(dir), 3, "a read moves all staged runs");
	memset(view, 'v', sizeof(view) - 1);
	large.view = view;
	help_put(s, &large, STORE_RETRY);
	is_int(help_staged(dir), 0, "a large one is not staged");
	runs[0] = help_put_ended(s);
	runs[0].view = view;
	help_put(s, &runs[0], STORE_RETRY);
	help_get(s, &a, "alice", runs[0].id);
	is_str(a.view, view, "a put after staged rows wins");
	id_new(key.id, "run");
	key.idem_key = "k";
	help_put(s, &key, STORE_RETRY);
	is_int(help_staged(dir), 0,
	       "a run with an idempotency key is not staged");
	key.idem_key = NULL;
	id_new(key.id, "run");
	key.status = STORE_RUNNING;
	help_put(s, &key, STORE_SYNC);
	is_int(help_staged(dir), 0, "a running run is not staged");
	store_stop(s, 10000);
	help_clear(&a);
}

/* ---- requests of each kind ---- */

static int64_t asked(struct store *s, const struct store_run *run, size_t kind)
{
	struct store_filter all = {
	    .requestor = "alice", .status = -1, .limit = 99};
	struct answer a = {0};
	int64_t got = 0;

	switch (kind) {
	case 0:
		store_get_run(s, "alice", run->id, help_done, &a);
		break;
	case 1:
		store_get_task(s, "alice", run->id, help_done, &a);
		break;
	case 2:
		store_get_inputs(s, "alice", run->id, help_done, &a);
		break;
	case 3:
		store_list_runs(s, &all, help_done, &a);
		break;
	case 4:
		store_list_tasks(s, "alice", NULL, 1, 99, help_done, &a);
		break;
	case 5:
		store_usage(s, "alice", help_done, &a);
		break;
	case 6:
		store_used(s, "alice", 0, help_done, &a);
		break;
	case 7:
		store_delete_ended(s, &all, INT64_MAX, help_done, &a);
		break;
	case 8:
		store_delete_run(s, "alice", run->id, help_done, &a);
		break;
	case 9:
		store_send_mail(s, "alice", run->id, STORE_MAIL_CANCEL,
				INT64_MAX, help_done, &a);
		break;
	case 10:
		store_find_idem(s, "alice", "word_count", "k", help_done, &a);
		break;
	case 11:
		store_recover(s, help_done, &a);
		break;
	default:
		store_sweep(s, INT64_MAX);
		help_swept(s);
		store_list_runs(s, &all, help_done, &a);
		break;
	}
	help_wait(s, &a);
	got = kind == 5		       ? a.row_bytes
	      : kind == 3 || kind == 7 ? a.total
	      : kind == 4	       ? (int64_t)a.n
	      : kind == 11	       ? (int64_t)(a.n + a.interrupted)
	      : kind == 12	       ? a.total
				       : a.rc;
	help_clear(&a);
	return got;
}

static void test_kinds(const char *dir)
{
	static const struct {
		const char *name;
		int64_t found;
	} kinds[] = {
	    {"by its id", 0},
	    {"as a task", 0},
	    {"for its inputs", 0},
	    {"in a list", 1},
	    {"in a list of tasks", 1},
	    {"in what is taken", STORE_ROW_BYTES + 7 + 14},
	    {"in what was used", 0},
	    {"by a pruning", 1},
	    {"to be forgotten", 0},
	    {"to be told something, for which it is too late", 0},
	    {"by a key, which it has not", -ENOENT},
	    {"by a recovery, which leaves it", 0},
	    {"by a sweep, which takes it", 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		char *sub = xasprintf("%s/%zu", dir, i);
		struct store_run run = help_run("alice", STORE_RUNNING);
		struct store *s = help_start_still(sub, "inst_a");

		help_put(s, &run, STORE_SYNC);
		run.status = STORE_SUCCEEDED;
		run.view = "{\"v\":1}";
		run.finished_ms = run.expires_ms = 2000;
		run.task = STORE_TASK_VIEW;
		run.task_expires_ms = 3000;
		help_put(s, &run, STORE_RETRY);
		is_int(help_staged(sub), 1,
		       "an ended run is staged for the request");
		is_int(asked(s, &run, i), kinds[i].found, "is asked for %s",
		       kinds[i].name);
		is_int(help_staged(sub), 0, "the request moves the staged run");
		is_int(help_count(sub,
				  "SELECT count(*) FROM runs WHERE ended = 0"),
		       0, "the moved run has ended");
		is_int(help_count(sub, "SELECT count(*) FROM mail"), 0,
		       "the moved run has no mail");
		store_stop(s, 10000);
		free(sub);
	}
}

static void test_other(const char *dir)
{
	struct store *s = help_start_still(dir, "inst_a"),
		     *t = help_start_still(dir, "inst_b");
	struct store_filter all = {
	    .requestor = "alice", .status = -1, .limit = 99};
	struct store_run run = help_run("alice", STORE_RUNNING), other;
	struct answer a = {0};

	is_int(help_get(t, &a, "alice", run.id), -ENOENT, "two on one state");
	for (int i = 0; i < 3; i++) {
		run = help_put_ended(s);
		is_int(help_get(t, &a, "alice", run.id), 0,
		       "one sees what the other staged");
		is_int(help_get(s, &a, "alice", run.id), 0,
		       "the second instance reads the moved runs");
		run = help_put_ended(s);
		other = help_put_ended(t);
		is_int(help_list(s, &a, &all), 0, "both instances stage ends");
		is_int(a.total, 3 * (i + 1),
		       "a list shows the staged ends of both instances");
		is_int(help_get(t, &a, "alice", run.id), 0,
		       "the second instance finds the first's end");
		is_int(help_get(s, &a, "alice", other.id), 0,
		       "the first instance finds the second's end");
	}
	is_int(help_staged(dir), 0, "nothing is staged any more");
	store_stop(s, 10000);
	store_stop(t, 10000);
	help_clear(&a);
}

/* ---- the moved rows ---- */

/* The rows of TABLE as lines; the caller frees the text. */
static char *dump(const char *dir, const char *table)
{
	char *path = xasprintf("%s/paddock.db", dir);
	char *sql = xasprintf("SELECT * FROM %s ORDER BY 1, 2, 3", table);
	sqlite3_stmt *row = NULL;
	struct buf b = {0};
	sqlite3 *db;

	sqlite3_open(path, &db);
	sqlite3_prepare_v2(db, sql, -1, &row, NULL);
	while (sqlite3_step(row) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(row); i++) {
			const unsigned char *t = sqlite3_column_text(row, i);

			buf_printf(&b, "%s|", t != NULL ? (char *)t : "NULL");
		}
		buf_add_str(&b, "\n");
	}
	sqlite3_finalize(row);
	sqlite3_close(db);
	free(sql);
	free(path);
	buf_add(&b, "", 1);
	return buf_take(&b, NULL);
}

/*
 * Put the same runs into a store with a read after each put, so no two are staged
 * together, or into a store which moves all at the end.
 */
static void put_story(struct store *s, bool apart)
{
	static const struct {
		const char *id;
		enum store_status status;
		const char *inputs;
		int64_t before, cpu_ms;
		const char *template_id, *view, *note;
	} story[] = {
	    {"run_a", STORE_RUNNING, "{\"in\":1}", 0, 0, "t", NULL, NULL},
	    {"run_a", STORE_SUCCEEDED, NULL, 8, 7, "t", "{}", "ok"},
	    {"run_b", STORE_FAILED, "{\"b\":1}", 0, 9, "t", "{\"b\":1}", NULL},
	    {"run_b", STORE_CANCELED, NULL, 7, 3, "u", "{\"b\":22}", "no"},
	    {"run_c", STORE_RUNNING, "{\"c\":1}", 0, 0, "t", NULL, NULL},
	    {"run_c", STORE_SUCCEEDED, NULL, 0, 1, "t", NULL, NULL},
	    {"run_a", STORE_FAILED, "{\"in\":2}", 8, 1, "t", "{\"a\":3}", NULL},
	    {"run_d", STORE_SUCCEEDED, "\xc3\xa4\n'", 0, 1, "t", "{}", "\""},
	};
	struct answer a = {0};

	for (size_t i = 0; i < ARRAY_LEN(story); i++) {
		struct store_run run = help_run("alice", story[i].status);

		snprintf(run.id, sizeof(run.id), "%s", story[i].id);
		run.inputs = story[i].inputs;
		run.inputs_before = story[i].before;
		run.cpu_ms = story[i].cpu_ms;
		run.template_id = story[i].template_id;
		run.view = story[i].view;
		run.task_note = story[i].note;
		run.finished_ms = (int64_t)i;
		help_put(s, &run, STORE_SYNC);
		if (apart)
			help_get(s, &a, "alice", "none");
	}
	help_get(s, &a, "alice", "none");
	help_clear(&a);
}

static void test_same(const char *dir)
{
	static const char *const tables[] = {"runs", "counts", "usage", "used"};
	struct store_engine never = store_sqlite;
	char *subs[3];
	struct store *s;

	never.unstage = NULL;
	for (int i = 0; i < 3; i++) {
		subs[i] = xasprintf("%s/%d", dir, i);
		s = help_start_still(subs[i], "inst_a");
		if (i == 0)
			s->engine = &never;
		put_story(s, i == 1);
		store_stop(s, 10000);
	}
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		char *text[3];

		for (int k = 0; k < 3; k++)
			text[k] = dump(subs[k], tables[i]);
		ok(strlen(text[0]) > 9, "the table %s has rows", tables[i]);
		is_str(text[1], text[0], "staged rows end up the same");
		is_str(text[2], text[0], "moved together, too");
		for (int k = 0; k < 3; k++)
			free(text[k]);
	}
	for (int i = 0; i < 3; i++)
		free(subs[i]);
}

static void test_refused(const char *dir)
{
	struct store *s = help_start_still(dir, "inst_a");
	struct store_run run = help_ended("alice"), next;
	struct answer a = {0}, good = {0};
	struct help_db *hold;

	help_put_ended(s);
	run.status = (enum store_status)9;
	is_int(help_put(s, &run, STORE_RETRY), -EINVAL,
	       "an unknown status is refused");
	run = help_ended("alice");
	run.digest = NULL;
	is_int(help_put(s, &run, STORE_RETRY), -EINVAL,
	       "a run without a digest is refused");
	next = help_ended("alice");
	hold = help_hold(dir, s);
	store_put_run(s, &run, STORE_RETRY, help_done, &a);
	store_put_run(s, &next, STORE_RETRY, help_done, &good);
	help_unlock(hold);
	help_wait(s, &a);
	help_wait(s, &good);
	is_int(a.rc, -EINVAL, "a refused row beside another fails alone");
	is_int(good.rc, 0, "the row beside a refused row is stored");
	is_str(store_failing(s), NULL,
	       "a refused row is no failure of the store");
	is_int(help_get(s, &a, "alice", next.id), 0, "the stored row is found");
	is_int(help_get(s, &a, "alice", run.id), -ENOENT,
	       "the refused row is not found");
	store_stop(s, 10000);
	help_clear(&a);
	help_clear(&good);
}

static int64_t staged_of(const char *dir, struct store *s, size_t n)
{
	struct answer a[AT_ONCE + 1] = {{0}};
	struct help_db *hold = help_hold(dir, s);

	for (size_t i = 0; i < n; i++) {
		struct store_run run = help_ended("alice");

		store_put_run(s, &run, STORE_RETRY, help_done, &a[i]);
	}
	help_unlock(hold);
	for (size_t i = 0; i < n; i++) {
		help_wait(s, &a[i]);
		help_clear(&a[i]);
	}
	return help_staged(dir);
}

static void test_many(const char *dir)
{
	struct store *s = help_start_still(dir, "inst_a");

	is_int(staged_of(dir, s, AT_ONCE), AT_ONCE,
	       "a few ends at once are staged");
	is_int(staged_of(dir, s, AT_ONCE + 1), 0,
	       "more ends at once are not staged");
	is_int(help_moved(dir), 2 * AT_ONCE + 1,
	       "staged ends are moved with the larger batch");
	for (int i = 0; i < AT_ONCE; i++) {
		struct store_run run = help_run("alice", STORE_RUNNING);

		store_put_run(s, &run, STORE_DEFERRED, NULL, NULL);
	}
	help_put_ended(s);
	is_int(help_staged(dir), 0, "an end while many are open is not staged");
	store_stop(s, 10000);
}

int main(void)
{
	char *dir = help_dir(), *sub;
	static void (*const tests[])(const char *) = {test_staged,  test_kinds,
						      test_other,   test_same,
						      test_refused, test_many};

	if (help_is_postgres()) {
		help_remove(dir);
		skip("that is SQLite's", "what is staged");
		return tap_done();
	}
	log_set_level(LOG_LEVEL_ERROR);
	for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
		sub = xasprintf("%s/%zu", dir, i);
		mkdir(sub, 0700);
		tests[i](sub);
		free(sub);
	}
	help_remove(dir);
	return tap_done();
}
