/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs deleted before the expiry: one run, or the runs of a time; the owner, and the
 * deleted rows and files.
 */
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

enum { SIZE = 10 };

/* The answer of a deletion, with the place to continue. */
struct deleted {
	struct answer a;
	char next[ID_SIZE];
};

static void on_deleted(void *arg, const struct store_result *res)
{
	struct deleted *d = arg;

	snprintf(d->next, sizeof(d->next), "%s",
		 res->next != NULL ? res->next : "");
	help_done(&d->a, res);
}

static int delete_one(struct store *s, const char *requestor, const char *id)
{
	struct answer a = {0};
	int rc;

	store_delete_run(s, requestor, id, help_done, &a);
	help_wait(s, &a);
	rc = a.rc;
	help_clear(&a);
	return rc;
}

/*
 * Delete all runs of F which ended before BEFORE_MS, step by step: the count; *STEPS.
 */
static int64_t delete_all(struct store *s, struct store_filter f,
			  int64_t before_ms, int *steps)
{
	struct deleted d = {.next = ""};
	char from[ID_SIZE];
	int64_t n = 0;

	*steps = 0;
	do {
		memcpy(from, d.next, sizeof(from));
		f.from = from;
		d = (struct deleted){.next = ""};
		store_delete_ended(s, &f, before_ms, on_deleted, &d);
		help_wait(s, &d.a);
		n += d.a.total;
		++*steps;
	} while (d.a.rc == 0 && d.next[0] != '\0');
	is_int(d.a.rc, 0, "each step of a deletion succeeds");
	return n;
}

static int64_t left(struct store *s, const char *requestor, int status)
{
	struct answer a = {0};

	help_list(s, &a,
		  &(struct store_filter){.requestor = requestor,
					 .status = status,
					 .limit = HELP_PAGE});
	return a.total;
}

static int64_t bytes_of(struct store *s, const char *requestor)
{
	struct answer a = {0};

	store_usage(s, requestor, help_done, &a);
	help_wait(s, &a);
	return a.artifact_bytes + a.row_bytes;
}

static struct store_artifact put_artifact(const char *dir, struct store *s,
					  const struct store_run *run)
{
	struct store_artifact art = help_artifact(run, SIZE);
	struct answer a = {0};
	char *tmp = help_file(dir, "blob", "0123456789");

	store_put_artifact(s, &art, tmp, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	is_int(a.rc, 0, "an artifact is put");
	free(tmp);
	return art;
}

static void test_one(const char *dir, struct store *s)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	char *files = xasprintf("artifacts/%s", run.id);
	struct store_artifact art;
	struct answer a = {0};

	help_put(s, &run, STORE_SYNC);
	art = put_artifact(dir, s, &run);
	is_int(delete_one(s, "alice", run.id), -EBUSY,
	       "a run that goes on is not deleted");
	run.status = STORE_SUCCEEDED;
	run.finished_ms = 50;
	run.expires_ms = INT64_MAX;
	help_put(s, &run, STORE_SYNC);
	is_int(delete_one(s, "bob", run.id), -ENOENT,
	       "another requestor's run is not deleted");
	is_int(delete_one(s, "alice", "run_none"), -ENOENT,
	       "an unknown run is not deleted");
	is_int(help_get(s, &a, "alice", run.id), 0,
	       "the run is still there after refused deletions");
	is_int(delete_one(s, "alice", run.id), 0, "an ended run is deleted");
	is_int(help_get(s, &a, "alice", run.id), -ENOENT,
	       "a deleted run is unknown");
	is_int(help_read(s, &a, "alice", art.id, 0, 1), -ENOENT,
	       "a deleted run's artifact is unknown");
	ok(!help_exists(dir, files), "a deleted run's file is removed");
	is_int(bytes_of(s, "alice"), 0, "a deleted run's bytes do not count");
	is_int(left(s, "alice", -1), 0, "a deleted run is not listed");
	help_clear(&a);
	free(files);
}

/* After the deletion of a run, a new run may take the key. */
static void test_key(struct store *s)
{
	struct store_run one = help_run("keyed", STORE_SUCCEEDED);
	struct store_run two = help_run("keyed", STORE_SUCCEEDED);

	one.idem_key = two.idem_key = "k";
	one.idem_digest = two.idem_digest = "d";
	is_int(help_put(s, &one, STORE_SYNC), 0, "a run with a key is stored");
	is_int(help_put(s, &two, STORE_SYNC), -EEXIST,
	       "a second run with the key is refused");
	is_int(delete_one(s, "keyed", one.id), 0,
	       "the run with the key is deleted");
	is_int(help_put(s, &two, STORE_SYNC), 0, "the key is free then");
}

