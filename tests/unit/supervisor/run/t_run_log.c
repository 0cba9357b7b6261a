/* SPDX-License-Identifier: Apache-2.0 */
/* t_run_log.c - the kept part of a run's log, and the lines told with an error. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/run/run_log.h"
#include "tests/unit/tap.h"

static struct requestor alice = {.name = (char *)"alice"};
static struct template template = {.id = (char *)"echo", .users = 100};

static struct run *logging(int64_t bytes)
{
	struct run *r = run_new(&alice, &template);

	r->limits.logged_bytes = bytes;
	return r;
}

static int add(struct run *r, const char *text)
{
	return run_log_add(r, "info",
			   (struct str){(char *)(uintptr_t)text, strlen(text)});
}

/* The log without the time of each line, whose length is constant. */
static const char *text_of(const struct run *r)
{
	static const size_t ts = sizeof("2026-01-02T03:04:05.678Z ") - 1;
	static char all[16384];
	const char *p = buf_data(r->log.text);
	size_t left = buf_len(r->log.text), used = 0;

	while (left > 0) {
		const char *nl = memchr(p, '\n', left);
		size_t n = nl != NULL ? (size_t)(nl - p) + 1 : left;
		size_t skip = p[0] == '2' && n > ts ? ts : 0;

		memcpy(all + used, p + skip, n - skip);
		used += n - skip;
		p += n;
		left -= n;
	}
	all[used] = '\0';
	return all;
}

TEST(lines)
{
	struct run *r = logging(10000);

	is_int(add(r, "one"), 0, "an entry is taken");
	add(r, "two\nmore\nand more");
	add(r, "three\n");
	is_str(text_of(r),
	       "info one\ninfo two\n  more\n  and more\ninfo three\n\n",
	       "further lines of an entry look like no other entry");
	ok(!r->log.full, "a log with three entries has room for more");
	run_log_close(r);
	is_str(text_of(r),
	       "info one\ninfo two\n  more\n  and more\ninfo three\n\n",
	       "nothing is said at the end when all has been kept");
	run_free(r);
}

/* The longest entry that fits into an empty log of LIMIT bytes. */
static size_t longest(int64_t limit)
{
	char text[256];
	size_t n = 0;

	for (size_t len = 1; len < sizeof(text); len++) {
		struct run *r = logging(limit);

		memset(text, 'x', len);
		text[len] = '\0';
		add(r, text);
		if (!r->log.full)
			n = len;
		run_free(r);
	}
	return n;
}

TEST(bound)
{
	is_int((int64_t)longest(200), 200 - 64,
	       "an entry fits with its time and level, and to the byte");
	is_int((int64_t)longest(100), 100 - 64, "whatever the limit is");
}

TEST(end)
{
	struct run *r = logging(400);
	char text[64];

	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "entry %d", i);
		add(r, text);
	}
	ok(r->log.full, "a log becomes full");
	ok(r->hit[LIMIT_LOG] > 400,
	   "a full log is known as a limit that was met");
	ok(strstr(text_of(r), "entry 39") == NULL,
	   "the end of a full log is kept apart");
	run_log_close(r);
	ok(strncmp(text_of(r), "info entry 0\n", 13) == 0,
	   "the beginning is there");
	ok(strstr(text_of(r), "notice this log has its 400 bytes") != NULL &&
	       strstr(text_of(r), "who can raise that is ") != NULL,
	   "a closed log says what was reached and who can raise the limit");
	ok(strstr(text_of(r), "info entry 39\n") != NULL,
	   "a closed log has the last entry");
	snprintf(text, sizeof(text), "end of the %d entries that were left out",
		 (int)r->log.missed);
	ok(strstr(text_of(r), text) != NULL,
	   "a closed log says how many entries are missing");
	is_int((int64_t)r->log.missed, 40 - 9,
	       "a closed log counts the entries left out");
	ok(buf_len(&r->log.end) == 0, "no entry is kept twice");
	run_free(r);
}

