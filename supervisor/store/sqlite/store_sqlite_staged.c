/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_staged.c - rows of runs that were staged are put where they belong, by
 * the statement that would have put them at once: so what becomes of one that is
 * there already, of its inputs and its CPU time, is said in one place. Called by the
 * engine, and by the import, which has a connection of its own. A failure is
 * SQLite's code, and the caller's to undo.
 */
#include "supervisor/store/sqlite/store_sqlite_staged.h"

/* The columns behind the row's number are PUT's parameters, from the first. */
static int put_row(sqlite3_stmt *row, sqlite3_stmt *put)
{
	int n = sqlite3_column_count(row), code;

	for (int i = 1; i < n; i++)
		sqlite3_bind_value(put, i, sqlite3_column_value(row, i));
	code = sqlite3_step(put);
	if (code == SQLITE_DONE)
		sqlite3_reset(put);
	return code;
}

int store_sqlite_unstage(sqlite3_stmt *rows, sqlite3_stmt *put,
			 sqlite3_stmt *forget)
{
	int code;

	while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
		code = put_row(rows, put);
		if (code != SQLITE_DONE)
			return code;
	}
	return code == SQLITE_DONE ? sqlite3_step(forget) : code;
}
