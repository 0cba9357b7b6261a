/* SPDX-License-Identifier: Apache-2.0 */
/* t_throttle.c - how many lines a minute there are, and who is told of the rest. */
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "base/os/throttle.h"
#include "supervisor/run/audit.h"
#include "supervisor/requestor/requestor.h"
#include "tests/unit/tap.h"

static struct throttle t;
static char told[4096];

static void tell(void *arg, const void *kind, const char *who, uint64_t held)
{
	size_t n = strlen(told);

	(void)arg;
	snprintf(told + n, sizeof(told) - n, "[%s %s %llu]", (const char *)kind,
		 who, (unsigned long long)held);
}

/* N lines of KIND for WHO at NOW, when 3 a minute may be written: how many are. */
static int lines(const char *kind, const char *who, int n, int64_t now)
{
	int written = 0;
	uint64_t held;

	for (int i = 0; i < n; i++) {
		written +=
		    throttle_pass(&t, kind, who, strlen(who), 3, now, &held);
		if (held > 0)
			tell(NULL, kind, who, held);
	}
	return written;
}

static const char *all_told(void)
{
	static char was[sizeof(told)];

	memcpy(was, told, sizeof(was));
	told[0] = '\0';
	return was;
}

TEST(minutes)
{
	is_int(lines("a", "ada", 10, 1000), 3,
	       "an account's first three lines of a minute are written");
	is_int(lines("a", "bob", 2, 1000), 2, "another account has its own");
	is_int(lines("b", "ada", 2, 1000), 2,
	       "another kind of line has a minute of its own");
	is_int(lines("a", "ada", 1, 60999), 0, "the minute lasts a minute");
	throttle_tell(&t, 60999, false, tell, NULL);
	is_str(all_told(), "", "no sum is told before the end of the minute");
	is_int(lines("a", "ada", 1, 61000), 1,
	       "a line after the end of the minute is written");
	is_str(all_told(), "[a ada 8]",
	       "the sum of the last minute's held-back lines is told");
	lines("a", "ada", 5, 61000);
	throttle_tell(&t, 121000, false, tell, NULL);
	is_str(all_told(), "[a ada 3]", "the sum is told without another line");
	throttle_tell(&t, 181000, false, tell, NULL);
	is_str(all_told(), "", "the sum is told once");
	lines("b", "bob", 4, 200000);
	throttle_tell(&t, 200000, true, tell, NULL);
	is_str(all_told(), "[b bob 1]",
	       "at the end of the server, the sums are told at once");
	ok(t.by_key == NULL, "no account is left after the end");
}

TEST(accounts)
{
	char who[32];
	int written = 0;

	for (int i = 0; i < 3 * THROTTLE_KEYS_MAX; i++) {
		snprintf(who, sizeof(who), "u%d", i);
		written += lines("k", who, 1, 0);
	}
	is_int(written, THROTTLE_KEYS_MAX + 3,
	       "accounts beyond some thousands share what one has");
	memset(who, 'x', sizeof(who) - 1);
	throttle_tell(&t, 0, true, tell, NULL);
	all_told();
}

static int count(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}

TEST(log)
{
	char path[] = "throttle.XXXXXX", *text;

	close(mkstemp(path));
	log_open(path);
	for (int i = 0; i < 2 * LOG_MINUTE_MAX; i++)
		log_info("x", "requestor=%s id=%d", "ada", i);
	for (int i = 0; i < 5; i++)
		log_info("x", "requestor=%s id=%d", "bob", i);
	for (int i = 0; i < 5; i++)
		log_rarely("x", "from=\"%s\" requestor=none",
			   "z requestor=eve");
	log_held_back(true);
	text = buf_file(path, 1 << 20);
	is_int(count(text, "requestor=ada id="), LOG_MINUTE_MAX,
	       "a flooding account gets the limit of lines");
	is_int(count(text, "requestor=bob id="), 5,
	       "a flood takes no lines from another account");
	is_int(count(text, "part=x from="), 1,
	       "lines with a limit of one a minute are written once");
	ok(strstr(text, "level=warn part=log requestor=ada held_back=600 "
			"like=\"requestor=%s id=%d\"\n") != NULL,
	   "held-back lines are counted by account");
	ok(strstr(text,
		  "level=warn part=log held_back=4 like=\"from=\\\"%s\\\" "
		  "requestor=none\"\n") != NULL,
	   "text in a value does not count as an account");
	free(text);
	unlink(path);
	log_open(NULL);
}

TEST(audit)
{
	char path[] = "audit.XXXXXX", *text;
	struct requestor ada = {.name = (char *)"ada"};
	struct requestor bob = {.name = (char *)"bob"};

	close(mkstemp(path));
	audit_open(path);
	for (int i = 0; i < AUDIT_MINUTE_MAX + 50; i++)
		audit_refused(&ada, "get_task_run", "run_x", "RUN_NOT_FOUND");
	audit_refused(&bob, "get_task_run", "run_x", "RUN_NOT_FOUND");
	audit_held_back(true);
	text = buf_file(path, 1 << 20);
	is_int(count(text, "\"event\":\"refused\",\"requestor\":\"ada\""),
	       AUDIT_MINUTE_MAX,
	       "refusals are recorded up to the limit of a minute");
	is_int(count(text, "\"event\":\"refused\",\"requestor\":\"bob\""), 1,
	       "another requestor's refusal is recorded");
	ok(strstr(text, "\"event\":\"held_back\",\"requestor\":\"ada\","
			"\"of\":\"refused\",\"count\":50}") != NULL,
	   "the record has the number of held-back refusals");
	free(text);
	unlink(path);
	audit_open(NULL);
}
