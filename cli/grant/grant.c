/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grant.c - "paddock grant": lists proposed grants, shows a proposal, and approves or
 * rejects. main.c's table calls the commands. To approve, the command itself writes the
 * file and has the server reload, so the server cannot grant anything. Words of clients
 * and templates are cleaned, and shown as theirs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/client/report.h"
#include "cli/grant/draft.h"
#include "cli/grant/grant_file.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/duration.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

/* Call METHOD with PARAMS (taken). 0 and *OUT, the caller's, or the exit status. */
static int call(struct client *c, const char *method,
		struct json_object *params, struct json_object **out)
{
	struct tool_result a;
	int rc = client_method(c, method, params, &a);

	if (rc != 0)
		return rc;
	if (a.good) {
		*out = json_object_get(a.value);
	} else {
		rc = report_refusal(a.value, NULL);
		if (json_member_is(a.value, "errorCode", "PROPOSAL_NOT_FOUND"))
			rc = CLI_ABSENT;
	}
	tool_result_fini(&a);
	return rc;
}

/* ---- ls ---- */

static const struct table_column columns[] = {
    {"PROPOSAL", TABLE_WHOLE, 0}, {"REQUESTOR", TABLE_CUT, 2},
    {"TEMPLATE", TABLE_CUT, 1},	  {"STATE", TABLE_WHOLE, 0},
    {"MADE", TABLE_WHOLE, 3},	  {"REASON, IN ITS WORDS", TABLE_CUT, 0}};

static void add_row(struct table *t, struct json_object *row)
{
	char text[DURATION_SIZE], *ago;
	int64_t ms = clock_wall_ms() - json_member_int(row, "madeAt");

	duration_text(text, ms > 0 ? ms : 0);
	ago = xasprintf("%s ago", text);
	table_add(t, (const char *const[]){json_member_str(row, "proposalId"),
					   json_member_str(row, "requestor"),
					   json_member_str(row, "templateId"),
					   json_member_str(row, "state"), ago,
					   json_member_str(row, "reason")});
	free(ago);
}

static int list(const struct cli *cli, struct client *c, int n,
		const char *const *arg)
{
	struct json_object *v, *rows;
	struct table *t;
	int rc = call(c, "paddock/proposals", NULL, &v);

	(void)n, (void)arg;
	if (rc != 0)
		return rc;
	rows = json_member(v, "proposals");
	if (cli->json) {
		json_pretty_print(rows, true);
	} else if (json_length(rows) > 0) {
		t = table_new(columns, ARRAY_LEN(columns));
		json_each(row, rows)
			add_row(t, row);
		table_print(t);
	}
	if (json_length(rows) == 0 && !cli->quiet)
		message_print("no proposed grants wait");
	json_object_put(v);
	return CLI_OK;
}

/* ---- show ---- */

/* Find the proposal ID in *OUT, the caller's. 0 or the exit status. */
static int find(struct client *c, const char *id, struct json_object **out)
{
	struct json_object *v, *rows;
	int rc =
	    call(c, "paddock/proposals", json_pack("proposalId:s", id), &v);

	if (rc != 0)
		return rc;
	rows = json_member(v, "proposals");
	*out = json_object_get(json_object_array_get_idx(rows, 0));
	json_object_put(v);
	return *out != NULL ? 0
			    : message_fail(CLI_ABSENT,
					   "there is no proposal \"%s\"", id);
}

static void print_proposal(struct json_object *p)
{
	struct json_object *draft = json_member(p, "draft");

	safe_printf(
	    "%s of %s, for %s %s: %s\n", json_member_str(p, "proposalId"),
	    json_member_str(p, "requestor"), json_member_str(p, "templateId"),
	    json_member_str(p, "version") != NULL
		? json_member_str(p, "version")
		: "",
	    json_member_str(p, "state"));
	safe_printf("Its reason, in the requestor's words: \"%s\"\n",
		    json_member_str(p, "reason"));
	if (draft == NULL) {
		puts(
		    "The package has changed since, or is gone: it can only be "
		    "rejected.");
		return;
	}
	puts("In plain words (* new against what is granted today):");
	json_each(line, json_member(draft, "lines"))
		safe_printf("%s %s\n",
			    json_member_bool(line, "new") ? "  *" : "   ",
			    json_member_str(line, "text"));
	draft_show(draft);
}

