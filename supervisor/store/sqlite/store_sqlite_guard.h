/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_guard.h - switches off, for a connection, functions of SQLite
 * that a foreign schema in the file could call.
 */
#ifndef SUPERVISOR_STORE_SQLITE_STORE_SQLITE_GUARD_H
#define SUPERVISOR_STORE_SQLITE_STORE_SQLITE_GUARD_H

#include <sqlite3.h>

/*
 * DB, before its first statement: no extension is loaded, no other file attached, no
 * view read, nothing of the schema trusted, no table of SQLite's own written, no page
 * taken that cannot be one. SQLITE_OK, or the code of what this SQLite cannot do.
 */
int store_sqlite_guard(sqlite3 *db);

#endif
