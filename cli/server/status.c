/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c - "paddock status" and "paddock cancel": the state of the server or
 * of a run, and the end of runs. main.c's table calls them. Members that a
 * server of another version does not send are left out; a missing run is
 * CLI_ABSENT.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/terminal/duration.h"
#include "cli/client/tool_call.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "proto/json/json_pack.h"

/* Print "name        value", if there is a value. */
static void print_status_line(const char *name, const char *value)
{
	if (value != NULL)
		safe_printf("%-11s %s\n", name, value);
}

static void line_time(const char *name, struct json_object *ms)
{
	char iso[CLOCK_ISO_SIZE];

	if (!json_object_is_type(ms, json_type_int))
		return;
	clock_iso(iso, json_object_get_int64(ms));
	print_status_line(name, iso);
}

static void line_span(const char *name, struct json_object *ms)
{
	char text[DURATION_SIZE];

	if (!json_object_is_type(ms, json_type_int))
		return;
	duration_text(text, json_object_get_int64(ms));
	print_status_line(name, text);
}

static void show_artifacts(struct json_object *list)
{
	size_t n = json_length(list);

	for (size_t i = 0; i < n; i++) {
		struct json_object *a = json_object_array_get_idx(list, i);
		const char *name = json_member_str(a, "name");
		char text[512];

		snprintf(text, sizeof(text), "%s  %" PRId64 " bytes  %s",
			 json_member_str(a, "artifactId"),
			 json_member_int(a, "size"), name != NULL ? name : "");
		print_status_line(i == 0 ? "artifacts" : "", text);
	}
}

static void show_child(const char *name, struct json_object *child)
{
	struct json_object *ms = json_member(child, "elapsedMs");
	const char *code = json_member_str(child, "errorCode");
	char took[DURATION_SIZE] = "-", text[512];

	if (ms != NULL)
		duration_text(took, json_object_get_int64(ms));
	snprintf(text, sizeof(text), "%s  %s  %s  %s%s%s",
		 json_member_str(child, "runId"),
		 json_member_str(child, "templateId"),
		 json_member_bool(child, "reused")
		     ? "succeeded before"
		     : json_member_str(child, "status"),
		 took, code != NULL ? "  " : "", code != NULL ? code : "");
	print_status_line(name, text);
}

/* Print the listed children of the run in VIEW, and the numbers of the others. */
static void show_children(struct json_object *view)
{
	struct json_object *rest = json_member(view, "unlistedChildren");
	const char *name = "calls";
	char text[64];

	json_each(child, json_member(view, "children")) {
		show_child(name, child);
		name = "";
	}
	if (rest == NULL)
		return;
	json_object_object_foreach(rest, status, n) {
		snprintf(text, sizeof(text), "and %" PRId64 " more %.16s",
			 json_object_get_int64(n), status);
		print_status_line("", text);
	}
}

static void print_status(struct json_object *view)
{
	struct json_object *m = json_member(view, "metrics");
	struct json_object *error = json_member(view, "error");
	struct json_object *iso = json_member(view, "isolation");
	struct json_object *p = json_member(view, "progress");
	int64_t total = json_member_int(p, "totalSteps");
	const char *state = json_member_str(view, "status");
	char text[160];

	print_status_line("run", json_member_str(view, "runId"));
	snprintf(text, sizeof(text), "%s %s",
		 json_member_str(view, "templateId"),
		 json_member_str(view, "templateVersion") != NULL
		     ? json_member_str(view, "templateVersion")
		     : "");
	print_status_line("template", text);
	if (json_member_bool(view, "cancelRequested"))
		state = "running, asked to stop";
	else if (json_member_bool(view, "awaitingInput"))
		state = "running, waits for an answer";
	print_status_line("status", state);
	snprintf(text, sizeof(text), "%" PRId64 "/%" PRId64,
		 json_member_int(p, "doneSteps"), total);
	if (total > 0)
		print_status_line("progress", text);
	print_status_line("message", json_member_str(view, "message"));
	line_time("created", json_member(view, "createdAt"));
	line_time("started", json_member(view, "startedAt"));
	if (!json_member_is(view, "status", "queued"))
		line_span(json_member_is(view, "status", "running") ? "so far"
								    : "took",
			  json_member(m, "elapsedMs"));
	line_span("cpu", json_member(m, "cpuMs"));
	print_status_line("isolation", json_member_str(iso, "level"));
	print_status_line("node", json_member_str(view, "node"));
	print_status_line("error", json_member_str(error, "errorCode"));
	print_status_line("", json_member_str(error, "message"));
	show_artifacts(json_member(view, "artifacts"));
	print_status_line("called by", json_member_str(view, "parentRunId"));
	show_children(view);
}

