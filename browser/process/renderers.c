/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renderers.c - checks the sandbox of pages' processes, for chromium_init.c, in
 * PID 1 of Chromium's namespaces, whose /proc has no other process. What cannot
 * be read counts as no page.
 */
#include "browser/process/renderers.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "browser/process/proc_file.h"

struct process {
	unsigned seccomp, namespaces; /* pid namespaces that it is in */
};

static const char *line_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at != NULL ? at + strlen(key) : "";
}

static struct process look(pid_t pid)
{
	struct process p = {0};
	char text[PROC_FILE_MAX];
	const char *ids;

	proc_file(pid, "status", text);
	p.seccomp = (unsigned)strtoul(line_of(text, "\nSeccomp:"), NULL, 10);
	for (ids = line_of(text, "\nNSpid:"); *ids == '\t'; p.namespaces++)
		ids += 1 + strcspn(ids + 1, "\t\n");
	return p;
}

static bool is_renderer(pid_t pid)
{
	static const char type[] = "--type=renderer";
	char text[PROC_FILE_MAX];
	size_t n = proc_file(pid, "cmdline", text);

	return memmem(text, n, type, sizeof(type) - 1) != NULL;
}

int renderers_sandboxed(void)
{
	unsigned above = look(1).namespaces;
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int rc = -ENOENT;

	while (d != NULL && rc != 0 && (e = readdir(d)) != NULL) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		struct process p;

		if (pid <= 1 || !is_renderer(pid))
			continue;
		p = look(pid);
		rc = p.seccomp == 2 && p.namespaces > above;
	}
	if (d != NULL)
		closedir(d);
	return rc;
}
