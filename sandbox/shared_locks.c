/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_locks.c - keeps a program from locking inodes that other processes share, for
 * worker/program/watch/shim_records.c. A thread may move the descriptor between the check and
 * the kernel's own look, so after some calls all descriptors are examined. A descriptor
 * that cannot be examined counts as shared.
 */
#include "sandbox/shared_locks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/sys.h"

#define UNSEEN_MOST 512	  /* calls allowed since the last look */
#define FILES_MOST 100000 /* in a look */
#define PAUSE_FACTOR 10	  /* after a failed look */
#define DEVICE_FIELD 6 /* "lock: 1: FLOCK  ADVISORY  READ 7 00:0e:1044 0 EOF" */

static dev_t shared[4]; /* 0: unused */

struct look {
	int proc;
	long first; /* the first examined thread of a process */
	long left;  /* of FILES_MOST */
	bool hidden, found;
};

/* The devices of eventfds, namespaces, the root and /dev. */
static void find_shared(int proc, int anon)
{
	struct stat st;

	if (fstat(anon, &st) == 0)
		shared[0] = st.st_dev;
	if (fstatat(proc, "1/ns/mnt", &st, 0) == 0)
		shared[1] = st.st_dev;
	if (fstatat(AT_FDCWD, "/", &st, 0) == 0)
		shared[2] = st.st_dev;
	if (fstatat(AT_FDCWD, "/dev/null", &st, 0) == 0)
		shared[3] = st.st_dev;
}

static bool is_shared_device(dev_t dev)
{
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		if (shared[i] != 0 && shared[i] == dev)
			return true;
	return false;
}

/* Is LINE, of fdinfo, a lock on a shared inode? */
static bool is_shared_lock(char *line)
{
	char *save = NULL, *field = strtok_r(line, " \t", &save), *end;
	unsigned int device;

	if (field == NULL || strcmp(field, "lock:") != 0)
		return false;
	for (int i = 0; i < DEVICE_FIELD && field != NULL; i++)
		field = strtok_r(NULL, " \t", &save);
	if (field == NULL)
		return false;
	device = (unsigned int)strtoul(field, &end, 16);
	return *end == ':' &&
	       is_shared_device(
		   makedev(device, (unsigned int)strtoul(end + 1, NULL, 16)));
}

/* Call EACH with the path of each entry of the folder PATH that has a number. */
static void each_number(struct look *l, const char *path,
			void (*each)(struct look *l, const char *path, long n))
{
	int fd = openat(l->proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	char below[96];
	struct dirent *e;

	if (d == NULL && errno != ENOENT && errno != ESRCH)
		l->hidden = true;
	while (d != NULL && l->left > 0 && (e = readdir(d)) != NULL) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		snprintf(below, sizeof(below), "%s/%.16s", path, e->d_name);
		each(l, below, strtol(e->d_name, NULL, 10));
	}
	if (d != NULL)
		closedir(d);
}

/* The first lines have position, flags, mount and inode; locks follow. */
static void look_at_file(struct look *l, const char *path, long n)
{
	int fd = openat(l->proc, path, O_RDONLY | O_CLOEXEC);
	char text[2048], *line, *save = NULL;
	ssize_t got = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;

	(void)n;
	l->left--;
	sys_close(fd);
	while (got > 0 && text[got - 1] != '\n')
		got--; /* part of a line, whose device may be cut off */
	text[got > 0 ? got : 0] = '\0';
	for (line = strtok_r(text, "\n", &save); line != NULL;
	     line = strtok_r(NULL, "\n", &save))
		l->found |= is_shared_lock(line);
}

/* Has the thread of PATH memory? An ending thread has no memory, and hides the files. */
static bool is_alive(const struct look *l, const char *path)
{
	char below[96], text[4096];
	ssize_t n;
	int fd;

	snprintf(below, sizeof(below), "%s/status", path);
	fd = openat(l->proc, below, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	sys_close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "\nVmSize:") != NULL;
}

/* Examine threads with the same descriptors once. */
static void look_at_thread(struct look *l, const char *path, long tid)
{
	bool hidden = l->hidden;
	char below[96];

	if (l->first == 0)
		l->first = tid;
	else if (syscall(SYS_kcmp, l->first, tid, KCMP_FILES, 0, 0) == 0)
		return;
	snprintf(below, sizeof(below), "%s/fdinfo", path);
	l->hidden = false;
	each_number(l, below, look_at_file);
	l->hidden = hidden || (l->hidden && is_alive(l, path));
}

static void look_at_process(struct look *l, const char *path, long pid)
{
	char below[96];

	if (pid == 1)
		return;
	snprintf(below, sizeof(below), "%s/task", path);
	l->first = 0;
	each_number(l, below, look_at_thread);
}

/* Examine all descriptors, unless a failed look was a moment ago. */
static enum shared_locks look_at_mounts(int proc)
{
	static int64_t refused_until_ms;
	struct look l = {.proc = proc, .left = FILES_MOST};
	int64_t begun = clock_mono_ms(), now;

	if (begun < refused_until_ms)
		return SHARED_LOCKS_REFUSED;
	each_number(&l, ".", look_at_process);
	if (l.found)
		return SHARED_LOCKS_FOUND;
	if (!l.hidden && l.left > 0)
		return SHARED_LOCKS_NONE;
	now = clock_mono_ms();
	refused_until_ms = now + (now - begun + 1) * PAUSE_FACTOR;
	return SHARED_LOCKS_REFUSED;
}

enum shared_locks shared_locks_judge(int proc, long tid, int fd, int anon)
{
	static unsigned int unseen;
	enum shared_locks seen = SHARED_LOCKS_NONE;
	struct stat st;
	char path[64];

	if (shared[0] == 0)
		find_shared(proc, anon);
	if (++unseen > UNSEEN_MOST)
		seen = look_at_mounts(proc);
	if (seen != SHARED_LOCKS_NONE)
		return seen;
	if (unseen > UNSEEN_MOST)
		unseen = 0;
	snprintf(path, sizeof(path), "%ld/fd/%d", tid, fd);
	if (fstatat(proc, path, &st, 0) == 0)
		return is_shared_device(st.st_dev) ? SHARED_LOCKS_REFUSED
						   : SHARED_LOCKS_NONE;
	/* the kernel reports a descriptor that is not open */
	return errno == ENOENT || errno == ESRCH ? SHARED_LOCKS_NONE
						 : SHARED_LOCKS_REFUSED;
}
