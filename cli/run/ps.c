/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ps.c - "paddock ps": prints the runs as a table or JSON, page by page; or the
 * servers that share a database, or the workers that wait for runs. main.c's
 * table calls it. When the server refuses or is lost, the call's status ends the
 * command; without runs or workers a line on stderr says so.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/terminal/duration.h"
#include "cli/client/tool_call.h"
#include "cli/client/report.h"
#include "cli/client/tool_result.h"
#include "cli/run/notebook.h"
#include "cli/terminal/table.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/opt.h"
#include "proto/json/json_pack.h"

#define PAGE 100     /* the most that list_task_runs returns at once */
#define LATE_MS 3000 /* a heartbeat comes each second */
#define DEPTH_MAX 64 /* of a tree of runs; deeper runs are left out */

static struct {
	bool all, tree, warm, nodes, residents;
	const char *template, *status, *since, *most;
} flags;

static const struct opt opts[] = {
    {"all", 'a', OPT_FLAG, &flags.all, NULL, "those that have ended, too"},
    {"template", 0, OPT_TEXT, &flags.template, "TEMPLATE",
     "only runs of that template"},
    {"status", 0, OPT_TEXT, &flags.status, "STATUS",
     "only runs in that status"},
    {"since", 0, OPT_TEXT, &flags.since, "DURATION",
     "only runs of that time: 90m, 7d; a bare number is seconds"},
    {"limit", 'n', OPT_TEXT, &flags.most, "NUMBER",
     "the newest so many; all states, unless --status says which"},
    {"tree", 0, OPT_FLAG, &flags.tree, NULL,
     "each run above the runs that it called, with the time each took"},
    {"warm", 0, OPT_FLAG, &flags.warm, NULL,
     "instead of runs, the workers that wait for them, by template"},
    {"nodes", 0, OPT_FLAG, &flags.nodes, NULL,
     "instead of runs, the servers that have one database"},
    {"residents", 0, OPT_FLAG, &flags.residents, NULL,
     "instead of runs, the notebooks, whose programs stay between runs"},
};

static int64_t since_ms; /* wall clock; 0: no bound */
static size_t most = SIZE_MAX;

static int read_ps_flags(void)
{
	int64_t ms;
	char *end;

	if (flags.since != NULL && duration_parse(&ms, flags.since) < 0)
		return message_fail(
		    CLI_USAGE,
		    "--since is \"%.64s\"; it has to be a duration up "
		    "to 366d: 90m, 7d, 1h30m; a bare number is seconds",
		    flags.since);
	if (flags.since != NULL)
		since_ms = clock_wall_ms() - ms;
	if (flags.most == NULL)
		return 0;
	most = strtoul(flags.most, &end, 10);
	if (*end == '\0' && flags.most[0] >= '1' && flags.most[0] <= '9')
		return 0;
	return message_fail(CLI_USAGE,
			    "-n is \"%.64s\"; it has to be a number, 1 or more",
			    flags.most);
}

/* Append all runs in STATUS (NULL: any) to LIST, page by page. */
static int gather(const struct cli *cli, struct client *c, const char *status,
		  struct json_object *list)
{
	size_t offset = 0, n, left;
	int rc;

	do {
		struct json_object *page, *runs;

		left = most - json_object_array_length(list);

		rc = tool_call(
		    cli, c, "list_task_runs",
		    json_pack("status?s limit:i offset:i templateId?s since?i",
			      status, left < PAGE ? left : PAGE, offset,
			      flags.template, since_ms),
		    &page);
		runs = json_member(page, "runs");
		n = json_length(runs);
		json_each(one, runs)
			json_object_array_add(list, json_object_get(one));
		offset += n;
		json_object_put(page);
	} while (rc == 0 && n == PAGE && left > PAGE);
	return rc;
}

/* ---- a tree of runs ---- */

/* Append RUN, and the runs that it called, oldest first; CALLED has the lists by id. */
static void add_family(struct json_object *tree, struct json_object *called,
		       struct json_object *run, int depth)
{
	struct json_object *list =
	    json_member(called, json_member_str(run, "runId"));

	json_add(run, "depth:i", depth);
	json_object_array_add(tree, json_object_get(run));
	for (size_t i = json_length(list); depth < DEPTH_MAX && i-- > 0;)
		add_family(tree, called, json_object_array_get_idx(list, i),
			   depth + 1);
}

/* Return the runs of LIST, newest first, each above the runs that it called. */
static struct json_object *tree_of(struct json_object *list)
{
	struct json_object *tree = json_object_new_array();
	struct json_object *called = json_object_new_object();

