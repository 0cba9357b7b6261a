/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_rootfs.c - Chromium's root folder, made by chromium_launch.c's child
 * in namespaces of its own, from binds on a small tmpfs. What a host does not
 * have is left out; any other failure means no browser, never more files in
 * sight.
 */
#include "browser/process/chromium_rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#ifndef MOUNT_ATTR_RDONLY
#define MOUNT_ATTR_RDONLY 0x1
#define MOUNT_ATTR_NOSUID 0x2
#define MOUNT_ATTR_NODEV 0x4
#define MOUNT_ATTR_NOEXEC 0x8
#endif
#define RECURSIVE 0x8000 /* AT_RECURSIVE */

/* The kernel's struct; its header clashes with the C library's. */
struct attr {
	uint64_t set, clr, propagation, userns_fd;
};

#define STAGE "/tmp" /* a folder that every host has */
#define OLD "/old"   /* in it: the host's root, with nothing of it covered */
#define NEW "/new"   /* and the new one */

/* Programs, libraries, fonts, and what they read in /etc. */
static const char *const shown[] = {
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/alternatives",
    "/etc/chromium",   /* the operator's policies */
    "/etc/chromium.d", /* and flags */
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl/certs",
    "/var/cache/fontconfig",
};

static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
				      "/dev/random", "/dev/urandom"};

static const char *const links[][2] = {{"/proc/self/fd", "/dev/fd"},
				       {"/proc/self/fd/0", "/dev/stdin"},
				       {"/proc/self/fd/1", "/dev/stdout"},
				       {"/proc/self/fd/2", "/dev/stderr"}};

/* Empty folders, for programs that expect them. */
static const char *const folders[] = {"/run", "/home", "/var/lib", "/var/tmp"};

/* A program in one of these is bound without what lies beside it. */
static const char *const shared[] = {
    "/",    "/tmp", "/var/tmp", "/var", "/etc", "/home",  "/root",
    "/opt", "/srv", "/var/lib", "/run", "/mnt", "/media", "/dev/shm"};

static int failed(int rc)
{
	return rc < 0 ? -errno : 0;
}

