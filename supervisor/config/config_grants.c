/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_grants.c - reads grants.d, the folder of approved grants beside paddock.conf. A
 * file is read into a configuration of its own, whose sections are appended: a section
 * of paddock.conf for another package of the template stays as it is.
 */
#include "supervisor/config/config_private.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "supervisor/config/config_keys.h"

#define DIR_NAME "grants.d"

/* Return the folder beside FILE as an absolute path: an operator elsewhere is told. */
static char *grants_dir(const char *file)
{
	const char *slash = strrchr(file, '/');
	int n = slash != NULL ? (int)(slash - file + 1) : 0;
	char cwd[PATH_MAX];

	if (*file == '/' || getcwd(cwd, sizeof(cwd)) == NULL)
		return xasprintf("%.*s" DIR_NAME, n, file);
	return xasprintf("%s/%.*s" DIR_NAME, cwd, n, file);
}

/* Has a section of FILE, in C, no template or no digest? */
static int check_sections(const struct config *c, const char *path,
			  char *errmsg, size_t size)
{
	const char *bad = NULL;

	for (size_t i = 0; bad == NULL && i < c->n_grants; i++)
		if (c->grants[i].digest == NULL ||
		    strcmp(c->grants[i].name, "*") == 0)
			bad = c->grants[i].name;
	for (size_t i = 0; bad == NULL && i < c->n_overs; i++)
		if (c->overs[i].digest == NULL)
			bad = c->overs[i].name;
	return bad == NULL
		   ? 0
		   : errmsg_set(errmsg, size,
				"%s: an approved grant is for one package, by "
				"digest, and the section \"%s\" is for more",
				path, bad);
}

/* Move the sections NAME of OWN to the end of those of C. */
static void append(struct config *c, struct config *own, const char *name)
{
	const struct config_section *s = config_section_find(name);
	size_t n = config_section_count(own, s), none = 0;
	size_t all = config_section_count(c, s);
	char *from, *to;

	if (n == 0)
		return;
	memcpy(&from, (const char *)own + s->list, sizeof(from));
	memcpy(&to, (const char *)c + s->list, sizeof(to));
	to = xrealloc(to, (all + n) * s->size);
	memcpy(to + all * s->size, from, n * s->size);
	all += n;
	memcpy((char *)c + s->list, &to, sizeof(to));
	memcpy((char *)c + s->count, &all, sizeof(all));
	memcpy((char *)own + s->count, &none, sizeof(none));
}

static int read_one(struct config *c, const char *path, char *errmsg,
		    size_t size)
{
	struct config *own = xcalloc(1, sizeof(*own));
	int rc = config_file_read(own, path, true, errmsg, size);

	if (rc == 0)
		rc = check_sections(own, path, errmsg, size);
	if (rc == 0 && (c->n_grants + own->n_grants > CONFIG_NAMED_MAX ||
			c->n_overs + own->n_overs > CONFIG_NAMED_MAX))
		rc = errmsg_set(errmsg, size,
				"%s: there are grants for more than %d "
				"templates and packages; remove files of old "
				"packages",
				path, CONFIG_NAMED_MAX);
	if (rc == 0) {
		append(c, own, CONFIG_GRANT);
		append(c, own, CONFIG_TEMPLATE);
	}
	config_free(own);
	return rc == -ENOENT ? 0 : rc; /* removed meanwhile */
}

int config_read_grants(struct config *c, const char *file, char *errmsg,
		       size_t size)
{
	struct dirent **list;
	int rc, n;

	free(c->grants_dir);
	c->grants_dir = grants_dir(file);
	n = config_file_list(c->grants_dir, &list, errmsg, size);
	rc = n < 0 ? n : 0;
	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", c->grants_dir, list[i]->d_name);

		if (rc == 0)
			rc = read_one(c, path, errmsg, size);
		free(path);
		free(list[i]);
	}
	free(list);
	return rc;
}
