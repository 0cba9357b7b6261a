/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs_build.c - the root folder of all programs, which the zygote of programs builds:
 * files of the host, read-only, and hidden below the root the packages and reads that
 * some programs may see. A failure of a part that all programs need ends the zygote; a
 * failure of a package or read is noted in struct rootfs_path.
 */
#include "sandbox/rootfs/rootfs_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/system_paths.h"
#include "base/os/sys.h"
#include "sandbox/rootfs/mounts.h"

#define COPIED_MAX ((off_t)16 << 20)

/*
 * Paths of the host, read-only; a symbolic link stays a link. A single file is
 * copied, so that no change of the inode reaches the host.
 */
static const char *const shared[] = {
    SYSTEM_PATHS,     "/etc/ld.so.cache", "/etc/alternatives",
    "/etc/ssl/certs", "/etc/localtime",
};
static bool is_layered[ARRAY_LEN(shared)];
static bool has_modules;

/* Copied for a root with a network, if present. */
static const char *const resolving[] = {"/etc/resolv.conf", "/etc/hosts",
					"/etc/nsswitch.conf"};

static const struct {
	const char *path;
	unsigned int minor; /* major 1 */
	const char *of;	    /* host device to bind, or NULL: PATH */
} devices[] = {
    {"/dev/null", 3, NULL},
    /* reads zeros, too, but has no mmap(2) of memory that no limit counts */
    {"/dev/zero", 7, "/dev/full"},
    {"/dev/full", 7, NULL},
    {"/dev/random", 8, NULL},
    {"/dev/urandom", 9, NULL}};

/* Folders of the host to build the root on; the mount hides the old content. */
static const char *const anchors[] = {"/mnt", "/media", "/srv", "/opt", "/boot",
				      "/run", "/home",	"/tmp", "/var"};

static const char *const folders[] = {
    "/proc",	  "/dev",	"/dev/shm",  ROOTFS_TEMPLATE,  ROOTFS_WORK,
    "/tmp",	  "/etc",	"/etc/ssl",  ROOTFS_HIDDEN,    ROOTFS_PACKAGES,
    ROOTFS_READS, ROOTFS_EMPTY, ROOTFS_OVER, ROOTFS_ARTIFACTS, ROOTFS_GIVEN};

static const struct {
	const char *path, *to;
} links[] = {
    {"/dev/fd", "/proc/self/fd"},
    {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},
    {"/dev/stderr", "/proc/self/fd/2"},
    {"/etc/passwd", ROOTFS_PASSWD},
    {"/etc/group", ROOTFS_GROUP},
    /* found by Node.js from every folder */
    {"/node_modules", ROOTFS_MODULES "/node_modules"},
};

struct rootfs_seen rootfs_seen[ROOTFS_READS_MAX];

void rootfs_hidden(char out[ROOTFS_NAME_MAX], enum rootfs_kind kind, size_t i)
{
	snprintf(out, ROOTFS_NAME_MAX, "%s/%zu",
		 kind == ROOTFS_PACKAGE ? ROOTFS_PACKAGES : ROOTFS_READS, i);
}

const char *rootfs_shared(size_t i)
{
	for (size_t j = 0; j < ARRAY_LEN(shared); j++)
		if (is_layered[j] && i-- == 0)
			return shared[j];
	return i == 0 && has_modules ? ROOTFS_MODULES : NULL;
}

/* ---- the new root is ".", open as ROOT; the root of the host is "/" ---- */

/* OUT becomes the host's PATH below the new root. */
static const char *path_below(char out[PATH_MAX], const char *path)
{
	snprintf(out, PATH_MAX, ".%s", path);
	return out;
}