/* Create every folder that PATH lies in. */
static int make_way(const char *path)
{
	char way[PATH_MAX];

	for (const char *p = strchr(path + 1, '/'); p != NULL;
	     p = strchr(p + 1, '/')) {
		snprintf(way, sizeof(way), "%.*s", (int)(p - path), path);
		if (mkdir(way, 0755) != 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int restrict_to(const char *path, uint64_t flags)
{
	struct attr a = {.set = flags};

	return failed((int)syscall(SYS_mount_setattr, -1, path, RECURSIVE, &a,
				   sizeof(a)));
}

static int copy_link(const char *from, const char *to)
{
	char target[PATH_MAX];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	return symlink(target, to) == 0 || errno == EEXIST ? 0 : -errno;
}

/* Show the host's PATH at the same place: a link as a link, all else bound. */
static int show(const char *path, uint64_t flags)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct stat st;
	int rc;

	snprintf(from, sizeof(from), OLD "%s", path);
	if (lstat(from, &st) != 0) /* it does not exist, or may not be read */
		return errno == ENOENT || errno == EACCES || errno == ENOTDIR
			   ? 0
			   : -errno;
	snprintf(to, sizeof(to), NEW "%s", path);
	rc = make_way(to);
	if (rc == 0 && S_ISLNK(st.st_mode))
		return copy_link(from, to);
	if (rc == 0)
		rc =
		    S_ISDIR(st.st_mode)
			? (mkdir(to, 0755) == 0 || errno == EEXIST ? 0 : -errno)
			: make_file(to);
	if (rc == 0)
		rc = failed(mount(from, to, NULL, MS_BIND | MS_REC, NULL));
	return rc < 0 ? rc : restrict_to(to, flags);
}

static int show_all(void)
{
	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		int rc = show(shown[i], MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					    MOUNT_ATTR_NODEV);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && path[n] == '/';
}

static bool is_shared(const char *folder)
{
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		if (strcmp(folder, shared[i]) == 0)
			return true;
	return false;
}

/* A program elsewhere is bound with what lies beside it. */
static int show_program(const char *path)
{
	char copy[PATH_MAX];
	const char *folder;

	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		if (is_below(path, shown[i]))
			return 0;
	snprintf(copy, sizeof(copy), "%s", path);
	folder = dirname(copy);
	return show(is_shared(folder) ? path : folder,
		    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

static int memory_at(const char *path, const char *options)
{
	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		return -errno;
	return failed(
	    mount("none", path, "tmpfs", MS_NOSUID | MS_NODEV, options));
}

static int make_devices(void)
{
	int rc = memory_at(NEW "/dev", "mode=755,size=64k");

	for (size_t i = 0; i < ARRAY_LEN(devices) && rc == 0; i++)
		rc = show(devices[i], MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
					  MOUNT_ATTR_NOEXEC);
	for (size_t i = 0; i < ARRAY_LEN(links) && rc == 0; i++) {
		char to[64];

		snprintf(to, sizeof(to), NEW "%s", links[i][1]);
		rc = failed(symlink(links[i][0], to));
	}
	if (rc == 0) /* before a writable folder is mounted on it */
		rc = failed(mkdir(NEW "/dev/shm", 0755));
	if (rc == 0)
		rc = restrict_to(NEW "/dev",
				 MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID);
	return rc < 0 ? rc
		      : memory_at(NEW "/dev/shm",
				  "mode=1777,size=" CHROMIUM_ROOTFS_MEMORY);
}

static int make_folders(void)
{
	int rc =
	    memory_at(NEW "/tmp", "mode=1777,size=" CHROMIUM_ROOTFS_MEMORY);

	for (size_t i = 0; i < ARRAY_LEN(folders) && rc == 0; i++) {
		char to[64];

		snprintf(to, sizeof(to), NEW "%s", folders[i]);
		rc = make_way(to);
		if (rc == 0 && mkdir(to, 0755) != 0 && errno != EEXIST)
			rc = -errno;
	}
	return rc;
}

/* The kernel allows this only while the host's /proc is visible. */
static int make_proc(void)
{
	int rc = failed(mkdir(NEW "/proc", 0755));

	return rc < 0 ? rc
		      : failed(mount("proc", NEW "/proc", "proc",
				     MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL));
}

/* A new root with the host's below it, so that neither covers the other. */
static int make_root(void)
{
	int rc = failed(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));

	if (rc == 0)
		rc = memory_at(STAGE, "mode=755,size=64k");
	if (rc == 0 &&
	    (chdir(STAGE) != 0 || mkdir("old", 0700) != 0 ||
	     syscall(SYS_pivot_root, ".", "old") != 0 || chdir("/") != 0))
		rc = -errno;
	return rc < 0 ? rc : memory_at(NEW, "mode=755,size=1m");
}

static int go_there(void)
{
	struct attr a = {.set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
				MOUNT_ATTR_NODEV};

	if (chdir(NEW) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
	    umount2(".", MNT_DETACH) != 0 ||
	    syscall(SYS_mount_setattr, -1, "/", 0, &a, sizeof(a)) != 0 ||
	    chdir("/tmp") != 0)
		return -errno;
	return 0;
}

int chromium_rootfs_enter(const char *program, const char **step)
{
	static const struct {
		int (*take)(void);
		const char *name;
	} steps[] = {
	    {show_all, "bind programs, libraries and fonts"},
	    {make_proc, "mount a /proc of its own"},
	    {make_devices, "bind devices"},
	    {make_folders, "mount memory to write to"},
	    {go_there, "go to a root of its own"},
	};
	int rc = make_root();

	*step = "make a root of its own";
	if (rc == 0) {
		*step = "bind its program";
		rc = show_program(program);
	}
	for (size_t i = 0; i < ARRAY_LEN(steps) && rc == 0; i++) {
		*step = steps[i].name;
		rc = steps[i].take();
	}
	return rc;
}
