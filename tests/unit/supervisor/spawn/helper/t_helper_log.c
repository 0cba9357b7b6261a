/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_helper_log.c - the standard error of a helper program in the log: lines,
 * their length, their rate by a shifted clock, and the pipe's end.
 */
#include "supervisor/spawn/helper/helper_log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/base/clock_fixture.h"
#include "tests/unit/base/log_fixture.h"
#include "tests/unit/tap.h"

/* the log holds back quoted lines alone */
#define LINE "ts=1 level=warn part=p a=1"

static struct event_base *base;
static struct helper_log *relay;
static int out; /* the program's end of the pipe */

static void begin(void)
{
	signal(SIGPIPE, SIG_IGN);
	log_begin();
	base = event_base_new();
	relay = helper_log_new(base, "browser");
	out = helper_log_open(relay);
}

static void end(void)
{
	close(out);
	helper_log_free(relay);
	helper_log_free(NULL);
	event_base_free(base);
	log_end();
}

static void say(const char *text, size_t len)
{
	if (write(out, text, len) != (ssize_t)len)
		abort();
	event_base_loop(base, EVLOOP_NONBLOCK);
}

/* Write N lines; returns how many came to the log. */
static int burst(int n)
{
	for (int i = 0; i < n; i++)
		say(LINE "\n", sizeof(LINE));
	return log_count("part=browser/p a=1");
}

TEST(lines)
{
	begin();
	ok(out >= 16, "the pipe's end is above the numbers of a child");
	ok((fcntl(out, F_GETFD) & FD_CLOEXEC) != 0,
	   "the pipe's end is closed at an exec");
	say("one\n\ntw", 7);
	ok(strstr(log_lines(), "said=\"one\"") != NULL,
	   "a line is logged when its end has come");
	say("o\n", 2);
	is_int(log_count("said=\"two\""), 1,
	       "a line in two pieces is one line");
	say("\n\n\n", 3);
	is_str(log_lines(), "", "an empty line is not logged");
	say("the end", 7);
	is_str(log_lines(), "", "a line without an end waits");
	close(out);
	event_base_loop(base, EVLOOP_NONBLOCK);
	is_int(log_count("said=\"the end\""), 1,
	       "the last words are logged when the pipe ends");
	is_int(event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED), 0,
	       "an ended pipe is read no more");
	out = -1;
	end();
}

TEST(long_line)
{
	char *xs = xcalloc(HELPER_LOG_LINE + 8, 1);
	const char *line;

	begin();
	memset(xs, ' ', HELPER_LOG_LINE);
	memcpy(xs, "ts=1 level=warn part=a b=", 25);
	xs[HELPER_LOG_LINE - 1] = 'L';
	strcpy(xs + HELPER_LOG_LINE, "MORE\n");
	say(xs, strlen(xs));
	line = log_lines();
	ok(strstr(line, "part=browser/a") != NULL &&
	       strstr(line, "MORE") == NULL,
	   "a long line is cut");
	say("next\n", 5);
	is_int(log_count("said=\"next\""), 1,
	       "the line behind a long line is whole");
	end();
	free(xs);
}

/* The clock is stopped, so that time passes by clock_skip() alone. */
TEST(rate)
{
	clock_stop(true);
	begin();
	is_int(burst(HELPER_LOG_BURST + 7), HELPER_LOG_BURST,
	       "lines at once have a bound");
	clock_skip(1000);
	say("next\n", 5);
	ok(strstr(log_lines(), "log=lossy lost=7\n") != NULL,
	   "the number of lost lines is logged with the next line");
	is_int(burst(HELPER_LOG_BURST), HELPER_LOG_RATE - 1,
	       "a second makes room for as many lines as the rate is");
	clock_skip(1000);
	say("next\n", 5);
	log_lines();
	clock_skip(1000);
	say("next\n", 5);
	is_int(log_count("log=lossy"), 0, "without lost lines nothing is said");
	clock_skip(3600000);
	is_int(burst(HELPER_LOG_BURST + 1), HELPER_LOG_BURST,
	       "however long nothing was said, lines at once have the bound");
	end();
	clock_stop(false);
}

TEST(slow)
{
	int n = 0;

	clock_stop(true);
	begin();
	burst(HELPER_LOG_BURST);
	for (int i = 0; i < 10; i++) {
		clock_skip(5); /* half of the time for a line */
		n += burst(1);
	}
	is_int(n, 5, "pieces of the time for a line add up");
	end();
	clock_stop(false);
}

TEST(restart)
{
	int was;

	begin();
	was = out;
	out = helper_log_open(relay);
	ok(write(was, "x", 1) < 0 && errno == EPIPE,
	   "the pipe of an earlier program is closed");
	close(was);
	say("again\n", 6);
	is_int(log_count("said=\"again\""), 1,
	       "the next program's lines are logged");
	if (write(out, "bye", 3) != 3)
		abort();
	helper_log_free(relay);
	is_int(log_count("said=\"bye\""), 1,
	       "unread lines are logged at the server's end");
	ok(write(out, "x", 1) < 0 && errno == EPIPE,
	   "the pipe is closed at the server's end");
	relay = helper_log_new(base, "browser");
	end();
}
