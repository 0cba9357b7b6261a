/* SPDX-License-Identifier: Apache-2.0 */
/* store_sqlite_schema.h - the tables in SQLite, and all statements. */
#ifndef SUPERVISOR_STORE_SQLITE_STORE_SQLITE_SCHEMA_H
#define SUPERVISOR_STORE_SQLITE_STORE_SQLITE_SCHEMA_H

#include "supervisor/store/store_impl.h"

/* PRAGMA user_version */
#define STORE_SCHEMA_VERSION (12 STORE_RUN_ADDED(STORE_RUN_ONE_MORE, ))

extern const char store_pragmas[];
/* Pragmas for writes that need not be durable yet, and back. */
extern const char store_relaxed[], store_strict[];
/* [N] migrates version N to version N + 1; version 0 is an empty file. */
extern const char *const store_steps[STORE_SCHEMA_VERSION];
extern const char *const store_statements[STORE_STMTS];

#endif