/* Store COUNT runs of TEMPLATE_ID which ended at FINISHED_MS. */
static void put_runs(struct store *s, int count, const char *template_id,
		     enum store_status status, int64_t finished_ms)
{
	for (int i = 0; i < count; i++) {
		struct store_run run = help_run("many", status);

		run.template_id = template_id;
		run.finished_ms = finished_ms;
		run.expires_ms = INT64_MAX;
		store_put_run(s, &run, STORE_DEFERRED, NULL, NULL);
	}
}

static void test_many(struct store *s)
{
	struct store_filter f = {.requestor = "many", .status = -1};
	struct store_run bobs = help_run("bob", STORE_SUCCEEDED);
	struct store_run old = help_run("many", STORE_RUNNING);
	int steps;

	help_put(s, &bobs, STORE_SYNC);
	help_put(s, &old, STORE_SYNC);
	put_runs(s, 300, "a", STORE_SUCCEEDED, 100);
	put_runs(s, 20, "b", STORE_SUCCEEDED, 100);
	put_runs(s, 7, "b", STORE_FAILED, 100);
	put_runs(s, 9, "b", STORE_FAILED, 200);
	is_int(left(s, "many", -1), 337, "runs of many times are stored");
	is_int(delete_all(s, f, 100, &steps), 0,
	       "a run which ended at the time is not deleted");
	f.before = old.id;
	is_int(delete_all(s, f, 201, &steps), 0,
	       "a run beyond the range is not deleted");
	f.before = NULL;
	f.template_id = "b";
	f.status = STORE_FAILED;
	is_int(delete_all(s, f, 101, &steps), 7,
	       "runs of a template and a status are deleted");
	f.status = -1;
	is_int(delete_all(s, f, 101, &steps), 20,
	       "runs of a template are deleted");
	is_int(left(s, "many", STORE_FAILED), 9,
	       "runs of other templates stay");
	f.template_id = NULL;
	is_int(delete_all(s, f, INT64_MAX, &steps), 309,
	       "all ended runs are deleted");
	ok(steps == 3,
	   "a deletion takes %d steps, between which other requests are served",
	   steps);
	is_int(left(s, "many", -1), 1, "an open run stays");
	is_int(left(s, "many", STORE_RUNNING), 1, "an open run stays running");
	is_int(left(s, "bob", -1), 1, "another requestor's run stays");
}

/* A stuck file: the deletion of the run must not be reported as done. */
static void test_stuck(const char *dir, struct store *s)
{
	struct store_run run = help_run("stuck", STORE_SUCCEEDED);
	struct store_artifact art;
	struct deleted d = {.next = ""};
	struct answer a = {0};
	char *path;

	run.finished_ms = 100;
	help_put(s, &run, STORE_SYNC);
	art = put_artifact(dir, s, &run);
	path = xasprintf("%s/artifacts/%s/%s", dir, run.id, art.id);
	unlink(path);
	mkdir(path, 0700);
	is_int(delete_one(s, "stuck", run.id), -EIO,
	       "a run whose file will not go");
	store_delete_ended(
	    s, &(struct store_filter){.requestor = "stuck", .status = -1}, 200,
	    on_deleted, &d);
	help_wait(s, &d.a);
	is_int(d.a.total, 0,
	       "a run with a stuck file does not count as deleted");
	is_int((int64_t)d.a.n, 1, "a run with a stuck file is reported");
	is_str(d.a.ids[0], run.id, "a run with a stuck file is reported by id");
	is_int(help_get(s, &a, "stuck", run.id), 0,
	       "a run with a stuck file is still there");
	rmdir(path);
	is_int(delete_one(s, "stuck", run.id), 0,
	       "a run is deleted once the file can be removed");
	help_clear(&a);
	free(path);
}

/*
 * A second run uses a file of the run: the deletion is done later, when the user ends.
 */
