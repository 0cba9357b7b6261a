/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_guard.h - switches off, for a connection, functions of SQLite
 * that a foreign schema in the file could call.
 */
#ifndef SUPERVISOR_STORE_SQLITE_STORE_SQLITE_GUARD_H
#define SUPERVISOR_STORE_SQLITE_STORE_SQLITE_GUARD_H

#include <sqlite3.h>

/*
 * Restrict DB, before the first statement: no extension is loaded, no other
 * file attached, no view read, nothing in the schema trusted, no internal table
 * of SQLite written, no corrupt page accepted. SQLITE_OK, or the code of a
 * restriction that the library cannot set.
 */
int store_sqlite_guard(sqlite3 *db);

#endif
