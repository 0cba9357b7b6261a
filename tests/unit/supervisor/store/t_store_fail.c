/* SPDX-License-Identifier: Apache-2.0 */
/* The store under failures: a full disk, missing rights, damaged files. */
#include "supervisor/store/store.h"

#include <sched.h>
#include <sys/mount.h>

#include "supervisor/store/state/artifact_file.h"
#include "base/os/log.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

#define FULL_BYTES "size=1m,nr_inodes=200"

static void test_not_a_folder(const char *dir)
{
	char *file = help_file(dir, "file", "x");
	struct store *s = store_start(file, "inst_a");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0}, retry = {0};

	store_put_run(s, &run, STORE_RETRY, help_done, &retry);
	is_int(help_put(s, &run, STORE_DEFERRED), -ENOTDIR,
	       "a state folder that is a file fails what is asked");
	is_int(help_get(s, &a, "alice", run.id), -ENOTDIR,
	       "a state folder which is a file fails a read");
	ok(strstr(a.errmsg, file) != NULL &&
	       strstr(a.errmsg, "state_dir") != NULL,
	   "naming the path and the remedy");
	ok(store_failing(s) != NULL && strstr(store_failing(s), file) != NULL,
	   "the store knows that it is sick");
	is_int(retry.calls, 0, "a promised write waits while the store fails");
	unlink(file);
	help_wait(s, &retry);
	is_int(retry.rc, 0, "a promised write is written once the store works");
	is_str(store_failing(s), NULL,
	       "the store has no failure after the repair");
	is_int(help_get(s, &a, "alice", run.id), 0,
	       "the run promised during the failure is there");
	store_stop(s, 10000);
	help_clear(&a);
	free(file);
}

/* The file of the database is a link to nothing. */
static void test_dangling(const char *dir)
{
	char *state = xasprintf("%s/dangling", dir), *db;
	struct answer a = {0};
	struct store *s;

	mkdir(state, 0700);
	db = xasprintf("%s/paddock.db", state);
	is_int(symlink("nothing", db), 0, "the database is a dangling link");
	s = store_start(state, "inst_a");
	is_int(help_get(s, &a, "alice", "run_x"), -ENOENT,
	       "a database that is a dangling link is not there");
	ok(strstr(a.errmsg, db) != NULL,
	   "the error about a dangling link has the path: %s", a.errmsg);
	store_stop(s, 1000);
	help_clear(&a);
	unlink(db);
	free(db);
	free(state);
}

static void test_give_up(const char *dir)
{
	char *file = help_file(dir, "file2", "x");
	char *tmp = help_file(dir, "blob", "x");
	struct store *s = store_start(file, "inst_a");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct store_artifact art = help_artifact(&run, 1);
	struct answer a = {0}, b = {0};

	store_put_run(s, &run, STORE_RETRY, help_done, &a);
	store_put_artifact(s, &art, tmp, STORE_RETRY, help_done, &b);
	store_expire_artifacts(s, run.id, 1);
	store_stop(s, 0);
	is_int(a.rc, -ECANCELED, "to stop in time is to give up a promise");
	ok(strstr(a.errmsg, "stopped") != NULL,
	   "the given-up write's text tells of the stop");
	is_int(b.rc, -ECANCELED, "a promised artifact is given up at the stop");
	ok(access(tmp, F_OK) != 0,
	   "the given-up artifact's temporary file is removed");
	unlink(file);
	free(file);
	free(tmp);
}

/* Runs in a child without root's rights, since root may read all files. */
static int unreadable(const char *dir)
{
	struct store *s;
	struct answer a = {0};

	if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
		return 2;
	s = store_start(dir, "inst_a");
	if (help_get(s, &a, "alice", "run_x") != -EACCES ||
	    strstr(a.errmsg, dir) == NULL || store_failing(s) == NULL)
		return 1;
	store_stop(s, 1000);
	return 0;
}

static void test_unreadable(const char *dir)
{
	char *closed = xasprintf("%s/closed", dir);
	int status = -1;
	pid_t pid;

	mkdir(closed, 0500);
	chmod(dir, 0711);
	pid = fork();
	if (pid == 0)
		_exit(unreadable(closed));
	waitpid(pid, &status, 0);
	is_int(status, 0, "a closed folder is EACCES, with its path");
	rmdir(closed);
	free(closed);
}

