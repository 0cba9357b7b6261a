/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_import_private.h - shared by the files of the import; no other file
 * includes the header.
 */
#ifndef SUPERVISOR_STORE_IMPORT_STORE_IMPORT_PRIVATE_H
#define SUPERVISOR_STORE_IMPORT_STORE_IMPORT_PRIVATE_H

#include <sqlite3.h>

#include "supervisor/store/postgres/pq_link.h"
#include "supervisor/store/import/store_import.h"

#define IMPORT_COLUMNS 48

struct import {
	const char *dir;
	const char *folder; /* NULL: bytes go to the database */
	sqlite3 *from;
	struct pq_link to;
	struct store_imported *done;
	char *errmsg;
	size_t size;
};

/* Format a sentence and return RC. */
int import_fail(struct import *im, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Open the source, and lock out other writers until import_close(). 0, or
 * -errno with a sentence.
 */
int import_open(struct import *im);
void import_close(struct import *im);
/* Call EACH with each row of SQL until EACH returns other than 0; 0 or -errno. */
int import_each(struct import *im, const char *sql,
		int (*each)(struct import *im, sqlite3_stmt *row));

#endif
