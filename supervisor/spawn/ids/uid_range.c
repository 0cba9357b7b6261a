/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uid_range.c - reserves the workers' user ids when root starts the server;
 * main.c calls it before anything else is started; privsep and spawn_exec.c
 * pass the range on. Where no id is free, or the lock cannot be taken, the
 * server does not start: workers of two servers with one uid could harm each
 * other.
 */
#include "supervisor/spawn/ids/uid_range.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/id_range.h"
#include "base/os/log.h"
#include "base/os/sys.h"
#include "base/mem.h"
#include "ipc/zygote_proto.h"

/* the workers, the zygote, the children of paddock-egress, and paddock-browser */
_Static_assert(ZYGOTE_PROTO_SLOTS + 1 + UID_RANGE_EGRESS + 1 <= ID_RANGE_BLOCK,
	       "one block has ids for all");

static char argument[32];
static uint32_t range; /* first id of the range; 0: no range */

/* Is ID known to a directory service, or just taken by systemd-nspawn? */
static bool is_known_id(uint32_t id)
{
	return getpwuid(id) != NULL || getgrgid(id) != NULL;
}

static bool take_range(void *arg, uint32_t first)
{
	int fd = *(int *)arg;

	return !is_known_id(first) &&
	       (fd < 0 || id_range_lock(fd, first, ID_RANGE_BLOCK) == 0);
}

static int no_locks(int rc, char *errmsg, size_t size)
{
	snprintf(errmsg, size,
		 "no user ids can be reserved for runs: %s: %s; make it "
		 "writable for root, or start paddockd as another user",
		 ID_RANGE_LOCKS, strerror(-rc));
	return rc;
}

/*
 * Reserve a free range. FD is the file of locks, kept open for the lock; -1: no
 * lock.
 */
static int pick_range(int fd, char *errmsg, size_t size)
{
	struct id_range_view v;
	struct stat st = {0};
	uint32_t first;

	/*
	 * servers in containers do not see each other's locks, but each container
	 * has its own mount namespace
	 */
	(void)stat("/proc/self/ns/mnt", &st);
	id_range_read(&v);
	first = id_range_pick(&v, st.st_ino, take_range, &fd);
	id_range_forget(&v);
	if (first == 0) {
		sys_close(fd);
		snprintf(
		    errmsg, size,
		    "no %u user ids in a row are free for runs, by "
		    "/etc/subuid, /etc/subgid and /proc/self/uid_map; free "
		    "some, or start paddockd as another user",
		    ID_RANGE_BLOCK);
		return -EUSERS;
	}
	/* FD stays open, and no child inherits it: it holds the lock */
	range = first;
	snprintf(argument, sizeof(argument), "ids=%u", first);
	log_info("server", "uids=%u-%u", first, first + ZYGOTE_PROTO_SLOTS);
	return 0;
}

int uid_range_take(char *errmsg, size_t size)
{
	char dir[] = ID_RANGE_LOCKS;
	int fd;

	if (geteuid() != 0)
		return 0;
	/* a private server may come before any daemon, which makes the folder, too */
	*strrchr(dir, '/') = '\0';
	(void)mkdir(dir, 0755);
	fd = id_range_open(ID_RANGE_LOCKS);
	return fd < 0 ? no_locks(fd, errmsg, size)
		      : pick_range(fd, errmsg, size);
}

int uid_range_try(char *errmsg, size_t size)
{
	int fd;

	if (geteuid() != 0)
		return 0;
	fd = open(ID_RANGE_LOCKS, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 && errno != ENOENT ? no_locks(-errno, errmsg, size)
					 : pick_range(fd, errmsg, size);
}

uid_t uid_range_browser(void)
{
	return range == 0 ? 0 : range + ID_RANGE_BLOCK - 1;
}

uid_t uid_range_egress(unsigned place)
{
	return range == 0 ? 0 : range + ZYGOTE_PROTO_SLOTS + 1 + place;
}

char **uid_range_argv(char *const argv[])
{
	size_t n = 0, k = 0;
	char **all;

	while (argv[n] != NULL)
		n++;
	all = xcalloc(n + 2, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[k++] = argv[i];
		if (i == 0 && argument[0] != '\0')
			all[k++] = argument;
	}
	return all;
}

int uid_range_spare(uid_t *id, char *errmsg, size_t size)
{
	struct id_range_taken t = {.errmsg = "each is a user or a group"};
	struct id_range_view v;
	uint32_t spare;

	id_range_read(&v);
	spare = id_range_spare(&v, &t);
	id_range_forget(&v);
	if (spare != 0 && !is_known_id(spare)) {
		*id = spare;
		return 0;
	}
	snprintf(
	    errmsg, size,
	    "started as root, but there is no user paddock to serve as, nor "
	    "a spare id (%s); add that user, or name another in [server] "
	    "user",
	    t.errmsg);
	return -EINVAL;
}
