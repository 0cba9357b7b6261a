/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - "paddock run" and "paddock retry": inputs, the call by run_call.c,
 * the result and its artifacts. main.c's table calls them. The status is the
 * run's own by report.c, or run_call.c's when the server is lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/quantity.h"
#include "base/mem.h"
#include "cli/terminal/duration.h"
#include "cli/template/template_findings.h"
#include "cli/client/tool_call.h"
#include "cli/ask/ask.h"
#include "cli/terminal/cli.h"
#include "cli/client/client.h"
#include "cli/terminal/remedy.h"
#include "cli/run/retry_inputs.h"
#include "cli/terminal/opt.h"
#include "cli/terminal/json_io.h"
#include "cli/ask/input.h"
#include "cli/run/run_call.h"
#include "cli/client/report.h"
#include "cli/artifact/artifact_put.h"
#include "cli/artifact/artifact_write.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/server_flags.h"
#include "proto/json/json_pack.h"

#define DEFAULT_OUT "paddock-out"

static struct {
	struct opt_list inputs, grants, answers;
	const char *file, *timeout, *mode, *out, *key, *version;
	bool no_artifacts, detach, exit_code, allow_writes;
} flags;

/* "run" has all but the last, "retry" all but the first. */
static const struct opt opts[] = {
    {"grant", 0, OPT_LIST, &flags.grants, "[TEMPLATE:]KEY=VALUE",
     "use a private server that grants this to the template"},
    {"input", 0, OPT_TEXT, &flags.file, "FILE",
     "a JSON object of inputs; - is stdin"},
    {"set", 'i', OPT_LIST, &flags.inputs, "KEY=VALUE",
     "one input; KEY=@FILE its text, KEY=@@FILE a file that is uploaded first, "
     "KEY=env:NAME of the environment, KEY:=JSON as it stands; OBJECT.KEY a "
     "member"},
    {"answer", 0, OPT_LIST, &flags.answers, "KEY=VALUE",
     "answer what the template asks for by that key (repeatable); else it is "
     "asked for on the terminal"},
    {"timeout", 't', OPT_TEXT, &flags.timeout, "DURATION",
     "end the run after that: 90s, 5m, 1m30s, 1500ms; a bare number is seconds"},
    {"mode", 0, OPT_TEXT, &flags.mode, "MODE",
     "sync or auto wait for the end; async prints the run's id at once"},
    {"detach", 'd', OPT_FLAG, &flags.detach, NULL,
     "print the run's id and leave; it goes on in the daemon"},
    {"out", 'o', OPT_TEXT, &flags.out, "DIR",
     "write artifacts here, not to ./" DEFAULT_OUT "/RUN"},
    {"exit-code", 0, OPT_FLAG, &flags.exit_code, NULL,
     "end with the exit code of the code that the run was given, where it "
     "succeeded"},
    {"no-artifacts", 0, OPT_FLAG, &flags.no_artifacts, NULL,
     "leave artifacts on the server"},
    {"allow-writes", 0, OPT_FLAG, &flags.allow_writes, NULL,
     "let the run call templates that change things"},
    {"idempotency-key", 0, OPT_TEXT, &flags.key, "KEY",
     "the same key and inputs give the same run again"},
    {"version", 0, OPT_TEXT, &flags.version, "VERSION",
     "that version of the template, and not the run's own"},
};

/* ---- the request ---- */

static int read_run_flags(struct run_call *r, const char *operand)
{
	char *at;

	if (flags.timeout != NULL &&
	    duration_parse(&r->timeout_ms, flags.timeout) < 0)
		return message_fail(
		    CLI_USAGE,
		    "--timeout is \"%.64s\"; it has to be a duration "
		    "up to 366d: 90s, 5m, 1m30s, 1500ms; a bare number is seconds",
		    flags.timeout);
	if (flags.detach && flags.mode != NULL &&
	    strcmp(flags.mode, "async") != 0)
		return message_fail(CLI_USAGE,
				    "--detach leaves the run alone, and --mode "
				    "%s waits for it; leave one of them out",
				    flags.mode);
	if (flags.detach)
		flags.mode = "async";
	if (flags.key != NULL &&
	    (flags.key[0] == '\0' || strlen(flags.key) > 200))
		return message_fail(
		    CLI_USAGE,
		    "--idempotency-key has %zu bytes; 1 to 200 would pass",
		    strlen(flags.key));
	r->key = flags.key;
	r->allow_writes = flags.allow_writes;
	r->template = xstrdup(operand);
	at = strchr(r->template, '@');
	if (at != NULL) {
		*at = '\0';
		r->version = at + 1;
	}
	return 0;
}

