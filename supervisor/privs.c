#include "supervisor/privs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "supervisor/uids.h"

#define OWN_USER "paddock"
#define OPEN_FDS 16 /* of nftw(3) */

/* What earlier versions served as, without that user. */
static const uid_t once_spare[] = {199999, 60599};

static struct {
	bool leave;
	uid_t uid;
	gid_t gid;
	char *name; /* NULL: an id without one */
} them;

bool privs_leave_root(void)
{
	return them.leave;
}

/* ---- who ---- */

static void take(const struct passwd *pw)
{
	them.uid = pw->pw_uid;
	them.gid = pw->pw_gid;
	free(them.name); /* it is chosen twice: for the logs, and to be */
	them.name = xstrdup(pw->pw_name);
}

/* An id that is nobody's, and that we may become. */
static int take_spare(char *why, size_t size)
{
	uid_t id;
	int rc = uids_spare(&id, why, size);

	if (rc < 0)
		return rc;
	if (setresgid(-1, id, -1) != 0 || setresgid(-1, 0, -1) != 0) {
		snprintf(why, size,
			 "started as root, but uid %u cannot be had here: %s; "
			 "add a user %s, or name another in [server] user",
			 (unsigned)id, strerror(errno), OWN_USER);
		return -EINVAL;
	}
	them.uid = id;
	them.gid = id;
	return 0;
}

static const struct passwd *find_user(const char *user)
{
	const struct passwd *pw = getpwnam(user);
	char *end;
	unsigned long id = strtoul(user, &end, 10);

	if (pw == NULL && *user != '\0' && *end == '\0')
		pw = getpwuid((uid_t)id);
	return pw;
}

int privs_choose(const char *user, char *why, size_t size)
{
	const struct passwd *pw;

	if (geteuid() != 0 || (user != NULL && strcmp(user, "root") == 0))
		return 0;
	pw = find_user(user != NULL ? user : OWN_USER);
	if (pw != NULL && pw->pw_uid == 0)
		return 0;
	if (pw != NULL) {
		take(pw);
	} else if (user != NULL) {
		snprintf(why, size,
			 "[server] user is \"%s\"; there is no such user", user);
		return -ENOENT;
	} else if (take_spare(why, size) < 0) {
		return -EINVAL;
	}
	them.leave = true;
	return 0;
}

/* ---- what they get ---- */

void privs_give(const char *path)
{
	if (them.leave && path != NULL &&
	    lchown(path, them.uid, them.gid) != 0 && errno != ENOENT)
		log_warn("server", "path=\"%s\" chown=failed err=\"%s\"", path,
			 strerror(errno));
}

/* Could they have put something else where ST is? */
static bool is_theirs(const struct stat *st)
{
	return st->st_uid == them.uid ||
	       (st->st_gid == them.gid && (st->st_mode & S_IWGRP) != 0) ||
	       ((st->st_mode & S_IWOTH) != 0 && (st->st_mode & S_ISVTX) == 0);
}

#define APPEND                                                                 \
	(O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW |   \
	 O_NONBLOCK)

/* Of the folders on the way: is one theirs, can anybody add to the last? */
struct way {
	bool theirs, shared;
};

/* AT moves on to the folder NAME in it. */
static int step_into(int *at, const char *name, struct way *w)
{
	struct stat st;
	int rc = 0;
	int fd = openat(*at, *name != '\0' ? name : ".",
			O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0)
		rc = -errno;
	else
		*w = (struct way){w->theirs || is_theirs(&st),
				  (st.st_mode & S_IWOTH) != 0};
	close(*at);
	*at = fd;
	return rc;
}

/* What they cannot have put there: a link of either kind, a FIFO. */
static bool is_plain(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1;
}

