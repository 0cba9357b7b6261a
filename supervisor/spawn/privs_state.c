/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privs_state.c - works with root's rights on paths that other users may change: opens a
 * log, gives the state folder to the serving user. privsep.c and the start call the
 * functions. Each folder is checked and used by descriptor; a link is followed only where
 * root alone can have made the link. Privsep answers with the error.
 */
#include "supervisor/spawn/privs_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/os/sys.h"
#include "base/mem.h"

#define LINKS_MAX 40 /* the kernel's limit */
#define DEPTH_MAX 16 /* of folders in a state folder, which has four levels */

/* ---- a walk ---- */

struct walk {
	struct privs_way *way;
	enum privs_links links;
	unsigned followed;
	char rest[PATH_MAX]; /* the rest of the path */
};

static int begin_walk(struct walk *k)
{
	struct privs_way *w = k->way;

	sys_close(w->fd);
	w->theirs = w->shared = w->made = false;
	w->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->fd < 0 ? -errno : 0;
}

/* FD is a link: replace the walked part by the target. */
static int follow_fd(struct walk *k, int fd)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (k->links == PRIVS_NO_LINKS || k->way->theirs || k->way->shared ||
	    ++k->followed > LINKS_MAX)
		return -ELOOP;
	memcpy(rest, k->rest, sizeof(rest));
	if (snprintf(k->rest, sizeof(k->rest), "%s/%s", target, rest) >=
	    (int)sizeof(k->rest))
		return -ENAMETOOLONG;
	return target[0] == '/' ? begin_walk(k) : 0;
}

/* Walk into the folder NAME, or along a link. */
static int step_into(struct walk *k, const char *name)
{
	struct privs_way *w = k->way;
	struct stat st;
	int rc = 0, fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	w->made = fd < 0 && errno == ENOENT && k->links == PRIVS_MAKE &&
		  mkdirat(w->fd, name, 0755) == 0;
	if (w->made)
		fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		rc = -errno;
	} else if (S_ISLNK(st.st_mode)) {
		rc = follow_fd(k, fd);
	} else if (!S_ISDIR(st.st_mode)) {
		rc = -ENOTDIR;
	} else {
		w->theirs = w->theirs || privs_theirs(fd, &st);
		w->shared = (st.st_mode & S_IWOTH) != 0;
		close(w->fd);
		w->fd = fd;
		return 0;
	}
	sys_close(fd);
	return rc;
}

int privs_walk(const char *path, enum privs_links links, struct privs_way *w)
{
	struct walk k = {.way = w, .links = links};
	char *slash;
	int rc;

	*w = (struct privs_way){.fd = -1};
	if (*path != '/' || strlen(path) >= sizeof(k.rest))
		return -EINVAL;
	memcpy(k.rest, path, strlen(path) + 1);
	rc = begin_walk(&k);
	while (rc == 0 && (slash = strchr(k.rest, '/')) != NULL) {
		size_t n = (size_t)(slash - k.rest);

		if (n >= sizeof(w->name))
			return -ENAMETOOLONG;
		memcpy(w->name, k.rest, n);
		w->name[n] = '\0';
		memmove(k.rest, slash + 1, strlen(slash + 1) + 1);
		if (n > 0 && strcmp(w->name, ".") != 0)
			rc = step_into(&k, w->name);
	}
	if (rc == 0 && strlen(k.rest) >= sizeof(w->name))
		rc = -ENAMETOOLONG;
	if (rc == 0)
		snprintf(w->name, sizeof(w->name), "%s",
			 k.rest[0] != '\0' ? k.rest : ".");
	return rc;
}

void privs_walked(struct privs_way *w)
{
	sys_drop(&w->fd);
}

/* ---- the state folder ---- */