/* The kept end is a quarter of the limit, and the first line may be cut. */
TEST(end_is_whole_lines)
{
	struct run *r = logging(400);
	const char *at;

	for (int i = 0; i < 40; i++)
		add(r, "all of this entry is as long as the others");
	run_log_close(r);
	at = strstr(text_of(r), "left out:\n");
	ok(at != NULL &&
	       strncmp(at + strlen("left out:\n"), "info all", 8) == 0,
	   "the end begins with a whole entry");
	run_free(r);
}

TEST(many_lines)
{
	struct run *r = logging(1 << 20);
	char *lines = xcalloc(1, (1 << 20) + 2);
	size_t n = 0;

	memset(lines, '\n', 1 << 20);
	add(r, lines);
	ok(r->log.full, "lines cost more than their bytes");
	for (size_t i = 0; i < buf_len(&r->log.end); i++)
		n += buf_data(&r->log.end)[i] == '\n';
	is_int((int64_t)n, 64 + 1,
	       "of a message that is nothing but lines few are kept");
	run_free(r);
	free(lines);
}

/* The lines told with the error CODE of a run whose log is TEXT. */
static const char *told(const char *code, const char *text)
{
	static char all[RUN_LOG_END_MAX * 2];
	struct run *r = logging(1 << 20);
	const char *log;

	if (text != NULL)
		add(r, text);
	if (code != NULL)
		run_set_error(r, code, NULL, "the run failed");
	run_log_tell(r);
	log = json_member_str(r->error.details, "log");
	snprintf(all, sizeof(all), "%s", log != NULL ? log : "(none)");
	run_free(r);
	return all;
}

TEST(told)
{
	static const char *const silent[] = {"RESOURCE_LIMIT", "RUN_TIMEOUT",
					     "WORKER_CRASHED",
					     "SANDBOX_VIOLATION"};

	for (size_t i = 0; i < ARRAY_LEN(silent); i++)
		ok(strstr(told(silent[i], "printed"), "info printed\n") != NULL,
		   "%s is told with what was printed", silent[i]);
	is_str(told("EXECUTION_ERROR", "printed"), "(none)",
	       "an error of the template's own is not");
	is_str(told(NULL, "printed"), "(none)",
	       "the log of a success is not told");
	is_str(told("RUN_TIMEOUT", NULL), "(none)",
	       "who has printed nothing is told nothing");
}

TEST(told_beside)
{
	struct run *r = logging(1 << 20);

	add(r, "printed");
	run_set_error(r, "RUN_TIMEOUT",
		      json_tokener_parse("{\"stderr\":\"printed\"}"), "late");
	run_log_tell(r);
	ok(json_member(r->error.details, "log") == NULL,
	   "what is told already is not told twice");
	run_free(r);
	r = logging(1 << 20);
	add(r, "printed");
	run_set_error(r, "RUN_TIMEOUT", json_tokener_parse("{\"limit\":1}"),
		      "late");
	run_log_tell(r);
	ok(json_member(r->error.details, "log") != NULL &&
	       json_member(r->error.details, "limit") != NULL,
	   "the details of an error stay beside the log");
	run_free(r);
}

TEST(told_end)
{
	static char text[RUN_LOG_END_MAX * 2];
	const char *end;

	for (size_t i = 0; i + 1 < sizeof(text); i++)
		text[i] = i % 80 == 79 ? '\n' : (char)('a' + i % 26);
	end = told("RUN_TIMEOUT", text);
	ok(strlen(end) <= RUN_LOG_END_MAX &&
	       strlen(end) > RUN_LOG_END_MAX - 100,
	   "of a long log the end is told");
	ok(strncmp(end, "  ", 2) == 0 && end[2] != ' ',
	   "from its first whole line on");
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text + sizeof(text) - 8, "\xc3\xa4\xc3\xa4\xc3\xa4", 6);
	end = told("RUN_TIMEOUT", text);
	is_int((int64_t)strlen(end), RUN_LOG_END_MAX,
	       "of one line as much as there is room for");
	memset(text, '\xa4', sizeof(text) - 1);
	for (size_t i = 0; i + 1 < sizeof(text); i += 2)
		text[i] = '\xc3';
	end = told("RUN_TIMEOUT", text);
	ok(strstr(end, "\xc3\xa4") != NULL && (unsigned char)end[0] != 0xa4,
	   "a log is cut at no half of a character");
}
