/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete.c - "paddock rm", "paddock artifact rm" and "paddock prune": delete
 * ended runs, with their artifacts and logs, and uploads before they expire.
 * main.c's table calls them. Each item that the server keeps is reported with
 * the reason, and the worst reason gives the exit status; the other items are
 * deleted all the same.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/terminal/cli.h"
#include "cli/client/client.h"
#include "cli/terminal/duration.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/opt.h"
#include "cli/client/report.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

static struct {
	const char *older, *template, *status;
} flags;

static const struct opt opts[] = {
    {"older", 0, OPT_TEXT, &flags.older, "DURATION",
     "what ended or came longer ago than that: 90m, 7d; a bare number is "
     "seconds"},
    {"template", 0, OPT_TEXT, &flags.template, "TEMPLATE",
     "only runs of that template"},
    {"status", 0, OPT_TEXT, &flags.status, "END", "only runs that ended so"},
};

/* A kind of item: the words of its method and messages. */
struct kind {
	const char *method, *ids, *id;
	const char *absent;
	const char *with; /* deleted along with a run */
};

static const struct kind runs = {"paddock/deleteRuns", "runIds", "runId",
				 "RUN_NOT_FOUND", ", with artifacts and logs"};
static const struct kind uploads = {"paddock/deleteArtifacts", "artifactIds",
				    "artifactId", "ARTIFACT_NOT_FOUND", ""};

/* Print the items that RESULT says were kept. Returns the exit status. */
static int tell_kept(const struct kind *k, struct json_object *result)
{
	int worst = CLI_OK;

	json_each(one, json_member(result, "kept")) {
		int rc = json_member_is(one, "errorCode", k->absent)
			     ? CLI_ABSENT
			 : json_member_is(one, "errorCode", "STORE_UNAVAILABLE")
			     ? CLI_TROUBLE
			     : CLI_USAGE;

		message_print("%s was not deleted: %s",
			      json_member_str(one, k->id),
			      json_member_str(one, "reason"));
		worst = rc > worst ? rc : worst;
	}
	return worst;
}

/*
 * Call the method of K; takes PARAMS. 0 and *RESULT, the caller's; or the exit
 * status, the reason printed.
 */
static int ask_to_delete(const struct cli *cli, struct client *c,
			 const struct kind *k, struct json_object *params,
			 struct json_object **result)
{
	struct tool_result a;
	int rc = client_method(c, k->method, params, &a);

	*result = NULL;
	if (rc != 0)
		return rc;
	if (!a.good)
		rc = report_refusal(a.value, NULL);
	else
		*result = json_object_get(a.value);
	if (rc != 0 && cli->json)
		json_pretty_print(a.value, true);
	tool_result_fini(&a);
	return rc;
}

static bool is_kept(const struct kind *k, struct json_object *result,
		    const char *id)
{
	json_each(one, json_member(result, "kept"))
		if (json_member_is(one, k->id, id))
			return true;
	return false;
}

/* Was ARG[I] named before? An item is deleted once. */
static bool is_repeated(const char *const *arg, int i)
{
	for (int k = 0; k < i; k++)
		if (strcmp(arg[k], arg[i]) == 0)
			return true;
	return false;
}

static int delete (const struct cli *cli, struct client *c,
		   const struct kind *k, int n, const char *const *arg)
{
	struct json_object *ids = json_object_new_array(), *result;
	struct json_object *params = json_object_new_object();
	int rc;

	for (int i = 0; i < n; i++)
		if (!is_repeated(arg, i))
			json_object_array_add(ids,
					      json_object_new_string(arg[i]));
		else if (!cli->quiet)
			message_print("%s is named more than once", arg[i]);
	json_object_object_add(params, k->ids, ids);
	rc = ask_to_delete(cli, c, k, params, &result);
	if (rc == 0 && cli->json)
		json_pretty_print(result, true);
	for (int i = 0; result != NULL && !cli->json && i < n; i++)
		if (!is_kept(k, result, arg[i]) && !is_repeated(arg, i))
			safe_printf("%s\n", arg[i]);
	fflush(stdout);
	if (rc == 0 && !cli->quiet && json_member_int(result, "deleted") > 0)
		message_print("%" PRId64 " deleted%s",
			      json_member_int(result, "deleted"), k->with);
	if (rc == 0)
		rc = tell_kept(k, result);
	json_object_put(result);
	return rc;
}

static int rm(const struct cli *cli, struct client *c, int n,
	      const char *const *arg)
{
	return delete (cli, c, &runs, n, arg);
}

static int artifact_rm(const struct cli *cli, struct client *c, int n,
		       const char *const *arg)
{
	return delete (cli, c, &uploads, n, arg);
}

/*
 * Print the result of both prunings; OF_UPLOADS is NULL if only runs were
 * pruned. Returns the exit status.
 */
static int tell_pruned(const struct cli *cli, struct json_object *of_runs,
		       struct json_object *of_uploads, int64_t before_ms)
{
	int64_t n = json_member_int(of_runs, "deleted");
	int64_t more = json_member_int(of_uploads, "deleted");
	char iso[CLOCK_ISO_SIZE];
	int rc, also;

	if (cli->json && of_uploads != NULL) {
		json_add(of_runs, "uploadsDeleted:i", more);
		json_each(one, json_member(of_uploads, "kept"))
			json_object_array_add(json_member(of_runs, "kept"),
					      json_object_get(one));
	}
	if (cli->json) {
		json_pretty_print(of_runs, true);
	} else {
		safe_printf("%" PRId64 " run%s", n, n == 1 ? "" : "s");
		if (of_uploads != NULL)
			safe_printf(" and %" PRId64 " upload%s", more,
				    more == 1 ? "" : "s");
		safe_printf(" deleted\n");
	}
	fflush(stdout);
	clock_iso(iso, before_ms); /* the time that --older meant */
	if (!cli->quiet)
		message_print(
		    "only runs that ended%s before %s were looked at",
		    of_uploads != NULL ? ", and uploads that came," : "", iso);
	rc = tell_kept(&runs, of_runs);
	also = tell_kept(&uploads, of_uploads);
	return rc > also ? rc : also;
}

static int prune(const struct cli *cli, struct client *c, int n,
		 const char *const *arg)
{
	bool all = flags.template == NULL && flags.status == NULL;
	struct json_object *of_runs, *of_uploads = NULL;
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
	rc = ask_to_delete(cli, c, &runs,
			   json_pack("before:i templateId?s status?s",
				     before_ms, flags.template, flags.status),
			   &of_runs);
	if (rc == 0 && all)
		rc = ask_to_delete(cli, c, &uploads,
				   json_pack("before:i", before_ms),
				   &of_uploads);
	if (rc == 0)
		rc = tell_pruned(cli, of_runs, of_uploads, before_ms);
	json_object_put(of_runs);
	json_object_put(of_uploads);
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

const struct command cmd_artifact_rm = {
    .name = "artifact rm",
    .args = "ARTIFACT...",
    .summary = "forget what you have uploaded",
    .text =
	"A run that has one already keeps it until it ends. What a run made "
	"goes with that\nrun: \"paddock rm RUN\".\n",
    .min = 1,
    .max = -1,
    .call = artifact_rm,
};

const struct command cmd_prune = {
    .name = "prune",
    .args = "",
    .summary = "forget runs that ended, and uploads that came, long ago",
    .text =
	"How long ago --older says. It deletes your own alone, runs with "
	"their artifacts\nand logs; runs that go on stay. With --template or "
	"--status uploads stay, too.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .call = prune,
};