	json_each(one, list)
		json_object_object_add(called, json_member_str(one, "runId"),
				       json_object_new_array());
	json_each(run, list) {
		const char *by = json_member_str(run, "parentRunId");
		struct json_object *siblings =
		    by != NULL ? json_member(called, by) : NULL;

		if (siblings != NULL)
			json_object_array_add(siblings, json_object_get(run));
	}
	json_each(first, list) {
		const char *by = json_member_str(first, "parentRunId");

		if (by == NULL || json_member(called, by) == NULL)
			add_family(tree, called, first, 0);
	}
	json_object_put(called);
	return tree;
}

/* ---- runs ---- */

static bool has_ended(const char *status)
{
	return strcmp(status, "queued") != 0 && strcmp(status, "running") != 0;
}

/* Write how long the run R, ended or not, has taken. */
static void took_text(char text[DURATION_SIZE], struct json_object *r,
		      int64_t now)
{
	int64_t end = has_ended(json_member_str(r, "status"))
			  ? json_member_int(r, "updatedAt")
			  : now;
	int64_t ms = end - json_member_int(r, "createdAt");

	duration_text(text, ms > 0 ? ms : 0);
}

static void add_run(struct table *t, struct json_object *r, int64_t now)
{
	int64_t age = now - json_member_int(r, "createdAt");
	char took[DURATION_SIZE], text[DURATION_SIZE];
	char *ago,
	    *template = xasprintf("%*s%s", 2 * (int)json_member_int(r, "depth"),
				  "", json_member_str(r, "templateId"));

	took_text(took, r, now);
	duration_text(text, age > 0 ? age : 0);
	ago = xasprintf("%s ago", text);
	table_add(t, (const char *const[]){
			 json_member_str(r, "runId"), template,
			 json_member_str(r, "status"), ago,
			 flags.tree ? took : json_member_str(r, "node"),
			 json_member_str(r, "node")});
	free(ago);
	free(template);
}

/* Print the runs as a table. Ids stay whole, to be copied. */
static void print_runs(struct json_object *list)
{
	static const struct table_column columns[] = {
	    {"RUN", TABLE_WHOLE, 0},
	    {"TEMPLATE", TABLE_CUT, 1},
	    {"STATUS", TABLE_CUT, 0},
	    {"CREATED", TABLE_WHOLE, 2},
	    {"NODE", TABLE_CUT, 3}};
	static const struct table_column tree_columns[] = {
	    {"RUN", TABLE_WHOLE, 0},  {"TEMPLATE", TABLE_CUT, 1},
	    {"STATUS", TABLE_CUT, 0}, {"CREATED", TABLE_WHOLE, 3},
	    {"TOOK", TABLE_WHOLE, 2}, {"NODE", TABLE_CUT, 4}};
	struct table *t;
	int64_t now = clock_wall_ms();
	bool nodes = false; /* a run names its node, one of several servers */

	json_each(one, list)
		nodes = nodes || json_member(one, "node") != NULL;
	t = flags.tree
		? table_new(tree_columns, ARRAY_LEN(tree_columns) - !nodes)
		: table_new(columns, ARRAY_LEN(columns) - !nodes);
	json_each(r, list)
		add_run(t, r, now);
	table_print(t);
}

/*
 * Say on stderr that there are no runs: no output at all would look like a
 * fault, and scripts read stdout.
 */
static void say_none(void)
{
	if (flags.template != NULL || flags.status != NULL ||
	    flags.since != NULL)
		message_print("there are no such runs");
	else if (flags.all)
		message_print("there are no runs");
	else
		message_print(
		    "no runs are queued or running; \"paddock ps -a%s\" "
		    "shows those that have ended, too",
		    server_flags());
}

/* ---- nodes and workers ---- */

/*
 * Call METHOD and print the array MEMBER of the result, as JSON or by SHOW; *N
 * is the array's length. Returns the exit status.
 */
static int print_rows(const struct cli *cli, struct client *c,
		      const char *method, const char *member,
		      void (*show)(struct json_object *rows), size_t *n)
{
	struct tool_result a;
	struct json_object *rows;
	int rc = client_method(c, method, NULL, &a);

	if (rc != 0)
		return rc;
	rows = json_member(a.value, member);
	*n = json_length(rows);
	if (!a.good)
		rc = report_refusal(a.value, NULL);
	else if (cli->json)
		json_pretty_print(rows, true);
	else
		show(rows);
	tool_result_fini(&a);
	return rc;
}

/*
 * Write the duration in KEY, or since the time in KEY if FROM_MS is given; a
 * dash if KEY is missing.
 */
