/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs_in.c - the input files of a run: artifacts, which are bound, not
 * copied, in a folder that the program cannot change and the shim can still
 * write to. rootfs_run.c calls rootfs_in_show(). A missing artifact is reported
 * to the shim; any other failure ends the worker.
 */
#include "sandbox/rootfs/rootfs_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/sys.h"
#include "sandbox/rootfs/mounts.h"

/* An input file can be neither executed nor changed. */
#define GIVEN (MOUNTS_READ_ONLY | MOUNT_ATTR_NOEXEC)
/* of files that the shim writes into the folder, and of the folder */
#define INODES 1024

/* Is the artifact at F's path the file with F's id? */
static int check_shown_file(const struct shown_file *f)
{
	int all = open(ROOTFS_ARTIFACTS, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = all >= 0 ? nofollow_open_here(all, f->path, O_PATH) : -errno;
	struct file_id id;
	struct stat st;
	int rc = fd < 0 ? fd : file_id_of(fd, &id);

	if (rc == 0 && (!file_id_same(&id, &f->id) || fstat(fd, &st) != 0 ||
			!S_ISREG(st.st_mode)))
		rc = -ESTALE;
	sys_close(fd);
	sys_close(all);
	return rc;
}

/*
 * Bind an artifact. Where overlays work, the inode belongs to the run alone, so
 * that locks reach no other run.
 */
static int show_one(const struct rootfs_run *r, const struct shown_file *f,
		    int given, bool *bare)
{
	const char *slash = strchr(f->path, '/');
	char folder[sizeof(ROOTFS_ARTIFACTS) + sizeof(f->path)];
	char to[sizeof(f->name) + 1];
	int at, fd, rc = slash == NULL ? -EINVAL : check_shown_file(f);

	if (rc != 0)
		return rc;
	snprintf(folder, sizeof(folder), ROOTFS_ARTIFACTS "/%.*s",
		 (int)(slash - f->path), f->path);
	snprintf(to, sizeof(to), "/%s", f->name);
	at = rootfs_open_over(r, folder, bare);
	fd = at >= 0 ? nofollow_open(at, slash + 1, O_PATH) : -errno;
	rc = fd < 0 ? fd : mounts_show(fd, given, to, GIVEN);
	sys_close(fd);
	sys_close(at);
	return rc;
}

/*
 * Use the ids of the run for file access, since only the owner may write to a
 * folder of the run.
 */
static void act_as(uid_t uid, gid_t gid)
{
	(void)setfsgid(gid);
	(void)setfsuid(uid);
}

int rootfs_in_show(struct rootfs_run *r, bool *bare)
{
	char options[128];
	mode_t mask = umask(022);
	int rc;

	/* a tmpfs that is bound, read-only, at ROOTFS_IN */
	snprintf(options, sizeof(options),
		 "mode=0755,size=%llu,nr_inodes=%d,uid=%u,gid=%u",
		 (unsigned long long)r->bytes, INODES, r->uid, r->gid);
	rc = sys_result(mount("paddock", ROOTFS_GIVEN, "tmpfs",
			      MS_NOSUID | MS_NODEV | MS_NOEXEC, options));
	act_as(r->uid, r->gid);
	r->in_fd = rc == 0
		       ? open(ROOTFS_GIVEN, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
		       : rc;
	if (rc == 0 && r->in_fd < 0)
		rc = -errno;
	for (size_t i = 0; i < r->n_given && rc == 0; i++) {
		rc = show_one(r, &r->given[i], r->in_fd, bare);
		if (rc == -ENOENT || rc == -ESTALE) {
			r->missing |= UINT64_C(1) << i;
			rc = 0;
		}
	}
	if (rc == 0) { /* the folder with all mounts inside */
		int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

		rc = root < 0 ? -errno
			      : mounts_show(r->in_fd, root, ROOTFS_IN, GIVEN);
		sys_close(root);
	}
	act_as(geteuid(), getegid());
	umask(mask);
	return rc;
}
