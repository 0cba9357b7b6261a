/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_shipped.c - tells which packages are paddock's own. The folder stays
 * open from the first question on, so that no other folder gets its inode
 * number. Without the folder nothing is shipped, and nothing is granted.
 */
#include "supervisor/packages/templates/template_shipped.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/mem.h"

EMBED(shipped_conf, "etc/shipped.conf");

static int open_shipped_folder(void)
{
	static int fd = -1;
	static bool known;
	char exe[PATH_MAX], *path;
	ssize_t n;

	if (known)
		return fd;
	known = true;
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	path = config_shipped_templates(exe);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(path);
	return fd;
}

bool template_shipped_is(int fd)
{
	struct stat ours, theirs;

	return open_shipped_folder() >= 0 &&
	       fstat(open_shipped_folder(), &ours) == 0 &&
	       fstatat(fd, "..", &theirs, 0) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

const struct config_grant *template_shipped_grants(size_t *n)
{
	static struct config *c;
	char errmsg[256];
	int rc;

	if (c == NULL) {
		c = xcalloc(1, sizeof(*c));
		rc = config_read_text(c, "shipped.conf", shipped_conf,
				      (size_t)(shipped_conf_end - shipped_conf),
				      errmsg, sizeof(errmsg));
		/* the text is part of the program, and tested */
		assert(rc == 0);
	}
	*n = c->n_grants;
	return c->grants;
}
