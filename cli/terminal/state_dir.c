/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_dir.c - a temporary state folder for a private server, for selftest,
 * template tests and the Lua check. If none can be made the reason is printed;
 * files that cannot be removed stay in the temporary folder.
 */
#include "cli/terminal/state_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/terminal/terminal.h"

#define STATE_TEMPLATE "paddock-test-XXXXXX"
#define OPEN_FILES 16

char *state_dir_make(void)
{
	const char *tmp = getenv("TMPDIR");
	char *path = xasprintf("%s/" STATE_TEMPLATE,
			       tmp != NULL && *tmp == '/' ? tmp : "/tmp");

	if (mkdtemp(path) != NULL)
		return path;
	message_print("%s: %s", path, strerror(errno));
	free(path);
	return NULL;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void state_dir_remove(char *path)
{
	nftw(path, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
	free(path);
}
