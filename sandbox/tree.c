#include "sandbox/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define HIDDEN "/.paddock"
#define HIDDEN_PACKAGES "/.paddock/package"
#define HIDDEN_READS "/.paddock/read"
#define SAFE (MS_NOSUID | MS_NODEV)

/* The host's, read-only; one that is a link there is one here. */
static const char *const shared[] = {
    "/usr",		"/bin",		   "/sbin",	     "/lib",
    "/lib32",		"/lib64",	   "/libx32",	     "/etc/ld.so.cache",
    "/etc/alternatives", "/etc/ssl/certs", "/etc/localtime",
};

static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
				      "/dev/random", "/dev/urandom"};

/* Where it is built, and hides what of the host's was there. */
static const char *const anchors[] = {"/mnt", "/media", "/srv", "/opt", "/boot",
				      "/run", "/home",	"/tmp", "/var"};

static const char *const folders[] = {
    "/proc", "/dev", "/dev/shm", TREE_TEMPLATE,   TREE_WORK,  "/tmp",
    "/etc",  "/etc/ssl", HIDDEN, HIDDEN_PACKAGES, HIDDEN_READS};

static const struct {
	const char *path, *to;
} links[] = {
    {"/dev/fd", "/proc/self/fd"},
    {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},
    {"/dev/stderr", "/proc/self/fd/2"},
};

/* Of each of the reads: where, or NULL for one that is missing. */
static const char *read_at[TREE_READS_MAX];

/* ---- the new root lies at ".", the host's at "/" ---- */

static const char *below(char out[PATH_MAX], const char *path)
{
	snprintf(out, PATH_MAX, ".%s", path);
	return out;
}

/* PATH and the folders above it, in the new root. */
static int make_folders(const char *path)
{
	char to[PATH_MAX];

	below(to, path);
	for (char *slash = to + 1; slash != NULL;) {
		slash = strchr(slash + 1, '/');
		if (slash != NULL)
			*slash = '\0';
		if (mkdir(to, 0755) != 0 && errno != EEXIST)
			return -errno;
		if (slash != NULL)
			*slash = '/';
	}
	return 0;
}

/* What FROM can be bound to: TO, of the same kind. */
static int make_point(const struct stat *st, const char *to)
{
	char path[PATH_MAX], *slash;
	int rc, fd;

	if (S_ISDIR(st->st_mode))
		return make_folders(to);
	snprintf(path, sizeof(path), "%s", to);
	slash = strrchr(path, '/');
	*slash = '\0';
	rc = path[0] != '\0' ? make_folders(path) : 0;
	if (rc != 0)
		return rc;
	fd = open(below(path, to), O_CREAT | O_RDONLY | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* All mounts below PATH too, which keep what they had of the same. */
static int set_flags(const char *path, uint64_t flags)
{
	struct mount_attr attr = {.attr_set = flags};

	return syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attr,
		       sizeof(attr)) == 0
		   ? 0
		   : -errno;
}

/* FROM, of the host, at TO. */
static int bind_one(const char *from, const char *to, uint64_t flags)
{
	char path[PATH_MAX];
	struct stat st;
	int rc;

	if (stat(from, &st) != 0)
		return -errno;
	rc = make_point(&st, to);
	if (rc != 0)
		return rc;
	if (mount(from, below(path, to), NULL, MS_BIND | MS_REC, NULL) != 0)
		return -errno;
	return flags != 0 ? set_flags(path, flags) : 0;
}

#define READ_ONLY (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

static int share(const char *path)
{
	char to[PATH_MAX], target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISLNK(st.st_mode))
		return bind_one(path, path, READ_ONLY);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	return symlink(target, below(to, path)) == 0 ? 0 : -errno;
}

static int make_all_folders(const char **at)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(folders) && rc == 0; i++)
		rc = make_folders(*at = folders[i]);
	return rc;
}

static int share_all(const char **at)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(shared) && rc == 0; i++)
		rc = share(*at = shared[i]);
	for (size_t i = 0; i < ARRAY_LEN(devices) && rc == 0; i++)
		rc = bind_one(*at = devices[i], devices[i], 0);
	for (size_t i = 0; i < ARRAY_LEN(links) && rc == 0; i++) {
		char to[PATH_MAX];

		*at = links[i].path;
		if (symlink(links[i].to, below(to, links[i].path)) != 0)
			rc = -errno;
	}
	return rc;
}

static void hidden_path(char out[64], const char *kind, size_t i)
{
	snprintf(out, 64, HIDDEN "/%s/%zu", kind, i);
}

/*
 * Where a template sees what it may read there is a mount point; but not in
 * what is read-only already, where it sees it anyway.
 */