static void test_damaged(const char *dir)
{
	char *state = xasprintf("%s/damaged", dir), *path, *away;
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0}, retry = {0};
	struct store *s;

	mkdir(state, 0700);
	path = help_file(state, "paddock.db",
			 "This is not a database, though it is long enough to "
			 "have had the header of one, if it had wanted to be.");
	away = xasprintf("%s/away", state);
	s = store_start(state, "inst_a");
	store_put_run(s, &run, STORE_RETRY, help_done, &retry);
	is_int(help_get(s, &a, "alice", run.id), -EUCLEAN,
	       "a damaged database is told from a full disk");
	ok(strstr(a.errmsg, path) != NULL &&
	       strstr(a.errmsg, "restore") != NULL,
	   "the error of a damaged database names path and remedy");
	is_int(rename(path, away), 0, "the damaged database is moved away");
	help_wait(s, &retry);
	is_int(retry.rc, 0, "a promised write goes to a new database");
	unlink(path);
	is_int(help_put(s, &run, STORE_SYNC), 0,
	       "a write after the file vanished succeeds");
	ok(access(path, F_OK) == 0,
	   "a new file is made after the file vanished");
	store_stop(s, 10000);
	help_clear(&a);
	free(away);
	free(path);
	free(state);
}

/* A failing artifact must wait alone, while other writes go on. */
static void test_isolated(const char *dir)
{
	char *state = xasprintf("%s/isolated", dir), *tmp, *block;
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct store_run next = help_run("alice", STORE_RUNNING);
	struct store_artifact art = help_artifact(&run, 1), gone = art;
	struct answer a = {0}, stuck = {0}, lost = {0};
	struct store *s = store_start(state, "inst_a");

	help_put(s, &run, STORE_SYNC);
	tmp = help_file(dir, "blob", "x");
	/*
	 * a file takes the place of the folder; a dangling link would be an error of
	 * another kind
	 */
	block = xasprintf("%s/artifacts", state);
	mkdir(block, 0700);
	free(block);
	block = xasprintf("%s/artifacts/%s", state, run.id);
	is_int(symlink("/proc/self/mem/none", block), 0,
	       "a link makes the artifact's write fail");
	id_new(gone.id, "art");
	store_put_artifact(s, &art, tmp, STORE_DEFERRED, help_done, &stuck);
	store_put_artifact(s, &gone, "/nonexistent/blob", STORE_RETRY,
			   help_done, &lost);
	is_int(help_put(s, &next, STORE_SYNC), 0,
	       "other writes pass a failing artifact");
	help_wait(s, &stuck);
	help_wait(s, &lost);
	ok(stuck.rc != 0, "a failing artifact's error is reported");
	ok(access(tmp, F_OK) != 0,
	   "a failing artifact's temporary file is removed");
	is_int(lost.rc, -ENOENT, "a promise without a blob is not repeated");
	is_int(help_get(s, &a, "alice", next.id), 0, "the others are there");
	unlink(block);
	store_stop(s, 10000);
	help_clear(&a);
	free(block);
	free(tmp);
	free(state);
}

/* Mount a small file system which this process alone sees. */
static bool mount_tmpfs(const char *at)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", at, "tmpfs", 0, FULL_BYTES) == 0;
}

/* Fill the rest of the disk; the path of the file. */
static char *fill_disk(const char *dir)
{
	char *path = xasprintf("%s/ballast", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	static char block[4096];

	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	return path;
}

static off_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : 0;
}

static struct store_run big_run(void)
{
	static char view[65536];
	struct store_run run = help_run("alice", STORE_SUCCEEDED);

	memset(view, 'v', sizeof(view) - 1);
	run.view = view;
	return run;
}

/*
 * An artifact of the ended RUN; *FILE is the path of its file, freed by the caller.
 */
static struct store_artifact kept_artifact(struct store *s, const char *dir,
					   const struct store_run *run,
					   char **file)
{
	struct store_artifact art = help_artifact(run, 5);
	struct artifact_file *b = artifact_file_new(dir, "inst_a");
	struct answer a = {0};
	char hex[65], *tmp;

	help_put(s, run, STORE_SYNC);
	artifact_file_write(b, "12345", 5);
	tmp = artifact_file_finish(b, hex);
	store_put_artifact(s, &art, tmp, STORE_SYNC, help_done, &a);
	help_wait(s, &a);
	free(tmp);
	*file = xasprintf("%s/artifacts/%s/%s", dir, run->id, art.id);
	return art;
}

