/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_guard.c - switches off functions of SQLite that the store does
 * not need, on each connection: of the store, of the check before the start, of
 * an import. A connection that cannot be guarded is not used.
 */
#include "supervisor/store/sqlite/store_sqlite_guard.h"

#include <stddef.h>

#include "base/mem.h"

static const struct {
	int what, on;
} settings[] = {
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
    {SQLITE_DBCONFIG_DQS_DDL, 0},
    {SQLITE_DBCONFIG_DQS_DML, 0},
};

int store_sqlite_guard(sqlite3 *db)
{
	int code = SQLITE_OK;

	for (size_t i = 0; i < ARRAY_LEN(settings) && code == SQLITE_OK; i++)
		code = sqlite3_db_config(db, settings[i].what, settings[i].on,
					 NULL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	return code != SQLITE_OK ? code
				 : sqlite3_exec(db, "PRAGMA cell_size_check=ON",
						NULL, NULL, NULL);
}
