/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_file.c - reads files of /proc, for renderers.c and chromium_init.c, in
 * PID 1 of Chromium's namespaces. A process that has ended has none.
 */
#include "browser/process/proc_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

size_t proc_file(pid_t pid, const char *name, char text[PROC_FILE_MAX])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, PROC_FILE_MAX - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}