static int make_point(int root, const char *path, mode_t mode)
{
	int fd = mounts_point(root, path, mode);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int make_link(const char *to, const char *path)
{
	char where[PATH_MAX];

	return sys_result(symlink(to, path_below(where, path)));
}

static int copy_root_bytes(int from, int to)
{
	static char block[1 << 16];
	off_t left = COPIED_MAX;
	ssize_t n;

	while ((n = read(from, block, sizeof(block))) > 0) {
		left -= n;
		if (left < 0)
			return -EFBIG;
		if (write(to, block, (size_t)n) != n)
			return -EIO;
	}
	return n < 0 ? -errno : 0;
}

static int copy_root_file(const char *path)
{
	char where[PATH_MAX];
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int to = from >= 0 ? open(path_below(where, path),
				  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)
			   : -1;
	int rc = to < 0 ? -errno : copy_root_bytes(from, to);

	sys_close(from);
	sys_close(to);
	return rc;
}

/* Mount FROM of the host, which only root can change, at PATH. */
static int show_host(int root, const char *path, const char *from,
		     uint64_t flags)
{
	int fd = open(from, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int rc = fd < 0 ? -errno : mounts_show(fd, root, path, flags);

	sys_close(fd);
	return rc;
}

static int share_path(int root, size_t i)
{
	const char *path = shared[i];
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISREG(st.st_mode))
		return copy_root_file(path);
	is_layered[i] = S_ISDIR(st.st_mode);
	if (!S_ISLNK(st.st_mode))
		return show_host(root, path, path, MOUNTS_READ_ONLY);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	return make_link(target, path);
}

static int share_all(int root, const char **at)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(shared) && rc == 0; i++) {
		*at = shared[i];
		rc = share_path(root, i);
	}
	for (size_t i = 0; i < ARRAY_LEN(links) && rc == 0; i++)
		rc = make_link(links[i].to, *at = links[i].path);
	return rc;
}

static int show_modules(int root, const struct rootfs *t)
{
	int rc = t->modules == NULL ? -ENOENT
				    : show_host(root, ROOTFS_MODULES,
						t->modules, MOUNTS_READ_ONLY);

	/* where the zygote may not look, programs do without */
	has_modules = rc == 0;
	return rc == -ENOENT || rc == -EACCES ? 0 : rc;
}

/* ---- devices ---- */

static bool own_devices;

static int make_devices(void)
{
	char where[PATH_MAX];
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(devices) && rc == 0; i++)
		if (mknod(path_below(where, devices[i].path), S_IFCHR,
			  makedev(1, devices[i].minor)) != 0 ||
		    chmod(where, 0666) != 0)
			rc = -errno;
	return rc;
}

/*
 * Root creates device nodes, whose times and locks are separate from the host's. Other
 * users bind the host's nodes, whose times cannot be set through a read-only mount.
 */
static int have_devices(int root, const char **at)
{
	char where[PATH_MAX];
	int fd = -1, rc = make_devices();

	if (rc == 0)
		fd = open(path_below(where, devices[0].path),
			  O_RDONLY | O_CLOEXEC);
	sys_close(fd);
	own_devices = fd >= 0;
	if (own_devices)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(devices); i++)
		(void)unlink(path_below(where, devices[i].path));
	rc = 0;
	for (size_t i = 0; i < ARRAY_LEN(devices) && rc == 0; i++) {
		*at = devices[i].of != NULL ? devices[i].of : devices[i].path;
		rc = show_host(root, devices[i].path, *at, MOUNTS_DEVICE);
	}
	return rc;
}

/* ---- hidden paths ---- */

/*
 * Open P without following links, since the operator granted the file at
 * exactly this path.
 */
static int open_path(const struct rootfs_path *p)
{
	int fd = nofollow_open(AT_FDCWD, p->path, O_PATH);
	struct file_id id, none = {0};
	struct stat st;
	int rc = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) != 0 || file_id_of(fd, &id) != 0)
		rc = -errno;
	else if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		rc = -EMEDIUMTYPE;
	else if (!file_id_same(&p->id, &none) && !file_id_same(&p->id, &id))
		rc = -ESTALE;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Mount the file or folder of FD; closes FD. */
static int hide_fd(int root, int fd, enum rootfs_kind kind, size_t i)
{
	char to[ROOTFS_NAME_MAX];
	int rc;

	rootfs_hidden(to, kind, i);
	rc = mounts_show(fd, root, to, MOUNTS_READ_ONLY);
	close(fd);
	return rc;
}

