/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_file.c - reads and writes the kernel's files in a cgroup, for cgroup.c
 * and cgroup_run.c. Errors are -errno, and a number that cannot be read is -1:
 * a kernel without that file is no fault.
 */
#include "supervisor/spawn/cgroup_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/spawn/privs.h"

/* What whoever serves writes to, once root is given up. */
static const char *const theirs[] = {"memory.limit_in_bytes",
				     "memory.memsw.limit_in_bytes",
				     "memory.max_usage_in_bytes",
				     "memory.max",
				     "memory.swap.max",
				     "memory.peak",
				     "pids.max",
				     "cgroup.kill"};

static int open_file(const char *dir, const char *file, int flags)
{
	char *path = xasprintf("%s/%s", dir, file);
	int fd = open(path, flags | O_CLOEXEC);
	int rc = fd < 0 ? -errno : fd;

	free(path);
	return rc;
}

int cgroup_put(const char *dir, const char *file, const char *text)
{
	int fd = open_file(dir, file, O_WRONLY);
	int rc = 0;

	if (fd < 0)
		return fd;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

int cgroup_put_number(const char *dir, const char *file, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	return cgroup_put(dir, file, text);
}

int cgroup_get(const char *dir, const char *file, char text[CGROUP_TEXT_MAX])
{
	int fd = open_file(dir, file, O_RDONLY);
	ssize_t n;
	int rc;

	text[0] = '\0';
	if (fd < 0)
		return fd;
	n = read(fd, text, CGROUP_TEXT_MAX - 1);
	rc = n < 0 ? -errno : (int)n;
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return rc;
}

int64_t cgroup_number(const char *dir, const char *file, const char *key)
{
	char text[CGROUP_TEXT_MAX], *end;
	const char *p = text;
	size_t n = key != NULL ? strlen(key) : 0;
	int64_t v;

	if (cgroup_get(dir, file, text) <= 0)
		return -1;
	while (n > 0 && (strncmp(p, key, n) != 0 || p[n] != ' ')) {
		p = strchr(p, '\n');
		if (p == NULL)
			return -1;
		p++;
	}
	p += n;
	v = strtoll(p, &end, 10);
	return end == p ? -1 : v;
}

int cgroup_make(const char *base, const char *name)
{
	char *dir = xasprintf("%s/%s", base, name);
	int rc = mkdir(dir, 0755) == 0 || errno == EEXIST ? 0 : -errno;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(theirs); i++) {
		char *path = xasprintf("%s/%s", dir, theirs[i]);

		privs_give(path);
		free(path);
	}
	if (rc == 0)
		rc = open_file(dir, "cgroup.procs", O_WRONLY);
	free(dir);
	return rc;
}

int cgroup_move(int procs, pid_t pid)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", (int)pid);

	return write(procs, text, (size_t)n) == n ? 0 : -errno;
}
