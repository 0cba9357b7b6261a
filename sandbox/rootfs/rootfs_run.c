/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs_run.c - the part of the root that belongs to a single run. A worker
 * right after clone(2) calls rootfs_enter(), in a new mount and PID namespace.
 * Any failure ends the worker, except a failed overlay, which *BARE reports.
 */
#include "sandbox/rootfs/rootfs_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"
#include "sandbox/rootfs/mounts.h"

#define SAFE (MS_NOSUID | MS_NODEV)
#define HIDDEN ROOTFS_HIDDEN

static int mount_proc(const char *where, unsigned long flags,
		      const char *options)
{
	return sys_result(
	    mount("proc", where, "proc", SAFE | MS_NOEXEC | flags, options));
}

static int write_text_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	size_t n = strlen(text);
	int rc = fd < 0 ? -errno : write(fd, text, n) != (ssize_t)n ? -EIO : 0;

	sys_close(fd);
	return rc;
}

/*
 * Programs look up the names of the own user and of the owner of the host's
 * files; the names on the host stay hidden.
 */
static int put_names(const struct rootfs_run *r)
{
	char text[256];
	int rc;

	snprintf(text, sizeof(text),
		 "paddock:x:%u:%u:paddock:" ROOTFS_WORK ":/bin/sh\n"
		 "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
		 r->uid, r->gid);
	rc = write_text_file(ROOTFS_PASSWD, text);
	snprintf(text, sizeof(text), "paddock:x:%u:\nnogroup:x:65534:\n",
		 r->gid);
	return rc != 0 ? rc : write_text_file(ROOTFS_GROUP, text);
}

/*
 * Mount a tmpfs with only the names of users over the hidden paths, so that no
 * hidden path can be reached.
 */
static int cover_hidden(const struct rootfs_run *r)
{
	mode_t mask = umask(022);
	int rc = sys_result(mount("paddock", HIDDEN, "tmpfs", SAFE | MS_NOEXEC,
				  "size=8k,nr_inodes=3,mode=0755"));

	if (rc == 0)
		rc = put_names(r);
	if (rc == 0)
		rc = sys_result(mount(
		    NULL, HIDDEN, NULL,
		    MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOEXEC | SAFE, NULL));
	umask(mask);
	return rc;
}

/*
 * Mount /proc twice: for the program, read-only (oom_score_adj), without the
 * shim and without figures of the host; and for the shim, in which no process of
 * the program can hide.
 */
static int enter_proc(int *proc)
{
	int rc = mount_proc("/proc", MS_RDONLY, "hidepid=invisible,subset=pid");

	*proc = -1;
	if (rc == 0)
		rc = mount_proc(HIDDEN, 0, "subset=pid");
	if (rc != 0)
		return rc;
	*proc = open(HIDDEN, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *proc < 0 ? -errno : 0;
}

/* ---- files of the host ---- */

/*
 * Mount the files of FD at AT, below ROOT: with separate inodes for a folder
 * where overlays work; else with shared inodes and *BARE.
 */
static int show_fd(int fd, int root, const char *from, const char *at,
		   bool layered, bool *bare)
{
	struct stat st = {0};
	int point, rc = sys_result(fstat(fd, &st));

	if (rc != 0)
		return rc;
	point = mounts_point(root, at, st.st_mode);
	if (point < 0)
		return 0; /* a process changed the folder meanwhile */
	rc = layered && S_ISDIR(st.st_mode)
		 ? mounts_layer(from, point, ROOTFS_EMPTY)
		 : -ENOTSUP;
	close(point);
	if (rc == 0)
		return 0;
	*bare = true;
	return mounts_show(fd, root, at, 0);
}

/*
 * Mount the hidden path FROM at AT. No link on the way to AT is followed, since
 * the way may lead through a folder of the host that was mounted before.
 */
static int show_path(const struct rootfs_run *r, const char *from,
		     const char *at, bool layered, bool *bare)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = open(from, O_PATH | O_CLOEXEC);
	int rc = root < 0 || fd < 0 ? -errno
				    : show_fd(fd, root, from, at,
					      layered && !r->no_layers, bare);

	sys_close(fd);
	sys_close(root);
	return rc;
}