/* Read the inputs of --input; -i waits for the schema. */
static int read_input_file(struct run_call *r)
{
	if (flags.file == NULL) {
		r->inputs = json_object_new_object();
		return 0;
	}
	if (json_file_read(&r->inputs, flags.file) < 0)
		return CLI_USAGE;
	if (!json_object_is_type(r->inputs, json_type_object))
		return message_fail(CLI_USAGE,
				    "--input has to be a JSON object, {…}");
	return 0;
}

static int put_inputs(struct run_call *r, struct json_object *schema)
{
	struct json_object *typed = json_object_new_object();
	char errmsg[512];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < flags.inputs.n; i++)
		rc = input_put(typed, schema, flags.inputs.item[i], errmsg,
			       sizeof(errmsg));
	if (rc == 0 && r->again != NULL)
		retry_inputs_put(r, schema, &flags.inputs, typed);
	else if (rc == 0)
		input_merge(r->inputs, typed);
	json_object_put(typed);
	return rc < 0 ? message_fail(CLI_USAGE, "%s", errmsg) : 0;
}

/*
 * Say, before the run starts, if --timeout is longer than T (the template's
 * entry) allows.
 */
static void say_cut(const struct run_call *r, struct json_object *t)
{
	struct json_object *limit =
	    json_member(json_member(t, "effectiveLimits"), "maxTimeoutMs");
	int64_t most = json_member_int(limit, "allowed");
	char *who = remedy_who(limit), had[QUANTITY_SIZE];

	if (limit != NULL && r->timeout_ms > most)
		message_print(
		    "--timeout %s is cut to %s, the most that a run of %s may "
		    "have%s%s",
		    flags.timeout, quantity(had, most, "ms"), r->template,
		    who != NULL ? "; " : "", who != NULL ? who : "");
	free(who);
}

/*
 * Look up the template: the schema for -i, the longest time for -t. The server
 * checks both again.
 */
static int look_up_template(struct run_call *r)
{
	const char *version = r->version != NULL ? r->version : r->own_version;
	struct json_object *args, *list, *t;
	struct tool_result a;
	int rc;

	if (flags.inputs.n == 0 && r->timeout_ms == 0 && !ask_possible())
		return 0;
	args = json_pack("templateId:s", r->template);
	rc = client_tool(r->client, "list_task_templates", args, &a);
	if (rc != 0)
		return rc;
	list = a.good ? json_member(a.value, "templates") : NULL;
	/* the wanted version, or the first */
	t = json_length(list) > 0 ? json_object_array_get_idx(list, 0) : NULL;
	json_each(one, version != NULL ? list : NULL)
		if (json_member_is(one, "version", version)) {
			t = one;
			break;
		}
	/* unknown template: run_task_template names the nearest */
	rc = put_inputs(r, json_member(t, "inputsSchema"));
	if (rc == 0 && ask_possible() && r->again == NULL)
		rc = retry_inputs_end(ask_inputs(
		    r->template, json_member(t, "inputsSchema"), r->inputs));
	if (rc == 0)
		rc = artifact_put_all(r->cli, r->client, r->inputs);
	if (rc == 0)
		rc = artifact_put_all(r->cli, r->client, r->members);
	if (rc == 0)
		say_cut(r, t);
	r->schema = json_object_get(json_member(t, "inputsSchema"));
	tool_result_fini(&a);
	return rc;
}

/* ---- the result ---- */