static int delete_run(struct store *s, const struct store_run *run)
{
	struct answer a = {0};
	int rc;

	store_delete_run(s, run->requestor, run->id, help_done, &a);
	help_wait(s, &a);
	rc = a.rc;
	help_clear(&a);
	return rc;
}

static void test_full(const char *dir)
{
	struct store *s = store_start(dir, "inst_a");
	struct store_run first = help_run("alice", STORE_RUNNING);
	struct store_run big = big_run(), now = big_run();
	struct answer a = {0}, retry[3] = {{0}, {0}, {0}};
	struct store_run ended = help_run("alice", STORE_SUCCEEDED);
	struct store_artifact art;
	char *ballast, *file;

	is_int(help_put(s, &first, STORE_SYNC), 0,
	       "a write with enough room succeeds");
	art = kept_artifact(s, dir, &ended, &file);
	ballast = fill_disk(dir);
	is_int(delete_run(s, &ended), -ENOSPC,
	       "a full disk fails a deletion, too");
	ok(access(file, F_OK) == 0, "a failed deletion removes no file");
	is_int(help_read(s, &a, "alice", art.id, 0, 1), 0,
	       "the artifact is readable after a failed deletion");
	store_put_run(s, &big, STORE_RETRY, help_done, &retry[0]);
	is_int(help_put(s, &now, STORE_SYNC), -ENOSPC,
	       "a full disk fails what was asked");
	ok(store_failing(s) != NULL &&
	       strstr(store_failing(s), "free space") != NULL,
	   "the failure of a full disk names the remedy");
	is_int(help_get(s, &a, "alice", first.id), 0,
	       "reads are served meanwhile");
	is_int(help_get(s, &a, "alice", now.id), -ENOENT,
	       "a failed write is not stored");
	big.status = STORE_FAILED; /* the same row: the later write must win */
	store_put_run(s, &big, STORE_RETRY, help_done, &retry[1]);
	store_put_run(s, &now, STORE_RETRY, help_done, &retry[2]);
	is_int(help_get(s, &a, "alice", big.id), -ENOENT,
	       "a promised write waits for room");
	is_int(retry[0].calls, 0, "promised writes wait for room");
	unlink(ballast);
	is_int(delete_run(s, &ended), 0, "a run is deleted with room again");
	ok(access(file, F_OK) != 0, "the file is removed with room again");
	free(file);
	for (int i = 0; i < 3; i++) {
		help_wait(s, &retry[i]);
		is_int(retry[i].rc, 0, "with room again, promise %d is kept",
		       i);
	}
	ok(retry[0].order < retry[1].order && retry[1].order < retry[2].order,
	   "promised writes are done in order");
	help_get(s, &a, "alice", big.id);
	is_int(a.status[0], STORE_FAILED,
	       "the later state of a run is stored last");
	is_str(store_failing(s), NULL, "the store is well again");
	store_stop(s, 10000);
	help_clear(&a);
	free(ballast);
}

/* A write without room must not be done after a later write with room. */
static void test_overtaking(const char *dir)
{
	static char view[400000];
	struct store *s = store_start(dir, "inst_o");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0}, retry[2] = {{0}, {0}};
	char *ballast;
	struct help_db *hold;

	help_put(s, &run, STORE_SYNC);
	ballast = fill_disk(dir);
	is_int(truncate(ballast, file_size(ballast) - 150000), 0,
	       "a little room is made");
	hold = help_hold(dir, s);
	memset(view, 'v', sizeof(view) - 1);
	run.view = view;
	store_put_run(s, &run, STORE_RETRY, help_done, &retry[0]);
	store_get_run(s, "alice", run.id, help_done, &a);
	run.status = STORE_SUCCEEDED;
	run.view = "{}";
	store_put_run(s, &run, STORE_RETRY, help_done, &retry[1]);
	help_unlock(hold);
	help_wait(s, &a);
	is_int(a.rc, 0, "the row is read between two writes of it");
	unlink(ballast);
	help_wait(s, &retry[0]);
	help_wait(s, &retry[1]);
	ok(retry[0].order < retry[1].order,
	   "a small write waits for a big one");
	help_get(s, &a, "alice", run.id);
	is_str(a.view, "{}", "the last write of a row is stored last");
	store_stop(s, 10000);
	help_clear(&a);
	free(ballast);
}

