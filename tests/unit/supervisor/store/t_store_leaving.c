/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store_leaving.c - files of deleted artifacts: files in use stay until their last
 * user is gone, large files are freed by a thread, and no lock is left out on the way.
 */
#include "tests/unit/base/lock_fixture.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define LARGE ((int64_t)1 << 20) /* a file with more is freed by the thread */

static struct store *s;
static char *dir;

/* Keep an artifact of SIZE bytes, of a run which has ended. */
static struct store_artifact keep(int64_t size)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct store_artifact art;
	struct answer a = {0};
	char *tmp = help_file(dir, "blob", "x");

	help_put(s, &run, STORE_SYNC);
	art = help_artifact(&run, size);
	if (truncate(tmp, size) < 0)
		abort();
	store_put_artifact(s, &art, tmp, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	if (a.rc != 0)
		abort();
	run.status = STORE_SUCCEEDED;
	run.finished_ms = 50;
	run.expires_ms = INT64_MAX;
	help_put(s, &run, STORE_SYNC);
	free(tmp);
	help_clear(&a);
	return art;
}

static int delete_run(const char *id)
{
	struct answer a = {0};
	int rc;

	store_delete_run(s, "alice", id, help_done, &a);
	help_wait(s, &a);
	rc = a.rc;
	help_clear(&a);
	return rc;
}

static bool is_filed(const struct store_artifact *art)
{
	char *below = xasprintf("artifacts/%s/%s", art->run_id, art->id);
	bool there = help_exists(dir, below);

	free(below);
	return there;
}

/* How many descriptors this process has. */
static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_sizes(void)
{
	static const int64_t sizes[] = {0, LARGE, LARGE + 1, 3 * LARGE};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct store_artifact art = keep(sizes[i]);
		int before = descriptors();

		ok(is_filed(&art), "a file of %lld bytes is kept",
		   (long long)sizes[i]);
		is_int(delete_run(art.run_id), 0,
		       "the run of a file is deleted");
		ok(!is_filed(&art), "the file of a deleted run is removed");
		alarm(60);
		while (descriptors() > before)
			sched_yield();
		alarm(0);
		is_int(descriptors(), before, "the file's blocks are freed");
	}
}

/* More large files than may wait at once for the thread. */
static void test_many(void)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	int before = descriptors();
	struct answer a = {0};

	help_put(s, &run, STORE_SYNC);
	for (int i = 0; i < STORE_CLOSING_MAX + 2; i++) {
		struct store_artifact art = help_artifact(&run, LARGE + 1);
		char *tmp = help_file(dir, "blob", "x");

		if (truncate(tmp, art.size) < 0)
			abort();
		a = (struct answer){0};
		store_put_artifact(s, &art, tmp, STORE_SYNC, help_done, &a);
		help_wait(s, &a);
		free(tmp);
	}
	run.status = STORE_SUCCEEDED;
	run.finished_ms = 50;
	run.expires_ms = INT64_MAX;
	help_put(s, &run, STORE_SYNC);
	is_int(delete_run(run.id), 0, "a run of many large files is deleted");
	alarm(60);
	while (descriptors() > before)
		sched_yield();
	alarm(0);
	is_int(descriptors(), before, "many large files are freed");
	help_clear(&a);
}

static void test_held(void)
{
	struct store_artifact art = keep(10), other = keep(10);

	ok(!store_is_held(s, art.id), "a file without a user is not in use");
	store_hold(s, art.id);
	store_hold(s, art.id);
	store_hold(s, other.id);
	ok(store_is_held(s, art.id), "a file with two users is in use");
	ok(store_release(s, art.id) == false, "one of two users leaves");
	ok(store_is_held(s, art.id), "a file with a user is in use");
	ok(store_release(s, art.id), "the last user hears that it is unwanted");
	ok(!store_is_held(s, art.id), "a file whose users left is not in use");
	ok(!store_release(s, other.id),
	   "a file that is wanted further has no need to go");
	ok(!store_release(s, other.id), "a user leaves once");
	is_int((int64_t)s->n_held, 0, "no file is in use at the end");
}

/* A file in use stays when its run is deleted. */
static void test_used(void)
{
	struct store_artifact art = keep(10);

	store_hold(s, art.id);
	is_int(delete_run(art.run_id), -EIO,
	       "a run with a file in use is deleted later");
	ok(is_filed(&art), "a file in use stays when its run is deleted");
	ok(store_release(s, art.id),
	   "the user of an unwanted file hears so at the end");
	store_sweep(s, clock_wall_ms());
	help_swept(s);
	ok(!is_filed(&art), "after the end of its use the file is swept");
}

int main(void)
{
	if (help_is_postgres()) {
		printf("1..0 # SKIP without files\n");
		return 0;
	}
	dir = help_dir();
	s = store_start(dir, "inst_a");
	test_sizes();
	test_many();
	test_held();
	test_used();
	store_stop(s, HELP_WAIT_MS);
	is_int(locks_left_out(), 0, "no thread unlocks what nobody had locked");
	help_remove(dir);
	return tap_done();
}
