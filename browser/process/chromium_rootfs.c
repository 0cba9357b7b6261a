/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_rootfs.c - makes Chromium's root folder from binds on a small tmpfs,
 * in the child of chromium_launch.c with its own namespaces. A path missing on
 * the host is left out; any other failure means no browser, never more visible
 * files.
 */
#include "browser/process/chromium_rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/system_paths.h"
#include "base/os/sys.h"
#include "sandbox/rootfs/mounts.h"

#define STAGE "/tmp" /* a folder that every host has */
#define OLD "/old"   /* the host's root below STAGE, with nothing covered */
#define NEW "/new"   /* the new root below STAGE */

/* Programs, libraries, fonts, and their files in /etc. */
static const char *const shown[] = {
    SYSTEM_PATHS,
    "/etc/alternatives",
    "/etc/chromium",   /* the operator's policies */
    "/etc/chromium.d", /* the operator's flags */
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

/* Folders too wide to show: a program here is bound alone. */
static const char *const shared[] = {
    "/",    "/tmp", "/var/tmp", "/var", "/etc", "/home",  "/root",
    "/opt", "/srv", "/var/lib", "/run", "/mnt", "/media", "/dev/shm"};

/* Make the folder PATH below ROOT, with its parents. */
static int make_root_folder(int root, const char *path)
{
	int fd = mounts_point(root, path, S_IFDIR);

	sys_close(fd);
	return fd < 0 ? fd : 0;
}

static int copy_link(int root, const char *from, const char *path)
{
	char target[PATH_MAX], folder[PATH_MAX];
	ssize_t n = readlink(from, target, sizeof(target) - 1);
	const char *last = strrchr(path, '/') + 1;
	int rc;

	if (n < 0)
		return -errno;
	target[n] = '\0';
	snprintf(folder, sizeof(folder), "%.*s", (int)(last - 1 - path), path);
	rc = folder[0] != '\0' ? make_root_folder(root, folder) : 0;
	if (rc < 0)
		return rc;
	return symlinkat(target, root, path + 1) == 0 || errno == EEXIST
		   ? 0
		   : -errno;
}

/*
 * Show the host's PATH at the same place: a link as a link, other files bound.
 */
static int bind_path(const char *path, uint64_t flags)
{
	char from[PATH_MAX];
	struct stat st = {0};
	int root, fd, rc;

	snprintf(from, sizeof(from), OLD "%s", path);
	fd = open(from, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) /* missing, or not readable */
		return errno == ENOENT || errno == EACCES || errno == ENOTDIR
			   ? 0
			   : -errno;
	root = open(NEW, O_PATH | O_DIRECTORY | O_CLOEXEC);
	rc = root < 0 || fstat(fd, &st) != 0 ? -errno : 0;
	if (rc == 0)
		rc = S_ISLNK(st.st_mode) ? copy_link(root, from, path)
					 : mounts_show(fd, root, path, flags);
	sys_close(root);
	close(fd);
	return rc;
}

static int bind_paths(void)
{
	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		int rc = bind_path(shown[i], MOUNTS_READ_ONLY);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * Show the program at PATH; outside of the shown folders, with its whole
 * folder.
 */
static int show_program(const char *path)
{
	char copy[PATH_MAX];
	const char *folder;

	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		size_t n = strlen(shown[i]);

		if (strncmp(path, shown[i], n) == 0 && path[n] == '/')
			return 0;
	}
	snprintf(copy, sizeof(copy), "%s", path);
	folder = dirname(copy);
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		if (strcmp(folder, shared[i]) == 0)
			return bind_path(path, MOUNTS_READ_ONLY);
	return bind_path(folder, MOUNTS_READ_ONLY);
}

static int memory_at(const char *path, const char *options)
{
	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		return -errno;
	return sys_result(
	    mount("none", path, "tmpfs", MS_NOSUID | MS_NODEV, options));
}

static int make_devices(void)
{
	struct mount_attr a = {.attr_set =
				   MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID};
	int rc = memory_at(NEW "/dev", "mode=755,size=64k");

	for (size_t i = 0; i < ARRAY_LEN(devices) && rc == 0; i++)
		rc = bind_path(devices[i], MOUNTS_DEVICE);
	for (size_t i = 0; i < ARRAY_LEN(links) && rc == 0; i++) {
		char to[64];

		snprintf(to, sizeof(to), NEW "%s", links[i][1]);
		rc = sys_result(symlink(links[i][0], to));
	}
	if (rc == 0) /* made before /dev becomes read-only */
		rc = sys_result(mkdir(NEW "/dev/shm", 0755));
	if (rc == 0)
		rc = sys_result(syscall(SYS_mount_setattr, -1, NEW "/dev",
					AT_RECURSIVE, &a, sizeof(a)));
	return rc < 0 ? rc
		      : memory_at(NEW "/dev/shm",
				  "mode=1777,size=" CHROMIUM_ROOTFS_MEMORY);
}

static int make_root_folders(void)
{
	int rc =
	    memory_at(NEW "/tmp", "mode=1777,size=" CHROMIUM_ROOTFS_MEMORY);
	int root = open(NEW, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (rc == 0 && root < 0)
		rc = -errno;
	for (size_t i = 0; i < ARRAY_LEN(folders) && rc == 0; i++)
		rc = make_root_folder(root, folders[i]);
	sys_close(root);
	return rc;
}

/* Mount /proc; the kernel allows it only while the host's /proc is visible. */
static int make_proc(void)
{
	int rc = sys_result(mkdir(NEW "/proc", 0755));

	return rc < 0
		   ? rc
		   : sys_result(mount("proc", NEW "/proc", "proc",
				      MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL));
}

/* Make a new root with the host's root below, so neither covers the other. */
static int make_root(void)
{
	int rc =
	    sys_result(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));

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
	struct mount_attr a = {.attr_set = MOUNTS_READ_ONLY};

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
	    {bind_paths, "bind programs, libraries and fonts"},
	    {make_proc, "mount a /proc of its own"},
	    {make_devices, "bind devices"},
	    {make_root_folders, "mount memory to write to"},
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
