/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store_sync.c - a reported result must be on the disk: after every commit the log of
 * the database is synced before the report, and the bytes and the name of an artifact
 * are synced before the row. The test is about a loss of power; kill -9 alone would
 * show no fault.
 *
 * The program replaces libc's calls which write and sync, and records the order of the
 * calls.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "supervisor/store/state/artifact_file.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

enum what { WROTE_LOG, SYNCED_LOG, SYNCED_TMP, NAMED, SYNCED_DIR, TOLD };

#define EVENTS_MAX 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum what events[EVENTS_MAX];
static size_t n_events;
static bool watched;
static bool fails; /* to sync the log */
static int failed;

static void event(enum what what)
{
	pthread_mutex_lock(&lock);
	if (watched && n_events < EVENTS_MAX)
		events[n_events++] = what;
	pthread_mutex_unlock(&lock);
}

/* Does FD's path have PIECE? */
static bool is_at(int fd, const char *piece)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return false;
	path[n] = '\0';
	return strstr(path, piece) != NULL;
}

static void synced(int fd)
{
	if (is_at(fd, "paddock.db-wal"))
		event(SYNCED_LOG);
	else if (is_at(fd, "/artifacts/tmp/"))
		event(SYNCED_TMP);
	else if (is_at(fd, "/artifacts/run_"))
		event(SYNCED_DIR);
}

static ssize_t wrote(int fd, ssize_t n)
{
	if (n > 0 && is_at(fd, "paddock.db-wal"))
		event(WROTE_LOG);
	return n;
}

/* As with a disk which fails for a moment. */
static bool is_failing(int fd)
{
	if (!fails || !is_at(fd, "paddock.db-wal"))
		return false;
	failed++;
	errno = EIO;
	return true;
}

int fsync(int fd)
{
	if (is_failing(fd))
		return -1;
	synced(fd);
	return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	if (is_failing(fd))
		return -1;
	synced(fd);
	return (int)syscall(SYS_fdatasync, fd);
}

ssize_t write(int fd, const void *p, size_t n)
{
	return wrote(fd, syscall(SYS_write, fd, p, n));
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	return wrote(fd, syscall(SYS_pwrite64, fd, p, n, at));
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	return wrote(fd, syscall(SYS_pwrite64, fd, p, n, at));
}

int rename(const char *from, const char *to)
{
	int rc = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);

	if (rc == 0 && strstr(to, "/artifacts/run_") != NULL)
		event(NAMED);
	return rc;
}

/* ---- requests ---- */

static void done(void *arg, const struct store_result *res)
{
	event(TOLD);
	help_done(arg, res);
}

static void begin(void)
{
	pthread_mutex_lock(&lock);
	n_events = 0;
	watched = true;
	pthread_mutex_unlock(&lock);
}

static void end(void)
{
	pthread_mutex_lock(&lock);
	watched = false;
	pthread_mutex_unlock(&lock);
}

/* The last event WHAT before the event AT, or -1. */
static int last(enum what what, int at)
{
	while (--at >= 0 && events[at] != what)
		;
	return at;
}

static size_t count(enum what what)
{
	size_t n = 0;

	for (size_t i = 0; i < n_events; i++)
		n += events[i] == what;
	return n;
}

/* A report must come after a write to the log and a sync of the log. */
static void is_synced(const char *name)
{
	int told = last(TOLD, (int)n_events), wrote_at, synced_at;

	end();
	wrote_at = last(WROTE_LOG, told);
	synced_at = last(SYNCED_LOG, told);
	ok(told >= 0 && wrote_at >= 0, "%s is written before it is told", name);
	ok(synced_at > wrote_at, "the log is synced before the report");
}

static void put(struct store *s, const struct store_run *run,
		enum store_urgency urgency, const char *name)
{
	struct answer a = {0};

	begin();
	store_put_run(s, run, urgency, done, &a);
	help_wait(s, &a);
	is_int(a.rc, 0, "%s", name);
	is_synced(name);
	help_clear(&a);
}

