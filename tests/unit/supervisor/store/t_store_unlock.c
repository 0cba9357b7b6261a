/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_store_unlock.c - a lock of SQLite which could not be released must block other
 * connections no longer than the connection lives.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/supervisor/store/store_fixture.h"
#include "tests/unit/tap.h"

static atomic_int fails; /* so many locks cannot be given back from now on */
static atomic_int failed;

/*
 * Calls of SQLite and of all other code go through this function, which precedes the C
 * library's.
 */
static int call(int fd, int cmd, void *arg)
{
	const struct flock *l = arg;

	if ((cmd == F_SETLK || cmd == F_SETLKW) && l->l_type == F_UNLCK &&
	    atomic_load(&fails) > 0) {
		atomic_fetch_sub(&fails, 1);
		atomic_fetch_add(&failed, 1);
		errno = ENOLCK;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, cmd, arg);
}

#define STAND_IN(name)                                                         \
	int name(int fd, int cmd, ...);                                        \
	int name(int fd, int cmd, ...)                                         \
	{                                                                      \
		va_list ap;                                                    \
		void *arg;                                                     \
                                                                               \
		va_start(ap, cmd);                                             \
		arg = va_arg(ap, void *);                                      \
		va_end(ap);                                                    \
		return call(fd, cmd, arg);                                     \
	}

#undef fcntl
#undef fcntl64
STAND_IN(fcntl)
STAND_IN(fcntl64)

int main(void)
{
	char *dir = help_dir();
	struct store *s = help_start(dir, "inst_a");
	struct store_run run = help_run("alice", STORE_RUNNING);
	struct answer a = {0};

	if (help_is_postgres()) { /* PostgreSQL uses no file locks */
		store_stop(s, 10000);
		help_remove(dir);
		skip("needs SQLite", "PostgreSQL's locks are its own");
		return tap_done();
	}
	is_int(help_put(s, &run, STORE_SYNC), 0, "a row is put");
	for (int n = 1; n < 5; n++) {
		atomic_store(&fails, n);
		run = help_run("alice", STORE_RUNNING);
		help_put(s, &run, STORE_SYNC);
		help_get(s, &a, "alice", run.id);
		atomic_store(&fails, 0);
		run = help_run("alice", STORE_RUNNING);
		for (int i = 0; i < 3 && help_put(s, &run, STORE_SYNC) != 0;
		     i++)
			;
		is_int(help_get(s, &a, "alice", run.id), 0,
		       "after %d locks that could not be given back it goes on",
		       n);
	}
	ok(atomic_load(&failed) > 4, "%d could not", atomic_load(&failed));
	help_clear(&a);
	store_stop(s, 10000);
	help_remove(dir);
	return tap_done();
}
