/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logs.c - "paddock logs": prints a run's log, and with --follow what is added
 * until the run ends. main.c's table calls it. A server that sends no
 * notifications of changes is polled; a missing run is CLI_ABSENT.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/tool_call.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/cli.h"
#include "cli/client/report.h"
#include "cli/run/run_call.h"
#include "proto/json/json.h"

/*
 * After a notification the log is read at most this often. A server may send
 * none (of a run on another node): then the log is polled.
 */
#define READ_EVERY_MS 250
#define VIEW_EVERY_MS 1000 /* pollAfterMs of the contract */
#define UNASKED_MS 1000

static struct {
	bool follow;
} flags;

static const struct opt opts[] = {
    {"follow", 'f', OPT_FLAG, &flags.follow, NULL,
     "go on until the run has ended"},
};

/* Print whole lines, cleaned of control characters that act on a terminal. */
static void print_log(const char *text, size_t len)
{
	const char *end;

	while (len > 0 && (end = memchr(text, '\n', len)) != NULL) {
		size_t n = (size_t)(end - text);
		struct buf out = {0};

		sanitize_add(&out, text, n, SANITIZE_NO_LIMIT);
		safe_printf("%.*s\n", (int)buf_len(&out), buf_data(&out));
		buf_fini(&out);
		text += n + 1;
		len -= n + 1;
	}
	fflush(stdout);
}

/* Print the log from *SEEN on. 0, or the exit status. */
static int read_on(const struct cli *cli, struct client *c, const char *run,
		   size_t *seen)
{
	char *uri = xasprintf("paddock://runs/%s/log", run);
	struct json_object *view;
	struct buf text = {0};
	struct tool_result a;
	int rc = client_read_text(c, uri, *seen, &text, &a);

	free(uri);
	if (rc < 0) {
		buf_fini(&text);
		return client_trouble();
	}
	if (!a.good) {
		/* the refusal of a missing run helps more than the refusal of a log */
		rc = tool_call_run(cli, c, run, &view);
		json_object_put(view);
		if (rc == 0)
			rc = report_refusal(a.value, run);
	} else if (buf_len(&text) > 0) {
		print_log(buf_data(&text), buf_len(&text));
		*seen += buf_len(&text);
	}
	tool_result_fini(&a);
	buf_fini(&text);
	return rc;
}

/* The log is read once more after the end is known, for the last lines. */
static int follow_log(const struct cli *cli, struct client *c, const char *run,
		      size_t *seen)
{
	char *uri = xasprintf("paddock://runs/%s", run);
	char *log = xasprintf("%s/log", uri);
	struct json_object *view;
	int64_t look_ms = 0;
	bool ended = false;
	int rc = client_subscribe(c, (const char *const[]){uri, log}, 2);

	/* a refusal to subscribe is ignored: the log is polled */
	free(uri);
	free(log);
	rc = rc < 0 ? client_trouble() : 0;

	while (rc == 0) {
		if (clock_mono_ms() >= look_ms) {
			look_ms = clock_mono_ms() + VIEW_EVERY_MS;
			rc = tool_call_run(cli, c, run, &view);
			ended = rc == 0 && run_call_ended(view);
			json_object_put(view);
		}
		if (rc == 0)
			rc = read_on(cli, c, run, seen);
		if (rc != 0 || ended)
			break;
		rc = client_wait_update(c, UNASKED_MS);
		if (rc == 0)
			rc = client_pause(c, READ_EVERY_MS);
		rc = rc < 0 && rc != -ETIMEDOUT ? client_trouble() : 0;
	}
	return rc;
}

static int logs(const struct cli *cli, struct client *c, int n,
		const char *const *arg)
{
	size_t seen = 0;
	int rc;

	(void)n;
	rc = flags.follow ? follow_log(cli, c, arg[0], &seen)
			  : read_on(cli, c, arg[0], &seen);
	if (rc == 0 && seen == 0 && !cli->quiet)
		message_print("%s has logged nothing", arg[0]);
	return rc;
}

const struct command cmd_logs = {
    .name = "logs",
    .args = "RUN",
    .summary = "what a run has logged",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .min = 1,
    .max = 1,
    .call = logs,
};
