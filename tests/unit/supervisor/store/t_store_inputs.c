/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store_inputs.c - inputs stay with the run: written once, kept until the run is
 * removed.
 */
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define INPUTS "{\"text\":\"a b\"}" /* of help_run() */
#define BYTES ((int64_t)sizeof(INPUTS) - 1)
#define TOO_MUCH "{\"bytes\":12}"

struct kept {
	int calls, rc;
	char inputs[64], lack[64], from[64];
	bool more; /* of the row's bulk */
};

static void copy(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text != NULL ? text : "none");
}

static void on_kept(void *arg, const struct store_result *res)
{
	struct kept *k = arg;
	const struct store_run *run = res->runs;

	k->calls++;
	k->rc = res->rc;
	if (res->rc != 0)
		return;
	copy(k->inputs, sizeof(k->inputs), run->inputs);
	copy(k->lack, sizeof(k->lack), run->inputs_lack);
	copy(k->from, sizeof(k->from), run->retried_from);
	k->more = run->view != NULL || run->options != NULL || run->log != NULL;
}

static struct kept kept(struct store *s, const char *requestor, const char *id)
{
	struct pollfd p = {.fd = store_fd(s), .events = POLLIN};
	struct kept k = {0};

	store_get_inputs(s, requestor, id, on_kept, &k);
	while (k.calls == 0 && poll(&p, 1, HELP_WAIT_MS) > 0)
		store_dispatch(s);
	return k;
}

static int64_t row_bytes(struct store *s, const char *requestor)
{
	struct answer a = {0};

	store_usage(s, requestor, help_done, &a);
	help_wait(s, &a);
	return a.row_bytes;
}

/* RUN in the row written at the end. */
static struct store_run ended(const struct store_run *run, int64_t before)
{
	struct store_run end = *run;

	end.status = STORE_SUCCEEDED;
	end.inputs = end.options = NULL;
	end.inputs_before = before;
	end.view = "{}";
	return end;
}

static void test_stay(struct store *s)
{
	struct store_run run = help_run("ada", STORE_RUNNING), end;
	struct answer a = {0};
	struct kept k;

	run.retried_from = "run_before";
	help_put(s, &run, STORE_SYNC);
	end = ended(&run, BYTES);
	help_put(s, &end, STORE_SYNC);
	k = kept(s, "ada", run.id);
	is_str(k.inputs, INPUTS, "a run's end leaves its inputs as they were");
	is_str(k.lack, "none", "no kept input is missing");
	is_str(k.from, "run_before", "the repeated run is kept");
	ok(!k.more, "kept inputs are read without other large columns");
	is_int(row_bytes(s, "ada"), STORE_ROW_BYTES + BYTES + 2,
	       "kept inputs count for the requestor");
	help_get(s, &a, "ada", run.id);
	is_str(a.inputs, NULL, "a read of the run has no inputs");
	is_str(a.view, "{}", "a read of the run has the view");
	is_int(kept(s, "bob", run.id).rc, -ENOENT,
	       "another requestor has no such run");
	help_clear(&a);
}

static void test_go(struct store *s)
{
	struct store_run run = help_run("bob", STORE_QUEUED), end;

	run.inputs_lack = TOO_MUCH;
	help_put(s, &run, STORE_SYNC);
	is_str(kept(s, "bob", run.id).inputs, INPUTS,
	       "long inputs are kept while the run waits");
	end = ended(&run, 0);
	help_put(s, &end, STORE_SYNC);
	is_str(kept(s, "bob", run.id).inputs, "none",
	       "long inputs are not kept after the end");
	is_str(kept(s, "bob", run.id).lack, TOO_MUCH,
	       "the reason for dropped inputs is kept");
	is_int(row_bytes(s, "bob"), STORE_ROW_BYTES + 2,
	       "dropped inputs do not count");
}

