/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_staged.c - moves staged rows of runs to the table "runs", by the
 * statement that would have written the row there at once, so that the rules
 * for existing rows, inputs and CPU time are the same. The engine and the
 * import call it, each with its connection. A failure is SQLite's code, and the
 * caller rolls back.
 */
#include "supervisor/store/sqlite/store_sqlite_staged.h"

int store_sqlite_unstage(sqlite3_stmt *rows, sqlite3_stmt *put,
			 sqlite3_stmt *forget)
{
	int code;

	while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
		/* the columns behind the row's number are PUT's parameters, from the first */
		for (int i = 1; i < sqlite3_column_count(rows); i++)
			sqlite3_bind_value(put, i,
					   sqlite3_column_value(rows, i));
		code = sqlite3_step(put);
		if (code != SQLITE_DONE)
			return code;
		sqlite3_reset(put);
	}
	return code == SQLITE_DONE ? sqlite3_step(forget) : code;
}