static void time_of(char text[DURATION_SIZE], struct json_object *row,
		    const char *key, int64_t from_ms)
{
	int64_t ms = json_member_int(row, key);

	snprintf(text, DURATION_SIZE, "-");
	if (json_member(row, key) == NULL)
		return;
	ms = from_ms > 0 ? from_ms - ms : ms;
	duration_text(text, ms > 0 ? ms : 0);
}

static const struct table_column node_columns[] = {
    {"NODE", TABLE_CUT, 0},	   {"STATE", TABLE_WHOLE, 0},
    {"RUNNING", TABLE_NUMBER, 1},  {"QUEUED", TABLE_NUMBER, 2},
    {"HEARTBEAT", TABLE_WHOLE, 3}, {"UP", TABLE_WHOLE, 4},
    {"VERSION", TABLE_CUT, 5}};

static void print_nodes(struct json_object *rows)
{
	struct table *t = table_new(node_columns, ARRAY_LEN(node_columns));

	json_each(row, rows) {
		char up[DURATION_SIZE], beat[DURATION_SIZE];
		char running[24], queued[24];
		const char *state =
		    json_member_int(row, "heartbeatAgeMs") > LATE_MS ? "silent"
		    : json_member_bool(row, "draining") ? "draining"
							: "serving";

		time_of(up, row, "startedAt", clock_wall_ms());
		time_of(beat, row, "heartbeatAgeMs", 0);
		snprintf(running, sizeof(running), "%" PRId64,
			 json_member_int(row, "running"));
		snprintf(queued, sizeof(queued), "%" PRId64,
			 json_member_int(row, "queued"));
		table_add(
		    t, (const char *const[]){json_member_str(row, "name"),
					     state, running, queued, beat, up,
					     json_member_str(row, "version")});
	}
	table_print(t);
}

static const struct table_column warm_columns[] = {
    {"TEMPLATE", TABLE_CUT, 0},	  {"VERSION", TABLE_CUT, 4},
    {"WAITING", TABLE_NUMBER, 0}, {"HITS", TABLE_NUMBER, 1},
    {"MISSES", TABLE_NUMBER, 2},  {"REPLACED", TABLE_NUMBER, 3}};

/* Lua templates with the same limits share a row, without templateId. */
static void print_warm(struct json_object *rows)
{
	static const char *const counts[] = {"waiting", "hits", "misses",
					     "replaced"};
	struct table *t = table_new(warm_columns, ARRAY_LEN(warm_columns));

	json_each(row, rows) {
		const char *id = json_member_str(row, "templateId");
		const char *version = json_member_str(row, "version");
		char n[ARRAY_LEN(counts)][24];

		for (size_t i = 0; i < ARRAY_LEN(counts); i++)
			snprintf(n[i], sizeof(n[i]), "%" PRId64,
				 json_member_int(row, counts[i]));
		table_add(t,
			  (const char *const[]){id != NULL ? id : "any of Lua",
						version != NULL ? version : "-",
						n[0], n[1], n[2], n[3]});
	}
	table_print(t);
}

static int ps(const struct cli *cli, struct client *c, int n,
	      const char *const *arg)
{
	struct json_object *list;
	size_t waiting = 0, servers;
	int rc = read_ps_flags();

	(void)n, (void)arg;
	if (rc != 0)
		return rc;
	if (flags.residents)
		return notebook_list(cli, c);
	if (flags.nodes)
		return print_rows(cli, c, "paddock/nodes", "nodes", print_nodes,
				  &servers);
	if (flags.warm) {
		rc = print_rows(cli, c, "paddock/waiting", "workers",
				print_warm, &waiting);
		if (rc == 0 && waiting == 0 && !cli->quiet)
			message_print(
			    "no worker waits: one does once a template was "
			    "used, in a server that goes on");
		return rc;
	}
	list = json_object_new_array();
	if (flags.all || flags.status != NULL || flags.most != NULL ||
	    flags.since != NULL) {
		rc = gather(cli, c, flags.status, list);
	} else {
		rc = gather(cli, c, "queued", list);
		if (rc == 0)
			rc = gather(cli, c, "running", list);
	}
	if (rc == 0 && flags.tree) {
		struct json_object *tree = tree_of(list);

		json_object_put(list);
		list = tree;
	}
	if (rc == 0 && cli->json)
		json_pretty_print(list, true);
	else if (rc == 0)
		print_runs(list);
	if (rc == 0 && json_object_array_length(list) == 0 && !cli->quiet)
		say_none();
	json_object_put(list);
	return rc;
}

const struct command cmd_ps = {
    .name = "ps",
    .args = "",
    .summary = "runs that are queued or running",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .call = ps,
};
