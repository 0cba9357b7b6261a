/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_import_source.c - opens the SQLite state that store_import.c copies, locked
 * against servers. A state in use by a server, of another version, or damaged is refused.
 */
#include "supervisor/store/import/store_import_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/store/state/state_file.h"
#include "supervisor/store/sqlite/store_sqlite_guard.h"
#include "supervisor/store/sqlite/store_sqlite_schema.h"
#include "supervisor/store/sqlite/store_sqlite_staged.h"
#include "supervisor/store/store.h"

int import_fail(struct import *im, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(im->errmsg, im->size, fmt, ap);
	va_end(ap);
	return rc;
}

static int source_failed(struct import *im)
{
	int code = sqlite3_errcode(im->from) & 0xff;
	bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
	int rc = busy ? -EBUSY : -EUCLEAN;

	return import_fail(im, rc, "%s/" STORE_DB ": %s; %s", im->dir,
			   sqlite3_errmsg(im->from),
			   busy ? "end who uses it, and import it then"
				: store_remedy(rc));
}

int import_each(struct import *im, const char *sql,
		int (*each)(struct import *im, sqlite3_stmt *row))
{
	sqlite3_stmt *row = NULL;
	int step = sqlite3_prepare_v2(im->from, sql, -1, &row, NULL), rc = 0;

	if (step == SQLITE_OK)
		step = SQLITE_ROW;
	while (rc == 0 && step == SQLITE_ROW) {
		step = sqlite3_step(row);
		if (step == SQLITE_ROW && each != NULL)
			rc = each(im, row);
	}
	if (rc == 0 && step != SQLITE_DONE)
		rc = source_failed(im);
	sqlite3_finalize(row);
	return rc;
}

static int on_version(struct import *im, sqlite3_stmt *row)
{
	int version = sqlite3_column_int(row, 0);

	if (version == STORE_SCHEMA_VERSION)
		return 0;
	return import_fail(im, -ENOTSUP,
			   "%s/" STORE_DB " has version %d, and this paddockd "
			   "copies version %d; %s",
			   im->dir, version, STORE_SCHEMA_VERSION,
			   version < STORE_SCHEMA_VERSION
			       ? "start it on that state without url once, "
				 "which raises it"
			       : "use the paddockd that wrote it");
}

static int on_check(struct import *im, sqlite3_stmt *row)
{
	const char *said = (const char *)sqlite3_column_text(row, 0);

	if (said != NULL && strcmp(said, "ok") == 0)
		return 0;
	return import_fail(im, -EUCLEAN,
			   "%s/" STORE_DB " is damaged: %.200s; %s", im->dir,
			   said != NULL ? said : "", store_remedy(-EUCLEAN));
}

/* Is an instance alive, that is, does a process hold the lock on the file? */
static int on_instance(void *arg, const char *name)
{
	struct import *im = arg;
	char *path = xasprintf("%s/" STORE_INSTANCES_DIR "/%s", im->dir, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool lives = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;

	if (fd >= 0)
		close(fd);
	free(path);
	if (!lives)
		return 0;
	return import_fail(im, -EBUSY,
			   "%s: a server lives on this state (%s); end it, and "
			   "import it then",
			   im->dir, name);
}

/* Move staged rows for the duration of the import, without ever committing the move. */
static int unstage_source(struct import *im)
{
	static const enum store_stmt which[] = {STMT_STAGED_ROWS, STMT_PUT_RUN,
						STMT_FORGET_STAGED};
	sqlite3_stmt *st[ARRAY_LEN(which)] = {NULL};
	int code = SQLITE_OK, rc;

	for (size_t i = 0; code == SQLITE_OK && i < ARRAY_LEN(which); i++)
		code = sqlite3_prepare_v2(im->from, store_statements[which[i]],
					  -1, &st[i], NULL);
	if (code == SQLITE_OK)
		code = store_sqlite_unstage(st[0], st[1], st[2]);
	rc = code == SQLITE_DONE ? 0 : source_failed(im);
	for (size_t i = 0; i < ARRAY_LEN(which); i++)
		sqlite3_finalize(st[i]);
	return rc;
}

int import_open(struct import *im)
{
	char *path = xasprintf("%s/" STORE_DB, im->dir);
	char *instances = xasprintf("%s/" STORE_INSTANCES_DIR, im->dir);
	int rc = access(path, F_OK) != 0 ? -errno : 0;

	if (rc != 0)
		import_fail(im, rc == -ENOENT ? rc = -ENXIO : rc,
			    "%s: %s; name a state folder with a record of runs",
			    path, strerror(errno));
	if (rc == 0 && sqlite3_open_v2(path, &im->from, SQLITE_OPEN_READWRITE,
				       NULL) != SQLITE_OK)
		rc = source_failed(im);
	if (rc == 0 && store_sqlite_guard(im->from) != SQLITE_OK)
		rc = source_failed(im);
	if (rc == 0)
		rc = import_each(im, "BEGIN IMMEDIATE", NULL);
	if (rc == 0)
		rc = state_file_each(instances, on_instance, im);
	if (rc == 0)
		rc = import_each(im, "PRAGMA user_version", on_version);
	if (rc == 0)
		rc = import_each(im, "PRAGMA quick_check(1)", on_check);
	if (rc == 0)
		rc = unstage_source(im);
	free(instances);
	free(path);
	return rc;
}

void import_close(struct import *im)
{
	/* closing rolls back the move of staged rows */
	sqlite3_close(im->from);
	im->from = NULL;
}
