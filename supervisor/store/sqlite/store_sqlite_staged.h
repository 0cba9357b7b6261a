/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_staged.h - moves rows of runs from the staging table to the table "runs".
 */
#ifndef SUPERVISOR_STORE_SQLITE_STORE_SQLITE_STAGED_H
#define SUPERVISOR_STORE_SQLITE_STORE_SQLITE_STAGED_H

#include <sqlite3.h>

/*
 * Execute STMT_STAGED_ROWS, STMT_PUT_RUN and STMT_FORGET_STAGED in a transaction that
 * writes: put each row, in order, as the end of the run would have been put. SQLITE_DONE,
 * or the error of a statement; then no statement is reset.
 */
int store_sqlite_unstage(sqlite3_stmt *rows, sqlite3_stmt *put,
			 sqlite3_stmt *forget);

#endif
