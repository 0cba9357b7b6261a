/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_row.c - reads the row of a remote run into the run: the state, the end, the lines
 * of the log; and gives a claimed row back. remote_runs.c, proxied_request.c and
 * shared_queue.c call the functions. A row that cannot be parsed says nothing.
 */
#include "supervisor/cluster/remote_row.h"

#include <string.h>

#include "proto/json/json.h"
#include "proto/mcp/mcp.h"

bool remote_row_heard(const struct store_run *row, const char *guest)
{
	struct json_object *o = NULL;
	bool found = false;

	if (row->options == NULL ||
	    json_parse(&o, row->options, strlen(row->options), NULL) < 0)
		return false;
	json_each(one, json_member(o, "heard"))
		found |= strcmp(json_object_get_string(one), guest) == 0;
	json_object_put(o);
	return found;
}

bool remote_row_is_reply(const struct store_run *row)
{
	return row->options != NULL &&
	       strstr(row->options, "\"reply\":true") != NULL;
}

enum run_state remote_row_state(const struct store_run *row)
{
	static const enum run_state states[STORE_STATUSES] = {
	    [STORE_QUEUED] = RUN_QUEUED,
	    [STORE_RUNNING] = RUN_RUNNING,
	    [STORE_SUCCEEDED] = RUN_SUCCEEDED,
	    [STORE_FAILED] = RUN_FAILED,
	    [STORE_PARTIAL_SUCCESS] = RUN_PARTIAL_SUCCESS,
	    [STORE_CANCELED] = RUN_CANCELED,
	};

	if (row->status != STORE_RUNNING)
		return states[row->status];
	if (row->cancelling)
		return RUN_CANCELLING;
	return row->awaiting ? RUN_AWAITING_INPUT : RUN_RUNNING;
}

void remote_row_end(struct run *r, const struct store_run *row,
		    struct json_object *view)
{
	struct json_object *e = json_member(view, "error");
	const char *code = json_member_str(e, "errorCode");
	const char *message = json_member_str(e, "message");

	run_mirror(r, remote_row_state(row));
	if (r->state == RUN_FAILED || r->state == RUN_CANCELED)
		run_set_error(r, code != NULL ? code : "EXECUTION_ERROR",
			      json_object_get(json_member(e, "details")), "%s",
			      message != NULL ? message : "");
}

void remote_row_leave(struct store *s, const struct store_run *row)
{
	struct store_run left = *row;

	left.waits = STORE_WAITS_LEFT;
	store_put_run(s, &left, STORE_RETRY, NULL, NULL);
}

/* ---- the log ---- */

/* Tell watchers LINE of the log: a time, a level, and text. */
static void tell_line(struct run *r, const char *line, size_t len)
{
	const char *level = memchr(line, ' ', len), *text;
	char name[16] = "";
	int n;

	text = level != NULL
		   ? memchr(level + 1, ' ', len - (size_t)(level + 1 - line))
		   : NULL;
	if (text == NULL || (size_t)(text - level) > sizeof(name))
		return;
	memcpy(name, level + 1, (size_t)(text - level - 1));
	n = mcp_level_of(name);
	if (n < 0)
		return;
	text++;
	run_tell(r, &(struct run_notice){.kind = NOTICE_LOG,
					 .level = (unsigned)n,
					 .text = text,
					 .len = len - (size_t)(text - line)});
}

void remote_row_tell_log(struct run *r, const char *log)
{
	size_t len = log != NULL ? strlen(log) : 0;
	const char *line = log, *nl;

	if (len <= r->remote.log_len)
		return;
	line += r->remote.log_len;
	while ((nl = strchr(line, '\n')) != NULL) {
		tell_line(r, line, (size_t)(nl - line));
		line = nl + 1;
	}
	r->remote.log_len = (size_t)(line - log);
}
