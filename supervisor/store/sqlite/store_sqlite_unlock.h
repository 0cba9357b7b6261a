/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite_unlock.h - notices locks that SQLite could not release. */
#ifndef SUPERVISOR_STORE_SQLITE_STORE_SQLITE_UNLOCK_H
#define SUPERVISOR_STORE_SQLITE_STORE_SQLITE_UNLOCK_H

#include <stdbool.h>

/* Once, after sqlite3_initialize(). */
void store_sqlite_unlock_watch(void);

/*
 * Was one kept on this thread, since that was asked last? SQLite takes it for held until
 * its connection is closed, and nobody gets it.
 */
bool store_sqlite_unlock_failed(void);

#endif
