/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs_etc.c - copies by name the files below /etc that installed programs
 * and libraries need, for the root of rootfs_build.c. None of the named files
 * holds a secret, and only files that everybody on the host may read are
 * copied. A missing or too large file is left out.
 */
#include "sandbox/rootfs/rootfs_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/nofollow.h"
#include "base/os/sys.h"
#include "sandbox/rootfs/mounts.h"

#define BYTES_MAX ((off_t)16 << 20) /* of all copies together */
#define ENTRIES_MAX 8192u
#define DEPTH_MAX 8u

/*
 * Files and folders of packages, as patterns of glob(7): each is listed because a program
 * in /usr does not start, or gives wrong answers, without the file. A folder where
 * operators put keys or passwords is listed by single files, or not at all.
 */
static const char *const names[] = {
    "/etc/ImageMagick-*",
    "/etc/OpenCL/vendors",
    "/etc/R/Makeconf",
    "/etc/R/Renviron",
    "/etc/R/javaconf",
    "/etc/R/ldpaths",
    "/etc/R/repositories",
    "/etc/debian_version",
    "/etc/dictionaries-common",
    "/etc/fonts",
    "/etc/ghostscript",
    "/etc/glvnd",
    "/etc/java-*-openjdk",
    "/etc/locale.alias",
    "/etc/magic",
    "/etc/magic.mime",
    "/etc/matplotlibrc",
    "/etc/mime.types",
    "/etc/octave.conf",
    "/etc/os-release",
    "/etc/papersize",
    "/etc/perl/Net",
    "/etc/perl/XML",
    "/etc/protocols",
    "/etc/python3*/debian_config",
    "/etc/python3*/sitecustomize.py",
    "/etc/services",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/texmf",
    "/etc/timezone",
    "/etc/vulkan",
};

struct copy {
	off_t bytes; /* still to copy at most */
	unsigned int entries;
};

static bool all_may_read(const struct stat *st)
{
	mode_t need = S_ISDIR(st->st_mode) ? S_IROTH | S_IXOTH : S_IROTH;

	return (st->st_mode & need) == need;
}

static int copy_etc_bytes(struct copy *c, int from, int to)
{
	static char block[1 << 16];
	ssize_t n;

	while ((n = read(from, block, sizeof(block))) > 0) {
		c->bytes -= n;
		if (c->bytes < 0 || write(to, block, (size_t)n) != n)
			return -EFBIG;
	}
	return n < 0 ? -errno : 0;
}

static void copy_etc_file(struct copy *c, int from_dir, int to_dir,
			  const char *name)
{
	int from = nofollow_open_here(from_dir, name, O_RDONLY | O_NONBLOCK);
	struct stat st;
	int to, rc;

	if (from < 0)
		return;
	if (fstat(from, &st) == 0 && S_ISREG(st.st_mode) && all_may_read(&st)) {
		to = openat(to_dir, name,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			    0444 | (st.st_mode & 0111));
		rc = to < 0 ? -errno : copy_etc_bytes(c, from, to);
		sys_close(to);
		/* half of a file would be worse than no file */
		if (rc == -EFBIG)
			(void)unlinkat(to_dir, name, 0);
	}
	close(from);
}

static void copy_link(int from_dir, int to_dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from_dir, name, target, sizeof(target) - 1);

	if (n < 0)
		return;
	target[n] = '\0';
	if (symlinkat(target, to_dir, name) != 0)
		return; /* exists, or no space: left out */
}

static void copy_entry(struct copy *c, int from_dir, int to_dir,
		       const char *name, unsigned int depth);

static void copy_folder(struct copy *c, int from, int to, unsigned int depth)
{
	DIR *dir = fdopendir(from); /* closedir() closes FROM */
	struct dirent *e;

	if (dir == NULL) {
		close(from);
		return;
	}
	while ((e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			copy_entry(c, dirfd(dir), to, e->d_name, depth + 1);
	closedir(dir);
}

static void copy_entry(struct copy *c, int from_dir, int to_dir,
		       const char *name, unsigned int depth)
{
	int from, to;
	struct stat st;

	if (depth > DEPTH_MAX || c->entries == 0 ||
	    fstatat(from_dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	c->entries--;
	if (S_ISLNK(st.st_mode))
		copy_link(from_dir, to_dir, name);
	else if (S_ISREG(st.st_mode))
		copy_etc_file(c, from_dir, to_dir, name);
	if (!S_ISDIR(st.st_mode) || !all_may_read(&st))
		return;
	from = nofollow_open_here(from_dir, name, O_RDONLY | O_DIRECTORY);
	to = mounts_point(to_dir, name, S_IFDIR);
	if (from >= 0 && to >= 0)
		copy_folder(c, from, to, depth);
	else
		sys_close(from);
	sys_close(to);
}

/* Copy PATH, which exists on the host. */
static void copy_path(struct copy *c, int root, const char *path)
{
	const char *last = strrchr(path, '/') + 1;
	char folder[PATH_MAX];
	int from, to;

	snprintf(folder, sizeof(folder), "%.*s", (int)(last - 1 - path), path);
	from = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	to = mounts_point(root, folder, S_IFDIR);
	if (from >= 0 && to >= 0)
		copy_entry(c, from, to, last, 0);
	sys_close(to);
	sys_close(from);
}

void rootfs_copy_etc(int root)
{
	struct copy c = {.bytes = BYTES_MAX, .entries = ENTRIES_MAX};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		glob_t found;

		if (glob(names[i], 0, NULL, &found) != 0)
			continue;
		for (size_t j = 0; j < found.gl_pathc; j++)
			copy_path(&c, root, found.gl_pathv[j]);
		globfree(&found);
	}
}
