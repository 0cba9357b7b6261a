/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sql.c - opens the database and runs prepared statements, for the other
 * files of store/db on the store's thread. SQLite's errors become -errno and a
 * sentence for clients and operators by one table; a busy file is waited for,
 * at most as long as that table of retries.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/state/state_file.h"
#include "supervisor/store/db/store_schema.h"

#define BUSY_TRIES 500 /* of 10 ms each: others' transactions are short */
#define BUSY_STEP_NS (10 * 1000000L)
#define BUSY_MS 5000 /* as long as those take, in all */

/* What SQLite's primary codes come to; SYS: the system's errno says more. */
static const struct verdict {
	int code;
	int rc;
	bool sys;
	bool reopen;
} verdicts[] = {
    {SQLITE_FULL, -ENOSPC, .sys = false, .reopen = false},
    {SQLITE_BUSY, -EBUSY, .sys = false, .reopen = false},
    {SQLITE_LOCKED, -EBUSY, .sys = false, .reopen = false},
    {SQLITE_PROTOCOL, -EBUSY, .sys = false, .reopen = false},
    {SQLITE_NOMEM, -ENOMEM, .sys = false, .reopen = false},
    {SQLITE_TOOBIG, -E2BIG, .sys = false, .reopen = false},
    {SQLITE_READONLY, -EROFS, .sys = false, .reopen = true},
    {SQLITE_PERM, -EACCES, .sys = true, .reopen = true},
    {SQLITE_CANTOPEN, -EACCES, .sys = true, .reopen = true},
    {SQLITE_CORRUPT, -EUCLEAN, .sys = false, .reopen = true},
    {SQLITE_NOTADB, -EUCLEAN, .sys = false, .reopen = true},
    {SQLITE_IOERR, -EIO, .sys = true, .reopen = true},
};

static const struct pointer_error {
	int rc;
	int status;	  /* of a start that finds it; 0: it may pass */
	const char *said; /* to clients, of the server: no path, no figure */
	const char *text; /* to the operator, after the path */
} remedies[] = {
    {-ENOSPC, 0, "its disk is full",
     "free space on that file system, or move state_dir"},
    {-EDQUOT, 0, "its disk quota is used up",
     "free space within the quota, or have it raised"},
    {-EFBIG, EX_UNAVAILABLE, "a file of its state may not grow",
     "raise the limit on the size of files (ulimit -f)"},
    {-EROFS, EX_UNAVAILABLE, "its state cannot be written",
     "make it writable, or set another state_dir"},
    {-EACCES, EX_NOPERM, "it may not read or write its state",
     "let this user read and write there, or set another state_dir"},
    {-EPERM, EX_NOPERM, "it may not read or write its state",
     "let this user read and write there, or set another state_dir"},
    {-ENOTDIR, EX_CONFIG, "its state is not where it should be",
     "a file is where a folder should be: set another state_dir"},
    {-EBUSY, EX_UNAVAILABLE, "another process holds its state",
     "another process holds it; see which (fuser), and end it"},
    {-EUCLEAN, EX_UNAVAILABLE, "its record of runs is damaged",
     "it is damaged: stop paddockd, and move it away or restore it"},
    {-ENOTSUP, EX_UNAVAILABLE, "its record of runs is a newer paddock's",
     "a newer paddock wrote it: run that one, or set another state_dir"},
    {-ENOMEM, 0, "it lacks memory", "give the supervisor more memory"},
    {-EMFILE, 0, "it has too many files open",
     "raise the limit on open files (ulimit -n)"},
    {-EIO, EX_UNAVAILABLE, "its disk fails", "check the disk (dmesg)"},
    {-E2BIG, 0, "it is more than a record may hold",
     "make its result smaller, or an artifact"},
    {-ECANCELED, 0, "it is being stopped", "start it again"},
};

static const struct pointer_error *fault_of(int rc)
{
	static const struct pointer_error other = {
	    0, EX_UNAVAILABLE, "its state cannot be used",
	    "check the path and its owner"};

	for (size_t i = 0; i < ARRAY_LEN(remedies); i++)
		if (remedies[i].rc == rc)
			return &remedies[i];
	return &other;
}

const char *store_says(int rc)
{
	return fault_of(rc)->said;
}

const char *store_remedy(int rc)
{
	return fault_of(rc)->text;
}

int store_ends_start(int rc)
{
	return fault_of(rc)->status;
}

int store_failed(struct store *s, int rc, const char *path)
{
	s->why_rc = rc;
	snprintf(s->errmsg, sizeof(s->errmsg), "%s: %s; %s", path,
		 strerror(-rc), store_remedy(rc));
	return rc;
}

/*
 * What the system said of the call that failed last, on this thread: SQLite's
 * sqlite3_system_errno() is errno, which other calls have changed by then. Of
 * writes we see it ourselves; of most others SQLite tells its log alone, as
 * "os_unix.c:123: (28) fsync(…) - …".
 */
