/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_log.h - a VFS of SQLite that writes a commit to the log in few
 * calls.
 */
#ifndef SUPERVISOR_STORE_SQLITE_STORE_SQLITE_LOG_H
#define SUPERVISOR_STORE_SQLITE_STORE_SQLITE_LOG_H

#include <stdbool.h>

#define STORE_SQLITE_LOG_VFS "paddock"

/*
 * Once, after sqlite3_initialize(): databases may be opened by that name then,
 * with synchronous=FULL. SQLITE_OK, or SQLite's error.
 */
int store_sqlite_log_register(void);

/*
 * On this thread: without SYNCED commits are not, by synchronous=NORMAL; then none may
 * write a page before its end, by cache_spill=OFF.
 */
void store_sqlite_log_synced(bool synced);

struct sqlite3;
/*
 * What DB, just opened, rolls back is forgotten: written later, it would lie over what
 * another process has committed since.
 */
void store_sqlite_log_watch(struct sqlite3 *db);

/* Has a sync of a log failed on this thread since that was asked last? */
bool store_sqlite_log_failed(void);

#endif
