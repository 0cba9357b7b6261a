/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts as files in a folder that several machines share, by one database. */
#include "supervisor/store/state/artifact_file.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define BYTES "0123456789"
#define SIZE 10

static struct store *start(const char *dir, const char *of, const char *folder,
			   const char *instance)
{
	struct store *s = help_start_beside(dir, of, instance);

	store_set_artifacts(s, folder);
	return s;
}

static char *make_file(const char *folder, const char *instance)
{
	struct artifact_file *b = artifact_file_new(folder, instance);
	char hex[65];

	artifact_file_write(b, BYTES, SIZE);
	return artifact_file_finish(b, hex);
}

static int put(struct store *s, const char *folder,
	       const struct store_artifact *art)
{
	struct answer a = {0};
	char *tmp = make_file(folder, "inst_a");

	store_put_artifact(s, art, tmp, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	free(tmp);
	return a.rc;
}

static void recover(struct store *s)
{
	struct answer a = {0};

	s->look_ms = 0; /* an hour has passed */
	store_recover(s, help_done, &a);
	help_wait(s, &a);
	is_int(a.rc, 0, "a recovery succeeds");
}

static void make_old(const char *path)
{
	const struct timespec then[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	is_int(utimensat(AT_FDCWD, path, then, 0), 0, "two hours pass");
}

static void test_strays(struct store *a, struct store *b, const char *folder,
			const char *run_id)
{
	char *blob = make_file(folder, "inst_a");
	char *dir = xasprintf("%s/artifacts/%s", folder, run_id);
	char *stray = help_file(dir, "art_stray", "x");

	recover(b);
	ok(access(blob, F_OK) == 0, "a fresh temporary file stays");
	ok(access(stray, F_OK) == 0, "a fresh file without a row stays");
	make_old(blob);
	make_old(stray);
	recover(b);
	ok(access(blob, F_OK) == 0,
	   "an old temporary file of a living node stays");
	ok(access(stray, F_OK) != 0, "an old file without a row is removed");
	store_stop(a, HELP_WAIT_MS);
	recover(b);
	ok(access(blob, F_OK) != 0,
	   "a temporary file of a dead node is removed");
	free(stray);
	free(dir);
	free(blob);
}

static void test_missing(const char *dir, const char *folder)
{
	char *none = xasprintf("%s/none", folder);
	struct store *s = start(dir, dir, none, "inst_c");
	struct answer a = {0};

	store_open(s, help_done, &a);
	help_wait(s, &a);
	ok(a.rc != 0 && strstr(a.errmsg, none) != NULL,
	   "a folder that is not there is named: %s", a.errmsg);
	store_stop(s, HELP_WAIT_MS);
	help_clear(&a);
	free(none);
}

int main(void)
{
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct store_artifact art = help_artifact(&run, SIZE);
	char *dir, *other, *folder;
	struct store *a, *b;
	struct answer got = {0};

	if (!help_is_postgres()) {
		printf("1..0 # SKIP without PostgreSQL\n");
		return 0;
	}
	dir = help_dir();
	other = help_dir();
	folder = help_dir();
	a = start(dir, dir, folder, "inst_a");
	b = start(other, dir, folder, "inst_b");
	is_int(help_put(a, &run, STORE_SYNC), 0, "a run of one node");
	is_int(put(a, folder, &art), 0, "the run of one node has an artifact");
	is_int(help_read(b, &got, "alice", art.id, 2, 4), 0,
	       "another node reads the artifact");
	is_str(got.data, "2345",
	       "the other node reads the bytes from the shared folder");
	test_strays(a, b, folder, run.id);
	is_int(help_read(b, &got, "alice", art.id, 0, 9), 0,
	       "an artifact with a row is still there");
	store_stop(b, HELP_WAIT_MS);
	test_missing(dir, folder);
	help_clear(&got);
	help_remove(folder);
	help_remove(other);
	help_remove(dir);
	return tap_done();
}