/* The first row of a short run is never written alone. */
static void test_short(const char *dir, struct store *s)
{
	struct store_run run = help_run("cat", STORE_RUNNING), end, secret;
	struct answer a[4] = {{0}};
	struct help_db *hold = help_hold(dir, s);

	store_put_run(s, &run, STORE_DEFERRED, help_done, &a[0]);
	end = ended(&run, BYTES);
	store_put_run(s, &end, STORE_DEFERRED, help_done, &a[1]);
	end.task_note = "twice";
	store_put_run(s, &end, STORE_RETRY, help_done, &a[2]);
	secret = help_run("cat", STORE_RUNNING);
	store_put_run(s, &secret, STORE_DEFERRED, NULL, NULL);
	end = ended(&secret, 0);
	store_put_run(s, &end, STORE_SYNC, help_done, &a[3]);
	help_unlock(hold);
	for (int i = 0; i < 4; i++)
		help_wait(s, &a[i]);
	is_int(a[0].rc + a[1].rc + a[2].rc, 0, "three rows become one");
	is_str(kept(s, "cat", run.id).inputs, INPUTS,
	       "merged rows keep the inputs of the first");
	is_str(kept(s, "cat", secret.id).inputs, "none",
	       "merged rows keep no inputs to be dropped");
	is_int(row_bytes(s, "cat"), 2 * (STORE_ROW_BYTES + 2) + BYTES,
	       "merged rows count what is kept");
}

static void test_died(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_dies");
	struct store_run run = help_run("dan", STORE_RUNNING);
	struct store_run much = help_run("dan", STORE_RUNNING);
	struct answer a = {0};

	much.inputs_lack = TOO_MUCH;
	help_put(s, &run, STORE_SYNC);
	help_put(s, &much, STORE_SYNC);
	store_stop(s, 10000);
	s = store_start(dir, "inst_next");
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	is_int((int64_t)a.interrupted, 2, "two runs are interrupted");
	is_str(kept(s, "dan", run.id).inputs, INPUTS,
	       "an interrupted run keeps the inputs");
	is_str(kept(s, "dan", much.id).inputs, "none",
	       "an interrupted run keeps no long inputs");
	is_int(row_bytes(s, "dan"), 2 * STORE_ROW_BYTES + BYTES,
	       "an interrupted run counts the kept inputs");
	store_stop(s, 10000);
	help_clear(&a);
	help_remove(dir);
}

static const char version_6[] =
    HELP_VERSION_7 "ALTER TABLE runs DROP COLUMN retried_from;"
		   "ALTER TABLE runs DROP COLUMN inputs_lack;"
		   "PRAGMA user_version=6";

/*
 * An earlier paddock kept no inputs of ended runs; inputs of waiting runs are there.
 */
static void test_version_6(void)
{
	char *dir = help_dir(), *path = xasprintf("%s/paddock.db", dir);
	struct store *s = store_start(dir, "inst_a");
	struct store_run queued = help_run("ada", STORE_QUEUED);
	struct store_run run = help_run("ada", STORE_RUNNING), end;
	sqlite3 *db;

	end = ended(&run, 0);
	help_put(s, &end, STORE_SYNC);
	help_put(s, &queued, STORE_SYNC);
	store_stop(s, 10000);
	sqlite3_open(path, &db);
	is_int(sqlite3_exec(db, version_6, NULL, NULL, NULL), SQLITE_OK,
	       "a file of version 6");
	sqlite3_close(db);
	s = store_start(dir, "inst_b");
	is_str(kept(s, "ada", end.id).inputs, "none",
	       "a migrated database has no inputs of ended runs");
	is_str(kept(s, "ada", queued.id).inputs, INPUTS,
	       "a migrated database has inputs of waiting runs");
	is_str(kept(s, "ada", queued.id).from, "none",
	       "a migrated run has no repeated run");
	help_put(s, &run, STORE_SYNC);
	end = ended(&run, BYTES);
	help_put(s, &end, STORE_SYNC);
	is_str(kept(s, "ada", run.id).inputs, INPUTS,
	       "a migrated database keeps inputs of new runs");
	store_stop(s, 10000);
	free(path);
	help_remove(dir);
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");

	test_stay(s);
	test_go(s);
	test_short(dir, s);
	store_stop(s, 10000);
	help_remove(dir);
	test_died();
	if (help_is_postgres())
		skip("that is SQLite's", "an older file");
	else
		test_version_6();
	return tap_done();
}
