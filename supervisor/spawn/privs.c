/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privs.c - chooses the user as whom paddockd serves when root starts paddockd,
 * gives files to the serving user, and drops root. main.c and the checks of the
 * start call the functions. A missing user or a failed step ends the start with
 * a sentence; a file that cannot be given to the user is logged.
 */
#include "supervisor/spawn/privs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/spawn/privs_private.h"
#include "supervisor/spawn/ids/uid_range.h"

#define OWN_USER "paddock"

static struct {
	bool leave;
	uid_t uid;
	gid_t gid;
	char *name;    /* NULL: an id without a name */
	gid_t *groups; /* all groups of the user */
	int n_groups;
} them;

bool privs_leave_root(void)
{
	return them.leave;
}

/* ---- the serving user ---- */

static void take_user(const struct passwd *pw)
{
	them.uid = pw->pw_uid;
	them.gid = pw->pw_gid;
	free(them.name); /* chosen twice: first for the logs */
	them.name = xstrdup(pw->pw_name);
	them.n_groups = 0;
	if (getgrouplist(pw->pw_name, pw->pw_gid, NULL, &them.n_groups) < 0) {
		them.groups = xrealloc(them.groups,
				       (size_t)them.n_groups * sizeof(gid_t));
		(void)getgrouplist(pw->pw_name, pw->pw_gid, them.groups,
				   &them.n_groups);
	}
}

/* Choose an id without a user, which this process may switch to. */
static int take_spare(char *errmsg, size_t size)
{
	uid_t id;
	int rc = uid_range_spare(&id, errmsg, size);

	if (rc < 0)
		return rc;
	if (setresgid(-1, id, -1) != 0 || setresgid(-1, 0, -1) != 0) {
		snprintf(errmsg, size,
			 "started as root, but uid %u cannot be had here: %s; "
			 "add a user %s, or name another in [server] user",
			 (unsigned)id, strerror(errno), OWN_USER);
		return -EINVAL;
	}
	them.uid = id;
	them.gid = id;
	return 0;
}

int privs_choose(const char *user, char *errmsg, size_t size)
{
	const char *name = user != NULL ? user : OWN_USER;
	const struct passwd *pw;
	unsigned long id;
	char *end;

	if (geteuid() != 0 || (user != NULL && strcmp(user, "root") == 0))
		return 0;
	pw = getpwnam(name);
	id = strtoul(name, &end, 10);
	if (pw == NULL && *name != '\0' && *end == '\0' && id < UINT32_MAX)
		pw = getpwuid((uid_t)id);
	if (pw != NULL && pw->pw_uid == 0)
		return 0;
	if (pw != NULL) {
		take_user(pw);
	} else if (user != NULL) {
		snprintf(errmsg, size,
			 "[server] user is \"%s\"; there is no such user",
			 user);
		return -ENOENT;
	} else if (take_spare(errmsg, size) < 0) {
		return -EINVAL;
	}
	them.leave = true;
	return 0;
}

/* ---- files of the serving user ---- */

/* Will the serving user be in the group GID after privs_drop()? */
static bool in_group(gid_t gid)
{
	for (int i = 0; i < them.n_groups; i++)
		if (them.groups[i] == gid)
			return true;
	return gid == them.gid;
}