static int hide_package(int root, struct rootfs *t, size_t i, uint64_t *copied)
{
	struct rootfs_path *p = &t->packages[i];
	char to[ROOTFS_NAME_MAX];
	int rc, fd = open_path(p);

	if (fd < 0 || p->digest[0] == '\0')
		return fd < 0 ? fd : hide_fd(root, fd, ROOTFS_PACKAGE, i);
	rootfs_hidden(to, ROOTFS_PACKAGE, i);
	rc = rootfs_copy(t, p, fd, root, to, copied);
	if (rc < 0 && p->may_be_itself) { /* a mount covers the copied part */
		free(p->errmsg);
		p->errmsg = NULL;
		p->used = 0;
		p->used_by_all = false;
		return hide_fd(root, fd, ROOTFS_PACKAGE, i);
	}
	close(fd);
	return rc;
}

/*
 * Hide a file together with the containing folder, so that an overlay can give
 * each run a separate inode; or the file alone when something is mounted on the
 * file. *NAME is the name in the folder, or NULL.
 */
static int hide_file(int root, const struct rootfs_path *p, size_t i, int file,
		     const char **name)
{
	const char *last = strrchr(p->path, '/') + 1;
	char up[PATH_MAX];
	int at, fd;

	snprintf(up, sizeof(up), "%.*s", (int)(last - p->path), p->path);
	at = nofollow_open(AT_FDCWD, up, O_PATH | O_DIRECTORY);
	fd = at >= 0 ? nofollow_open_here(at, last, O_PATH) : at;
	if (fd >= 0) {
		close(fd);
		*name = last;
		return hide_fd(root, at, ROOTFS_READ, i);
	}
	sys_close(at);
	return fd == -EXDEV ? hide_fd(root, fcntl(file, F_DUPFD_CLOEXEC, 0),
				      ROOTFS_READ, i)
			    : fd;
}

/*
 * Make a mount point for a path that a template may read, except below a
 * read-only mount that all programs see anyway.
 */
static int hide_read(int root, const struct rootfs_path *p, size_t i)
{
	const char *name = NULL;
	struct stat st = {0};
	int fd = open_path(p);
	int rc = fd < 0 ? fd : fstat(fd, &st) != 0 ? -errno : 0;

	if (rc == 0 && S_ISDIR(st.st_mode))
		rc = hide_fd(root, fcntl(fd, F_DUPFD_CLOEXEC, 0), ROOTFS_READ,
			     i);
	else if (rc == 0)
		rc = hide_file(root, p, i, fd, &name);
	if (rc == 0)
		rc = make_point(root, p->path, st.st_mode);
	if (rc == 0)
		rootfs_seen[i] = (struct rootfs_seen){p->path, name};
	sys_close(fd);
	return rc == -EROFS ? 0 : rc;
}

/*
 * Mount the whole folder of artifacts, from which a worker binds the artifacts
 * of a run by name.
 */
static int hide_artifacts(int root, const struct rootfs *t, int artifacts)
{
	int fd = t->in_artifacts ? artifacts : open_path(&t->artifacts);
	int rc = fd < 0 ? fd
			: mounts_show(fd, root, ROOTFS_ARTIFACTS,
				      MOUNTS_READ_ONLY | MOUNT_ATTR_NOEXEC);

	if (!t->in_artifacts)
		sys_close(fd);
	return rc;
}

static void note_link(struct rootfs_path *p)
{
	if (p->err == -ELOOP)
		p->link = nofollow_link_len(p->path);
}

/*
 * Hide all packages and reads; a failed path notes the error, and the other
 * paths continue.
 */
static void hide_all(int root, struct rootfs *t, int artifacts)
{
	uint64_t copied = 0;

	for (size_t i = 0; i < t->n_packages; i++)
		if (t->packages[i].err == 0)
			t->packages[i].err = hide_package(root, t, i, &copied);
	for (size_t i = 0; i < t->n_reads; i++)
		t->reads[i].err = hide_read(root, &t->reads[i], i);
	if (t->artifacts.path != NULL)
		t->artifacts.err = hide_artifacts(root, t, artifacts);
	for (size_t i = 0; i < t->n_packages; i++)
		note_link(&t->packages[i]);
	for (size_t i = 0; i < t->n_reads; i++)
		note_link(&t->reads[i]);
}

/* ---- the root folder ---- */

