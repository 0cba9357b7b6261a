/* SPDX-License-Identifier: Apache-2.0 */
/*
 * granted_path.c - opens a path of the host for a template: below a granted
 * folder, from the descriptor of that folder. Called when programs are shown
 * their paths and when a run starts; a failure is told to the requestor of the
 * run.
 */
#include "supervisor/packages/grants/granted_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loop_guard.h"
#include "base/mem.h"
#include "base/text/errmsg.h"

/* Return the length of FOLDER without slashes at the end; "/" leaves 0. */
static size_t bare(const char *folder)
{
	size_t len = strlen(folder);

	while (len > 0 && folder[len - 1] == '/')
		len--;
	return len;
}

bool granted_path_names(const char *folder, const char *path)
{
	size_t len = bare(folder);

	return folder[0] == '/' && strncmp(path, folder, len) == 0 &&
	       (path[len] == '/' || path[len] == '\0');
}

/*
 * Return an O_PATH descriptor of PATH, which is FOLDER or below it; or -errno.
 */
static int open_below(const char *folder, const char *path)
{
	const char *rest = path + bare(folder);
	int fd, at = nofollow_open(AT_FDCWD, folder, O_PATH);

	rest += strspn(rest, "/");
	if (at < 0 || *rest == '\0')
		return at;
	fd = nofollow_open(at, rest, O_PATH);
	close(at);
	return fd;
}

static int explain_path(int rc, const char *folder, const char *path,
			char *errmsg, size_t size)
{
	size_t n = nofollow_link_len(path);
	const char *whole = path;

	/* "/a/../b" in a grant, or the link is gone */
	if (rc == -ELOOP && n == 0)
		n = nofollow_link_len(whole = folder);
	if (rc == -ELOOP)
		errmsg_set(
		    errmsg, size,
		    "%s leads through a symbolic link%s%.*s, and links are "
		    "not followed: where it leads has to be asked for and "
		    "granted by its own path",
		    path, n > 0 ? ", " : "", (int)n, whole);
	else if (rc == -EMEDIUMTYPE)
		errmsg_set(errmsg, size, "%s is neither a file nor a folder",
			   path);
	else if (rc == -ENOSYS)
		errmsg_set(
		    errmsg, size,
		    "%s cannot be opened without following links on this "
		    "machine, which needs Linux 5.6",
		    path);
	else
		errmsg_set(errmsg, size, "%s: %s", path, strerror(-rc));
	return rc == -EACCES ? -EPERM : rc;
}

/*
 * Return the first name of LIST that covers PATH, or NULL. The caller frees the
 * name.
 */
static char *naming(const char *list, const char *path)
{
	char *copy = xstrdup(list != NULL ? list : ""), *at = copy, *one;
	char *found = NULL;

	while (found == NULL && (one = strsep(&at, " ")) != NULL)
		if (*one != '\0' && granted_path_names(one, path))
			found = xstrdup(one);
	free(copy);
	return found;
}

bool granted_path_listed(const char *list, const char *path)
{
	char *folder = naming(list, path);

	free(folder);
	return folder != NULL;
}

int granted_path_find(const char *list, const char *path, struct file_id *id,
		      char *errmsg, size_t size)
{
	char *folder = naming(list, path);
	struct stat st;
	int rc, fd;

	*id = (struct file_id){0};
	if (folder == NULL) {
		errmsg_set(errmsg, size, "%s is in nothing that is granted",
			   path);
		return -EACCES;
	}
	loop_guard_allow("a path that the operator grants");
	fd = open_below(folder, path);
	if (fd < 0)
		rc = fd;
	else if (fstat(fd, &st) != 0)
		rc = -errno;
	else if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		rc = -EMEDIUMTYPE;
	else
		rc = file_id_of(fd, id);
	if (fd >= 0)
		close(fd);
	if (rc < 0)
		rc = explain_path(rc, folder, path, errmsg, size);
	loop_guard_forbid();
	free(folder);
	return rc;
}
