/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_log.c - a VFS over SQLite's default VFS that joins adjacent
 * writes to the log (WAL): a commit of a short run has eight pages, which
 * SQLite writes by two calls each. Joined bytes are written before any other
 * operation on the file, and with the last page of a commit; rolled back bytes
 * are not written. store_sqlite.c opens the database with the VFS. A failed
 * write is the failure of the next call, so no commit follows.
 */
#include "supervisor/store/sqlite/store_sqlite_log.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define HELD_MAX 65536	/* bytes; more bytes are written in pieces */
#define FRAME_HEADER 24 /* https://www.sqlite.org/fileformat2.html#walformat */

struct log_file {
	sqlite3_file base;
	char *held;
	int room, n_held;
	bool ends;	    /* the next written page ends a commit */
	sqlite3_int64 at;   /* position of HELD in the file */
	sqlite3_file *real; /* of the VFS below; placed behind this struct */
};

static sqlite3_vfs *below;
static _Thread_local bool is_synced = true; /* a sync ends each commit */

static _Thread_local bool has_failed; /* a sync of a log */

bool store_sqlite_log_failed(void)
{
	bool failed = has_failed;

	has_failed = false;
	return failed;
}

void store_sqlite_log_synced(bool synced)
{
	is_synced = synced;
}

static struct log_file *log_of(sqlite3_file *f)
{
	return (struct log_file *)f;
}

/* Write the held bytes; a failed write is not repeated. */
static int flush_wal(struct log_file *f)
{
	int n = f->n_held;

	f->n_held = 0;
	return n == 0 ? SQLITE_OK
		      : f->real->pMethods->xWrite(f->real, f->held, n, f->at);
}

/*
 * Is the page P the last page of a commit without a sync? The frame header before the
 * page has the number of pages of the database after a commit, and otherwise 0.
 */
static bool is_last(struct log_file *f, const unsigned char *p, int n)
{
	bool is_last = f->ends && n != FRAME_HEADER;

	f->ends =
	    n == FRAME_HEADER && !is_synced && memcmp(p + 4, "\0\0\0", 4) != 0;
	return is_last;
}

static int log_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at)
{
	struct log_file *f = log_of(file);
	bool follows = f->n_held > 0 && at == f->at + f->n_held;
	int rc = SQLITE_OK;

	if (!follows || n > f->room - f->n_held)
		rc = flush_wal(f);
	if (rc != SQLITE_OK || n > f->room)
		return rc != SQLITE_OK
			   ? rc
			   : f->real->pMethods->xWrite(f->real, p, n, at);
	if (f->n_held == 0)
		f->at = at;
	memcpy(f->held + f->n_held, p, (size_t)n);
	f->n_held += n;
	return is_last(f, p, n) ? flush_wal(f) : SQLITE_OK;
}

/* Write the held bytes, then forward any other call. */
#define AFTER_FLUSH(call, ...)                                                 \
	struct log_file *f = log_of(file);                                     \
	int rc = flush_wal(f);                                                 \
                                                                               \
	return rc != SQLITE_OK ? rc                                            \
			       : f->real->pMethods->call(f->real, __VA_ARGS__)

static int log_read(sqlite3_file *file, void *p, int n, sqlite3_int64 at)
{
	AFTER_FLUSH(xRead, p, n, at);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	AFTER_FLUSH(xTruncate, size);
}

/* A page that cannot be written, as on a full disk, makes no hole: the commit fails. */
static int log_sync(sqlite3_file *file, int flags)
{
	struct log_file *f = log_of(file);
	int rc = flush_wal(f);

	if (rc != SQLITE_OK)
		return rc;
	rc = f->real->pMethods->xSync(f->real, flags);
	has_failed |= rc != SQLITE_OK;
	return rc;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
	AFTER_FLUSH(xFileSize, size);
}

static int log_control(sqlite3_file *file, int op, void *arg)
{
	AFTER_FLUSH(xFileControl, op, arg);
}

static int log_lock(sqlite3_file *file, int level)
{
	AFTER_FLUSH(xLock, level);
}

static int log_unlock(sqlite3_file *file, int level)
{
	AFTER_FLUSH(xUnlock, level);
}

static int log_is_reserved(sqlite3_file *file, int *is)
{
	AFTER_FLUSH(xCheckReservedLock, is);
}

static int log_sector(sqlite3_file *file)
{
	struct log_file *f = log_of(file);

	return f->real->pMethods->xSectorSize(f->real);
}

static int log_traits(sqlite3_file *file)
{
	struct log_file *f = log_of(file);

	return f->real->pMethods->xDeviceCharacteristics(f->real);
}

/* Drop the held bytes, which belong to no commit. */
static int log_close(sqlite3_file *file)
{
	struct log_file *f = log_of(file);

	free(f->held);
	return f->real->pMethods->xClose(f->real);
}

/* SQLite uses only version 1 of the methods for a log. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_is_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_traits,
};

/* Drop held pages that a large transaction wrote before a rollback. */
static void forget_held(void *db)
{
	sqlite3_file *file = NULL;

	sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
	if (file == NULL || file->pMethods != &methods)
		return;
	log_of(file)->n_held = 0;
	log_of(file)->ends = false;
}

void store_sqlite_log_watch(sqlite3 *db)
{
	sqlite3_rollback_hook(db, forget_held, db);
}

/* Open a file: all files but the log are opened by the VFS below. */
static int open_wal(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
		    int flags, int *given)
{
	struct log_file *f = log_of(file);
	int rc;

	(void)vfs;
	if ((flags & SQLITE_OPEN_WAL) == 0)
		return below->xOpen(below, name, file, flags, given);
	*f = (struct log_file){.real = (sqlite3_file *)(f + 1)};
	rc = below->xOpen(below, name, f->real, flags, given);
	if (rc != SQLITE_OK)
		return rc;
	/* where SQLite syncs a commit before the last frames, nothing is held */
	if ((f->real->pMethods->xDeviceCharacteristics(f->real) &
	     SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0)
		f->room = HELD_MAX;
	f->held = xrealloc(NULL, HELD_MAX);
	f->base.pMethods = &methods;
	return SQLITE_OK;
}

int store_sqlite_log_register(void)
{
	static sqlite3_vfs vfs;

	below = sqlite3_vfs_find(NULL);
	vfs = *below;
	vfs.zName = STORE_SQLITE_LOG_VFS;
	vfs.pNext = NULL;
	vfs.szOsFile = below->szOsFile + (int)sizeof(struct log_file);
	vfs.xOpen = open_wal;
	return sqlite3_vfs_register(&vfs, 0);
}
