/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite.c - SQLite as the store's engine (store_engine.h): the file in
 * the state folder, the statements, and a table that converts SQLite's errors.
 * A busy file is awaited as long as store_pause() allows.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/store/sqlite/store_sqlite_guard.h"
#include "supervisor/store/sqlite/store_sqlite_log.h"
#include "supervisor/store/sqlite/store_sqlite_schema.h"
#include "supervisor/store/sqlite/store_sqlite_staged.h"
#include "supervisor/store/sqlite/store_sqlite_unlock.h"

#define BUSY_MS 5000   /* the total duration of other processes' transactions */
#define BRIEF_TRIES 60 /* half a second */

struct cursor {
	struct store_cursor base;
	sqlite3_stmt *stmt; /* NULL: not prepared */
};

/* The engine's part of a store, s->db. */
struct sqlite {
	sqlite3 *db;
	bool damaged; /* the connection must be opened again */
	/* the log may have a hole, so none of the log is trusted */
	bool unsynced;
	bool relaxed; /* see store_engine.h */
	struct cursor cursors[STORE_STMTS];
};

static struct sqlite *sqlite_of(const struct store *s)
{
	return s->db;
}

static sqlite3_stmt *stmt_of(const struct store_cursor *c)
{
	return ((const struct cursor *)c)->stmt;
}

/* The -errno of SQLite's primary result codes; SYS: the system's errno is more exact. */
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
    {SQLITE_CONSTRAINT, -EINVAL, .sys = false, .reopen = false},
    {SQLITE_READONLY, -EROFS, .sys = false, .reopen = true},
    {SQLITE_PERM, -EACCES, .sys = true, .reopen = true},
    {SQLITE_CANTOPEN, -EACCES, .sys = true, .reopen = true},
    {SQLITE_CORRUPT, -EUCLEAN, .sys = false, .reopen = true},
    {SQLITE_NOTADB, -EUCLEAN, .sys = false, .reopen = true},
    {SQLITE_IOERR, -EIO, .sys = true, .reopen = true},
};

/*
 * errno of the last failed system call on the thread, since SQLite's
 * sqlite3_system_errno() reads errno, which later calls have changed. Replaced
 * write calls note the errno of writes; for most other calls SQLite reports
 * errno only to the log callback, as "os_unix.c:123: (28) fsync(PATH) - TEXT".
 */
static _Thread_local int said_errno;

static ssize_t wake_rc(ssize_t n)
{
	if (n < 0)
		said_errno = errno;
	return n;
}

static ssize_t hear_write(int fd, const void *p, size_t n)
{
	return wake_rc(write(fd, p, n));
}

static ssize_t hear_pwrite(int fd, const void *p, size_t n, off_t at)
{
	return wake_rc(pwrite(fd, p, n, at));
}

static ssize_t hear_pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	return wake_rc(pwrite64(fd, p, n, at));
}

static void on_log(void *arg, int code, const char *text)
{
	const char *at = strstr(text, ": (");

	(void)arg, (void)code;
	if (strncmp(text, "os_unix.c:", strlen("os_unix.c:")) == 0 &&
	    at != NULL)
		said_errno = (int)strtol(at + 3, NULL, 10);
}

/* Convert SQLite's last error to S->errmsg and S->why_rc. Returns -errno. */
static int sqlite_failed(struct store *s)
{
	static const struct verdict other = {SQLITE_ERROR, -EIO, false, true};
	const struct verdict *v = &other;
	bool only_writes;
	struct sqlite *q = sqlite_of(s);
	int code = sqlite3_extended_errcode(q->db), rc,
	    err = said_errno != 0 ? said_errno : sqlite3_system_errno(q->db);

	said_errno = 0;
	for (size_t i = 0; i < ARRAY_LEN(verdicts); i++)
		if (verdicts[i].code == (code & 0xFF))
			v = &verdicts[i];
	rc = code == SQLITE_CONSTRAINT_UNIQUE ? -EEXIST : v->rc;
	/* ENOENT means a missing row */
	if (v->sys && err != 0 && err != ENOENT)
		rc = -err;
	/* when only a write failed, the open connection can still read */
	only_writes =
	    v->code == SQLITE_IOERR &&
	    (rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG || rc == -EROFS);
	if (v->reopen && !only_writes)
		q->damaged = true;
	if (code == SQLITE_IOERR_FSYNC)
		q->unsynced = q->damaged = true;
	s->why_rc = rc;
	snprintf(s->errmsg, sizeof(s->errmsg), "%s: %s (%s, %d); %s",
		 s->db_path, strerror(-rc), sqlite3_errmsg(q->db), code,
		 store_remedy(rc));
	return rc;
}

static struct store_cursor *prepare_sqlite(struct store *s,
					   enum store_stmt which)
{
	struct sqlite *q = sqlite_of(s);
	struct cursor *c = &q->cursors[which];

	/* an error that SQLite has handled is no cause of later failures */
	said_errno = 0;
	c->base.engine = &store_sqlite;
	if (c->stmt == NULL)
		sqlite3_prepare_v3(q->db, store_statements[which], -1,
				   SQLITE_PREPARE_PERSISTENT, &c->stmt, NULL);
	return &c->base;
}

