/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads: artifacts without a run. The files, the lists, and the end. */
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define BYTES "0123456789"
#define OLD "up_7c6a180b36896a0a8c02787eeaf"
enum { SIZE = 10, MANY = 300 };
static const int64_t FAR = 4102444800000; /* the year 2100 */

struct found {
	struct answer a;
	char next[ID_SIZE];
	size_t n;
	char ids[HELP_PAGE][ID_SIZE];
};

static void on_found(void *arg, const struct store_result *res)
{
	struct found *f = arg;

	f->n = res->n_artifacts;
	snprintf(f->next, sizeof(f->next), "%s",
		 res->next != NULL ? res->next : "");
	for (size_t i = 0; i < f->n && i < HELP_PAGE; i++)
		memcpy(f->ids[i], res->artifacts[i].id, ID_SIZE);
	help_done(&f->a, res);
}

static struct store_artifact upload(const char *requestor)
{
	struct store_run run = help_run(requestor, STORE_SUCCEEDED);
	struct store_artifact art = help_artifact(&run, SIZE);
	static int count;

	/* ordered, also within a millisecond */
	snprintf(art.id, sizeof(art.id), "art_z%025d", ++count);
	memcpy(art.run_id, art.id, sizeof(art.run_id));
	art.created_ms = 100;
	art.expires_ms = FAR;
	return art;
}