static int show_end(struct run_call *r, struct json_object *view)
{
	const char *id = json_member_str(view, "runId");
	struct json_object *result;
	int status = report_status(view), rc = 0;
	char *dir;

	if (r->cli->json)
		json_pretty_print(view, true);
	else if (!json_member_is(json_member(view, "error"), "errorCode",
				 "OUTPUT_INVALID") &&
		 json_object_object_get_ex(view, "result", &result))
		/* a result that breaks its schema only "paddock result" shows */
		json_pretty_print(result, false);
	fflush(stdout); /* main() reports a failed write */
	report_success(r->cli, view);
	report_end(r->cli, view);
	if (!flags.no_artifacts) {
		dir = flags.out != NULL ? xstrdup(flags.out)
					: xasprintf(DEFAULT_OUT "/%s", id);
		rc = artifact_write_all(r->client, view, dir, r->cli->quiet,
					false);
		free(dir);
	}
	report_explain(r->cli, view);
	if (signals_noted() != 0 && status == CLI_CANCELED)
		status = CLI_SIGNALED + signals_noted();
	if (flags.exit_code && status == CLI_OK && rc == 0)
		return report_exit_code(view);
	/* without its artifacts a result is no success */
	return rc != 0 && (status == CLI_OK || status == CLI_PARTIAL) ? rc
								      : status;
}

static int show_handle(const struct run_call *r, struct json_object *handle)
{
	const char *id = json_member_str(handle, "runId");
	char *words;

	if (r->cli->json)
		json_pretty_print(handle, true);
	else
		safe_printf("%s\n", id);
	fflush(stdout);
	if (!flags.detach || r->cli->quiet)
		return 0;
	words = server_flags_for_run(r->cli, id);
	message_print("%s is %s", id, json_member_str(handle, "status"));
	message_more("  hint: paddock wait %s; paddock logs -f %s", words,
		     words);
	free(words);
	return 0;
}

static int report_run_refusal(const struct run_call *r,
			      struct json_object *refusal)
{
	const char *code = json_member_str(refusal, "errorCode");
	int status;

	if (r->cli->json)
		json_pretty_print(refusal, true);
	status = report_refusal(refusal, r->template);
	if (strcmp(code != NULL ? code : "", "TEMPLATE_NOT_FOUND") == 0)
		template_locate(r->cli, r->template,
				client_is_private(r->client));
	return status;
}

/* Is VALUE, the answer to the call, of a run? A refused call made none. */
static bool is_made(struct json_object *value)
{
	return json_member_str(value, "runId") != NULL &&
	       json_member_str(value, "status") != NULL;
}

static int settle_run(struct run_call *r, struct tool_result *a, bool async)
{
	const char *now = json_member_str(a->value, "templateVersion");
	int rc;

	if (!is_made(a->value))
		return report_run_refusal(r, a->value);
	if (r->own_version != NULL && r->version == NULL && now != NULL &&
	    strcmp(now, r->own_version) != 0)
		message_print("version %s of %s is not installed any more, so "
			      "this was run by %s",
			      r->own_version, r->template, now);
	/* --detach leaves even a run that has ended */
	if (flags.detach || (async && !run_call_ended(a->value)))
		return show_handle(r, a->value);
	rc = run_call_follow(r, a);
	if (rc != 0)
		return rc;
	if (json_member_str(a->value, "status") == NULL)
		return report_run_refusal(r, a->value);
	return show_end(r, a->value);
}

/* Refuse --detach and --mode async: the private server ends with us. */
static int needs_daemon(void)
{
	const char *flag = flags.detach ? "--detach" : "--mode async";

	message_print("%s needs the daemon, since a private server ends "
		      "with this command",
		      flag);
	if (server_flags()[0] != '\0' || flags.grants.n > 0)
		message_more("  hint: leave out %s, or what makes the server a "
			     "private one:%s%s",
			     flag, server_flags(),
			     flags.grants.n > 0 ? " --grant" : "");
	else
		message_more("  hint: start paddockd, or leave %s out", flag);
	return CLI_TROUBLE;
}

static int run_it(struct run_call *r)
{
	/* sync: a client that waits can be asked questions */
	const char *mode = flags.mode != NULL ? flags.mode : "sync";
	bool async = strcmp(mode, "async") == 0, made = false;
	struct tool_result a;
	int rc;

	if (async && client_is_private(r->client))
		return needs_daemon();
	rc = look_up_template(r);
	if (rc != 0)
		return rc;
	rc = run_call_start(r, mode, &a);
	if (rc == 0 && !a.good && retry_inputs_lack(r, a.value)) {
		rc = retry_inputs_ask(r, a.value);
		tool_result_fini(&a);
		if (rc == 0)
			rc = artifact_put_all(r->cli, r->client, r->inputs);
		run_call_fini(r);
		if (rc == 0)
			rc = run_call_start(r, mode, &a);
	}
	if (rc == 0) {
		made = is_made(a.value);
		rc = settle_run(r, &a, async);
		tool_result_fini(&a);
	}
	if (made && !r->cli->quiet)
		answers_tell_rest(&r->answers);
	run_call_fini(r);
	return rc;
}

