/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn_paths.c - finds paths that a run may have lacked, for learn.c: paths in error
 * texts, inputs and the files of the package. The words come from the package, so a
 * package must not learn files of the user: only files and whole folders that every user
 * of the machine may read are tried, and no hidden file, device or file of the kernel.
 */
#include "cli/grant/learn_paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json.h"

#define FILE_BYTES ((size_t)1 << 20) /* of a file of the package */
#define FILES_MAX 64
#define ENTRIES_MAX 4096 /* of a folder and all folders in it */
#define OPEN_FILES 16
#define PATH_BYTES 180 /* as a word of paddock.conf */
#define PATH_CHARS                                                             \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"       \
	"/._-+@%=,:~"

/* Is PATH shown to each program anyway, hidden, or a file of the kernel? */
static bool is_special(const char *path)
{
	static const char *const special[] = {
	    "/proc", "/sys", "/dev",  "/run", "/var/run", "/work",
	    "/usr",  "/bin", "/sbin", "/lib", "/lib64",	  "/etc/alternatives"};

	for (size_t i = 0; i < ARRAY_LEN(special); i++) {
		size_t n = strlen(special[i]);

		if (strncmp(path, special[i], n) == 0 &&
		    (path[n] == '/' || path[n] == '\0'))
			return true;
	}
	return strstr(path, "/.") != NULL || strcmp(path, "/") == 0;
}

enum access { ABSENT, HIDDEN, READABLE };

/* nftw(3)'s callback: may everyone read the entry, and is the folder small? */
static int look_below(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	static int entries;

	(void)path;
	if (ftw->level == 0)
		entries = 0;
	if (++entries > ENTRIES_MAX || type == FTW_DNR || type == FTW_NS)
		return 1;
	if (S_ISDIR(st->st_mode))
		return (st->st_mode & (S_IROTH | S_IXOTH)) !=
		       (S_IROTH | S_IXOTH);
	return S_ISREG(st->st_mode) && (st->st_mode & S_IROTH) == 0;
}

/* May everyone read PATH, through no link? */
static enum access look(const char *path)
{
	char part[PATH_BYTES + 1], real[PATH_MAX];
	struct stat st;

	if (is_special(path) || lstat(path, &st) != 0 ||
	    realpath(path, real) == NULL || strcmp(real, path) != 0 ||
	    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return ABSENT;
	if (nftw(path, look_below, OPEN_FILES, FTW_PHYS) != 0)
		return HIDDEN;
	snprintf(part, sizeof(part), "%s", path);
	for (char *end; (end = strrchr(part, '/')) != NULL && end != part;) {
		*end = '\0';
		if (stat(part, &st) != 0 || (st.st_mode & S_IXOTH) == 0)
			return HIDDEN;
	}
	return READABLE;
}

static void add_once(struct json_object *list, const char *word)
{
	json_each(one, list)
		if (strcmp(json_object_get_string(one), word) == 0)
			return;
	if (json_length(list) < LEARN_PATHS_MAX)
		json_object_array_add(list, json_text_new(word));
}

/* Add the path of N bytes at S; a sentence may end behind a path. */
static void add_path(struct json_object *list, struct json_object *hidden,
		     const char *s, size_t n)
{
	char path[PATH_BYTES + 1];

	while (n > 1 && strchr("/.,:", s[n - 1]) != NULL)
		n--;
	if (n < 2 || n > PATH_BYTES)
		return;
	memcpy(path, s, n);
	path[n] = '\0';
	switch (look(path)) {
	case READABLE:
		add_once(list, path);
		break;
	case HIDDEN:
		add_once(hidden, path);
		break;
	case ABSENT:
		break;
	}
}

void learn_paths_add(struct json_object *list, struct json_object *hidden,
		     const char *text, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		len = 1;
		if (text[i] != '/' || (i > 0 &&
				       memchr(PATH_CHARS "\\", text[i - 1],
					      sizeof(PATH_CHARS)) != NULL &&
				       strchr("=,:", text[i - 1]) == NULL))
			continue;
		while (i + len < n && memchr(PATH_CHARS, text[i + len],
					     sizeof(PATH_CHARS) - 1) != NULL)
			len++;
		add_path(list, hidden, text + i, len);
	}
}

void learn_paths_add_values(struct json_object *list,
			    struct json_object *hidden, struct json_object *v)
{
	if (json_object_is_type(v, json_type_string)) {
		learn_paths_add(list, hidden, json_object_get_string(v),
				(size_t)json_object_get_string_len(v));
	} else if (json_object_is_type(v, json_type_array)) {
		json_each(one, v)
			learn_paths_add_values(list, hidden, one);
	} else if (json_object_is_type(v, json_type_object)) {
		json_object_object_foreach(v, key, value) {
			(void)key;
			learn_paths_add_values(list, hidden, value);
		}
	}
}

void learn_paths_add_package(struct json_object *list,
			     struct json_object *hidden, const char *dir)
{
	struct dirent **names = NULL;
	int n = scandir(dir, &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, names[i]->d_name);
		int fd = i < FILES_MAX ? open(path, O_RDONLY | O_NOFOLLOW |
							O_NONBLOCK | O_CLOEXEC)
				       : -1;
		struct buf text = {0};
		struct stat st;

		if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    buf_read(&text, fd, FILE_BYTES) == 0 && buf_len(&text) > 0)
			learn_paths_add(list, hidden, buf_data(&text),
					buf_len(&text));
		if (fd >= 0)
			close(fd);
		buf_fini(&text);
		free(path);
		free(names[i]);
	}
	free(names);
}
