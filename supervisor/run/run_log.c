/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_log.c - a run's log, bounded: worker/worker_recv.c adds each line, and
 * exec/runs_finish.c closes the log. Of a full log the beginning and the end
 * are kept. Entries without room are left out; nothing fails.
 */
#include "supervisor/run/run_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/limits.h"

#define LOG_LAST_MAX 1024 /* bytes of the notices about missing entries */
#define LOG_LINE_HEAD 64  /* most bytes of a line's time and level */
#define END_LINES_MAX 64  /* of a single message to a full log */

/*
 * Add TEXT, and indent all lines after the first: no line looks like an entry.
 */
static int add_lines(struct buf *log, struct str text)
{
	int rc = 0;

	for (size_t n; rc == 0 && text.n > 0; text.p += n, text.n -= n) {
		const char *end = memchr(text.p, '\n', text.n);

		n = end != NULL ? (size_t)(end - text.p) + 1 : text.n;
		rc = buf_add(log, text.p, n);
		if (rc == 0 && end != NULL && n < text.n)
			rc = buf_add(log, "  ", 2);
	}
	return rc == 0 ? buf_add(log, "\n", 1) : rc;
}

static size_t count_text_lines(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

/* Returns the bytes that are kept of the end, beside a full log. */
static size_t end_max(const struct run *r)
{
	size_t part = (size_t)r->limits.logged_bytes / 4;

	return part < RUN_LOG_END_MAX ? part : RUN_LOG_END_MAX;
}

/* Returns the end of TEXT, of few lines: a message may be newlines alone. */
static struct str end_of(struct str text, size_t most)
{
	size_t n = 0, lines = 0;

	while (n < text.n && n < most) {
		lines += text.p[text.n - n - 1] == '\n';
		if (lines > END_LINES_MAX)
			break;
		n++;
	}
	return (struct str){text.p + text.n - n, n};
}

/* Keep the end of an entry that comes when the log is full. */
static int keep_end(struct run *r, const char *ts, const char *level,
		    struct str text)
{
	size_t most = end_max(r), n;
	int rc = buf_printf(&r->log.end, "%s %s ", ts, level);

	r->log.missed++;
	if (rc == 0)
		rc = add_lines(&r->log.end, end_of(text, most));
	n = buf_len(&r->log.end);
	if (n > most)
		buf_drop(&r->log.end, n - most);
	return rc;
}

int run_log_add(struct run *r, const char *level, struct str text)
{
	size_t max = (size_t)r->limits.logged_bytes;
	char ts[CLOCK_ISO_SIZE];
	char *who;
	int rc;

	if (r->log.text == NULL) {
		r->log.text = xcalloc(1, sizeof(*r->log.text));
		r->log.text->max = max + LOG_LAST_MAX + RUN_LOG_END_MAX;
	}
	clock_iso(ts, clock_wall_ms());
	if (r->log.full)
		return keep_end(r, ts, level, text);
	if (buf_len(r->log.text) + text.n + 2 * count_text_lines(text) +
		LOG_LINE_HEAD <=
	    max) {
		rc = buf_printf(r->log.text, "%s %s ", ts, level);
		return rc != 0 ? rc : add_lines(r->log.text, text);
	}
	r->log.full = true;
	(void)keep_end(r, ts, level, text);
	limits_hit(r, LIMIT_LOG,
		   (int64_t)(buf_len(r->log.text) + text.n + LOG_LINE_HEAD));
	who = limits_who_can_raise(r, LIMIT_LOG);
	rc = buf_printf(r->log.text,
			"%s notice this log has its %lld bytes, so the rest is "
			"left out; who can raise that is %s\n",
			ts, (long long)r->limits.logged_bytes, who);
	free(who);
	return rc;
}

/* Returns TEXT after its first newline: the cut line is left out. */
static const char *whole_lines(const char *text)
{
	const char *newline = strchr(text, '\n');

	return newline != NULL && newline[1] != '\0' ? newline + 1 : text;
}

void run_log_close(struct run *r)
{
	char ts[CLOCK_ISO_SIZE];
	size_t n = buf_len(&r->log.end);

	if (n == 0)
		return;
	clock_iso(ts, clock_wall_ms());
	(void)buf_add(&r->log.end, "", 1);
	(void)buf_printf(r->log.text,
			 "%s notice the end of the %llu entries that were left "
			 "out:\n%s",
			 ts, (unsigned long long)r->log.missed,
			 n < end_max(r) ? buf_data(&r->log.end)
					: whole_lines(buf_data(&r->log.end)));
	buf_fini(&r->log.end);
	r->log.end = (struct buf){0};
}

/* Is CODE an end without an answer, in which the printed text would stand? */
static bool says_nothing(const char *code)
{
	static const char *const codes[] = {"RESOURCE_LIMIT", "RUN_TIMEOUT",
					    "WORKER_CRASHED",
					    "SANDBOX_VIOLATION"};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (code != NULL && strcmp(codes[i], code) == 0)
			return true;
	return false;
}

void run_log_tell(struct run *r)
{
	size_t n = r->log.text != NULL ? buf_len(r->log.text) : 0, skip;
	struct json_object *d = r->error.details;
	char *text;

	if (n == 0 || !says_nothing(r->error.code) ||
	    (json_member(d, "stderr") && !json_member(d, "stdout")))
		return;
	skip = n > RUN_LOG_END_MAX ? n - RUN_LOG_END_MAX : 0;
	text = xstrndup(buf_data(r->log.text) + skip, n - skip);
	utf8_mend(text);
	if (d == NULL)
		d = r->error.details = json_object_new_object();
	json_add(d, "log:s", skip > 0 ? whole_lines(text) : text);
	free(text);
}