static _Thread_local int said_errno;

static ssize_t heard(ssize_t n)
{
	if (n < 0)
		said_errno = errno;
	return n;
}

static ssize_t hear_write(int fd, const void *p, size_t n)
{
	return heard(write(fd, p, n));
}

static ssize_t hear_pwrite(int fd, const void *p, size_t n, off_t at)
{
	return heard(pwrite(fd, p, n, at));
}

static ssize_t hear_pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	return heard(pwrite64(fd, p, n, at));
}

static void hear_writes(void)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr fn;
	} requests[] = {{"write", (sqlite3_syscall_ptr)hear_write},
			{"pwrite", (sqlite3_syscall_ptr)hear_pwrite},
			{"pwrite64", (sqlite3_syscall_ptr)hear_pwrite64}};
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	for (size_t i = 0; i < ARRAY_LEN(requests); i++)
		vfs->xSetSystemCall(vfs, requests[i].name, requests[i].fn);
}

static void on_log(void *arg, int code, const char *text)
{
	const char *at = strstr(text, ": (");

	(void)arg, (void)code;
	if (strncmp(text, "os_unix.c:", strlen("os_unix.c:")) == 0 &&
	    at != NULL)
		said_errno = (int)strtol(at + 3, NULL, 10);
}

static int system_errno(struct store *s)
{
	int err = said_errno != 0 ? said_errno : sqlite3_system_errno(s->db);

	said_errno = 0;
	return err;
}

/* Only the write failed, and what is open can be read meanwhile. */
static bool may_come_back(int err)
{
	return err == ENOSPC || err == EDQUOT || err == EFBIG || err == EROFS;
}

int store_sql_failed(struct store *s)
{
	static const struct verdict other = {SQLITE_ERROR, -EIO, false, true};
	const struct verdict *v = &other;
	int code = sqlite3_extended_errcode(s->db), rc, err = system_errno(s);

	for (size_t i = 0; i < ARRAY_LEN(verdicts); i++)
		if (verdicts[i].code == (code & 0xFF))
			v = &verdicts[i];
	rc = v->rc;
	if (v->sys && err != 0 && err != ENOENT) /* that is a row's */
		rc = -err;
	if (v->reopen && !(v->code == SQLITE_IOERR && may_come_back(-rc)))
		s->damaged = true;
	if (code == SQLITE_IOERR_FSYNC)
		s->unsynced = s->damaged = true;
	s->why_rc = rc;
	snprintf(s->errmsg, sizeof(s->errmsg), "%s: %s (%s, %d); %s",
		 s->db_path, strerror(-rc), sqlite3_errmsg(s->db), code,
		 store_remedy(rc));
	return rc;
}

sqlite3_stmt *store_sql(struct store *s, enum store_stmt which)
{
	sqlite3_stmt **st = &s->stmt[which];

	/* what SQLite got over is no cause of what is to come */
	said_errno = 0;
	if (*st == NULL)
		sqlite3_prepare_v3(s->db, store_statements[which], -1,
				   SQLITE_PREPARE_PERSISTENT, st, NULL);
	return *st;
}

sqlite3_stmt *store_query_values(struct store *s, enum store_stmt which,
				 const struct store_value *v, size_t n)
{
	sqlite3_stmt *st = store_sql(s, which);

	for (size_t i = 0; st != NULL && i < n; i++)
		store_bind(st, (int)i + 1, v[i]);
	return st;
}

int store_sql_step(struct store *s, sqlite3_stmt *st)
{
	int code, rc = 0;

	if (st == NULL)
		return store_sql_failed(s);
	code = sqlite3_step(st);
	if (code == SQLITE_ROW)
		return 1;
	if (code != SQLITE_DONE)
		rc = store_sql_failed(s);
	sqlite3_reset(st);
	return rc;
}

int store_sql_run(struct store *s, enum store_stmt which)
{
	sqlite3_stmt *st = store_sql(s, which);
	int rc = store_sql_step(s, st);

	if (rc > 0)
		sqlite3_reset(st);
	return rc < 0 ? rc : 0;
}

bool store_pause(struct store *s, int count)
{
	bool abandon;

	pthread_mutex_lock(&s->lock);
	abandon = s->abandon;
	pthread_mutex_unlock(&s->lock);
	if (abandon || count >= BUSY_TRIES)
		return false;
	nanosleep(&(struct timespec){.tv_nsec = count < 10 ? BUSY_STEP_NS / 10
							   : BUSY_STEP_NS},
		  NULL);
	return true;
}

static int on_busy(void *arg, int count)
{
	return store_pause(arg, count);
}