/* With root's rights, through no link; where they may write, none is made. */
static int open_as_root(const char *path)
{
	char *copy = xstrdup(path), *name = copy, *slash;
	int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = at >= 0 && *name == '/' ? 0 : -EINVAL;
	struct way w = {false, false};
	bool theirs;
	int fd = -1;

	while (rc == 0 && (slash = strchr(name, '/')) != NULL) {
		*slash = '\0';
		rc = step_into(&at, name, &w);
		name = slash + 1;
	}
	theirs = w.theirs || w.shared;
	if (rc == 0) {
		fd = openat(at, name, theirs ? APPEND & ~O_CREAT : APPEND, 0640);
		rc = fd < 0 ? -errno : theirs && !is_plain(fd) ? -EACCES : 0;
	}
	if (rc == 0 && fchown(fd, them.uid, them.gid) != 0)
		log_warn("server", "path=\"%s\" chown=failed err=\"%s\"", path,
			 strerror(errno));
	if (rc != 0 && fd >= 0)
		close(fd);
	if (at >= 0)
		close(at);
	free(copy);
	return rc == 0 ? fd : rc;
}

int privs_open_log(const char *path)
{
	int fd;

	if (!them.leave)
		return -ENOTSUP;
	(void)setgroups(0, NULL);
	setfsgid(them.gid);
	setfsuid(them.uid); /* this takes root's way with files, too */
	fd = open(path, APPEND & ~O_NOFOLLOW, 0640);
	if (fd < 0)
		fd = -errno;
	setfsuid(0);
	setfsgid(0);
	return fd == -EACCES || fd == -EPERM ? open_as_root(path) : fd;
}

static int give_one(const char *path, const struct stat *st, int type,
		    struct FTW *at)
{
	(void)st, (void)type, (void)at;
	privs_give(path);
	return 0;
}

/* Nothing in it, or a database of ours? */
static bool is_ours(const char *dir)
{
	char *db = xasprintf("%s/paddock.db", dir);
	bool ours = access(db, F_OK) == 0;
	DIR *d = ours ? NULL : opendir(dir);
	size_t n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL) {
		ours = n <= 2; /* "." and ".." */
		closedir(d);
	}
	free(db);
	return ours;
}

/* Every folder on the way to DIR that is missing; DIR alone is private. */
static int make_dirs(const char *dir)
{
	char *path = xstrdup(dir);
	int rc = 0;

	for (char *p = path + 1; *p != '\0' && rc == 0; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			rc = -errno;
		*p = '/';
	}
	if (rc == 0 && mkdir(path, 0700) != 0)
		rc = -errno;
	free(path);
	return rc;
}

static bool was_ours(uid_t uid)
{
	for (size_t i = 0; i < ARRAY_LEN(once_spare); i++)
		if (once_spare[i] == uid)
			return true;
	return false;
}

int privs_give_state(const char *dir, char *why, size_t size)
{
	struct stat st;
	int rc;

	if (!them.leave)
		return 0;
	rc = stat(dir, &st) == 0 ? 0 : -errno;
	if (rc == -ENOENT) {
		rc = make_dirs(dir);
		st = (struct stat){0};
	}
	if (rc < 0 || st.st_uid == them.uid)
		return 0; /* what the store cannot open, it tells */
	if (was_ours(st.st_uid)) {
		snprintf(why, size,
			 "%s belongs to uid %u, which earlier versions served "
			 "as and which can be another's: \"chown -R root %s\" "
			 "gives it to the next start, or name a [server] user",
			 dir, (unsigned)st.st_uid, dir);
		return -EPERM;
	}
	if (st.st_uid != 0 || !is_ours(dir)) {
		snprintf(why, size,
			 "%s is no state folder that root has used, so it is "
			 "not given to uid %u; name another as state_dir, or "
			 "its owner in [server] user",
			 dir, (unsigned)them.uid);
		return -EPERM;
	}
	/* the folder last: while it is root's, nobody puts links in our way */
	nftw(dir, give_one, OPEN_FDS, FTW_PHYS | FTW_DEPTH | FTW_MOUNT);
	return 0;
}

/* ---- the step down ---- */

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