int rootfs_open_over(const struct rootfs_run *r, const char *from, bool *bare)
{
	int at = open(ROOTFS_OVER, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool over = at >= 0 && !r->locks && !r->no_layers &&
		    mounts_layer(from, at, ROOTFS_EMPTY) == 0;

	sys_close(at);
	if (!over)
		*bare = true;
	return open(over ? ROOTFS_OVER : from,
		    O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Mount the file NAME of the folder FROM, if the file exists now. */
static int show_file(const struct rootfs_run *r, const char *from,
		     const char *name, const char *where, bool *bare)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int at = rootfs_open_over(r, from, bare);
	int rc = root < 0 || at < 0 ? -errno : 0;
	int fd = rc == 0 ? nofollow_open(at, name, O_PATH) : -1;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		rc = mounts_show(fd, root, where, 0);
	sys_close(fd);
	sys_close(at);
	sys_close(root);
	return rc;
}

/* Mount overlays over the folders that all programs see; *BARE without overlays. */
static void layer_shared(const struct rootfs_run *r, bool *bare)
{
	const char *path;

	for (size_t i = 0; (path = rootfs_shared(i)) != NULL; i++) {
		int at = r->no_layers
			     ? -1
			     : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (at < 0 || mounts_layer(path, at, ROOTFS_EMPTY) != 0)
			*bare = true;
		sys_close(at);
	}
}

/* Mount the reads of the run. A read in the host's /tmp appears in the run's own /tmp. */
static int show_reads(const struct rootfs_run *r, bool *bare)
{
	char from[ROOTFS_NAME_MAX];
	mode_t mask = umask(022);
	int rc = 0;

	for (size_t i = 0; i < ROOTFS_READS_MAX && rc == 0; i++) {
		if ((r->reads & UINT64_C(1) << i) == 0 ||
		    rootfs_seen[i].at == NULL)
			continue;
		rootfs_hidden(from, ROOTFS_READ, i);
		rc = rootfs_seen[i].name != NULL
			 ? show_file(r, from, rootfs_seen[i].name,
				     rootfs_seen[i].at, bare)
			 : show_path(r, from, rootfs_seen[i].at, !r->locks,
				     bare);
	}
	umask(mask);
	return rc;
}

/* Writable folders of a program. Inodes are limited because inodes take memory, too. */
static const struct {
	const char *path, *mode;
	unsigned part;	 /* divides the bytes of the run */
	unsigned inodes; /* divides the files of the run */
	unsigned long flags;
} writable[] = {
    {ROOTFS_WORK, "0700", 2, 1, 0},
    {"/tmp", "1777", 4, 4, MS_NOEXEC},
    {"/dev/shm", "1777", 4, 16, MS_NOEXEC},
};

static int mount_space(const struct rootfs_run *r, size_t i)
{
	char options[128];

	snprintf(options, sizeof(options),
		 "mode=%s,size=%llu,nr_inodes=%llu,uid=%u,gid=%u",
		 writable[i].mode,
		 (unsigned long long)r->bytes / writable[i].part,
		 (unsigned long long)r->files / writable[i].inodes + 1, r->uid,
		 r->gid); /* and an inode for the folder itself */
	return sys_result(mount("paddock", writable[i].path, "tmpfs",
				SAFE | writable[i].flags, options));
}

int rootfs_enter(struct rootfs_run *r, int *proc, bool *bare)
{
	char from[ROOTFS_NAME_MAX];
	int rc = 0;

	*bare = false;
	layer_shared(r, bare);
	if (r->package != ROOTFS_NO_PACKAGE) {
		rootfs_hidden(from, ROOTFS_PACKAGE, r->package);
		rc = show_path(r, from, ROOTFS_TEMPLATE, true, bare);
	}
	for (size_t i = 0; i < ARRAY_LEN(writable) && rc == 0; i++)
		rc = mount_space(r, i);
	if (rc == 0)
		rc = show_reads(r, bare);
	if (rc == 0 && r->in)
		rc = rootfs_in_show(r, bare);
	if (r->locks)
		*bare = false; /* shared locks were granted */
	if (rc == 0)
		rc = enter_proc(proc);
	if (rc == 0)
		rc = cover_hidden(r);
	return rc;
}
