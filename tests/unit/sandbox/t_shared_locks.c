/* SPDX-License-Identifier: Apache-2.0 */
/* t_shared_locks.c - locks on shared inodes, in a folder with the layout of /proc. */
#include "sandbox/shared_locks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/unit/tap.h"

#define CALLS                                                                  \
	512 /* number of judged calls between two looks at all descriptors */

static char top[] = "/tmp/paddock-locks.XXXXXX";
static int proc, anon;

static void folder(const char *path)
{
	if (mkdirat(proc, path, 0700) != 0)
		abort();
}

/* Write the fdinfo of descriptor 3 with one lock on an inode of DEV. */
static void lock_on(dev_t dev)
{
	int fd = openat(proc, "2/task/2/fdinfo/3", O_WRONLY | O_CREAT | O_TRUNC,
			0600);

	if (fd < 0)
		abort();
	dprintf(fd,
		"pos:\t0\nflags:\t02\nmnt_id:\t16\nino:\t1044\n"
		"lock:\t1: OFDLCK  ADVISORY  READ -1 %02x:%02x:1044 0 0\n",
		major(dev), minor(dev));
	close(fd);
}

/*
 * Write the fdinfo of descriptor 3 with a lock on a device whose number begins with the
 * number of DEV. The first READ bytes of the file end behind DEV.
 */
static void lock_cut_off(dev_t dev, size_t read)
{
	int fd = openat(proc, "2/task/2/fdinfo/3", O_WRONLY | O_CREAT | O_TRUNC,
			0600);
	char line[128];
	int n = snprintf(line, sizeof(line),
			 "lock:\t1: OFDLCK  ADVISORY  READ -1 %02x:%x",
			 major(dev), minor(dev));

	if (fd < 0)
		abort();
	dprintf(fd, "pos:%0*d\n%s5:1044 0 0\n", (int)read - n - 5, 0, line);
	close(fd);
}

/* Judge at most N calls, up to the first result but SHARED_LOCKS_NONE. */
static enum shared_locks judge(int n)
{
	enum shared_locks seen = SHARED_LOCKS_NONE;

	/* descriptor 9 is closed, so a call is allowed without a look */
	while (seen == SHARED_LOCKS_NONE && n-- > 0)
		seen = shared_locks_judge(proc, 2, 9, anon);
	return seen;
}

static void examined_descriptors(void)
{
	struct stat st;

	anon = eventfd(0, EFD_CLOEXEC);
	if (mkdtemp(top) == NULL || anon < 0 || fstat(anon, &st) != 0)
		abort();
	proc = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder("2");
	folder("2/fd");
	folder("2/task");
	folder("2/task/2");
	folder("2/task/2/fdinfo");
	lock_on(makedev(0x7f, 0x7f));
	is_int(judge(2 * CALLS), SHARED_LOCKS_NONE,
	       "a lock on an inode of the program's own is no shared lock");
	lock_cut_off(st.st_dev, 2047);
	is_int(judge(2 * CALLS), SHARED_LOCKS_NONE,
	       "a line of fdinfo that is read in part is no shared lock");
	lock_on(st.st_dev);
	is_int(judge(CALLS + 1), SHARED_LOCKS_FOUND,
	       "a lock on the inode of eventfds is found within 513 calls");
	unlinkat(proc, "2/task/2/fdinfo/3", 0);
	unlinkat(proc, "2/task/2/fdinfo", AT_REMOVEDIR);
	unlinkat(proc, "2/task/2", AT_REMOVEDIR);
	unlinkat(proc, "2/task", AT_REMOVEDIR);
	unlinkat(proc, "2/fd", AT_REMOVEDIR);
	unlinkat(proc, "2", AT_REMOVEDIR);
	rmdir(top);
}

int main(void)
{
	examined_descriptors();
	return tap_done();
}