/* Pass --grant to the private server; a daemon grants what is configured. */
static int put_grants(struct cli *own, const struct run_call *r)
{
	if (flags.grants.n > 0 && own->socket != NULL)
		return message_fail(
		    CLI_USAGE, "--grant is for a private server; the one at "
			       "--socket grants what its own configuration "
			       "says");
	for (size_t i = 0; i < flags.grants.n; i++) {
		const char *grant = flags.grants.item[i];
		bool named = grant[strcspn(grant, ":=")] == ':';

		opt_list_add(&own->grants,
			     xasprintf("%s%s%s", named ? "" : r->template,
				       named ? "" : ":", grant));
	}
	return 0;
}

static void run_fini(struct run_call *r)
{
	json_object_put(r->inputs);
	json_object_put(r->members);
	json_object_put(r->schema);
	free(r->template);
	answers_fini(&r->answers);
	opt_list_free(&flags.answers);
	opt_list_free(&flags.inputs);
}

static int run_template(const struct cli *cli, int n, const char *const *arg)
{
	struct cli own = *cli;
	struct run_call r = {.cli = cli};
	int rc = read_run_flags(&r, arg[0]);

	(void)n;
	if (rc == 0)
		rc = put_grants(&own, &r);
	if (rc == 0)
		rc = read_input_file(&r);
	if (rc == 0 && !answers_init(&r.answers, &flags.answers))
		rc = CLI_USAGE;
	if (rc == 0) {
		r.client = client_open(&own);
		rc = r.client == NULL ? client_trouble() : run_it(&r);
		client_close(r.client);
	}
	run_fini(&r);
	for (size_t i = 0; i < own.grants.n; i++)
		free((char *)(uintptr_t)own.grants.item[i]);
	opt_list_free(&own.grants);
	opt_list_free(&flags.grants);
	return rc;
}

const struct command cmd_run = {
    .name = "run",
    .args = "TEMPLATE[@VERSION]",
    .summary = "run a template and show its result",
    .text = "The result goes to stdout, artifacts into a folder, all else to "
	    "stderr.\n"
	    "Ctrl-C cancels the run; a second one leaves at once.\n"
	    "\n"
	    "Exit status: 0 succeeded, 1 failed, 2 wrong usage or inputs, 3 "
	    "succeeded in\n"
	    "part, 4 no such template, 124 timed out, 125 trouble with paddock "
	    "itself,\n"
	    "130 cancelled.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts) - 1,
    .min = 1,
    .max = 1,
    .run = run_template,
};

/* Retry a run; its template is read first, since the schema types -i. */
static int retry(const struct cli *cli, struct client *c, int n,
		 const char *const *arg)
{
	struct run_call r = {.cli = cli, .client = c, .again = arg[0]};
	struct json_object *view;
	int rc = tool_call_run(cli, c, arg[0], &view);

	(void)n;
	if (rc != 0)
		return rc;
	rc = read_run_flags(&r, json_member_str(view, "templateId"));
	r.version = flags.version;
	r.own_version = json_member_str(view, "templateVersion");
	if (rc == 0)
		rc = read_input_file(&r);
	if (rc == 0 && !answers_init(&r.answers, &flags.answers))
		rc = CLI_USAGE;
	if (rc == 0)
		rc = run_it(&r);
	json_object_put(view);
	run_fini(&r);
	return rc;
}

const struct command cmd_retry = {
    .name = "retry",
    .args = "RUN",
    .summary = "run again what a run was, with the same inputs",
    .text =
	"A new run of the same template, in the same version while that "
	"is installed.\n"
	"-i and --input give some inputs anew, each as a whole, and -i "
	"OBJECT.KEY a member\n"
	"of one; what was secret is asked for, or has to be given again, and "
	"so has what\n"
	"was too long to be kept. All else is as of paddock run.\n",
    .opts = opts + 1,
    .n_opts = ARRAY_LEN(opts) - 1,
    .min = 1,
    .max = 1,
    .call = retry,
};
