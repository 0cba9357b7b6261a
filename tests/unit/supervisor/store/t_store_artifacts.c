/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts: the bytes, the owner, and the end. */
#include "supervisor/store/store.h"

#include <errno.h>
#include <string.h>

#include "base/os/log.h"
#include "supervisor/store/state/artifact_file.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define BYTES "0123456789"
#define SIZE 10

/* A blob of BYTES, finished. */
static char *make_blob(const char *dir)
{
	struct artifact_file *b = artifact_file_new(dir, "inst_a");
	char hex[65];

	artifact_file_write(b, BYTES, SIZE);
	return artifact_file_finish(b, hex);
}

static int put(struct store *s, const struct store_artifact *art, char *tmp)
{
	struct answer a = {0};

	store_put_artifact(s, art, tmp, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	ok(access(tmp, F_OK) != 0, "the blob is at its first place no more");
	free(tmp);
	return a.rc;
}

static bool is_filed(const char *dir, const struct store_artifact *art)
{
	char *below = xasprintf("artifacts/%s/%s", art->run_id, art->id);
	bool there = help_exists(dir, below);

	free(below);
	return there;
}

static int64_t usage_of(struct store *s, const char *requestor)
{
	struct answer a = {0};

	store_usage(s, requestor, help_done, &a);
	help_wait(s, &a);
	return a.rc == 0 ? a.artifact_bytes : a.rc;
}

static void test_ranges(struct store *s, const struct store_artifact *art)
{
	static const struct {
		int64_t offset, limit;
		int rc;
		const char *data;
	} ranges[] = {
	    {0, 100, 0, BYTES},	  {0, 10, 0, BYTES},
	    {0, 4, 0, "0123"},	  {4, 3, 0, "456"},
	    {8, 9, 0, "89"},	  {10, 5, 0, ""},
	    {3, 0, 0, ""},	  {11, 1, -ERANGE, ""},
	    {-1, 1, -ERANGE, ""}, {0, INT64_MAX, 0, BYTES},
	};
	struct answer a = {0};

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		is_int(help_read(s, &a, "alice", art->id, ranges[i].offset,
				 ranges[i].limit),
		       ranges[i].rc, "%lld bytes from %lld",
		       (long long)ranges[i].limit, (long long)ranges[i].offset);
		a.data[a.len] = '\0';
		is_str(a.data, ranges[i].data,
		       "the bytes of the range are right");
		is_int(a.size, SIZE, "a range comes with the row");
	}
	help_clear(&a);
}

static void test_scope(struct store *s, const struct store_artifact *art)
{
	struct answer a = {0}, b = {0};

	is_int(help_read(s, &a, "bob", art->id, 0, 9), -ENOENT,
	       "another requestor's artifact is unknown");
	help_read(s, &b, "bob", "art_aaaaaaaaaaaaaaaaaaaaaaaaaa", 0, 9);
	is_str(
	    a.errmsg, b.errmsg,
	    "another requestor's artifact gives the same text as an unknown id");
	is_int(a.size, 0, "another requestor's artifact has no size");
	is_int(usage_of(s, "alice"), SIZE,
	       "an artifact's bytes count for the owner");
	is_int(usage_of(s, "bob"), 0,
	       "an artifact's bytes do not count for another requestor");
	help_clear(&a);
	help_clear(&b);
}

static void test_failures(const char *dir, struct store *s,
			  const struct store_run *run)
{
	struct store_artifact art = help_artifact(run, SIZE);

	is_int(put(s, &art, xasprintf("%s/none", dir)), -ENOENT,
	       "a blob that is not there");
	art.name = NULL;
	is_int(put(s, &art, make_blob(dir)), -EINVAL, "a row without a name");
	ok(!is_filed(dir, &art), "leaves no file");
	art.name = "x";
	snprintf(art.id, sizeof(art.id), "../../paddock.db");
	is_int(put(s, &art, make_blob(dir)), -EINVAL,
	       "a path as the id of an artifact is refused");
	snprintf(art.id, sizeof(art.id), "art_ok");
	snprintf(art.run_id, sizeof(art.run_id), "tmp");
	is_int(put(s, &art, make_blob(dir)), -EINVAL,
	       "an artifact in the folder tmp is refused");
	snprintf(art.run_id, sizeof(art.run_id), "../instances");
	is_int(put(s, &art, make_blob(dir)), -EINVAL,
	       "a path as the id of a run is refused");
	is_int(usage_of(s, "alice"), SIZE, "no refused artifact counts");
}

