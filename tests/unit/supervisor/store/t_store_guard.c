/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store_guard.c - a database with a schema of unknown origin: SQLite must refuse
 * hostile parts.
 */
#include "supervisor/store/sqlite/store_sqlite_guard.h"

#include "base/mem.h"
#include "tests/unit/tap.h"

/* A hostile schema, made while the connection was not guarded. */
static const char hostile[] =
    "CREATE TABLE plain(a);"
    "CREATE TABLE caller(a);"
    "CREATE VIEW dressed AS SELECT a FROM plain;"
    "CREATE TRIGGER calls AFTER INSERT ON caller BEGIN"
    " SELECT load_extension('/tmp/evil.so'); END;";

static const struct {
	const char *what, *sql;
	bool works;
} tried[] = {
    {"a plain table is written", "INSERT INTO plain VALUES (1)", true},
    {"a plain table is read", "SELECT a FROM plain", true},
    {"an extension is loaded", "SELECT load_extension('/tmp/evil.so')", false},
    {"a trigger loads one", "INSERT INTO caller VALUES (1)", false},
    {"a view is read in a table's place", "SELECT a FROM dressed", false},
    {"another file is attached", "ATTACH ':memory:' AS other", false},
    {"the schema is written", "UPDATE sqlite_schema SET sql = ''", false},
    {"the schema is written, once that is asked for",
     "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = ''", false},
    {"a name is taken for a text", "SELECT \"nothing\"", false},
};

static const struct {
	int which;
	const char *what;
	int on;
} settings[] = {
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, "the schema is trusted", 0},
    {SQLITE_DBCONFIG_DEFENSIVE, "it is defensive", 1},
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, "extensions are loaded", 0},
};

int main(void)
{
	sqlite3 *db = NULL;

	is_int(sqlite3_open(":memory:", &db), SQLITE_OK, "a database is open");
	is_int(sqlite3_exec(db, hostile, NULL, NULL, NULL), SQLITE_OK,
	       "the database gets a hostile schema");
	is_int(store_sqlite_guard(db), SQLITE_OK, "the connection is guarded");
	for (size_t i = 0; i < ARRAY_LEN(tried); i++)
		is_int(sqlite3_exec(db, tried[i].sql, NULL, NULL, NULL) ==
			   SQLITE_OK,
		       tried[i].works, "%s: %s", tried[i].what,
		       tried[i].works ? "yes" : "no");
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		int on = -1;

		sqlite3_db_config(db, settings[i].which, -1, &on);
		is_int(on, settings[i].on, "%s: %s", settings[i].what,
		       settings[i].on ? "yes" : "no");
	}
	sqlite3_close(db);
	return tap_done();
}
