/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_find.c - finds the cgroups of this process in the texts of
 * /proc/self/cgroup and mountinfo, for cgroup_init(). The functions only read
 * the texts; a tree that is not mounted, or that does not contain this process,
 * has no path, and then no groups are made in the tree.
 */
#include "supervisor/spawn/cgroup_find.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIELDS_MAX 32 /* in a line of mountinfo */

static const char *const controllers[CGROUP_TREES] = {
    [CGROUP_MEMORY] = "memory", [CGROUP_PIDS] = "pids", [CGROUP_CPU] = "cpu"};

/* Is WORD in the comma-separated LIST? */
static bool has_word(const char *list, size_t len, const char *word)
{
	size_t n = strlen(word);
	const char *end = list + len;

	while (list < end) {
		const char *comma = memchr(list, ',', (size_t)(end - list));
		size_t m = (size_t)((comma != NULL ? comma : end) - list);

		if (m == n && memcmp(list, word, n) == 0)
			return true;
		list += m + 1;
	}
	return false;
}

/*
 * Return the path of the calling process in TREE, from "4:memory:/path" or
 * "0::/path", or NULL. The caller frees the path.
 */
static char *own_path(const char *self, enum cgroup_tree tree)
{
	while (*self != '\0') {
		size_t len = strcspn(self, "\n");
		const char *names = memchr(self, ':', len);
		const char *path =
		    names == NULL ? NULL
				  : memchr(names + 1, ':',
					   len - (size_t)(names + 1 - self));

		if (path != NULL) {
			size_t n = (size_t)(path - (names + 1));
			bool is =
			    controllers[tree] == NULL
				? n == 0 && self[0] == '0'
				: has_word(names + 1, n, controllers[tree]);

			if (is)
				return xstrndup(
				    path + 1, len - (size_t)(path + 1 - self));
		}
		self += len + (self[len] == '\n');
	}
	return NULL;
}

/* Decode octal blanks and backslashes of proc(5), such as "\040", in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s != '\0'; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 +
				       (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* Join TOP and the part of PATH below ROOT; NULL: PATH is not below ROOT. */
static char *group_below(const char *top, const char *root, const char *path)
{
	size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (strncmp(path, root, n) != 0 ||
	    (path[n] != '/' && path[n] != '\0') || strstr(path, "/..") != NULL)
		return NULL;
	return xasprintf("%s%s", top,
			 strcmp(path + n, "/") == 0 ? "" : path + n);
}

/* Is LINE a mount of TREE? Then set *ROOT and *WHERE, the mount point; cuts up LINE. */
static bool is_mount(char *line, enum cgroup_tree tree, char **root,
		     char **where)
{
	enum { ROOT = 3, WHERE = 4, OPTIONAL = 6 };
	char *field[FIELDS_MAX], *save = NULL;
	size_t n = 0, dash;

	for (char *f = strtok_r(line, " ", &save); f != NULL && n < FIELDS_MAX;
	     f = strtok_r(NULL, " ", &save))
		field[n++] = f;
	for (dash = OPTIONAL; dash < n && strcmp(field[dash], "-") != 0; dash++)
		;
	if (dash + 3 >= n)
		return false;
	*root = field[ROOT];
	*where = field[WHERE];
	unescape(*root);
	unescape(*where);
	if (controllers[tree] == NULL)
		return strcmp(field[dash + 1], "cgroup2") == 0;
	return strcmp(field[dash + 1], "cgroup") == 0 &&
	       has_word(field[dash + 3], strlen(field[dash + 3]),
			controllers[tree]);
}

void cgroup_find(const char *self, const char *mountinfo,
		 struct cgroup_home *home)
{
	*home = (struct cgroup_home){0};
	for (int t = 0; t < CGROUP_TREES; t++) {
		char *path = own_path(self, (enum cgroup_tree)t);
		char *text = xstrdup(mountinfo), *save = NULL, *root, *where;

		for (char *line = strtok_r(text, "\n", &save);
		     path != NULL && line != NULL && home->own[t] == NULL;
		     line = strtok_r(NULL, "\n", &save)) {
			if (!is_mount(line, (enum cgroup_tree)t, &root, &where))
				continue;
			home->own[t] = group_below(where, root, path);
			if (home->own[t] != NULL)
				home->top[t] = xstrdup(where);
		}
		free(text);
		free(path);
	}
}

void cgroup_home_fini(struct cgroup_home *home)
{
	for (int t = 0; t < CGROUP_TREES; t++) {
		free(home->own[t]);
		free(home->top[t]);
	}
	*home = (struct cgroup_home){0};
}
