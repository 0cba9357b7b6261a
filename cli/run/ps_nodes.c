/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ps_nodes.c - "paddock ps --nodes": prints the servers that share a database,
 * as a table or JSON. ps.c calls it; ps_rows.c handles failures.
 */
#include "cli/run/ps_nodes.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/terminal/duration.h"
#include "cli/client/progress.h"
#include "cli/run/ps_rows.h"
#include "cli/terminal/table.h"
#include "proto/json/json_pack.h"

#define LATE_MS 3000 /* a heartbeat comes each second */

static const char *state_of(struct json_object *row)
{
	if (json_member_int(row, "heartbeatAgeMs") > LATE_MS)
		return "silent";
	return json_member_bool(row, "draining") ? "draining" : "serving";
}

/*
 * Write the duration in KEY, or since the time in KEY if SINCE_MS is given; a
 * dash if KEY is missing.
 */
static void time_of(char text[DURATION_SIZE], struct json_object *row,
		    const char *key, int64_t since_ms)
{
	int64_t ms = json_member_int(row, key);

	snprintf(text, DURATION_SIZE, "-");
	if (json_member(row, key) == NULL)
		return;
	ms = since_ms > 0 ? since_ms - ms : ms;
	duration_text(text, ms > 0 ? ms : 0);
}

static const struct table_column columns[] = {
    {"NODE", TABLE_CUT, 0},	   {"STATE", TABLE_WHOLE, 0},
    {"RUNNING", TABLE_NUMBER, 1},  {"QUEUED", TABLE_NUMBER, 2},
    {"HEARTBEAT", TABLE_WHOLE, 3}, {"UP", TABLE_WHOLE, 4},
    {"VERSION", TABLE_CUT, 5}};

static void add_node_row(struct table *t, struct json_object *row)
{
	char up[DURATION_SIZE], beat[DURATION_SIZE];
	char running[24], queued[24];

	time_of(up, row, "startedAt", clock_wall_ms());
	time_of(beat, row, "heartbeatAgeMs", 0);
	snprintf(running, sizeof(running), "%" PRId64,
		 json_member_int(row, "running"));
	snprintf(queued, sizeof(queued), "%" PRId64,
		 json_member_int(row, "queued"));
	table_add(t, (const char *const[]){
			 json_member_str(row, "name"), state_of(row), running,
			 queued, beat, up, json_member_str(row, "version")});
}

static void print_nodes(struct json_object *rows)
{
	struct table *t = table_new(columns, ARRAY_LEN(columns));

	json_each(row, rows)
		add_node_row(t, row);
	table_print(t);
}

int ps_nodes(const struct cli *cli, struct client *c)
{
	size_t n;

	return ps_rows(cli, c, "paddock/nodes", "nodes", print_nodes, &n);
}
