#include "broker/renderers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX 4096
#define DEPTH_MAX 64 /* of what is started by what */

struct process {
	pid_t parent;
	unsigned seccomp, namespaces; /* of pids, that it is in */
};

/* The first bytes of /proc/PID/NAME; a NUL follows them. How many. */
static size_t slurp(pid_t pid, const char *name, char text[FILE_MAX])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, FILE_MAX - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static const char *line_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at != NULL ? at + strlen(key) : "";
}

static struct process look(pid_t pid)
{
	struct process p = {0};
	char text[FILE_MAX];
	const char *ids;

	slurp(pid, "status", text);
	p.parent = (pid_t)strtol(line_of(text, "\nPPid:"), NULL, 10);
	p.seccomp = (unsigned)strtoul(line_of(text, "\nSeccomp:"), NULL, 10);
	for (ids = line_of(text, "\nNSpid:"); *ids == '\t'; p.namespaces++)
		ids += 1 + strcspn(ids + 1, "\t\n");
	return p;
}

static bool is_renderer(pid_t pid)
{
	static const char type[] = "--type=renderer";
	char text[FILE_MAX];
	size_t n = slurp(pid, "cmdline", text);

	return memmem(text, n, type, sizeof(type) - 1) != NULL;
}

static bool is_below(pid_t pid, pid_t world)
{
	for (int i = 0; i < DEPTH_MAX && pid > 1; i++) {
		pid = look(pid).parent;
		if (pid == world)
			return true;
	}
	return false;
}

int renderers_sandboxed(pid_t world)
{
	unsigned above = look(world).namespaces;
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int rc = -ENOENT;

	while (d != NULL && rc != 0 && (e = readdir(d)) != NULL) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		struct process p;

		if (pid <= 0 || !is_renderer(pid) || !is_below(pid, world))
			continue;
		p = look(pid);
		rc = p.seccomp == 2 && p.namespaces > above;
	}
	if (d != NULL)
		closedir(d);
	return rc;
}
