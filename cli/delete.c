/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete.c - "paddock rm" and "paddock prune": runs that have ended are forgotten
 * before they expire, with their artifacts and logs. main.c's table calls them.
 * A run that the server keeps is told with the reason, and counts as the worst of
 * all such reasons; the others are deleted all the same.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/json_io.h"
#include "cli/opt.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "proto/json/json_pack.h"

static struct {
	const char *older, *template, *status;
} flags;

static const struct opt opts[] = {
    {"older", 0, OPT_TEXT, &flags.older, "DURATION",
     "runs that ended longer ago than that: 90m, 7d; a bare number is "
     "seconds"},
    {"template", 0, OPT_TEXT, &flags.template, "TEMPLATE",
     "only runs of that template"},
    {"status", 0, OPT_TEXT, &flags.status, "END", "only runs that ended so"},
};

/* The status that a run which is kept stands for. */
static int status_of(struct json_object *kept)
{
	if (json_member_is(kept, "errorCode", "RUN_NOT_FOUND"))
		return CLI_ABSENT;
	return json_member_is(kept, "errorCode", "RUN_NOT_ENDED") ? CLI_USAGE
								  : CLI_TROUBLE;
}

/* What RESULT says was kept; the exit status. */
static int tell_kept(struct json_object *result)
{
	int worst = CLI_OK;

	json_each(one, json_member(result, "kept")) {
		int rc = status_of(one);

		message_print("%s was not deleted: %s",
			      json_member_str(one, "runId"),
			      json_member_str(one, "reason"));
		worst = rc > worst ? rc : worst;
	}
	return worst;
}

/* Takes PARAMS. 0 and *RESULT, the caller's; or the exit status, all said. */
static int ask(const struct cli *cli, struct client *c,
	       struct json_object *params, struct json_object **result)
{
	struct tool_result a;
	int rc = client_method(c, "paddock/deleteRuns", params, &a);

	*result = NULL;
	if (rc != 0)
		return rc;
	if (!a.good)
		rc = report_refusal(a.value, NULL);
	else
		*result = json_object_get(a.value);
	if (cli->json)
		json_pretty_print(a.value, true);
	tool_result_fini(&a);
	return rc;
}

static bool is_kept(struct json_object *result, const char *id)
{
	json_each(one, json_member(result, "kept"))
		if (json_member_is(one, "runId", id))
			return true;
	return false;
}

/* Is ARG[I] named before? It can go but once. */
static bool is_repeated(const char *const *arg, int i)
{
	for (int k = 0; k < i; k++)
		if (strcmp(arg[k], arg[i]) == 0)
			return true;
	return false;
}

static int rm(const struct cli *cli, struct client *c, int n,
	      const char *const *arg)
{
	struct json_object *ids = json_object_new_array(), *result;
	int rc;

	for (int i = 0; i < n; i++)
		if (!is_repeated(arg, i))
			json_object_array_add(ids,
					      json_object_new_string(arg[i]));
		else if (!cli->quiet)
			message_print("%s is named more than once", arg[i]);
	rc = ask(cli, c, json_pack("runIds:o", ids), &result);
	for (int i = 0; result != NULL && !cli->json && i < n; i++)
		if (!is_kept(result, arg[i]) && !is_repeated(arg, i))
			safe_printf("%s\n", arg[i]);
	fflush(stdout);
	if (rc == 0 && !cli->quiet && json_member_int(result, "deleted") > 0)
		message_print("%" PRId64 " deleted, with artifacts and logs",
			      json_member_int(result, "deleted"));
	if (rc == 0)
		rc = tell_kept(result);
	json_object_put(result);
	return rc;
}

/* Which those were, by the day that --older meant. */
static void say_before(const struct cli *cli, int64_t before_ms)
{
	char iso[CLOCK_ISO_SIZE];

	clock_iso(iso, before_ms);
	if (!cli->quiet)
		message_print("only runs that ended before %s were looked at",
			      iso);
}

static int prune(const struct cli *cli, struct client *c, int n,
		 const char *const *arg)
{
	struct json_object *result;
	int64_t ms, before_ms;
	int rc;

	(void)n, (void)arg;
	if (flags.older == NULL)
		return message_fail(
		    CLI_USAGE,
		    "say how old the runs have to be that are deleted: paddock "
		    "prune --older 7d");
	if (duration_parse(&ms, flags.older) < 0)
		return message_fail(
		    CLI_USAGE,
		    "--older is \"%.64s\"; it has to be a duration of "
		    "more than nothing, up to 366d: 90m, 7d, 1h30m; a bare number is seconds",
		    flags.older);
	before_ms = clock_wall_ms() - ms;
	rc = ask(cli, c,
		 json_pack("before:i templateId?s status?s", before_ms,
			   flags.template, flags.status),
		 &result);
	if (rc != 0)
		return rc;
	if (!cli->json)
		safe_printf("%" PRId64 " deleted\n",
			    json_member_int(result, "deleted"));
	fflush(stdout);
	say_before(cli, before_ms);
	rc = tell_kept(result);
	json_object_put(result);
	return rc;
}

const struct command cmd_rm = {
    .name = "rm",
    .args = "RUN...",
    .summary = "forget runs that have ended, with their artifacts and logs",
    .min = 1,
    .max = -1,
    .call = rm,
};

const struct command cmd_prune = {
    .name = "prune",
    .args = "",
    .summary = "forget runs that ended long ago",
    .text = "How long ago --older says. It deletes your own runs alone, with "
	    "their artifacts\nand logs; runs that go on stay.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .call = prune,
};
