/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts: their bytes, whose they are, and how they end. */
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
		is_str(a.data, ranges[i].data, "are the right ones");
		is_int(a.size, SIZE, "and the row comes with them");
	}
	help_clear(&a);
}

static void test_scope(struct store *s, const struct store_artifact *art)
{
	struct answer a = {0}, b = {0};

	is_int(help_read(s, &a, "bob", art->id, 0, 9), -ENOENT,
	       "another requestor's artifact is unknown");
	help_read(s, &b, "bob", "art_aaaaaaaaaaaaaaaaaaaaaaaaaa", 0, 9);
	is_str(a.errmsg, b.errmsg, "and nothing tells the two apart");
	is_int(a.size, 0, "not even its row");
	is_int(usage_of(s, "alice"), SIZE, "its bytes are its owner's");
	is_int(usage_of(s, "bob"), 0, "and nobody else's");
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
	is_int(put(s, &art, make_blob(dir)), -EINVAL, "no path as an id");
	snprintf(art.id, sizeof(art.id), "art_ok");
	snprintf(art.run_id, sizeof(art.run_id), "tmp");
	is_int(put(s, &art, make_blob(dir)), -EINVAL, "nor among the blobs");
	snprintf(art.run_id, sizeof(art.run_id), "../instances");
	is_int(put(s, &art, make_blob(dir)), -EINVAL, "no path as its run's");
	is_int(usage_of(s, "alice"), SIZE, "none of them counts");
}

static void test_missing(const char *dir, struct store *s,
			 const struct store_run *run)
{
	struct store_artifact art = help_artifact(run, SIZE);
	char *path = xasprintf("%s/artifacts/%s/%s", dir, run->id, art.id);
	struct answer a = {0};

	is_int(put(s, &art, make_blob(dir)), 0, "a second artifact");
	is_int(truncate(path, 3), 0, "loses bytes");
	is_int(help_read(s, &a, "alice", art.id, 0, 9), -EIO,
	       "a file that is too short is an error");
	unlink(path);
	is_int(help_read(s, &a, "alice", art.id, 0, 9), -ENOMEDIUM,
	       "so is one that is missing");
	ok(strstr(a.errmsg, path) != NULL, "which is named");
	ok(strstr(store_says(-ENOMEDIUM), "not where") != NULL,
	   "and told to clients, as no fault of a disk's");
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
	       "its artifact lives on");
	is_int(a.artifact_expires_ms, run->expires_ms, "until it expires");
	is_int(put(s, &late, make_blob(dir)), 0, "a straggler");
	help_read(s, &a, "alice", late.id, 0, 1);
	is_int(a.artifact_expires_ms, run->expires_ms, "expires with its run");

	store_expire_artifacts(s, run->id, now);
	is_int(help_read(s, &a, "alice", art->id, 0, 1), -ESTALE,
	       "an expired artifact is not unknown");
	ok(is_filed(dir, art), "though its file is still there");
	store_sweep(s, now);
	is_int(help_read(s, &a, "alice", art->id, 0, 1), -ESTALE,
	       "nor after the sweep");
	ok(!help_exists(dir, run_dir), "which removes the files");
	is_int(usage_of(s, "alice"), 0, "and frees what they used");
	is_int(help_read(s, &a, "bob", art->id, 0, 1), -ENOENT,
	       "to others it is as unknown as ever");
	is_int(help_get(s, &a, "alice", run->id), 0, "the run is still known");
	store_sweep(s, run->expires_ms);
	is_int(help_get(s, &a, "alice", run->id), -ENOENT,
	       "when the run goes,");
	is_int(help_read(s, &a, "alice", art->id, 0, 1), -ENOENT,
	       "its artifacts become unknown");
	help_clear(&a);
	free(run_dir);
}

/* More than one transaction's worth; and files that outlive their time. */
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
	is_int(usage_of(s, "many"), 0, "and take their artifacts along");
	run_dir = xasprintf("artifacts/%s", run.id);
	ok(!help_exists(dir, run_dir), "with the files");
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

/* Each artifact counts, though it says that it has no byte, until it is gone. */
static void test_files(struct store *s, const char *dir)
{
	struct store_run run = help_run("few", STORE_SUCCEEDED);
	struct answer a = {0};
	int64_t row;

	help_put(s, &run, STORE_SYNC);
	row = rows_of(s, "few");
	for (int i = 0; i < 2; i++) {
		struct store_artifact art = help_artifact(&run, 0);
		is_int(put(s, &art, make_blob(dir)), 0, "one that is small");
		is_int(rows_of(s, "few"), row + (i + 1) * STORE_ARTIFACT_BYTES,
		       "counts for more than its bytes");
	}
	help_clear(&a);
	a = (struct answer){0};
	store_delete_run(s, "few", run.id, help_done, &a);
	help_wait(s, &a);
	is_int(rows_of(s, "few"), 0, "and no more once it is deleted");
	help_clear(&a);
}

/* What rows hold is its requestor's account as well. */
static void test_rows(struct store *s)
{
	struct store_run run = help_run("rows", STORE_QUEUED);
	char *large = xcalloc(1, 100001);

	memset(large, 'x', 100000);
	is_int(rows_of(s, "rows"), 0, "who has no row has no bytes of them");
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
	       "when it has ended, with its view and its log");
	is_int(rows_of(s, "bob"), 0, "and nobody else's");
	store_sweep(s, 100);
	while (rows_of(s, "rows") > 0)
		;
	is_int(rows_of(s, "rows"), 0, "a row that is forgotten counts no more");
	free(large);
}

/* Does S come to rest within so many questions that are answered beside it? */
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

/* A folder is where the file of ART was: nobody can unlink it. */
static void put_stuck(const char *dir, const struct store_artifact *art)
{
	char *path = xasprintf("%s/artifacts/%s/%s", dir, art->run_id, art->id);

	if (unlink(path) != 0 || mkdir(path, 0700) != 0)
		ok(false, "%s: %s", path, strerror(errno));
	free(path);
}

/* As many as a transaction of the sweep's takes, and one that can go behind them. */
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
	log_set_level(LOG_LEVEL_ERROR); /* each that stays has a line */
	store_sweep(s, 200);
	ok(rests_within(s, 50),
	   "files that will not go are not tried for ever");
	ok(!is_filed(dir, &art), "one that can go does so behind them");
	is_int(usage_of(s, "stuck"), STUCK * SIZE, "which stay, and count");
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct store_artifact art = help_artifact(&run, SIZE);

	help_put(s, &run, STORE_SYNC);
	is_int(put(s, &art, make_blob(dir)), 0, "an artifact is put");
	ok(is_filed(dir, &art), "and filed below its run");
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