static int show(const struct cli *cli, struct client *c, int n,
		const char *const *arg)
{
	struct json_object *p;
	int rc = find(c, arg[0], &p);

	(void)n;
	if (rc != 0)
		return rc;
	if (cli->json)
		json_pretty_print(p, true);
	else
		print_proposal(p);
	json_object_put(p);
	return CLI_OK;
}

/* ---- approve and reject ---- */

static int decide(struct client *c, const char *id, bool approve)
{
	struct json_object *v;
	int rc = call(c, "paddock/decide",
		      json_pack("proposalId:s approve:b", id, approve), &v);

	if (rc == 0)
		json_object_put(v);
	return rc;
}

/*
 * Have the server read the files of grants; a private server reads all at its start. 0;
 * else the server refused, and the status.
 */
static int reload(struct client *c)
{
	struct json_object *v;
	const char *why;
	int rc;

	if (client_is_private(c))
		return 0;
	rc = call(c, "paddock/reload", json_object_new_object(), &v);

	if (rc != 0)
		return rc;
	why = json_member_str(v, "why");
	if (why != NULL) {
		message_print("the server refuses its configuration now: %s",
			      why);
		rc = CLI_TROUBLE;
	}
	json_object_put(v);
	return rc;
}

/* Remove the file PATH, whose grant was refused or not noted. */
static void take_back(struct client *c, const char *path)
{
	if (unlink(path) != 0)
		message_print("%s: %s; remove it, and reload", path,
			      strerror(errno));
	else
		message_print("%s was removed again, so nothing is granted",
			      path);
	(void)reload(c);
}

static int approve_found(const struct cli *cli, struct client *c,
			 struct json_object *p)
{
	const char *id = json_member_str(p, "proposalId");
	char *path = NULL;
	int rc;

	if (json_member(p, "draft") == NULL)
		return message_fail(CLI_TROUBLE,
				    "the package of %s has changed since the "
				    "proposal, or is gone, so it can only be "
				    "rejected",
				    json_member_str(p, "templateId"));
	if (!draft_has_section(json_member(p, "draft"))) {
		message_print("all of it is granted already, so nothing was "
			      "written");
		return decide(c, id, true);
	}
	rc = grant_file_write(p, &path);
	if (rc == 0)
		rc = reload(c);
	if (rc == 0)
		rc = decide(c, id, true);
	if (path != NULL && rc != 0)
		take_back(c, path);
	if (rc == 0 && cli->json) {
		json_add(p, "file:s", path);
		json_pretty_print(p, true);
	} else if (rc == 0) {
		draft_show(json_member(p, "draft"));
		message_print(
		    "approved, in %s; to withdraw it, remove the file "
		    "and reload",
		    path);
	}
	free(path);
	return rc;
}

static int approve(const struct cli *cli, struct client *c, int n,
		   const char *const *arg)
{
	struct json_object *p;
	int rc = find(c, arg[0], &p);

	(void)n;
	if (rc != 0)
		return rc;
	rc = approve_found(cli, c, p);
	json_object_put(p);
	return rc;
}

static int reject(const struct cli *cli, struct client *c, int n,
		  const char *const *arg)
{
	int rc = decide(c, arg[0], false);

	(void)n;
	if (rc == 0 && !cli->quiet)
		message_print("rejected");
	return rc;
}

const struct command cmd_grant_ls = {
    .name = "grant ls",
    .args = "",
    .summary = "the grants that clients proposed",
    .call = list,
};

const struct command cmd_grant_show = {
    .name = "grant show",
    .args = "PROPOSAL",
    .summary = "what a proposed grant would allow, and what of it is new",
    .min = 1,
    .max = 1,
    .call = show,
};

const struct command cmd_grant_approve = {
    .name = "grant approve",
    .args = "PROPOSAL",
    .summary = "grant what was proposed, to this package alone",
    .text =
	"Look at the proposal first, by \"paddock grant show\". The grant goes into "
	"a file of\ngrants.d beside paddock.conf, for the package by its digest, "
	"and the daemon reloads.\nFor root and the user who runs the daemon. "
	"Where several servers have one database,\neach needs the file.\n",
    .min = 1,
    .max = 1,
    .call = approve,
};

const struct command cmd_grant_reject = {
    .name = "grant reject",
    .args = "PROPOSAL",
    .summary = "remove a proposed grant",
    .min = 1,
    .max = 1,
    .call = reject,
};