static int exec(struct store *s, const char *sql)
{
	int64_t until_ms = clock_mono_ms() + BUSY_MS;
	int code, n = 0;

	/* the change to WAL does not ask the busy handler; all else does */
	do {
		code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
	} while (code == SQLITE_BUSY && clock_mono_ms() < until_ms &&
		 store_pause(s, n++));
	return code == SQLITE_OK ? 0 : store_sql_failed(s);
}

static int read_version(struct store *s, int64_t *version)
{
	sqlite3_stmt *st;
	int rc;

	if (sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &st, NULL) !=
	    SQLITE_OK)
		return store_sql_failed(s);
	rc = store_sql_step(s, st);
	if (rc == 1)
		*version = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rc == 1 ? 0 : rc == 0 ? -EIO : rc;
}

/* Under the write lock, since another supervisor may be at the same. */
static int raise_schema(struct store *s)
{
	int64_t version = 0;
	int rc = exec(s, "BEGIN IMMEDIATE");

	if (rc == 0)
		rc = read_version(s, &version);
	for (; rc == 0 && version < STORE_SCHEMA_VERSION; version++)
		rc = exec(s, store_steps[version]);
	if (rc == 0)
		rc = exec(s, "COMMIT");
	return rc;
}

static int check_schema(struct store *s)
{
	int64_t version = 0;
	int rc = read_version(s, &version);

	if (rc != 0 || version == STORE_SCHEMA_VERSION)
		return rc;
	if (version >= 0 && version < STORE_SCHEMA_VERSION)
		return raise_schema(s);
	return store_failed(s, -ENOTSUP, s->db_path);
}

int store_sql_touch(struct store *s)
{
	char sql[48];

	snprintf(sql, sizeof(sql), "PRAGMA user_version=%d",
		 STORE_SCHEMA_VERSION);
	return exec(s, sql);
}

/*
 * Make the file ourselves, for its mode. Not by open(2): closing a second
 * descriptor would drop SQLite's locks on it in this process.
 */
static int make_file(struct store *s)
{
	if (mknod(s->db_path, S_IFREG | 0600, 0) != 0 && errno != EEXIST)
		return store_failed(s, -errno, s->db_path);
	if (faccessat(AT_FDCWD, s->db_path, R_OK | W_OK, AT_EACCESS) != 0)
		return store_failed(s, -errno, s->db_path);
	return 0;
}

/* Nobody asks SQLite how much memory it has, which would cost a lock. */
static void configure(void)
{
	sqlite3_config(SQLITE_CONFIG_LOG, on_log, NULL);
	sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (sqlite3_initialize() == SQLITE_OK)
		hear_writes();
}

/*
 * Once fsync(2) has failed, a later one says nothing of those bytes: they may be
 * missing in the middle of the log, and with them all that follows. So all that
 * is in it goes to the database, and the log begins anew, before anything is
 * read or written.
 */
static int resync(struct store *s)
{
	int code, n = 0;

	if (!s->unsynced)
		return 0;
	do {
		code = sqlite3_wal_checkpoint_v2(
		    s->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	} while ((code & 0xFF) == SQLITE_BUSY && store_pause(s, n++));
	if (code != SQLITE_OK)
		return store_sql_failed(s);
	s->unsynced = false;
	return 0;
}

static int open_db(struct store *s)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int rc = make_file(s);

	if (rc != 0)
		return rc;
	pthread_once(&once, configure);
	if (sqlite3_open_v2(s->db_path, &s->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
				SQLITE_OPEN_EXRESCODE,
			    NULL) != SQLITE_OK)
		return s->db != NULL ? store_sql_failed(s)
				     : store_failed(s, -ENOMEM, s->db_path);
	sqlite3_busy_handler(s->db, on_busy, s);
	rc = exec(s, store_pragmas);
	if (rc == 0)
		rc = resync(s);
	return rc == 0 ? check_schema(s) : rc;
}

/* Is what we have open still what the path names? */
static bool usable(struct store *s)
{
	int moved = 0;

	if (s->db == NULL || s->damaged)
		return false;
	sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	return !moved;
}

/* Where nothing can be, as in /proc, it is not a row that is not found. */
static int no_folder(struct store *s, int rc)
{
	store_failed(s, rc, s->dir);
	if (rc == -ENOENT)
		s->why_rc = rc = -ENXIO;
	return rc;
}

int store_sql_open(struct store *s)
{
	int rc;

	if (usable(s))
		return 0;
	store_sql_close(s);
	rc = state_file_mkdirs(s->dir);
	if (rc != 0)
		return no_folder(s, rc);
	rc = store_instance_lock(s);
	if (rc == 0)
		rc = open_db(s);
	if (rc != 0)
		store_sql_close(s);
	return rc;
}

void store_sql_close(struct store *s)
{
	for (size_t i = 0; i < STORE_STMTS; i++) {
		sqlite3_finalize(s->stmt[i]);
		s->stmt[i] = NULL;
	}
	sqlite3_close(s->db);
	s->db = NULL;
	s->damaged = false;
}
