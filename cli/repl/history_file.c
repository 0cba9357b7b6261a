/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history_file.c - the place of a history, for lines.c: a folder of the user's
 * own beside the state of paddock. Whoever opens the file notices a missing
 * folder.
 */
#include "cli/repl/history_file.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"

static const char *folder_of(const char *variable)
{
	const char *dir = getenv(variable);

	return dir != NULL && *dir == '/' ? dir : NULL;
}

/* Make the folders above PATH that are missing, for the user alone. */
static void make_folders(char *path)
{
	for (char *at = path + 1; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
}

char *history_file(const char *language)
{
	const char *state = folder_of("XDG_STATE_HOME");
	const char *home = folder_of("HOME");
	char *path;

	if (state == NULL && home == NULL)
		return NULL;
	path = xasprintf("%s%s/paddock-repl/%s", state != NULL ? state : home,
			 state != NULL ? "" : "/.local/state", language);
	make_folders(path);
	return path;
}
