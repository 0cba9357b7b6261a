/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_import.h - copies a state of SQLite into a database of PostgreSQL, in
 * one transaction.
 */
#ifndef SUPERVISOR_STORE_IMPORT_STORE_IMPORT_H
#define SUPERVISOR_STORE_IMPORT_STORE_IMPORT_H

#include <stddef.h>
#include <stdint.h>

struct store_imported {
	int64_t runs, artifacts, sessions; /* rows that were copied… */
	int64_t bytes;			   /* …of these artifacts */
	int64_t before;			   /* rows that were there already */
};

/*
 * Copy what STATE_DIR has into the database of URL, and bytes of artifacts there, too,
 * or to FOLDER/artifacts. 0, or -errno as of the store, with a sentence; -EBUSY: a server
 * lives on that state; -EEXIST: other rows of the same ids are there.
 */
int store_import(const char *state_dir, const char *url, const char *folder,
		 struct store_imported *done, char *errmsg, size_t size);

#endif
