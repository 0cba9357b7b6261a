/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_look.c - checks before the start, without leaving a trace, whether SQLite
 * could use the file in a state folder: by the file's first bytes and the list of tables.
 * health.c calls store_look(), and reports a fault like any failure of the store.
 */
#include "supervisor/store/store_impl.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "supervisor/store/state/state_file.h"
#include "supervisor/store/sqlite/store_sqlite_guard.h"
#include "supervisor/store/sqlite/store_sqlite_schema.h"

/* https://www.sqlite.org/fileformat2.html, "The Database Header" */
#define HEADER_BYTES 100
#define MAGIC "SQLite format 3" /* with the NUL */
#define USER_VERSION_AT 60

/*
 * Call before this process opens the file by SQLite, since closing a second descriptor
 * would drop SQLite's locks. A version in the log beside the file is not seen.
 */
static int look_at_header(const char *path, bool *empty)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	unsigned char header[HEADER_BYTES] = {0}, *v = header + USER_VERSION_AT;
	uint32_t version;
	ssize_t n;
	int rc = 0;

	*empty = true;
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	n = pread(fd, header, sizeof(header), 0);
	if (n < 0)
		rc = -errno;
	*empty = n <= 0;
	if (n > 0 &&
	    (n < HEADER_BYTES || memcmp(header, MAGIC, sizeof(MAGIC)) != 0))
		rc = -EUCLEAN;
	version = (uint32_t)v[0] << 24 | (uint32_t)v[1] << 16 |
		  (uint32_t)v[2] << 8 | v[3];
	if (n > 0 && rc == 0 && version > STORE_SCHEMA_VERSION)
		rc = -ENOTSUP;
	close(fd);
	return rc;
}

/* Convert PATH to a URI that SQLite opens without a lock and without creating files. */
static char *frozen(const char *path)
{
	static const char plain[] = "/._-";
	struct buf b = {0};
	size_t len;

	buf_add_str(&b, "file:");
	for (; *path != '\0'; path++)
		buf_printf(&b,
			   isalnum((unsigned char)*path) ||
				   strchr(plain, *path) != NULL
			       ? "%c"
			       : "%%%02X",
			   (unsigned char)*path);
	buf_add_str(&b, "?immutable=1");
	return buf_take(&b, &len);
}

/* Can the tables be read? Checked only while no other process writes. */
static int look_at_tables(const char *path)
{
	char *wal = xasprintf("%s-wal", path), *uri = frozen(path);
	sqlite3 *db = NULL;
	int code = SQLITE_OK;

	if (access(wal, F_OK) != 0) {
		code = sqlite3_open_v2(
		    uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
		if (code == SQLITE_OK)
			code = store_sqlite_guard(db);
		if (code == SQLITE_OK)
			code = sqlite3_exec(db,
					    "SELECT count(*) FROM "
					    "sqlite_schema",
					    NULL, NULL, NULL);
		sqlite3_close(db);
		sqlite3_shutdown(); /* the store configures SQLite later */
	}
	free(wal);
	free(uri);
	return (code & 0xFF) == SQLITE_CORRUPT || (code & 0xFF) == SQLITE_NOTADB
		   ? -EUCLEAN
		   : 0; /* the start finds other faults */
}

int store_look(const char *state_dir, char *errmsg, size_t size)
{
	char *path = xasprintf("%s/" STORE_DB, state_dir);
	bool empty, plain;
	int rc = look_at_header(path, &empty);

	if (rc == 0 && !empty)
		rc = look_at_tables(path);
	/* for these two errors strerror() says less */
	plain = rc == -EUCLEAN || rc == -ENOTSUP;
	if (rc != 0)
		snprintf(errmsg, size, "%s: %s%s%s", path,
			 plain ? "" : strerror(-rc), plain ? "" : "; ",
			 store_remedy(rc));
	free(path);
	return rc;
}
