/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_file.c - reads and writes the kernel's files of a cgroup, for cgroup.c
 * and cgroup_run.c. Errors are -errno, and a number that cannot be read is -1:
 * a kernel without the file is no fault.
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

/* Files that the serving user writes after root is given up. */
static const char *const theirs[] = {"memory.limit_in_bytes",
				     "memory.memsw.limit_in_bytes",
				     "memory.max_usage_in_bytes",
				     "memory.max",
				     "memory.swap.max",
				     "memory.peak",
				     "pids.max",
				     "cgroup.kill"};

const char *cgroup_base(enum cgroup_tree v1)
{
	return cgroups.base[cgroups.version == CGROUP_V1 ? v1 : CGROUP_UNIFIED];
}

int cgroup_open(const char *base, const char *group, const char *file,
		int flags)
{
	char *path;
	int fd;

	if (base == NULL)
		return -ENOENT;
	path = group == NULL ? xasprintf("%s/%s", base, file)
			     : xasprintf("%s/%s/%s", base, group, file);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	free(path);
	return fd;
}

int cgroup_put(const char *base, const char *group, const char *file,
	       const char *text)
{
	int fd = cgroup_open(base, group, file, O_WRONLY);
	int rc = 0;

	if (fd < 0)
		return fd;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

int cgroup_put_number(const char *base, const char *group, const char *file,
		      uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	return cgroup_put(base, group, file, text);
}

int cgroup_get(const char *base, const char *group, const char *file,
	       char text[CGROUP_TEXT_MAX])
{
	int fd = cgroup_open(base, group, file, O_RDONLY);
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

int64_t cgroup_number(const char *base, const char *group, const char *file,
		      const char *key)
{
	char text[CGROUP_TEXT_MAX];

	cgroup_get(base, group, file, text);
	return cgroup_number_in(text, key);
}

int64_t cgroup_number_in(const char *text, const char *key)
{
	size_t n = key != NULL ? strlen(key) : 0;
	const char *p = text;
	char *end;
	int64_t v;

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

size_t cgroup_members(const char *base, const char *group,
		      bool (*each)(void *arg, pid_t pid), void *arg)
{
	int fd = cgroup_open(base, group, "cgroup.procs", O_RDONLY), pid;
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	size_t n = 0;

	/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote these numbers */
	while (f != NULL && fscanf(f, "%d", &pid) == 1 && pid > 0) {
		n++;
		if (!each(arg, pid))
			break;
	}
	if (f != NULL)
		fclose(f);
	return n;
}

int cgroup_make(const char *base, const char *name)
{
	char *dir = xasprintf("%s/%s", base, name);
	int rc = mkdir(dir, 0755) == 0 || errno == EEXIST ? 0 : -errno;

	free(dir);
	return rc == 0 ? cgroup_open(base, name, "cgroup.procs", O_WRONLY) : rc;
}

void cgroup_give(const char *base, const char *name)
{
	char *dir = xasprintf("%s/%s", base, name);

	privs_give_all(dir, theirs, ARRAY_LEN(theirs));
	free(dir);
}

int cgroup_move(int procs, pid_t pid)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d", (int)pid);

	return write(procs, text, (size_t)n) == n ? 0 : -errno;
}