static void test_missing(const char *dir, struct store *s,
			 const struct store_run *run)
{
	struct store_artifact art = help_artifact(run, SIZE);
	char *path = xasprintf("%s/artifacts/%s/%s", dir, run->id, art.id);
	struct answer a = {0};

	is_int(put(s, &art, make_blob(dir)), 0, "a second artifact is stored");
	is_int(truncate(path, 3), 0, "the file of the second artifact is cut");
	is_int(help_read(s, &a, "alice", art.id, 0, 9), -EIO,
	       "a file that is too short is an error");
	unlink(path);
	is_int(help_read(s, &a, "alice", art.id, 0, 9), -ENOMEDIUM,
	       "a missing file is an error");
	ok(strstr(a.errmsg, path) != NULL, "the error names the missing file");
	ok(strstr(store_says(-ENOMEDIUM), "not where") != NULL,
	   "the text for clients tells of the missing file");
	help_clear(&a);
	free(path);
}

static void test_end(const char *dir, struct store *s, struct store_run *run,
		     const struct store_artifact *art)
{
	int64_t now = clock_wall_ms();
	struct store_artifact late = help_artifact(run, SIZE);
	struct answer a = {0};
	char *run_dir = xasprintf("artifacts/%s", run->id);

	run->status = STORE_SUCCEEDED;
	run->expires_ms = now + 1000000;
	store_expire_artifacts(s, run->id, run->expires_ms);
	is_int(help_put(s, run, STORE_RETRY), 0, "the run ends");
	is_int(help_read(s, &a, "alice", art->id, 0, 1), 0,
	       "the artifact of an ended run can be read");
	is_int(a.artifact_expires_ms, run->expires_ms,
	       "the artifact of an ended run has the run's expiry");
	is_int(put(s, &late, make_blob(dir)), 0,
	       "an artifact after the end of the run is stored");
	help_read(s, &a, "alice", late.id, 0, 1);
	is_int(a.artifact_expires_ms, run->expires_ms, "expires with its run");

	store_expire_artifacts(s, run->id, now);
	is_int(help_read(s, &a, "alice", art->id, 0, 1), -ESTALE,
	       "an expired artifact is not unknown");
	ok(is_filed(dir, art),
	   "the file of an expired artifact is still there");
	store_sweep(s, now);
	is_int(help_read(s, &a, "alice", art->id, 0, 1), -ESTALE,
	       "an expired artifact is still known after the sweep");
	ok(!help_exists(dir, run_dir), "the sweep removes the files");
	is_int(usage_of(s, "alice"), 0, "the sweep frees the counted bytes");
	is_int(help_read(s, &a, "bob", art->id, 0, 1), -ENOENT,
	       "another requestor's expired artifact is unknown");
	is_int(help_get(s, &a, "alice", run->id), 0, "the run is still known");
	store_sweep(s, run->expires_ms);
	is_int(help_get(s, &a, "alice", run->id), -ENOENT,
	       "an expired run is unknown after the sweep");
	is_int(help_read(s, &a, "alice", art->id, 0, 1), -ENOENT,
	       "the artifacts of a removed run are unknown");
	help_clear(&a);
	free(run_dir);
}

/* More runs than one transaction's bound; and files which stay after the expiry. */
static void test_many(const char *dir, struct store *s)
{
	enum { RUNS = 400 };
	struct answer a = {0};
	struct store_run run;
	struct store_artifact art;
	char *tmp, *run_dir;

	for (int i = 0; i < RUNS; i++) {
		run = help_run("many", STORE_SUCCEEDED);
		run.expires_ms = 100;
		store_put_run(s, &run, STORE_DEFERRED, NULL, NULL);
	}
	art = help_artifact(&run, SIZE);
	art.expires_ms = INT64_MAX;
	tmp = make_blob(dir);
	is_int(put(s, &art, tmp), 0, "an artifact that outlives its run");
	store_sweep(s, 100);
	do {
		help_list(s, &a,
			  &(struct store_filter){
			      .requestor = "many", .status = -1, .limit = 1});
	} while (a.total > 0 && a.total < RUNS);
	is_int(a.total, 0, "%d runs expire, a few at a time", RUNS);
	is_int(usage_of(s, "many"), 0,
	       "the artifacts of expired runs do not count");
	run_dir = xasprintf("artifacts/%s", run.id);
	ok(!help_exists(dir, run_dir), "the files of expired runs are removed");
	free(run_dir);
	help_clear(&a);
}

static int64_t rows_of(struct store *s, const char *requestor)
{
	struct answer a = {0};

	store_usage(s, requestor, help_done, &a);
	help_wait(s, &a);
	return a.rc == 0 ? a.row_bytes : a.rc;
}

