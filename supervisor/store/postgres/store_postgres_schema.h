/* SPDX-License-Identifier: Apache-2.0 */
/* store_postgres_schema.h - the tables in PostgreSQL, and the statements. */
#ifndef SUPERVISOR_STORE_POSTGRES_STORE_POSTGRES_SCHEMA_H
#define SUPERVISOR_STORE_POSTGRES_STORE_POSTGRES_SCHEMA_H

#include "supervisor/store/store_impl.h"

/* in the table paddock_schema; differs from SQLite's version */
#define STORE_POSTGRES_VERSION (20 STORE_RUN_ADDED(STORE_RUN_ONE_MORE, ))

#define STORE_POSTGRES_DAY_MS INT64_C(86400000) /* of a partition of runs */

/* [N] migrates version N to version N + 1; version 0 is an empty schema. */
extern const char *const store_postgres_steps[STORE_POSTGRES_VERSION];
/* Steps with a file of their own. */
extern const char store_postgres_queue[], store_postgres_days[],
    store_postgres_share[], store_postgres_barrier[], store_postgres_epoch[],
    store_postgres_room[], store_postgres_residents[];
/* The statements of store_statements.def, with parameters ?1, ?2 and so on. */
extern const char *const store_postgres_statements[STORE_STMTS];

#endif