static void test_full_artifact(const char *dir)
{
	struct store *s = store_start(dir, "inst_b");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct store_artifact art = help_artifact(&run, 1);
	struct answer a = {0}, retry = {0};
	struct artifact_file *b = artifact_file_new(dir, "inst_b");
	char hex[65], *tmp, *ballast;

	help_put(s, &run, STORE_SYNC);
	artifact_file_write(b, "x", 1);
	tmp = artifact_file_finish(b, hex);
	ballast = fill_disk(dir);
	/* rows fit into the log's last page; a folder does not: no inode */
	for (int i = 0; i < 200; i++)
		free(help_file(dir,
			       (char[]){'i', (char)('0' + i / 100),
					(char)('0' + i / 10 % 10),
					(char)('0' + i % 10), '\0'},
			       ""));
	store_put_artifact(s, &art, tmp, STORE_RETRY, help_done, &retry);
	is_int(help_get(s, &a, "alice", run.id), 0,
	       "a read on a full disk succeeds");
	is_int(retry.calls, 0, "an artifact that cannot be filed waits");
	ok(access(tmp, F_OK) == 0,
	   "the temporary file of a waiting artifact is kept");
	for (int i = 0; i < 200; i++) {
		char *path = xasprintf("%s/i%03d", dir, i);

		unlink(path);
		free(path);
	}
	unlink(ballast);
	help_wait(s, &retry);
	is_int(retry.rc, 0, "a waiting artifact is stored once there is room");
	ok(access(tmp, F_OK) != 0,
	   "the temporary file of a stored artifact is moved");
	is_int(help_read(s, &a, "alice", art.id, 0, 1), 0,
	       "a stored artifact can be read");
	store_stop(s, 10000);
	help_clear(&a);
	free(ballast);
	free(tmp);
}

static void test_read_only(const char *dir)
{
	struct store *s = store_start(dir, "inst_c");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer retry = {0};

	mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, NULL);
	store_put_run(s, &run, STORE_RETRY, help_done, &retry);
	is_int(help_put(s, &run, STORE_SYNC), -EROFS,
	       "a read-only file system fails what was asked");
	is_int(retry.calls, 0,
	       "a promised write waits on a read-only file system");
	mount(NULL, dir, NULL, MS_REMOUNT, NULL);
	help_wait(s, &retry);
	is_int(retry.rc, 0,
	       "a promised write is done once the file system is writable");
	store_stop(s, 10000);
}

/*
 * A second process holds the lock: reads go on, and do not show that writes work.
 */
static void test_held(const char *dir)
{
	struct store *s = store_start(dir, "inst_h");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0}, probe[2] = {{0}, {0}};
	struct help_db *lock;

	is_int(help_put(s, &run, STORE_SYNC), 0, "a store works");
	lock = help_lock(dir);
	is_int(help_put(s, &run, STORE_SYNC), -EBUSY, "another holds its lock");
	ok(store_failing(s) != NULL, "the store fails");
	is_int(help_get(s, &a, "alice", run.id), 0, "a read goes through");
	ok(store_failing(s) != NULL, "the store still fails after a read");
	store_probe(s, help_done, &probe[0]);
	help_wait(s, &probe[0]);
	is_int(probe[0].rc, -EBUSY, "a probe of a locked database fails");
	ok(store_failing(s) != NULL,
	   "the store is known to fail after the probe");
	help_unlock(lock);
	store_probe(s, help_done, &probe[1]);
	help_wait(s, &probe[1]);
	is_int(probe[1].rc, 0, "the probe of a store without a lock succeeds");
	is_str(store_failing(s), NULL,
	       "the store is known to work after a good probe");
	store_stop(s, 10000);
	help_clear(&a);
}

int main(void)
{
	char *dir = help_dir(), *disk = xasprintf("%s/disk", dir);

	log_set_level(LOG_LEVEL_ERROR);
	test_unreadable(dir); /* forks, so runs before there are threads */
	test_not_a_folder(dir);
	test_give_up(dir);
	if (help_is_postgres())
		skip("that is SQLite's", "a damaged file, and a dangling link");
	else
		test_damaged(dir), test_dangling(dir);
	test_isolated(dir);
	test_held(dir);
	mkdir(disk, 0700);
	if (mount_tmpfs(disk)) {
		/* in PostgreSQL, rows are on another disk */
		if (!help_is_postgres())
			test_full(disk);
		test_overtaking(disk);
		test_full_artifact(disk);
		test_read_only(disk);
		umount2(disk, MNT_DETACH);
	} else {
		skip("no right to mount", "a full disk");
	}
	free(disk);
	help_remove(dir);
	return tap_done();
}