static void bind(struct store_cursor *c, int at, struct store_value v)
{
	sqlite3_stmt *st = stmt_of(c);

	if (st == NULL)
		return;
	if (v.is_text)
		sqlite3_bind_text(st, at, v.text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_int64(st, at, v.number);
}

static int step_sqlite(struct store *s, struct store_cursor *c)
{
	sqlite3_stmt *st = stmt_of(c);
	int code, rc = 0;

	if (st == NULL)
		return sqlite_failed(s);
	code = sqlite3_step(st);
	if (code == SQLITE_ROW)
		return 1;
	if (code != SQLITE_DONE)
		rc = sqlite_failed(s);
	sqlite3_reset(st);
	return rc;
}

static void reset_sqlite(struct store_cursor *c)
{
	sqlite3_reset(stmt_of(c));
}

static int columns(const struct store_cursor *c)
{
	return sqlite3_column_count(stmt_of(c));
}

static bool is_null_sqlite(const struct store_cursor *c, int at)
{
	return sqlite3_column_type(stmt_of(c), at) == SQLITE_NULL;
}

static const char *text(const struct store_cursor *c, int at)
{
	return (const char *)sqlite3_column_text(stmt_of(c), at);
}

static size_t length_sqlite(const struct store_cursor *c, int at)
{
	return (size_t)sqlite3_column_bytes(stmt_of(c), at);
}

static int64_t number_sqlite(const struct store_cursor *c, int at)
{
	return sqlite3_column_int64(stmt_of(c), at);
}

static int on_busy(void *arg, int count)
{
	if (sqlite_of(arg)->relaxed && count >= BRIEF_TRIES)
		return 0;
	return store_pause(arg, count);
}

static int exec(struct store *s, const char *sql)
{
	int64_t until_ms = clock_mono_ms() + BUSY_MS;
	int code, n = 0;

	/* only the change to WAL ignores the busy handler */
	do {
		code = sqlite3_exec(sqlite_of(s)->db, sql, NULL, NULL, NULL);
	} while (code == SQLITE_BUSY && clock_mono_ms() < until_ms &&
		 store_pause(s, n++));
	return code == SQLITE_OK ? 0 : sqlite_failed(s);
}

static int read_version(struct store *s, int64_t *version)
{
	struct cursor c = {.stmt = NULL};
	int rc;

	sqlite3_prepare_v2(sqlite_of(s)->db, "PRAGMA user_version", -1, &c.stmt,
			   NULL);
	rc = step_sqlite(s, &c.base);
	if (rc == 1)
		*version = sqlite3_column_int64(c.stmt, 0);
	sqlite3_finalize(c.stmt);
	return rc == 1 ? 0 : rc == 0 ? -EIO : rc;
}

static int check_schema(struct store *s)
{
	int64_t version = 0;
	int rc = read_version(s, &version);

	if (rc != 0 || version == STORE_SCHEMA_VERSION)
		return rc;
	if (version < 0 || version > STORE_SCHEMA_VERSION)
		return store_failed(s, -ENOTSUP, s->db_path);
	/* migrate under the write lock, since another supervisor may be migrating */
	rc = exec(s, "BEGIN IMMEDIATE");
	if (rc == 0)
		rc = read_version(s, &version);
	for (; rc == 0 && version < STORE_SCHEMA_VERSION; version++)
		rc = exec(s, store_steps[version]);
	return rc == 0 ? exec(s, "COMMIT") : rc;
}

static int touch(struct store *s)
{
	char sql[48];

	snprintf(sql, sizeof(sql), "PRAGMA user_version=%d",
		 STORE_SCHEMA_VERSION);
	return exec(s, sql);
}

/* Without memory statistics, which nothing reads and which would cost a lock. */
static void configure(void)
{
	static const struct {
		const char *name;
		sqlite3_syscall_ptr fn;
	} heard[] = {{"write", (sqlite3_syscall_ptr)hear_write},
		     {"pwrite", (sqlite3_syscall_ptr)hear_pwrite},
		     {"pwrite64", (sqlite3_syscall_ptr)hear_pwrite64}};
	sqlite3_vfs *vfs;

	sqlite3_config(SQLITE_CONFIG_LOG, on_log, NULL);
	sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (sqlite3_initialize() != SQLITE_OK)
		return;
	vfs = sqlite3_vfs_find(NULL);
	for (size_t i = 0; i < ARRAY_LEN(heard); i++)
		vfs->xSetSystemCall(vfs, heard[i].name, heard[i].fn);
	store_sqlite_unlock_watch();
	(void)store_sqlite_log_register(); /* else no database opens */
}

static int open_db(struct store *s)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sqlite *q = sqlite_of(s);
	int rc, code, n = 0;

	/*
	 * Create the file with the right mode. Without open(2), since closing a second
	 * descriptor would drop SQLite's locks on the file in this process.
	 */
	if ((mknod(s->db_path, S_IFREG | 0600, 0) != 0 && errno != EEXIST) ||
	    faccessat(AT_FDCWD, s->db_path, R_OK | W_OK, AT_EACCESS) != 0)
		return store_failed(s, -errno, s->db_path);
	pthread_once(&once, configure);
	if (sqlite3_open_v2(s->db_path, &q->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
				SQLITE_OPEN_EXRESCODE,
			    STORE_SQLITE_LOG_VFS) != SQLITE_OK)
		return q->db != NULL ? sqlite_failed(s)
				     : store_failed(s, -ENOMEM, s->db_path);
	store_sqlite_log_watch(q->db);
	sqlite3_busy_handler(q->db, on_busy, s);
	rc = store_sqlite_guard(q->db) == SQLITE_OK ? 0 : sqlite_failed(s);
	if (rc == 0)
		rc = exec(s, store_pragmas);
	/*
	 * After a failed fsync(2) a later fsync says nothing about the earlier bytes: bytes
	 * may be missing in the middle of the log, and then all later bytes are lost. So the
	 * whole log is checkpointed and started anew, before anything is read or written.
	 */
	while (rc == 0 && q->unsynced) {
		code = sqlite3_wal_checkpoint_v2(
		    q->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
		if (code == SQLITE_OK)
			q->unsynced = false;
		else if ((code & 0xFF) != SQLITE_BUSY || !store_pause(s, n++))
			rc = sqlite_failed(s);
	}
	return rc == 0 ? check_schema(s) : rc;
}

static void close_db(struct store *s)
{
	struct sqlite *q = sqlite_of(s);

	if (q == NULL)
		return;
	for (size_t i = 0; i < STORE_STMTS; i++) {
		sqlite3_finalize(q->cursors[i].stmt);
		q->cursors[i].stmt = NULL;
	}
	sqlite3_close(q->db);
	q->db = NULL;
	q->damaged = q->relaxed = false;
}

static int open_or_close(struct store *s)
{
	int rc;

	if (s->db == NULL)
		s->db = xcalloc(1, sizeof(struct sqlite));
	rc = open_db(s);
	if (rc != 0)
		close_db(s);
	return rc;
}

static bool is_open(const struct store *s)
{
	const struct sqlite *q = sqlite_of(s);

	return q != NULL && q->db != NULL;
}

/* Is the open file still the file at the path? */
static bool is_usable(struct store *s)
{
	int moved = 0;

	if (!is_open(s) || sqlite_of(s)->damaged ||
	    store_sqlite_unlock_failed())
		return false;
	sqlite3_file_control(sqlite_of(s)->db, "main", SQLITE_FCNTL_HAS_MOVED,
			     &moved);
	return !moved;
}

static bool in_transaction(const struct store *s)
{
	return !sqlite3_get_autocommit(sqlite_of(s)->db);
}

static int64_t changes(const struct store *s)
{
	return sqlite3_changes(sqlite_of(s)->db);
}

static const char *engine_words_sqlite(const struct store *s)
{
	return sqlite3_errmsg(sqlite_of(s)->db);
}

static int unstage_sqlite(struct store *s)
{
	sqlite3_stmt *rows = stmt_of(prepare_sqlite(s, STMT_STAGED_ROWS));
	sqlite3_stmt *put = stmt_of(prepare_sqlite(s, STMT_PUT_RUN));
	sqlite3_stmt *forget = stmt_of(prepare_sqlite(s, STMT_FORGET_STAGED));
	int rc = 0;

	if (rows == NULL || put == NULL || forget == NULL ||
	    store_sqlite_unstage(rows, put, forget) != SQLITE_DONE)
		rc = sqlite_failed(s);
	sqlite3_reset(rows);
	sqlite3_reset(put);
	sqlite3_reset(forget);
	return rc;
}

/*
 * Reopen the connection when the pragmas cannot be restored, since a reported
 * commit must be durable.
 */
static void relax(struct store *s, bool relaxed)
{
	struct sqlite *q = sqlite_of(s);

	if (!is_open(s))
		return;
	q->relaxed = relaxed;
	store_sqlite_log_synced(!relaxed);
	if (sqlite3_exec(q->db, relaxed ? store_relaxed : store_strict, NULL,
			 NULL, NULL) != SQLITE_OK)
		q->damaged = true;
	/* from a checkpoint, whose failure SQLite does not report to the commit */
	if (store_sqlite_log_failed())
		q->unsynced = q->damaged = true;
}

const struct store_engine store_sqlite = {
    .commits_alone = true,
    .unstage = unstage_sqlite,
    .relax = relax,
    .open = open_or_close,
    .close = close_db,
    .is_open = is_open,
    .is_usable = is_usable,
    .touch = touch,
    .in_transaction = in_transaction,
    .changes = changes,
    .words = engine_words_sqlite,
    .prepare = prepare_sqlite,
    .bind = bind,
    .step = step_sqlite,
    .reset = reset_sqlite,
    .columns = columns,
    .is_null = is_null_sqlite,
    .text = text,
    .length = length_sqlite,
    .number = number_sqlite,
};
