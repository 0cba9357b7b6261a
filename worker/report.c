/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - messages that the Lua runtime and the shim send alike: log lines, lost
 * files, and the end of a run. The functions cannot fail; channel.c exits when the
 * supervisor is gone.
 */
#include "worker/report.h"

#include <string.h>

#include "worker/channel.h"
#include "worker/progress.h"
#include "worker/steps.h"
#include "worker/text.h"

static struct str cleaned(const char *p, size_t n)
{
	static char text[MSG_TEXT_MAX];

	return (struct str){text, text_clean(text, sizeof(text), p, n)};
}

void report_log(unsigned level, const char *p, size_t n)
{
	struct msg m = {.type = MSG_LOG};

	m.log.level = level;
	m.log.text = cleaned(p, n);
	channel_send(&m);
}

void report_lost(const struct msg_lost *lost)
{
	struct msg m = {.type = MSG_LOST, .lost = *lost};

	progress_flush();
	channel_send(&m);
}

static uint64_t us_of(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

void report_result(enum msg_result_kind kind, const struct rusage *used,
		   const char *p, size_t n)
{
	struct msg m = {.type = MSG_RESULT};

	m.result.kind = kind;
	if (used != NULL) {
		m.result.user_us = us_of(&used->ru_utime);
		m.result.system_us = us_of(&used->ru_stime);
		m.result.max_rss_kb = (uint64_t)used->ru_maxrss;
	}
	steps_close();
	progress_flush();
	channel_send_body(&m, p, n);
}

void report_fail(const char *code, const char *message, size_t len,
		 struct str details)
{
	struct msg m = {.type = MSG_FAIL};

	m.fail.error_code = (struct str){code, strlen(code)};
	m.fail.message = cleaned(message, len);
	m.fail.details = details;
	steps_close();
	progress_flush();
	channel_send(&m);
}