static void put(const char *dir, struct store *s,
		const struct store_artifact *art)
{
	struct answer a = {0};
	char *tmp = help_file(dir, "blob", BYTES);

	store_put_artifact(s, art, tmp, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	if (a.rc != 0)
		is_int(a.rc, 0, "an artifact is put");
	free(tmp);
	help_clear(&a);
}

static struct found list(struct store *s, const char *requestor, bool all,
			 const char *from)
{
	struct found f = {.next = ""};

	store_list_artifacts(s, requestor, all, from, NULL, HELP_PAGE, on_found,
			     &f);
	help_wait(s, &f.a);
	help_clear(&f.a);
	return f;
}

static int drop(struct store *s, const char *requestor, const char *id)
{
	struct answer a = {0};
	int rc;

	store_delete_upload(s, requestor, id, help_done, &a);
	help_wait(s, &a);
	rc = a.rc;
	help_clear(&a);
	return rc;
}

static bool is_filed(const char *dir, const char *folder, const char *id)
{
	char *below = xasprintf("artifacts/%s%s%s", folder,
				id != NULL ? "/" : "", id != NULL ? id : "");
	bool there = help_exists(dir, below);

	free(below);
	return there;
}

static int64_t bytes_of(struct store *s, const char *requestor)
{
	struct answer a = {0};

	store_usage(s, requestor, help_done, &a);
	help_wait(s, &a);
	return a.artifact_bytes;
}

static void test_one(const char *dir, struct store *s)
{
	struct store_artifact one = upload("alice"), two = upload("alice");
	struct store_run run = help_run("alice", STORE_SUCCEEDED);
	struct store_artifact made = help_artifact(&run, SIZE);
	struct answer a = {0};
	struct found f;

	help_put(s, &run, STORE_SYNC);
	put(dir, s, &made);
	put(dir, s, &one);
	put(dir, s, &two);
	ok(is_filed(dir, one.id, one.id), "an upload has a folder of its own");
	f = list(s, "alice", false, NULL);
	is_int((int64_t)f.n, 2, "uploads are listed");
	is_str(f.ids[0], two.id, "the newest upload is listed first");
	is_int((int64_t)list(s, "alice", true, NULL).n, 3,
	       "a list of all has artifacts of runs");
	is_int((int64_t)list(s, "alice", true, two.id).n, 1,
	       "a list begins after an id");
	is_int((int64_t)list(s, "bob", true, NULL).n, 0,
	       "another requestor's list is empty");
	is_int(drop(s, "bob", one.id), -ENOENT,
	       "another requestor cannot delete an upload");
	is_int(drop(s, "alice", "art_none"), -ENOENT,
	       "an unknown upload cannot be deleted");
	is_int(drop(s, "alice", made.id), -EPERM,
	       "an artifact of a run is not deleted as an upload");
	is_int(drop(s, "alice", one.id), 0, "an upload is deleted");
	ok(!is_filed(dir, one.id, NULL),
	   "the folder of a deleted upload is removed");
	is_int(help_read(s, &a, "alice", one.id, 0, 9), -ENOENT,
	       "a deleted upload is unknown");
	is_int(drop(s, "alice", one.id), -ENOENT,
	       "a deleted upload cannot be deleted again");
	is_int(help_read(s, &a, "alice", two.id, 0, 9), 0,
	       "other uploads stay");
	is_int(bytes_of(s, "alice"), 2 * SIZE, "other uploads still count");
	help_clear(&a);
}

/* Delete all uploads of REQUESTOR before BEFORE_MS, step by step: the count. */
static int64_t drop_all(struct store *s, const char *requestor,
			int64_t before_ms, int *steps, size_t *stuck)
{
	struct found f = {.next = ""};
	char from[ID_SIZE];
	int64_t n = 0;

	*steps = 0;
	*stuck = 0;
	do {
		snprintf(from, sizeof(from), "%s", f.next);
		f = (struct found){.next = ""};
		store_delete_uploads(s, requestor, from, before_ms, on_found,
				     &f);
		help_wait(s, &f.a);
		n += f.a.total;
		*stuck += f.n;
		++*steps;
	} while (f.a.rc == 0 && f.next[0] != '\0');
	return n;
}

static void test_many(const char *dir, struct store *s)
{
	struct store_artifact bobs = upload("bob"), late = upload("many");
	char *path;
	size_t stuck;
	int steps;

	put(dir, s, &bobs);
	for (int i = 0; i < MANY; i++) {
		struct store_artifact art = upload("many");

		put(dir, s, &art);
		path = xasprintf("%s/artifacts/%s/%s", dir, art.id, art.id);
		ok(truncate(path, 2 << 20) == 0,
		   "a large upload's file is extended");
		free(path);
	}
	late.created_ms = 200;
	put(dir, s, &late);
	is_int(drop_all(s, "many", 100, &steps, &stuck), 0,
	       "no upload is before the time");
	path = xasprintf("%s/artifacts/%s/%s", dir, late.id, late.id);
	is_int(drop_all(s, "many", 101, &steps, &stuck), MANY,
	       "all uploads before the time are deleted");
	ok(steps == 3, "in %d steps, between which others are served", steps);
	unlink(path);
	mkdir(path, 0700);
	is_int(drop_all(s, "many", FAR, &steps, &stuck), 0,
	       "an upload with a stuck file is not deleted");
	is_int((int64_t)stuck, 1, "an upload with a stuck file is reported");
	is_int(drop(s, "many", late.id), -EIO,
	       "deleting an upload with a stuck file fails");
	rmdir(path);
	is_int(drop(s, "many", late.id), 0,
	       "the upload is deleted once the file can be removed");
	is_int((int64_t)list(s, "bob", false, NULL).n, 1,
	       "another requestor's upload stays");
	free(path);
}

/*
 * A file used by a run stays and counts after the deletion, until the run releases the
 * file.
 */
static void test_held(const char *dir, struct store *s)
{
	struct store_artifact art = upload("hal");
	struct answer a = {0};
	char *path;

	put(dir, s, &art);
	path = xasprintf("%s/artifacts/%s/%s", dir, art.id, art.id);
	store_hold(s, art.id);
	store_hold(s, art.id);
	is_int(drop(s, "hal", art.id), 0, "an upload in use is deleted");
	is_int(help_read(s, &a, "hal", art.id, 0, 1), -ESTALE,
	       "a deleted upload in use cannot be read");
	ok(access(path, F_OK) == 0,
	   "the file of a deleted upload in use stays");
	is_int(bytes_of(s, "hal"), art.size, "a deleted upload in use counts");
	ok(!store_release(s, art.id),
	   "a release by one of two users frees no upload");
	store_sweep(s, FAR);
	is_int(bytes_of(s, "hal"), art.size,
	       "an upload with one more user counts");
	ok(store_release(s, art.id),
	   "the last release reports the pending deletion");
	store_sweep(s, FAR);
	is_int(bytes_of(s, "hal"), 0, "the sweep removes a released upload");
	ok(access(path, F_OK) != 0,
	   "the sweep removes the file of a released upload");
	store_hold(s, art.id);
	ok(!store_release(s, art.id),
	   "a release of an upload which was not deleted frees no upload");
	help_clear(&a);
	free(path);
}

/* An expired upload is known as expired for a time. */
static void test_end(const char *dir, struct store *s)
{
	struct store_artifact art = upload("eve");
	struct answer a = {0};

	art.expires_ms = 1000;
	put(dir, s, &art);
	store_sweep(s, 2000);
	is_int(help_read(s, &a, "eve", art.id, 0, 9), -ESTALE,
	       "an upload expires");
	ok(!is_filed(dir, art.id, NULL),
	   "the folder of an expired upload is removed");
	is_int(drop(s, "eve", art.id), -ENOENT,
	       "an expired upload cannot be deleted");
	store_sweep(s, 999 + STORE_UPLOAD_NOTED_MS);
	is_int(help_read(s, &a, "eve", art.id, 0, 9), -ESTALE,
	       "an expired upload is known as expired for a time");
	store_sweep(s, 1000 + STORE_UPLOAD_NOTED_MS);
	is_int(help_read(s, &a, "eve", art.id, 0, 9), -ENOENT,
	       "an expired upload is unknown after the time");
	help_clear(&a);
}

/* A file of an older paddock, with all uploads of a requestor in one folder. */
static void test_version_7(void)
{
	char *dir = help_dir(), *path = xasprintf("%s/paddock.db", dir);
	struct store *s = store_start(dir, "inst_a");
	struct store_artifact one = upload("ada"), two = upload("ada");
	struct answer a = {0};
	char sql[512];
	struct found f;
	sqlite3 *db;

	snprintf(one.run_id, sizeof(one.run_id), OLD);
	snprintf(two.run_id, sizeof(two.run_id), OLD);
	put(dir, s, &one);
	put(dir, s, &two);
	store_stop(s, 10000);
	sqlite3_open(path, &db);
	snprintf(sql, sizeof(sql), "%s",
		 HELP_VERSION_7 "PRAGMA user_version=7");
	is_int(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK,
	       "a file of version 7");
	sqlite3_close(db);
	s = store_start(dir, "inst_b");
	f = list(s, "ada", false, NULL);
	is_int((int64_t)f.n, 2, "old uploads are listed");
	is_int(help_read(s, &a, "ada", one.id, 0, 9), 0,
	       "an old upload is read");
	is_int(drop(s, "ada", one.id), 0, "an old upload is deleted");
	ok(is_filed(dir, OLD, two.id), "other uploads in the old folder stay");
	is_int(drop(s, "ada", two.id), 0,
	       "the last upload of the old folder is deleted");
	ok(!is_filed(dir, OLD, NULL),
	   "the old folder is removed with the last upload");
	store_stop(s, 10000);
	help_clear(&a);
	free(path);
	help_remove(dir);
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");

	test_one(dir, s);
	test_many(dir, s);
	test_held(dir, s);
	test_end(dir, s);
	store_stop(s, 10000);
	help_remove(dir);
	if (help_is_postgres())
		skip("that is SQLite's", "an older file");
	else
		test_version_7();
	return tap_done();
}
