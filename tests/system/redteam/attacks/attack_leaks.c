/* SPDX-License-Identifier: Apache-2.0 */
/* attack_leaks.c - attempts to read data of other runs and of the server. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

#define CHUNK ((size_t)1 << 20)

static bool range_has(int mem, uint64_t from, uint64_t to, const char *needle,
		      size_t n, char *buf)
{
	for (uint64_t at = from; at < to; at += CHUNK - n) {
		size_t want = to - at < CHUNK ? (size_t)(to - at) : CHUNK;
		ssize_t got = pread(mem, buf, want, (off_t)at);

		if (got > 0 && memmem(buf, (size_t)got, needle, n) != NULL)
			return true;
	}
	return false;
}

/*
 * The needle is given as two halves, so the program's own memory does not contain the
 * needle.
 */
static bool memory_has_both(const char *a, const char *b)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int mem = open("/proc/self/mem", O_RDONLY);
	char *buf = malloc(CHUNK), line[512];
	bool found = false;

	if (maps == NULL || buf == NULL)
		abort();
	while (fgets(line, sizeof(line), maps) != NULL) {
		size_t n = strlen(a) + strlen(b);
		unsigned long from, to;
		char needle[64];

		if (sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		/* skip the joined needle and the read buffer */
		if (from <= (unsigned long)needle && (unsigned long)needle < to)
			continue;
		if (from <= (unsigned long)buf && (unsigned long)buf < to)
			continue;
		snprintf(needle, sizeof(needle), "%s%s", a, b);
		found = found || range_has(mem, from, to, needle, n, buf);
	}
	fclose(maps);
	close(mem);
	free(buf);
	return found;
}

static void secret(void)
{
	printf("{\"found\":%s}",
	       memory_has_both("canary-of", "-the-server") ? "true" : "false");
}

/* Search for the inputs of the run before: "earlier-" and "input". */
static void earlier(void)
{
	printf("{\"found\":%s}", memory_has_both("earlier-", "input-of-a-run")
				     ? "true"
				     : "false");
}

/* The numbers in /proc except the process's own and its threads'. */
static void others(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		long pid = strtol(e->d_name, NULL, 10);

		n += pid > 0 && pid != getpid();
	}
	printf("%d", n);
}

/* CPU clocks of processes outside of the run. */
static void clocks(void)
{
	struct timespec ts;
	int n = 0;

	for (int pid = 2; pid < 40000; pid++)
		n += pid != getpid() &&
		     clock_gettime((clockid_t)((~(unsigned)pid << 3) | 2),
				   &ts) == 0;
	printf("%d", n);
}

const struct attack leak_attacks[] = {
    {"secret", secret}, {"earlier", earlier}, {"others", others},
    {"clocks", clocks}, {NULL, NULL},
};