/* An artifact without bytes counts as a row until removed. */
static void test_files(struct store *s, const char *dir)
{
	struct store_run run = help_run("few", STORE_SUCCEEDED);
	struct answer a = {0};
	int64_t row;

	help_put(s, &run, STORE_SYNC);
	row = rows_of(s, "few");
	for (int i = 0; i < 2; i++) {
		struct store_artifact art = help_artifact(&run, 0);
		is_int(put(s, &art, make_blob(dir)), 0,
		       "a small artifact is stored");
		is_int(rows_of(s, "few"), row + (i + 1) * STORE_ARTIFACT_BYTES,
		       "counts for more than its bytes");
	}
	help_clear(&a);
	a = (struct answer){0};
	store_delete_run(s, "few", run.id, help_done, &a);
	help_wait(s, &a);
	is_int(rows_of(s, "few"), 0, "a deleted run's rows do not count");
	help_clear(&a);
}

/* The bytes of rows count for the requestor. */
static void test_rows(struct store *s)
{
	struct store_run run = help_run("rows", STORE_QUEUED);
	char *large = xcalloc(1, 100001);

	memset(large, 'x', 100000);
	is_int(rows_of(s, "rows"), 0,
	       "a requestor without rows has no bytes of rows");
	run.inputs = large;
	run.options = NULL;
	help_put(s, &run, STORE_SYNC);
	is_int(rows_of(s, "rows"), STORE_ROW_BYTES + 100000,
	       "a row counts with its inputs");
	run.status = STORE_SUCCEEDED;
	run.finished_ms = 50;
	run.expires_ms = 60;
	run.inputs = NULL;
	run.view = large + 50000;
	run.log = large + 99000;
	help_put(s, &run, STORE_SYNC);
	is_int(rows_of(s, "rows"), STORE_ROW_BYTES + 50000 + 1000,
	       "an ended run counts view and log");
	is_int(rows_of(s, "bob"), 0,
	       "another requestor's rows are not counted");
	store_sweep(s, 100);
	while (rows_of(s, "rows") > 0)
		;
	is_int(rows_of(s, "rows"), 0, "a row that is forgotten counts no more");
	free(large);
}

/* Does S come to rest after at most QUESTIONS answered requests? */
static bool rests_within(struct store *s, int questions)
{
	bool busy = true;

	while (busy && questions-- > 0) {
		usage_of(s, "nobody");
		pthread_mutex_lock(&s->lock);
		busy = s->busy || !STAILQ_EMPTY(&s->queue);
		pthread_mutex_unlock(&s->lock);
	}
	return !busy;
}

/* Put a folder in place of the file of ART, so unlink() fails. */
static void put_stuck(const char *dir, const struct store_artifact *art)
{
	char *path = xasprintf("%s/artifacts/%s/%s", dir, art->run_id, art->id);

	if (unlink(path) != 0 || mkdir(path, 0700) != 0)
		ok(false, "%s: %s", path, strerror(errno));
	free(path);
}

/* A full transaction of stuck files, and a removable file behind. */
static void test_stuck(const char *dir, struct store *s)
{
	enum { STUCK = 128 };
	struct store_run run = help_run("stuck", STORE_SUCCEEDED);
	struct store_artifact art;

	run.expires_ms = INT64_MAX;
	help_put(s, &run, STORE_SYNC);
	for (int i = 0; i < STUCK + 1; i++) {
		art = help_artifact(&run, SIZE);
		art.expires_ms = i < STUCK ? 100 : 101;
		put(s, &art, make_blob(dir));
		if (i < STUCK)
			put_stuck(dir, &art);
	}
	log_set_level(LOG_LEVEL_ERROR); /* a stuck file is logged */
	store_sweep(s, 200);
	ok(rests_within(s, 50),
	   "files that will not go are not tried for ever");
	ok(!is_filed(dir, &art), "a file behind stuck files is removed");
	is_int(usage_of(s, "stuck"), STUCK * SIZE,
	       "stuck files stay and count");
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct store_artifact art = help_artifact(&run, SIZE);

	help_put(s, &run, STORE_SYNC);
	is_int(put(s, &art, make_blob(dir)), 0, "an artifact is put");
	ok(is_filed(dir, &art),
	   "a stored artifact is below the folder of the run");
	test_ranges(s, &art);
	test_scope(s, &art);
	test_failures(dir, s, &run);
	test_missing(dir, s, &run);
	test_end(dir, s, &run, &art);
	test_many(dir, s);
	test_rows(s);
	test_files(s, dir);
	if (!s->in_rows)
		test_stuck(dir, s);
	store_stop(s, 10000);
	help_remove(dir);
	return tap_done();
}