static bool is_within(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 &&
	       (path[n] == '/' || path[n] == '\0');
}

bool rootfs_is_foreign(const struct rootfs *t, const char *path)
{
	for (size_t i = 0; i < t->n_reads; i++)
		if (is_within(t->reads[i].path, path) ||
		    is_within(path, t->reads[i].path))
			return false;
	return true;
}

/* Does any path of T lie in FOLDER? */
static bool lies_in(const struct rootfs *t, const char *folder)
{
	for (size_t i = 0; i < t->n_packages; i++)
		if (is_within(t->packages[i].path, folder))
			return true;
	for (size_t i = 0; i < t->n_reads; i++)
		if (is_within(t->reads[i].path, folder))
			return true;
	if (t->modules != NULL && is_within(t->modules, folder))
		return true;
	return t->artifacts.path != NULL &&
	       is_within(t->artifacts.path, folder);
}

/*
 * Mount a tmpfs on a folder without any path of T, and change to the tmpfs: a descriptor.
 * Device nodes in a tmpfs work only when created before the tmpfs is read-only.
 */
static int enter_new(const struct rootfs *t)
{
	int rc = -ENOENT;

	for (size_t i = 0; i < ARRAY_LEN(anchors) && rc == -ENOENT; i++) {
		if (lies_in(t, anchors[i]))
			continue;
		rc = 0;
		if (mount("paddock", anchors[i], "tmpfs", MS_NOSUID,
			  "mode=0755") != 0 ||
		    chdir(anchors[i]) != 0)
			rc = -errno;
	}
	if (rc == 0)
		rc = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return rc == -1 ? -errno : rc;
}

static int fill_rootfs(int root, struct rootfs *t, int artifacts,
		       const char **at)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(folders) && rc == 0; i++)
		rc = make_point(root, *at = folders[i], S_IFDIR);
	if (rc == 0)
		rc = share_all(root, at);
	if (rc == 0)
		rc = show_modules(root, t);
	if (rc == 0)
		rootfs_copy_etc(root);
	for (size_t i = 0; i < ARRAY_LEN(resolving) && t->network && rc == 0;
	     i++) {
		rc = copy_root_file(*at = resolving[i]);
		if (rc == -ENOENT)
			rc = 0;
	}
	if (rc == 0)
		rc = have_devices(root, at);
	if (rc == 0)
		hide_all(root, t, artifacts);
	/*
	 * the kernel allows a new mount of /proc only where the old mount is
	 * fully visible
	 */
	if (rc == 0)
		rc = show_host(root, *at = "/proc", "/proc", 0);
	return rc == 0 ? mounts_close_within(root, *at) : rc;
}

void rootfs_enter_artifacts(struct rootfs *t)
{
	int fd = t->artifacts.path == NULL ? -ENOENT : open_path(&t->artifacts);

	t->in_artifacts = fd >= 0 && fchdir(fd) == 0;
	sys_close(fd);
}

int rootfs_build(struct rootfs *t, const char **at)
{
	int root, rc, artifacts = -ENOENT;
	mode_t mask = umask(022);

	/* the folder in this mount namespace, even without permissions on it */
	if (t->in_artifacts)
		artifacts = (int)syscall(SYS_open_tree, AT_FDCWD, "",
					 AT_EMPTY_PATH | OPEN_TREE_CLOEXEC);
	if (artifacts == -1)
		artifacts = -errno;
	*at = "/";
	rc =
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ? -errno : 0;
	if (rc == -EINVAL)
		*at =
		    "/ is not a mount point, as in a chroot: start paddockd outside";
	root = rc == 0 ? enter_new(t) : rc;
	rc = root < 0 ? root : fill_rootfs(root, t, artifacts, at);
	sys_close(root);
	sys_close(artifacts);
	umask(mask);
	if (rc != 0)
		return rc;
	*at = "/";
	/* pivot_root(2) leaves the old root mounted on top: detach the old root */
	if (syscall(SYS_pivot_root, ".", ".") != 0 ||
	    umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
		return -errno;
	return sys_result(mount(NULL, "/", NULL,
				MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID |
				    MS_NOATIME | (own_devices ? 0 : MS_NODEV),
				NULL));
}