static void test_held(const char *dir, struct store *s)
{
	struct store_run run = help_run("held", STORE_SUCCEEDED);
	struct store_artifact art;
	struct answer a = {0};

	run.finished_ms = 100;
	run.expires_ms = INT64_MAX;
	help_put(s, &run, STORE_SYNC);
	art = put_artifact(dir, s, &run);
	store_hold(s, art.id);
	is_int(delete_one(s, "held", run.id), -EIO,
	       "a run whose file another run has");
	store_sweep(s, 200);
	is_int(help_get(s, &a, "held", run.id), 0,
	       "a run whose file is in use stays");
	ok(store_release(s, art.id),
	   "a run to be deleted waits for the user of its file");
	store_sweep(s, 200);
	is_int(help_get(s, &a, "held", run.id), -ENOENT,
	       "a run to be deleted is deleted after the end of the user");
	help_clear(&a);
}

/* More files than a sweep looks at in a transaction will not go. */
static void test_behind(const char *dir, struct store *s)
{
	enum { STUCK = 130, LOOKS = 50 };
	struct store_artifact art[STUCK + 1];
	struct answer a = {0};
	struct store_run run;
	int rc;

	for (int i = 0; i <= STUCK; i++) {
		run = help_run("behind", STORE_SUCCEEDED);
		run.finished_ms = 100;
		run.expires_ms = i < STUCK ? 110 : 120;
		help_put(s, &run, STORE_SYNC);
		art[i] = put_artifact(dir, s, &run);
		if (i < STUCK)
			store_hold(s, art[i].id);
	}
	store_expire_artifacts(s, run.id, 120);
	for (int i = 0; i < STUCK; i++)
		store_expire_artifacts(s, art[i].run_id, 110);
	store_sweep(s, 200);
	for (int i = 0; i < LOOKS;
	     i++) /* the sweep makes one step after each read */
		rc = help_get(s, &a, "behind", run.id);
	is_int(rc, -ENOENT, "a run behind stuck files is deleted");
	is_int(left(s, "behind", -1), STUCK, "runs with stuck files stay");
	for (int i = 0; i < STUCK; i++)
		store_release(s, art[i].id);
	store_sweep(s, 200);
	for (int i = 0; i < LOOKS && left(s, "behind", -1) > 0; i++)
		;
	is_int(left(s, "behind", -1), 0,
	       "runs are deleted once the files can be removed");
	help_clear(&a);
}

/* The number of log lines about a stuck file during LOOKS reads. */
static int tries(const char *dir, struct store *s, int looks)
{
	char *path = xasprintf("%s/log", dir), line[1024];
	struct answer a = {0};
	int was = dup(STDERR_FILENO), n = 0;
	FILE *log = fopen(path, "w+");

	fflush(stderr);
	dup2(fileno(log), STDERR_FILENO);
	store_sweep(s, 200);
	for (int i = 0; i < looks; i++)
		help_get(s, &a, "spin", "run_none");
	dup2(was, STDERR_FILENO);
	close(was);
	rewind(log);
	while (fgets(line, sizeof(line), log) != NULL)
		n += strstr(line, "remove=") != NULL;
	fclose(log);
	free(path);
	help_clear(&a);
	return n;
}

/*
 * A full batch of a sweep is stuck: the sweep must not try the files again and again.
 */
static void test_spin(const char *dir, struct store *s)
{
	enum { STUCK = 128, LOOKS = 50 };

	for (int i = 0; i < STUCK; i++) {
		struct store_run run = help_run("spin", STORE_SUCCEEDED);
		struct store_artifact art;
		char *path;

		run.finished_ms = 100;
		run.expires_ms = INT64_MAX;
		help_put(s, &run, STORE_SYNC);
		art = put_artifact(dir, s, &run);
		store_expire_artifacts(s, run.id, 110);
		path = xasprintf("%s/artifacts/%s/%s", dir, run.id, art.id);
		unlink(path);
		mkdir(path, 0700);
		free(path);
	}
	is_int(tries(dir, s, LOOKS), 2 * STUCK,
	       "a sweep tries what will not go until it has seen all of it");
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");

	test_one(dir, s);
	test_key(s);
	test_many(s);
	test_stuck(dir, s);
	if (!help_is_postgres()) { /* in PostgreSQL, files are rows */
		test_held(dir, s);
		test_behind(dir, s);
		test_spin(dir, s);
	}
	store_stop(s, 10000);
	help_remove(dir);
	return tap_done();
}