static void put_artifact(const char *dir, struct store *s,
			 const struct store_run *run)
{
	struct artifact_file *b = artifact_file_new(dir, "inst_a");
	struct store_artifact art = {.requestor = run->requestor,
				     .name = "a",
				     .mime_type = "t/p",
				     .size = 4,
				     .created_ms = 1};
	struct answer a = {0};
	int told, row, named, bytes, folder;
	char sha256[65], *tmp;

	id_new(art.id, "art");
	memcpy(art.run_id, run->id, sizeof(art.run_id));
	artifact_file_write(b, "data", 4);
	tmp = artifact_file_finish(b, sha256);
	art.sha256 = sha256;
	begin();
	store_put_artifact(s, &art, tmp, STORE_SYNC, done, &a);
	help_wait(s, &a);
	is_int(a.rc, 0, "an artifact is stored");
	is_synced("an artifact");
	told = last(TOLD, (int)n_events);
	row = last(WROTE_LOG, told);
	named = last(NAMED, told);
	bytes = last(SYNCED_TMP, named);
	folder = last(SYNCED_DIR, told);
	ok(bytes >= 0 && bytes < named,
	   "the artifact's bytes are synced before the name");
	ok(named < folder && folder < row,
	   "the artifact's name is synced before the row");
	free(tmp);
	help_clear(&a);
}

/*
 * A moved row is already on the disk, so moving needs no sync; other connections see
 * the moved row all the same.
 */
static void test_moved(struct store *s, const struct store_run *run)
{
	struct store *t = store_start(s->dir, "inst_b");
	struct answer a = {0};

	help_get(t, &a, "alice", "none"); /* opens the second connection */
	help_put(s, run, STORE_RETRY);
	begin();
	help_get(s, &a, "alice", run->id);
	end();
	is_int(a.rc, 0, "a read moves the staged end");
	is_int((int)count(WROTE_LOG), 1, "the move is one write");
	is_int((int)count(SYNCED_LOG), 0, "the move needs no sync");
	is_int(help_get(t, &a, "alice", run->id), 0,
	       "another instance sees the moved end");
	store_stop(t, 10000);
	help_clear(&a);
}

/*
 * A moved row is synced by a checkpoint alone. After a failed checkpoint the log may
 * have a hole, and a later reported row would be lost with the hole.
 */
static void test_hole(struct store *s, struct store_run *run)
{
	char *view = xcalloc(1, 15001);
	char *log = xasprintf("%s/paddock.db-wal", s->dir);
	struct answer a = {0};
	struct stat st;

	memset(view, 'x', 15000);
	run->view = view;
	for (int i = 0; i < 1000 && failed == 0; i++) {
		id_new(run->id, "run");
		help_put(s, run, STORE_RETRY);
		fails = true;
		help_get(s, &a, "alice", run->id);
		fails = false;
		help_clear(&a);
	}
	ok(failed > 0, "a sync before a checkpoint fails");
	run->view = NULL;
	id_new(run->id, "run");
	help_put(s, run, STORE_RETRY);
	ok(stat(log, &st) == 0 && st.st_size < 1 << 20,
	   "a new log is begun before the next report");
	free(view);
	free(log);
}

int main(void)
{
	char *dir = help_dir();
	struct store *s = store_start(dir, "inst_a");
	struct store_run run = help_run("alice", STORE_QUEUED);
	struct store_run lazy = help_run("alice", STORE_RUNNING);

	if (help_is_postgres()) {
		store_stop(s, 0);
		help_remove(dir);
		skip("that is SQLite's", "what is written and synced");
		return tap_done();
	}
	help_put(s, &run, STORE_SYNC); /* the file is made, and raised */
	run.status = STORE_RUNNING;
	put(s, &run, STORE_SYNC, "a row");
	put(s, &lazy, STORE_DEFERRED, "a row that may wait");
	put_artifact(dir, s, &run);
	run.status = STORE_SUCCEEDED;
	run.finished_ms = 5;
	put(s, &run, STORE_RETRY, "an end");
	is_int((int)count(WROTE_LOG), 1, "an end is one write");
	id_new(run.id, "run");
	put(s, &run, STORE_RETRY, "another end");
	test_moved(s, &run);
	run.status = STORE_FAILED;
	put(s, &run, STORE_RETRY, "an end after that");
	is_int((int)count(WROTE_LOG), 1, "an end after a move is one write");
	test_hole(s, &run);
	run.cancelling = true;
	store_stop(s, 10000);
	help_remove(dir);
	return tap_done();
}
