/* store_schema.h - the tables, and every statement that touches them. */
#ifndef SUPERVISOR_STORE_SCHEMA_H
#define SUPERVISOR_STORE_SCHEMA_H

#include "supervisor/store_int.h"

#define STORE_SCHEMA_VERSION 1 /* PRAGMA user_version */

extern const char store_pragmas[];
extern const char store_schema[];
extern const char *const store_statements[STORE_STMTS];

#endif
