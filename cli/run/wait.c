/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c - "paddock wait" and "paddock result": waits for the end of runs, and
 * prints a run's result. main.c's table calls them. The exit status is the
 * run's, as for "paddock run"; a run in progress has no result yet, and
 * --timeout ends only the wait.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/ask/answers.h"
#include "cli/ask/ask.h"
#include "cli/terminal/cli.h"
#include "cli/client/client.h"
#include "cli/terminal/duration.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/opt.h"
#include "cli/client/report.h"
#include "cli/run/run_call.h"
#include "cli/terminal/terminal.h"
#include "cli/client/tool_call.h"
#include "proto/json/json_pack.h"

#define UNTOLD_MS                                                              \
	1000 /* without notifications the run is looked at this often */

static struct {
	const char *timeout;
	struct opt_list answers;
} flags;

static const struct opt opts[] = {
    {"timeout", 't', OPT_TEXT, &flags.timeout, "DURATION",
     "wait no longer than that: 90s, 5m, 1m30s; the run goes on"},
    {"answer", 0, OPT_LIST, &flags.answers, "KEY=VALUE",
     "answer what the run asks for by that key (repeatable)"},
};

/*
 * Print how the run of VIEW ended: a word on stdout, the reason on stderr.
 * NAMED is its id to print as well, or NULL. Returns the exit status.
 */
static int print_end(const struct cli *cli, struct json_object *view,
		     const char *named)
{
	if (cli->json)
		json_pretty_print(view, true);
	else if (named != NULL)
		safe_printf("%s %s\n", named, json_member_str(view, "status"));
	else
		safe_printf("%s\n", json_member_str(view, "status"));
	fflush(stdout); /* main() reports a failed write */
	report_success(cli, view);
	report_end(cli, view);
	report_explain(cli, view);
	return report_status(view);
}

/* Wait until RUN may have changed: 0; -ETIMEDOUT at UNTIL_MS; or -errno. */
static int wait_for_news(struct client *c, int64_t until_ms)
{
	int64_t left = until_ms - clock_mono_ms();
	int rc;

	if (left <= 0)
		return -ETIMEDOUT;
	rc = client_wait_update(c, (int)(left < UNTOLD_MS ? left : UNTOLD_MS));
	return rc == -ETIMEDOUT ? 0 : rc;
}

/*
 * Send RESPONSES (lent) to the questions of RUN. 0, or an exit status, the
 * reason printed.
 */
static int send_answers(struct client *c, const char *run,
			struct json_object *responses)
{
	struct tool_result a;
	int rc = client_method(
	    c, "tasks/update",
	    json_pack("taskId:s inputResponses:O", run, responses), &a);

	if (rc != 0)
		return rc;
	if (!a.good)
		rc = report_refusal(a.value, run);
	tool_result_fini(&a);
	return rc;
}

/*
 * Answer the questions of the run of VIEW, if there are any and the user can
 * answer here. 0 or an exit status.
 */
static int answer_questions(struct client *c, const char *run,
			    struct json_object *view, struct answers *answers)
{
	static bool said_nobody, said_not_ours;
	struct json_object *requests, *responses = NULL;
	struct tool_result a;
	int rc;

	if (!json_member_bool(view, "awaitingInput"))
		return 0;
	if (flags.answers.n == 0 && !ask_possible()) {
		/* without a word the wait would look like work */
		if (!said_nobody)
			message_print(
			    "%s waits for an answer, and there is no "
			    "terminal to ask at; paddock wait %s does on "
			    "one, or with --answer KEY=VALUE",
			    run, run);
		said_nobody = true;
		return 0;
	}
	rc = client_method(c, "tasks/get", json_pack("taskId:s", run), &a);
	if (rc != 0)
		return rc;
	requests = a.good ? json_member(a.value, "inputRequests") : NULL;
	if (!a.good && !said_not_ours)
		message_print("%s waits for an answer that its own client "
			      "alone can give",
			      run);
	said_not_ours = said_not_ours || !a.good;
	if (requests != NULL) {
		responses = answers_give(
		    answers, json_member_str(view, "templateId"), requests);
		rc = responses == NULL ? client_trouble()
				       : send_answers(c, run, responses);
	}
	json_object_put(responses);
	tool_result_fini(&a);
	return rc;
}

static int wait_for_end(const struct cli *cli, struct client *c,
			const char *run, int64_t until_ms, bool several)
{
	struct answers answers;
	char *uri = xasprintf("paddock://runs/%s", run);
	struct json_object *view = NULL;
	int news = client_subscribe(c, (const char *const[]){uri}, 1);
	int rc = 0;

	free(uri);
	if (!answers_init(&answers, &flags.answers))
		return CLI_USAGE;
	while (rc == 0 && news == 0) {
		rc = tool_call_run(cli, c, run, &view);
		if (rc == 0 && run_call_ended(view))
			break;
		if (rc == 0)
			rc = answer_questions(c, run, view, &answers);
		json_object_put(view);
		view = NULL;
		if (rc == 0)
			news = wait_for_news(c, until_ms);
	}
	if (rc == 0 && news == -ETIMEDOUT)
		rc = message_fail(CLI_TIMEOUT,
				  "%s has not ended in that time, and goes on",
				  run);
	else if (rc == 0 && news < 0)
		rc = client_trouble();
	else if (rc == 0)
		rc = print_end(cli, view, several ? run : NULL);
	if (rc < CLI_TROUBLE && !cli->quiet)
		answers_tell_rest(&answers);
	answers_fini(&answers);
	json_object_put(view);
	return rc;
}

static int wait_run(const struct cli *cli, struct client *c, int n,
		    const char *const *arg)
{
	int64_t ms = INT64_MAX / 2, until_ms;
	int worst = 0;

	if (flags.timeout != NULL && duration_parse(&ms, flags.timeout) < 0)
		return message_fail(
		    CLI_USAGE,
		    "--timeout is \"%.64s\"; it has to be a duration "
		    "up to 366d: 90s, 5m, 1m30s, 1500ms; a bare number is seconds",
		    flags.timeout);
	client_declare(c, answers_capabilities(true));
	until_ms = clock_mono_ms() + ms;
	for (int i = 0; i < n; i++) {
		int rc = wait_for_end(cli, c, arg[i], until_ms, n > 1);

		worst = rc > worst ? rc : worst;
	}
	return worst;
}

static int result(const struct cli *cli, struct client *c, int n,
		  const char *const *arg)
{
	struct json_object *view, *value;
	int rc = tool_call_run(cli, c, arg[0], &view);

	(void)n;
	if (rc != 0)
		return rc;
	if (!run_call_ended(view)) {
		rc =
		    message_fail(CLI_FAILED,
				 "%s has no result yet: it is %s; paddock wait "
				 "waits for its end",
				 arg[0], json_member_str(view, "status"));
	} else {
		if (cli->json)
			json_pretty_print(view, true);
		else if (json_object_object_get_ex(view, "result", &value))
			json_pretty_print(value, false);
		fflush(stdout);
		report_end(cli, view);
		rc = report_status(view);
	}
	json_object_put(view);
	return rc;
}

const struct command cmd_wait = {
    .name = "wait",
    .args = "RUN...",
    .summary = "wait for the end of runs",
    .text = "Exit status: that of the run, as of paddock run; of several the "
	    "highest; 124\nwhen time is up. A run is named by its id, a "
	    "beginning of it, or last.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .min = 1,
    .max = -1,
    .call = wait_run,
};

const struct command cmd_result = {
    .name = "result",
    .args = "RUN",
    .summary = "what a run that has ended gave",
    .min = 1,
    .max = 1,
    .call = result,
};
