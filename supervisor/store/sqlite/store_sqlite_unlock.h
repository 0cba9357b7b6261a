/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite_unlock.h - detects locks that SQLite could not release. */
#ifndef SUPERVISOR_STORE_SQLITE_STORE_SQLITE_UNLOCK_H
#define SUPERVISOR_STORE_SQLITE_STORE_SQLITE_UNLOCK_H

#include <stdbool.h>

/* Replace fcntl(2) in SQLite, once after sqlite3_initialize(). */
void store_sqlite_unlock_watch(void);

/*
 * Was a lock not released on this thread since the last call? SQLite considers the lock
 * as held until the connection is closed, and then no process gets the lock.
 */
bool store_sqlite_unlock_failed(void);

#endif
