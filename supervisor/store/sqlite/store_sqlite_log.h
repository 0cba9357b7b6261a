/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite_log.h - a VFS of SQLite that writes a commit to the log in few calls. */
#ifndef SUPERVISOR_STORE_SQLITE_STORE_SQLITE_LOG_H
#define SUPERVISOR_STORE_SQLITE_STORE_SQLITE_LOG_H

#include <stdbool.h>

#define STORE_SQLITE_LOG_VFS "paddock"

/*
 * Register the VFS, once after sqlite3_initialize(): then databases can be opened with
 * the VFS by name, with synchronous=FULL. SQLITE_OK, or SQLite's error.
 */
int store_sqlite_log_register(void);

/*
 * For this thread: without SYNCED commits are not synced (synchronous=NORMAL);
 * then no transaction may write a page before the end (cache_spill=OFF).
 */
void store_sqlite_log_synced(bool synced);

struct sqlite3;
/*
 * Drop held bytes when DB, just opened, rolls back: written later, the bytes
 * would overwrite commits of another process.
 */
void store_sqlite_log_watch(struct sqlite3 *db);

/* Has a sync of a log failed on this thread since the last call? */
bool store_sqlite_log_failed(void);

#endif
