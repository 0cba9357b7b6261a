/* SPDX-License-Identifier: Apache-2.0 */
/* logs.c - "paddock logs": what a run has logged, and goes on to log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/clean.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/tell.h"
#include "proto/json.h"

#define POLL_MS 300
#define NO_REQUEST (-1) /* an id that no answer has */

static struct {
	bool follow;
} flags;

static const struct opt opts[] = {
    {"follow", 'f', OPT_FLAG, &flags.follow, NULL,
     "go on until the run has ended"},
};

/* Line by line: its control characters must not act on a terminal. */
static void show(const char *text, size_t len)
{
	const char *end;

	while (len > 0 && (end = memchr(text, '\n', len)) != NULL) {
		size_t n = (size_t)(end - text);
		struct buf out = {0};

		clean_add(&out, text, n, CLEAN_NO_LIMIT);
		tell_out("%.*s\n", (int)buf_len(&out), buf_data(&out));
		buf_fini(&out);
		text += n + 1;
		len -= n + 1;
	}
	fflush(stdout);
}

/* Show what is new since *SEEN. 0, or the exit status. */
static int read_on(struct client *c, const char *run, size_t *seen)
{
	char *uri = xasprintf("paddock://runs/%s/log", run);
	struct json_object *text;
	struct answer a;
	size_t len;
	int rc = client_wait(c, client_send_read(c, uri), CLIENT_FOREVER, &a);

	free(uri);
	if (rc < 0)
		return client_trouble();
	if (!a.good) {
		rc = report_refusal(a.value, NULL);
		answer_fini(&a);
		return rc;
	}
	text = json_member(a.value, "text");
	len = text == NULL ? 0 : (size_t)json_object_get_string_len(text);
	if (len > *seen)
		show(json_object_get_string(text) + *seen, len - *seen);
	*seen = len;
	answer_fini(&a);
	return 0;
}

static bool has_ended(struct json_object *view)
{
	const char *status = json_member_str(view, "status");

	return status == NULL || (strcmp(status, "queued") != 0 &&
				  strcmp(status, "running") != 0);
}

/* What is logged before the end is read after it is known. */
static int follow(const struct cli *cli, struct client *c, const char *run)
{
	size_t seen = 0;
	bool ended = false;
	int rc = 0;

	while (rc == 0) {
		struct json_object *view = NULL;
		struct answer nothing;

		rc = ask(cli, c, "get_task_run", ask_args("runId", run), &view);
		ended = rc != 0 || has_ended(view);
		json_object_put(view);
		if (rc == 0)
			rc = read_on(c, run, &seen);
		if (rc != 0 || ended)
			break;
		if (client_wait(c, NO_REQUEST, POLL_MS, &nothing) != -ETIMEDOUT)
			rc = client_trouble();
	}
	return rc;
}

static int logs(const struct cli *cli, int n, const char *const *arg)
{
	struct client *c = client_open(cli);
	size_t seen = 0;
	int rc;

	(void)n;
	if (c == NULL)
		return client_trouble();
	rc = flags.follow ? follow(cli, c, arg[0])
			  : read_on(c, arg[0], &seen);
	client_close(c);
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
    .run = logs,
};
