/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_log.h - a VFS of SQLite's that writes a commit to its log at once.
 */
#ifndef SUPERVISOR_STORE_SQLITE_STORE_SQLITE_LOG_H
#define SUPERVISOR_STORE_SQLITE_STORE_SQLITE_LOG_H

#define STORE_SQLITE_LOG_VFS "paddock"

/*
 * Once, after sqlite3_initialize(): databases may be opened by that name then,
 * with synchronous=FULL. SQLITE_OK, or SQLite's error.
 */
int store_sqlite_log_register(void);

#endif