static int hide_read(const char *path, size_t i)
{
	char to[64];
	struct stat st;
	int rc;

	if (stat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	hidden_path(to, "read", i);
	rc = bind_one(path, to, READ_ONLY);
	if (rc == 0)
		rc = make_point(&st, path);
	if (rc == 0)
		read_at[i] = xstrdup(path);
	return rc == -EROFS ? 0 : rc;
}

static int hide_all(const struct tree *t, const char **at)
{
	char to[64];
	int rc = 0;

	for (size_t i = 0; i < t->n_packages && rc == 0; i++) {
		*at = t->packages[i];
		hidden_path(to, "package", i);
		rc = bind_one(t->packages[i], to, READ_ONLY);
		/* a folder that is gone is found out when it is to run */
		if (rc == -ENOENT)
			rc = 0;
	}
	for (size_t i = 0; i < t->n_reads && rc == 0; i++)
		rc = hide_read(*at = t->reads[i], i);
	return rc;
}

static bool is_within(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 &&
	       (path[n] == '/' || path[n] == '\0');
}

/* Does anything of T lie in FOLDER? */
static bool needs(const struct tree *t, const char *folder)
{
	for (size_t i = 0; i < t->n_packages; i++)
		if (is_within(t->packages[i], folder))
			return true;
	for (size_t i = 0; i < t->n_reads; i++)
		if (is_within(t->reads[i], folder))
			return true;
	return false;
}

/* Go to a new tmpfs, on a folder that nothing else is needed of. */
static int enter_new(const struct tree *t)
{
	int rc = -ENOENT;

	for (size_t i = 0; i < ARRAY_LEN(anchors) && rc == -ENOENT; i++) {
		if (needs(t, anchors[i]))
			continue;
		rc = 0;
		if (mount("paddock", anchors[i], "tmpfs", SAFE, "mode=0755") !=
			0 ||
		    chdir(anchors[i]) != 0)
			rc = -errno;
	}
	return rc;
}

/* The old root ends up mounted over the new one; let go of it there. */
static int become_root(void)
{
	if (syscall(SYS_pivot_root, ".", ".") != 0 ||
	    umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
		return -errno;
	if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | SAFE,
		  NULL) != 0)
		return -errno;
	return 0;
}

int tree_build(const struct tree *t, const char **at)
{
	mode_t mask = umask(022);
	int rc;

	*at = "/";
	rc = mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ? -errno : 0;
	if (rc == 0)
		rc = enter_new(t);
	if (rc == 0)
		rc = make_all_folders(at);
	if (rc == 0)
		rc = share_all(at);
	if (rc == 0)
		rc = hide_all(t, at);
	/* a kernel shows a new /proc only to who sees the old one whole */
	if (rc == 0)
		rc = bind_one(*at = "/proc", "/proc", 0);
	umask(mask);
	if (rc != 0)
		return rc;
	*at = "/";
	return become_root();
}

/* ---- in a worker ---- */

static int mount_proc(const char *where, const char *options)
{
	return mount("proc", where, "proc", SAFE | MS_NOEXEC, options) == 0
		   ? 0
		   : -errno;
}

/* Something empty over WHERE, so that what was there is out of reach. */
static int cover(const char *where)
{
	return mount("paddock", where, "tmpfs", SAFE | MS_NOEXEC | MS_RDONLY,
		     "size=4k,nr_inodes=1,mode=0555") == 0
		   ? 0
		   : -errno;
}

/*
 * Twice: the program's, without its shim and without the host's figures, and
 * ours, in which no process of the program can hide.
 */
static int enter_proc(int *proc)
{
	int rc = mount_proc("/proc", "hidepid=invisible,subset=pid");

	*proc = -1;
	if (rc == 0)
		rc = mount_proc(HIDDEN, "subset=pid");
	if (rc != 0)
		return rc;
	*proc = open(HIDDEN, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *proc < 0 ? -errno : 0;
}

static int show(const char *kind, size_t i, const char *where)
{
	char from[64];

	hidden_path(from, kind, i);
	if (mount(from, where, NULL, MS_BIND | MS_REC, NULL) != 0)
		return -errno;
	return 0;
}

/* What lies in /tmp of the host lies in the run's own here. */
static int show_read(size_t i)
{
	char from[64];
	struct stat st;
	mode_t mask;

	hidden_path(from, "read", i);
	if (read_at[i] == NULL || stat(from, &st) != 0)
		return 0;
	mask = umask(022);
	(void)make_point(&st, read_at[i]); /* elsewhere there is one */
	umask(mask);
	return show("read", i, read_at[i]);
}

/* What a program may write to. Inodes are memory too. */
static const struct {
	const char *path, *mode;
	unsigned part; /* one such of all the bytes */
	unsigned inodes; /* one such of all that /work may have */
	unsigned long flags;
} rooms[] = {
    {TREE_WORK, "0700", 2, 1, 0},
    {"/tmp", "1777", 4, 4, MS_NOEXEC},
    {"/dev/shm", "1777", 4, 16, MS_NOEXEC},
};

static int mount_room(const struct tree_run *r, size_t i)
{
	char options[128];

	snprintf(options, sizeof(options),
		 "mode=%s,size=%llu,nr_inodes=%llu,uid=%u,gid=%u",
		 rooms[i].mode, (unsigned long long)r->bytes / rooms[i].part,
		 (unsigned long long)r->files / rooms[i].inodes + 1, r->uid,
		 r->gid); /* the folder itself is one */
	return mount("paddock", rooms[i].path, "tmpfs", SAFE | rooms[i].flags,
		     options) == 0
		   ? 0
		   : -errno;
}

int tree_enter(const struct tree_run *r, int *proc)
{
	int rc = 0;

	if (r->package != TREE_NO_PACKAGE)
		rc = show("package", r->package, TREE_TEMPLATE);
	for (size_t i = 0; i < ARRAY_LEN(rooms) && rc == 0; i++)
		rc = mount_room(r, i);
	for (size_t i = 0; i < TREE_READS_MAX && rc == 0; i++)
		if ((r->reads & UINT64_C(1) << i) != 0)
			rc = show_read(i);
	if (rc == 0)
		rc = enter_proc(proc);
	if (rc == 0)
		rc = cover(HIDDEN);
	return rc;
}