/* Is the folder FD empty, or does FD have a database of paddock? */
static bool is_ours(int fd)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again >= 0 ? fdopendir(again) : NULL;
	size_t n = 0;

	if (d == NULL) {
		sys_close(again);
		return false;
	}
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n <= 2 || /* "." and ".." */
	       faccessat(fd, "paddock.db", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

struct new_owner {
	uid_t uid;
	gid_t gid;
	dev_t dev; /* folders mounted below are not given */
};

static void give_folder(const struct new_owner *to, int fd, int depth);

static void give_entry(const struct new_owner *to, int at, const char *name,
		       int depth)
{
	struct stat st;
	int fd;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    st.st_dev != to->dev)
		return;
	if (S_ISDIR(st.st_mode)) {
		fd = openat(at, name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && depth < DEPTH_MAX)
			give_folder(to, fd, depth + 1);
		else
			sys_close(fd);
	} else if (S_ISREG(st.st_mode) && st.st_nlink > 1) {
		log_warn("server",
			 "file=\"%s\" given=no msg=\"it has another "
			 "name somewhere\"",
			 name);
	} else if (fchownat(at, name, to->uid, to->gid, AT_SYMLINK_NOFOLLOW) !=
		   0) {
		log_warn("server", "file=\"%s\" chown=failed err=\"%s\"", name,
			 strerror(errno));
	}
}

/*
 * Give a folder; closes FD. The folder itself is last: while root owns the
 * folder, no other user can put links in the way.
 */
static void give_folder(const struct new_owner *to, int fd, int depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;

	if (d == NULL) {
		close(fd);
		return;
	}
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			give_entry(to, dirfd(d), e->d_name, depth);
	if (fchown(dirfd(d), to->uid, to->gid) != 0)
		log_warn("server", "folder=state chown=failed err=\"%s\"",
			 strerror(errno));
	closedir(d);
}

/* May the folder FD, which is ST and named DIR, be given to UID? */
static int may_give(int fd, const struct stat *st, const char *dir, uid_t uid,
		    char *errmsg, size_t size)
{
	if (st->st_uid != 0 && is_ours(fd)) {
		snprintf(
		    errmsg, size,
		    "%s belongs to uid %u, as which an earlier server may have "
		    "served, so root does not give it to uid %u: \"chown -R root %s\" "
		    "lets the next start do so, or name its owner in [server] user",
		    dir, (unsigned)st->st_uid, (unsigned)uid, dir);
		return -EPERM;
	}
	if (st->st_uid == 0 && !privs_theirs(fd, st) &&
	    (st->st_mode & S_IWOTH) == 0 && is_ours(fd))
		return 0;
	snprintf(errmsg, size,
		 "%s is no state folder that root has used, so it is not given "
		 "to uid %u; name another as state_dir, or its owner in "
		 "[server] user",
		 dir, (unsigned)uid);
	return -EPERM;
}

int privs_hand_over(const char *dir, uid_t uid, gid_t gid, bool try,
		    char *errmsg, size_t size)
{
	char *path = xasprintf("%s/.", dir); /* walk into the folder */
	struct privs_way w;
	struct stat st;
	int rc = privs_walk(path, try ? PRIVS_ROOTS_LINKS : PRIVS_MAKE, &w);
	int fd = -1;

	free(path);
	if (rc == -ELOOP)
		snprintf(
		    errmsg, size,
		    "%s leads through a symbolic link that uid %u can have "
		    "put there, which root does not follow; name the "
		    "folder itself as state_dir",
		    dir, (unsigned)uid);
	if (rc == 0)
		fd = openat(w.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid != uid) {
		if (w.made)
			(void)fchmod(fd, 0700);
		rc = w.made && fstat(fd, &st) != 0
			 ? -errno
			 : may_give(fd, &st, dir, uid, errmsg, size);
		if (rc == 0 && !try) {
			give_folder(&(struct new_owner){uid, gid, st.st_dev},
				    fd, 0);
			fd = -1;
		}
	}
	sys_close(fd);
	privs_walked(&w);
	/* the store reports folders that cannot be opened */
	return rc == -ELOOP || rc == -EPERM ? -EPERM : 0;
}
