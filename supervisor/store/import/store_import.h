/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_import.h - copies a state of SQLite into a database of PostgreSQL, in a
 * single transaction.
 */
#ifndef SUPERVISOR_STORE_IMPORT_STORE_IMPORT_H
#define SUPERVISOR_STORE_IMPORT_STORE_IMPORT_H

#include <stddef.h>
#include <stdint.h>

struct store_imported {
	int64_t runs, artifacts, sessions; /* copied rows */
	int64_t bytes;			   /* bytes of the copied artifacts */
	int64_t before;			   /* rows that existed already */
};

/*
 * Copy the state in STATE_DIR into the database of URL, and the bytes of artifacts into
 * the database or to FOLDER/artifacts. 0, or -errno as of the store, with a sentence;
 * -EBUSY: a server uses the state; -EEXIST: different rows with the same ids exist.
 */
int store_import(const char *state_dir, const char *url, const char *folder,
		 struct store_imported *done, char *errmsg, size_t size);

#endif
