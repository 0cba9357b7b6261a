/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store_log.c - after a rollback, SQLite must not write pages of the transaction to
 * the log later, over pages which another connection has committed meanwhile.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/store/sqlite/store_sqlite_log.h"
#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static sqlite3 *open_db(const char *path)
{
	sqlite3 *db;

	if (sqlite3_open_v2(path, &db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			    STORE_SQLITE_LOG_VFS) != SQLITE_OK)
		abort();
	store_sqlite_log_watch(db);
	sqlite3_exec(db,
		     "PRAGMA page_size=2048; PRAGMA journal_mode=WAL;"
		     "PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=FULL;"
		     "PRAGMA cache_size=10; PRAGMA mmap_size=0;",
		     NULL, NULL, NULL);
	return db;
}

static int run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int on_text(void *arg, int n, char **values, char **names)
{
	(void)n, (void)names;
	snprintf(arg, 64, "%s", values[0] != NULL ? values[0] : "null");
	return 0;
}

static const char *ask(sqlite3 *db, const char *sql)
{
	static char text[64];

	snprintf(text, sizeof(text), "-");
	if (sqlite3_exec(db, sql, on_text, text, NULL) != SQLITE_OK)
		snprintf(text, sizeof(text), "%s", sqlite3_errmsg(db));
	return text;
}

/* A large transaction with ROWS rows writes pages to the log before the commit. */
static void spill(sqlite3 *db, int rows)
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 "
		 "FROM n WHERE i < %d) INSERT INTO t SELECT NULL, "
		 "zeroblob(1800) FROM n",
		 rows);
	is_int(run(db, sql), SQLITE_OK, "%d rows are put", rows);
}

int main(void)
{
	char *dir = help_dir(), *path = xasprintf("%s/db", dir);
	sqlite3 *a, *b, *c;

	store_sqlite_log_register();
	a = open_db(path);
	run(a, "CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB);"
	       "CREATE TABLE u(id INTEGER PRIMARY KEY, data TEXT);"
	       "INSERT INTO u VALUES(1, 'a')");
	b = open_db(path);
	for (int rows = 12; rows < 90; rows += 7) {
		char sql[96];

		/* else the first page is read from the log by the rollback */
		run(b, "PRAGMA wal_checkpoint(TRUNCATE)");
		run(a, "BEGIN IMMEDIATE");
		spill(a, rows);
		run(a, "ROLLBACK");
		snprintf(sql, sizeof(sql),
			 "INSERT INTO u VALUES(%d, '%d is committed')", rows,
			 rows);
		is_int(run(b, sql), SQLITE_OK, "another connection commits");
		run(b, "UPDATE u SET data = data || '.'");
		ask(a, "SELECT count(*) FROM u");
		c = open_db(path);
		is_str(ask(c, "PRAGMA integrity_check"), "ok",
		       "the database is whole for a new connection");
		snprintf(sql, sizeof(sql),
			 "SELECT substr(data, 1, 15) FROM u WHERE id = %d",
			 rows);
		ok(strstr(ask(c, sql), "is committed") != NULL,
		   "the committed row is there for a new connection");
		sqlite3_close(c);
	}
	sqlite3_close(a);
	sqlite3_close(b);
	free(path);
	help_remove(dir);
	return tap_done();
}
