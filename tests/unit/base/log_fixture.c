/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_fixture.c - see log_fixture.h. The log is a file of its own for each test program;
 * a file that cannot be made or read ends the test.
 */
#include "tests/unit/base/log_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/os/log.h"

#define MOST (4u << 20) /* bytes of lines between two calls */

static char path[64];
static char *lines;

void log_begin(void)
{
	int fd;

	strcpy(path, "/tmp/paddock-t-log-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || log_open(path) < 0)
		abort();
	close(fd);
	log_set_level(LOG_LEVEL_INFO);
}

void log_end(void)
{
	free(lines);
	lines = NULL;
	log_open(NULL);
	unlink(path);
}

const char *log_lines(void)
{
	free(lines);
	lines = buf_file(path, MOST);
	if (lines == NULL || truncate(path, 0) < 0)
		abort();
	return lines;
}

int log_count(const char *text)
{
	const char *at = log_lines();
	int n = 0;

	for (; (at = strstr(at, text)) != NULL; n++)
		at = strchr(at, '\n');
	return n;
}