/* Does the file have an ACL? The users of the ACL are not examined. */
static bool has_acl(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

bool privs_theirs(int fd, const struct stat *st)
{
	return st->st_uid == them.uid ||
	       ((st->st_mode & S_IWGRP) != 0 &&
		(in_group(st->st_gid) || has_acl(fd))) ||
	       ((st->st_mode & S_IWOTH) != 0 && (st->st_mode & S_ISVTX) == 0);
}

/* Give the file NAME at the end of walk W to the serving user, but never a trap. */
static int give_at(const struct privs_way *w, const char *name)
{
	struct stat st;

	if (fstatat(w->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return -errno;
	if ((w->theirs || w->shared) &&
	    (!S_ISREG(st.st_mode) || st.st_nlink != 1))
		return -EPERM;
	return fchownat(w->fd, name, them.uid, them.gid, AT_SYMLINK_NOFOLLOW) ==
		       0
		   ? 0
		   : -errno;
}

static void report_given(const char *path, int rc)
{
	if (rc != 0 && rc != -ENOENT)
		log_warn("server", "path=\"%s\" chown=failed err=\"%s\"", path,
			 strerror(-rc));
}

/* Give PATH, reached through no link that the serving user could have made. */
void privs_give(const char *path)
{
	struct privs_way w;
	int rc;

	if (!them.leave || path == NULL)
		return;
	rc = privs_walk(path, PRIVS_ROOTS_LINKS, &w);
	if (rc == 0)
		rc = give_at(&w, w.name);
	privs_walked(&w);
	report_given(path, rc);
}

void privs_give_all(const char *dir, const char *const names[], size_t n)
{
	struct privs_way w;
	char *inside;
	int rc;

	if (!them.leave)
		return;
	inside = xasprintf("%s/", dir);
	rc = privs_walk(inside, PRIVS_ROOTS_LINKS, &w);
	report_given(dir, rc);
	free(inside);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		char *path = xasprintf("%s/%s", dir, names[i]);

		report_given(path, give_at(&w, names[i]));
		free(path);
	}
	privs_walked(&w);
}

#define APPEND                                                                 \
	(O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW |   \
	 O_NONBLOCK)

/* Is FD surely no trap of the serving user, that is, neither a link nor a FIFO? */
static bool is_plain(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1;
}

static void files_as_them(void)
{
	(void)setgroups(0, NULL);
	setfsgid(them.gid);
	setfsuid(them.uid); /* takes CAP_DAC_OVERRIDE from file accesses, too */
}

static void files_as_root(void)
{
	setfsuid(0);
	setfsgid(0);
}

/*
 * Open a file of the serving user in a folder that root alone may search: found
 * with root's rights and opened with the user's. A unit may deny root access to
 * files of other users.
 */
static int open_theirs(const struct privs_way *w)
{
	int file = openat(w->fd, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char path[64];
	int fd;

	if (file < 0)
		return -1;
	if (!is_plain(file)) {
		close(file);
		errno = EACCES;
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	files_as_them();
	fd = open(path, APPEND & ~(O_CREAT | O_NOFOLLOW));
	files_as_root();
	close(file);
	return fd;
}

/* Open with root's rights, without links and without making files. TRY: only check. */
static int open_as_root(const char *path, bool try)
{
	struct privs_way w;
	int rc = privs_walk(path, PRIVS_NO_LINKS, &w);
	bool theirs = w.theirs || w.shared;
	int fd = -1;

	if (rc == 0) {
		fd = openat(w.fd, w.name,
			    theirs || try ? APPEND & ~O_CREAT : APPEND, 0640);
		if (fd < 0 && errno == EACCES)
			fd = open_theirs(&w);
		rc = fd < 0 ? -errno : theirs && !is_plain(fd) ? -EACCES : 0;
	}
	if (rc == -ENOENT && try && !theirs && w.fd >= 0)
		rc = 0; /* the file would be created */
	if (rc == 0 && !try && fchown(fd, them.uid, them.gid) != 0)
		log_warn("server", "path=\"%s\" chown=failed err=\"%s\"", path,
			 strerror(errno));
	if ((rc != 0 || try) && fd >= 0)
		close(fd);
	privs_walked(&w);
	return rc == 0 && !try ? fd : rc;
}

int privs_open_log(const char *path)
{
	int fd;

	if (!them.leave)
		return -ENOTSUP;
	files_as_them();
	fd = open(path, APPEND & ~O_NOFOLLOW, 0640);
	if (fd < 0)
		fd = -errno;
	files_as_root();
	return fd == -EACCES || fd == -EPERM ? open_as_root(path, false) : fd;
}

/* Can a file be created in the folder of PATH? */
static int try_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash == NULL   ? xstrdup(".")
		    : slash == path ? xstrdup("/")
				    : xstrndup(path, (size_t)(slash - path));
	int rc =
	    faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : -errno;

	free(dir);
	return rc;
}

static int try_log(const char *path)
{
	int fd = open(path, APPEND & ~(O_CREAT | O_NOFOLLOW));

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	return errno == ENOENT ? try_folder(path) : -errno;
}

int privs_try_log(const char *path)
{
	int rc;

	if (!them.leave)
		return try_log(path);
	files_as_them();
	rc = try_log(path);
	files_as_root();
	return rc == -EACCES || rc == -EPERM ? open_as_root(path, true) : rc;
}

int privs_give_state(const char *dir, char *errmsg, size_t size)
{
	return them.leave ? privs_hand_over(dir, them.uid, them.gid, false,
					    errmsg, size)
			  : 0;
}

int privs_try_state(const char *dir, char *errmsg, size_t size)
{
	return them.leave ? privs_hand_over(dir, them.uid, them.gid, true,
					    errmsg, size)
			  : 0;
}

/* access(2) for the serving user. */
static bool they_may(const char *path, int mode)
{
	bool may;

	if (!them.leave)
		return true;
	files_as_them();
	may = faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
	files_as_root();
	return may;
}

bool privs_may_write(const char *dir)
{
	return they_may(dir, W_OK | X_OK);
}

bool privs_may_reach(const char *path, bool below)
{
	return they_may(path, below ? X_OK : F_OK);
}

int privs_unlink_socket(const char *path)
{
	struct privs_way w;
	struct stat st;
	int rc = privs_walk(path, PRIVS_ROOTS_LINKS, &w);

	if (rc == 0 && fstatat(w.fd, w.name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		rc = -errno;
	else if (rc == 0 && !S_ISSOCK(st.st_mode))
		rc = -EPERM;
	if (rc == 0 && unlinkat(w.fd, w.name, 0) != 0)
		rc = -errno;
	privs_walked(&w);
	return rc;
}

/* ---- the drop of root ---- */

static int keep_kill(void)
{
	static const cap_value_t kill_cap = CAP_KILL;
	cap_t caps = cap_init();
	int rc = 0;

	if (caps == NULL ||
	    cap_set_flag(caps, CAP_PERMITTED, 1, &kill_cap, CAP_SET) != 0 ||
	    cap_set_flag(caps, CAP_EFFECTIVE, 1, &kill_cap, CAP_SET) != 0 ||
	    cap_set_proc(caps) != 0)
		rc = -errno;
	cap_free(caps);
	return rc;
}

static int become_them(void)
{
	int rc = them.name != NULL ? initgroups(them.name, them.gid)
				   : setgroups(0, NULL);

	if (rc != 0 || prctl(PR_SET_KEEPCAPS, 1) != 0 ||
	    setresgid(them.gid, them.gid, them.gid) != 0)
		return -errno;
	/* while CAP_SETPCAP is there; without it the set is small already */
	for (cap_value_t c = 0; cap_get_bound(c) >= 0; c++)
		if (c != CAP_KILL)
			(void)cap_drop_bound(c);
	if (setresuid(them.uid, them.uid, them.uid) != 0)
		return -errno;
	return keep_kill();
}

int privs_drop(void)
{
	int rc = them.leave ? become_them() : 0;

	if (rc == 0 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
			prctl(PR_SET_DUMPABLE, 0) != 0))
		rc = -errno;
	if (rc == 0 && them.leave)
		log_info("server", "uid=%u gid=%u user=%s capabilities=kill",
			 (unsigned)them.uid, (unsigned)them.gid,
			 them.name != NULL ? them.name : "-");
	return rc;
}
