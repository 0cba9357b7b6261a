/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sqlite_unlock.c - detects SQLite's failed calls to release a lock on a file, for
 * store_sqlite.c, which then opens the connection again: SQLite would report "locking
 * protocol" or a busy file from then on. SQLite itself reports the failed calls.
 */
#include "supervisor/store/sqlite/store_sqlite_unlock.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>

static _Thread_local bool has_failed;

/* The third argument is a number or an address, and passed on unread. */
static int hear_fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;
	int rc;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	rc = fcntl(fd, cmd, arg);
	if (rc < 0 && cmd == F_SETLK)
		has_failed |= ((struct flock *)arg)->l_type == F_UNLCK;
	return rc;
}

void store_sqlite_unlock_watch(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr)hear_fcntl);
}

bool store_sqlite_unlock_failed(void)
{
	bool failed = has_failed;

	has_failed = false;
	return failed;
}