/* ---- the server ---- */

static void show_server(struct client *c, struct json_object *profile)
{
	struct json_object *health = json_member(profile, "health");
	struct json_object *usage = json_member(profile, "usage");
	char text[64];

	print_status_line(client_is_private(c) ? "private" : "daemon",
			  client_peer(c));
	print_status_line("version",
			  json_member_str(profile, "runtimeVersion"));
	print_status_line("ready", tool_call_is_ready(profile) ? "yes" : "no");
	print_status_line(
	    "database",
	    json_member_str(json_member(health, "database"), "says"));
	json_each(check, json_member(health, "checks")) {
		if (json_member_str(check, "says") == NULL)
			continue;
		print_status_line(json_member_str(check, "verdict"),
				  json_member_str(check, "says"));
		print_status_line("", json_member_str(check, "cure"));
	}
	snprintf(text, sizeof(text), "%" PRId64 " running, %" PRId64 " waiting",
		 json_member_int(usage, "running"),
		 json_member_int(usage, "queued"));
	print_status_line("your runs", text);
	if (json_member_int(usage, "parked") > 0) {
		snprintf(text, sizeof(text), "%" PRId64 " waiting for answers",
			 json_member_int(usage, "parked"));
		print_status_line("", text);
	}
}

static int status(const struct cli *cli, struct client *c, int n,
		  const char *const *arg)
{
	struct json_object *view;
	int rc = n == 0 ? tool_call_profile(cli, c, &view)
			: tool_call_run(cli, c, arg[0], &view);

	if (rc == 0 && cli->json)
		json_pretty_print(n == 0 ? json_member(view, "health") : view,
				  true);
	else if (rc == 0 && n == 0)
		show_server(c, view);
	else if (rc == 0)
		print_status(view);
	if (rc == 0 && n == 0 && !tool_call_is_ready(view))
		rc = CLI_TROUBLE; /* runs would not start now */
	json_object_put(view);
	return rc;
}

const struct command cmd_status = {
    .name = "status",
    .args = "[RUN]",
    .summary = "the state of a run, or of the server",
    .max = 1,
    .call = status,
};

/* ---- cancel ---- */

/* Tell of the run ID by V, the server's answer. */
static void say_asked(struct json_object *v, const char *id)
{
	int64_t n = json_member_int(v, "children");

	if (n > 0)
		message_print("%s is asked to stop, and %" PRId64 " called %s "
			      "with it: it is %s",
			      id, n, n == 1 ? "run" : "runs",
			      json_member_str(v, "currentStatus"));
	else
		message_print("%s is asked to stop: it is %s", id,
			      json_member_str(v, "currentStatus"));
}

static int cancel_one(const struct cli *cli, struct client *c, const char *id)
{
	struct json_object *v;
	const char *reason;
	int rc =
	    tool_call(cli, c, "cancel_task_run", json_pack("runId:s", id), &v);

	if (rc != 0)
		return rc;
	reason = json_member_str(v, "reason");
	json_add(v, "runId:s", id);
	if (cli->json)
		json_pretty_print(v, true);
	else if (json_member_bool(v, "cancelRequested") && reason == NULL)
		safe_printf("%s\n", id);
	fflush(stdout);
	if (json_member_bool(v, "cancelRequested") && reason == NULL &&
	    !cli->quiet)
		say_asked(v, id);
	if (!json_member_bool(v, "cancelRequested")) {
		message_print("%s: nothing to cancel: %s", id,
			      reason != NULL
				  ? reason
				  : json_member_str(v, "currentStatus"));
	} else if (reason != NULL) { /* accepted, but not carried out yet */
		message_print("%s is not cancelled yet: %s", id, reason);
		rc = CLI_TROUBLE;
	}
	json_object_put(v);
	return rc;
}

static int cancel_run(const struct cli *cli, struct client *c, int n,
		      const char *const *arg)
{
	int worst = 0;

	for (int i = 0; i < n; i++) {
		int rc = cancel_one(cli, c, arg[i]);

		if (rc > worst)
			worst = rc;
	}
	return worst;
}

const struct command cmd_cancel = {
    .name = "cancel",
    .args = "RUN...",
    .summary = "ask runs to stop",
    .min = 1,
    .max = -1,
    .call = cancel_run,
};
