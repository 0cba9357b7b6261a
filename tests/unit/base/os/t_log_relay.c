/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_log_relay.c - lines of another process in the log: the process can write lines of
 * its own part alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "tests/unit/tap.h"

static char path[] = "/tmp/paddock-t_log_relay-XXXXXX";

/*
 * The bytes in the log for the LEN bytes at LINE, without the time; the caller frees
 * the text.
 */
static char *relayed_bytes(const char *line, size_t len)
{
	char *all, *said;

	if (truncate(path, 0) < 0)
		abort();
	log_relay("browser", line, len);
	all = buf_file(path, 65536);
	said = strchr(all, ' ');
	said = xstrdup(strncmp(all, "ts=", 3) == 0 && said != NULL ? said + 1
								   : all);
	free(all);
	return said;
}

static char *relayed(const char *line)
{
	return relayed_bytes(line, strlen(line));
}

static const struct {
	const char *line, *said, *name;
} all[] = {
    {"ts=2026-01-01T00:00:00Z level=warn part=net host=\"a b\" n=1",
     "level=warn part=browser/net host=\"a b\" n=1\n",
     "a line of ours: its level and fields, behind whose it is"},
    {"ts=1 level=error part=runs run=run_x msg=\"it \\\"ended\\\"\"",
     "level=error part=browser/runs run=run_x msg=\"it \\\"ended\\\"\"\n",
     "the part of another is that of this one's"},
    {"ts=1 level=debug part=net a=1", "",
     "what is below the log's level is not written"},
    {"Segmentation fault",
     "level=warn part=browser said=\"Segmentation fault\"\n",
     "what is no line of ours is quoted"},
    {"ts=1 level=warn", "level=warn part=browser said=\"ts=1 level=warn\"\n",
     "nor is one without a part one"},
    {"ts=1 level=fatal part=a b=1",
     "level=warn part=browser said=\"ts=1 level=fatal part=a b=1\"\n",
     "or with a level that there is not"},
    {"ts=  level=warn part=a b=1",
     "level=warn part=browser said=\"ts=  level=warn part=a b=1\"\n",
     "or with an empty time"},
    {"ts=1 level=warn part=a\"b c=1", "level=warn part=browser/a?b c=1\n",
     "a part has no quote"},
    {"x\" requestor=root y=\"",
     "level=warn part=browser said=\"x\\\" requestor=root y=\\\"\"\n",
     "a quote does not end the value"},
    {"ts=1 level=warn part=a b=\"\r\x1b[2Jts=2 level=error part=audit\"",
     "level=warn part=browser/a b=\"??[2Jts=2 level=error part=audit\"\n",
     "no line is ended, and no terminal told what to do"},
    {"ts=1 level=warn part=a b=\xe2\x80\xa8\xe2\x80\xae\xc2\x85\xff",
     "level=warn part=browser/a b=????\n",
     "nor by characters that act, or are none"},
    {"", "level=warn part=browser said=\"\"\n", "nothing is something said"},
};

TEST(lines)
{
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		char *said = relayed(all[i].line);

		is_str(said, all[i].said, "%s", all[i].name);
		free(said);
	}
}

TEST(bytes)
{
	static const char nul[] = "ts=1 level=warn part=a b=1\0c\nts=2";
	char *long_line = xcalloc(70001, 1), *said;

	said = relayed_bytes(nul, sizeof(nul) - 1);
	ok(strchr(said, '\n') == said + strlen(said) - 1,
	   "bytes with a NUL and a line's end are one line");
	free(said);
	memset(long_line, 'x', 70000);
	memcpy(long_line, "ts=1 level=info part=a b=", 25);
	said = relayed_bytes(long_line, 70000);
	ok(strlen(said) > 1000 && strlen(said) <= 2048 &&
	       said[strlen(said) - 1] == '\n',
	   "a long one is cut, and ends");
	free(said);
	free(long_line);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0 || log_open(path) < 0)
		return 1;
	close(fd);
	log_set_level(LOG_LEVEL_INFO);
	tap_run();
	unlink(path);
	return tap_done();
}
