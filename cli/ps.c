/* SPDX-License-Identifier: Apache-2.0 */
/* ps.c - "paddock ps": the runs there are. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/bar.h"
#include "cli/cli.h"
#include "cli/pretty.h"
#include "cli/tell.h"
#include "proto/json.h"

#define PAGE 100 /* as much as list_task_runs gives at once */

static struct {
	bool all;
	const char *template, *status;
} flags;

static const struct opt opts[] = {
    {"all", 'a', OPT_FLAG, &flags.all, NULL,
     "those that have ended, too"},
    {"template", 0, OPT_TEXT, &flags.template, "TEMPLATE",
     "only runs of that template"},
    {"status", 0, OPT_TEXT, &flags.status, "STATUS",
     "only runs in that status"},
};

static struct json_object *arguments(const char *status, size_t offset)
{
	struct json_object *args = ask_args(status ? "status" : NULL, status);

	json_object_object_add(args, "limit", json_object_new_int(PAGE));
	json_object_object_add(args, "offset",
			       json_object_new_int64((int64_t)offset));
	if (flags.template != NULL)
		json_object_object_add(args, "templateId",
				       json_object_new_string(flags.template));
	return args;
}

/* All runs in STATUS (NULL: any), page by page, onto LIST. */
static int gather(const struct cli *cli, struct client *c, const char *status,
		  struct json_object *list)
{
	size_t offset = 0, n;
	int rc;

	do {
		struct json_object *page, *runs;

		rc = ask(cli, c, "list_task_runs", arguments(status, offset),
			 &page);
		runs = json_member(page, "runs");
		n = json_object_is_type(runs, json_type_array)
			? json_object_array_length(runs)
			: 0;
		for (size_t i = 0; i < n; i++)
			json_object_array_add(
			    list,
			    json_object_get(json_object_array_get_idx(runs, i)));
		offset += n;
		json_object_put(page);
	} while (rc == 0 && n == PAGE);
	return rc;
}

static void show(struct json_object *list)
{
	size_t n = json_object_array_length(list);
	int64_t now = clock_wall_ms();

	if (n > 0)
		tell_out("%-30s  %-24s  %-15s  %s\n", "RUN", "TEMPLATE", "STATUS",
		       "CREATED");
	for (size_t i = 0; i < n; i++) {
		struct json_object *r = json_object_array_get_idx(list, i);
		int64_t age = now - json_object_get_int64(
					json_member(r, "createdAt"));
		char ago[BAR_TIME_SIZE];

		bar_time(ago, age > 0 ? age : 0);
		tell_out("%-30s  %-24s  %-15s  %s ago\n",
		       json_member_str(r, "runId"),
		       json_member_str(r, "templateId"),
		       json_member_str(r, "status"), ago);
	}
}

static int ps(const struct cli *cli, int n, const char *const *arg)
{
	struct client *c = client_open(cli);
	struct json_object *list;
	int rc;

	(void)n, (void)arg;
	if (c == NULL)
		return client_trouble();
	list = json_object_new_array();
	if (flags.all || flags.status != NULL) {
		rc = gather(cli, c, flags.status, list);
	} else {
		rc = gather(cli, c, "queued", list);
		if (rc == 0)
			rc = gather(cli, c, "running", list);
	}
	client_close(c);
	if (rc == 0 && cli->json)
		pretty_print(list, true);
	else if (rc == 0)
		show(list);
	json_object_put(list);
	return rc;
}

const struct command cmd_ps = {
    .name = "ps",
    .args = "",
    .summary = "runs that are queued or running",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .run = ps,
};
