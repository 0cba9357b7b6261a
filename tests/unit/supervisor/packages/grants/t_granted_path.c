/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_granted_path.c - paths below a granted folder, and paths which only seem to be
 * below.
 */
#include "supervisor/packages/grants/granted_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static char root[] = "/tmp/t_granted.XXXXXX";

static const struct {
	const char *folder, *path;
	bool named;
} names[] = {
    {"/srv/a", "/srv/a", true},	   {"/srv/a", "/srv/a/b", true},
    {"/srv/a/", "/srv/a/b", true}, {"/srv/a//", "/srv/a", true},
    {"/srv/a", "/srv/ab", false},  {"/srv/a", "/srv", false},
    {"/", "/etc/shadow", true},	   {"srv", "/srv", false},
    {"", "/srv", false},	   {"/srv/a/../b", "/srv/b", false},
    {"/srv/a", "/srv/b/a", false},
};

/* Files below root: "x/" is a folder, "x" a file with its name, "x>y" a link. */
static const char *const things[] = {
    "shared/",
    "shared/file",
    "shared/sub/",
    "shared/sub/deep",
    "private/",
    "private/secret",
    "shared/current>../private",
    "shared/file_link>file",
    "shared/up>..",
    "shared/absolute>/etc",
    "shared/loop>loop",
    "shared/proc>/proc/self/root",
    "door>shared",
};

static const struct {
	const char *folder, *path; /* below root, or absolute */
	int rc;
	const char *says; /* a piece of ERRMSG, or the name in the found file */
} finds[] = {
    {"shared", "shared", 0, "shared"},
    {"shared", "shared/file", 0, "shared/file"},
    {"shared", "shared/sub/deep", 0, "shared/sub/deep"},
    {"shared/file", "shared/file", 0, "shared/file"},
    {"/", "shared/file", 0, "shared/file"},
    {"shared", "private/secret", -EACCES, "in nothing that is granted"},
    {"shared", "shared/none", -ENOENT, "No such file"},
    {"none", "none/file", -ENOENT, "No such file"},
    {"shared", "shared/file/x", -ENOTDIR, "Not a directory"},
    {"shared", "shared/current", -ELOOP, "symbolic link, "},
    {"shared", "shared/current/secret", -ELOOP, "/shared/current, and"},
    {"shared", "shared/file_link", -ELOOP, "/shared/file_link, and"},
    {"shared", "shared/up/private/secret", -ELOOP, "/shared/up, and"},
    {"shared", "shared/absolute/passwd", -ELOOP, "/shared/absolute, and"},
    {"shared", "shared/loop", -ELOOP, "/shared/loop, and"},
    {"shared", "shared/proc/etc/passwd", -ELOOP, "/shared/proc, and"},
    {"shared/current", "shared/current/secret", -ELOOP, "/current, and"},
    {"door", "door/file", -ELOOP, "/door, and"},
    {"shared", "shared/fifo", -EMEDIUMTYPE, "neither a file nor a folder"},
    {"/proc", "/proc/self/status", -ELOOP, "/proc/self, and"},
    {"/proc", "/proc/1/root/etc", 1, "link"}, /* or out of reach */
    {"/dev", "/dev/null", -EMEDIUMTYPE, "neither"},
};

static char *in_root(const char *name)
{
	return *name == '/' ? xstrdup(name) : xasprintf("%s/%s", root, name);
}

static void make(const char *thing)
{
	char *name = xstrdup(thing), *to = strchr(name, '>');
	char *path;
	int fd;

	if (to != NULL)
		*to++ = '\0';
	path = in_root(name);
	if (to != NULL)
		(void)!symlink(to, path);
	else if (path[strlen(path) - 1] == '/')
		mkdir(path, 0755);
	else if ((fd = open(path, O_CREAT | O_WRONLY, 0644)) >= 0)
		close(fd);
	free(path);
	free(name);
}

static void try_find(size_t i)
{
	char *folder = in_root(finds[i].folder), *path = in_root(finds[i].path);
	char *list = xasprintf("/elsewhere %s  /opt", folder);
	struct file_id id, want = {0};
	char errmsg[512] = "";
	int rc = granted_path_find(list, path, &id, errmsg, sizeof(errmsg));

	if (finds[i].rc == 1)
		ok(rc < 0, "%s below %s is not had", finds[i].path,
		   finds[i].folder);
	else
		is_int(rc, finds[i].rc, "%s below %s", finds[i].path,
		       finds[i].folder);
	if (rc == 0) {
		char *real = in_root(finds[i].says);
		struct stat st;

		if (stat(real, &st) == 0)
			want = (struct file_id){st.st_dev, st.st_ino};
		free(real);
	} else if (finds[i].rc != 1) {
		ok(strstr(errmsg, finds[i].says) != NULL &&
		       strstr(errmsg, path),
		   "the refusal of a path has the reason: %s", errmsg);
	}
	ok(file_id_same(&id, &want), "the found path has the right file id");
	free(list);
	free(path);
	free(folder);
}

/* A mount below a granted folder was made by root, and so is found. */
static void try_mount(void)
{
	char *on = in_root("shared/sub"), *path = in_root("shared/sub/secret");
	char *from = in_root("private");
	struct file_id id;
	char errmsg[512];

	if (mount(from, on, NULL, MS_BIND, NULL) != 0) {
		skip("only root may mount",
		     "what is mounted below a granted folder");
	} else {
		is_int(
		    granted_path_find(root, path, &id, errmsg, sizeof(errmsg)),
		    0,
		    "a file mounted by root below a granted folder is found");
		umount2(on, MNT_DETACH);
	}
	free(from);
	free(path);
	free(on);
}

int main(void)
{
	char *fifo, *rm;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		is_int(granted_path_names(names[i].folder, names[i].path),
		       names[i].named, "\"%s\" %s %s", names[i].folder,
		       names[i].named ? "names" : "does not name",
		       names[i].path);
	ok(!granted_path_listed(NULL, "/srv"), "no list names nothing");
	ok(granted_path_listed(" /opt  /srv ", "/srv/x"), "spaces part a list");
	if (mkdtemp(root) == NULL)
		return 1;
	for (size_t i = 0; i < ARRAY_LEN(things); i++)
		make(things[i]);
	fifo = in_root("shared/fifo");
	mkfifo(fifo, 0644);
	for (size_t i = 0; i < ARRAY_LEN(finds); i++)
		try_find(i);
	try_mount();
	rm = xasprintf("rm -rf %s", root);
	(void)!system(rm);
	free(rm);
	free(fifo);
	return tap_done();
}
