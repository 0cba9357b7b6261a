/* SPDX-License-Identifier: Apache-2.0 */
/* A child that had succeeded is found by its journal, while the child and its artifacts are there. */
#include "supervisor/store/store.h"

#include <errno.h>
#include <stdlib.h>

#include "supervisor/store/state/artifact_file.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

/* ms; later than any sweep of the store */
#define NOW 4000000000000

static struct store_run child(const char *journal)
{
	struct store_run run = help_ended("alice");

	run.parent_run_id = "run_parent";
	run.depth = 1;
	run.journal = journal;
	run.expires_ms = NOW + 1000;
	return run;
}

static int find(struct store *s, struct answer *a, const char *requestor,
		const char *journal, int64_t until_ms)
{
	help_clear(a);
	store_find_child(s, requestor, journal, until_ms, help_done, a);
	help_wait(s, a);
	return a->rc;
}

static void test_found(struct store *s)
{
	struct store_run first = child("j1"), run;
	struct answer a = {0};

	help_put(s, &first, STORE_RETRY);
	is_int(find(s, &a, "alice", "j1", NOW), 0, "a child is found,");
	is_str(a.ids[0], first.id, "by its journal");
	is_int(find(s, &a, "alice", "j2", NOW), -ENOENT,
	       "not by another journal");
	is_int(find(s, &a, "bob", "j1", NOW), -ENOENT,
	       "not by another requestor");
	is_int(find(s, &a, "alice", "j1", NOW + 1000), -ENOENT,
	       "not when its time is over");
	run = child("j1");
	help_put(s, &run, STORE_RETRY);
	find(s, &a, "alice", "j1", NOW);
	is_str(a.ids[0], run.id, "of two children the newer one is found");
	store_delete_run(s, "alice", run.id, help_done, &a);
	help_wait(s, &a);
	find(s, &a, "alice", "j1", NOW);
	is_str(a.ids[0], first.id, "a deleted child is not found");
	help_clear(&a);
}

static void test_others(struct store *s)
{
	static const enum store_status statuses[] = {
	    STORE_FAILED, STORE_PARTIAL_SUCCESS, STORE_CANCELED, STORE_RUNNING};
	struct store_run run = child("k");
	struct answer a = {0};

	run.depth = 0;
	help_put(s, &run, STORE_RETRY);
	is_int(find(s, &a, "alice", "k", NOW), -ENOENT,
	       "a run of a client is no child");
	for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
		run = child("k");
		run.status = statuses[i];
		help_put(s, &run, STORE_RETRY);
		is_int(find(s, &a, "alice", "k", NOW), -ENOENT,
		       "a child with the status %d is not found",
		       (int)statuses[i]);
	}
	help_clear(&a);
}

static void put_artifact(struct store *s, const char *dir,
			 const struct store_artifact *art)
{
	struct artifact_file *f = artifact_file_new(dir, "inst_a");
	struct answer a = {0};
	char hex[65], *tmp;

	artifact_file_write(f, "x", 1);
	tmp = artifact_file_finish(f, hex);
	store_put_artifact(s, art, tmp, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	is_int(a.rc, 0, "an artifact of a child is stored");
	free(tmp);
}

static void test_artifacts(struct store *s, const char *dir)
{
	struct store_run run = child("art");
	struct store_artifact art = help_artifact(&run, 1);
	struct answer a = {0};

	help_put(s, &run, STORE_RETRY);
	art.expires_ms = run.finished_ms;
	put_artifact(s, dir, &art);
	is_int(find(s, &a, "alice", "art", NOW), 0,
	       "an artifact of an earlier attempt at the child may be gone");
	art = help_artifact(&run, 1);
	art.expires_ms = NOW + 10;
	put_artifact(s, dir, &art);
	is_int(find(s, &a, "alice", "art", NOW), 0,
	       "a child is found while its artifact is there");
	is_int(find(s, &a, "alice", "art", NOW + 10), -ENOENT,
	       "a child whose artifact has expired is not found");
	help_clear(&a);
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");

	test_found(s);
	test_others(s);
	test_artifacts(s, dir);
	store_stop(s, 10000);
	help_remove(dir);
	return tap_done();
}
