/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - "paddock run": inputs, the call, progress, cancelling by ctrl-C, the
 * result and its artifacts. main.c's table calls it. The status is the run's
 * own by report.c; a lost server is CLI_TROUBLE, and says how to find the run
 * again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/text/quantity.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/template_locate.h"
#include "cli/tool_call.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/remedy.h"
#include "cli/duration.h"
#include "cli/json_file.h"
#include "cli/input.h"
#include "cli/json_pretty.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/artifact_write.h"
#include "cli/message.h"
#include "cli/safe_printf.h"
#include "cli/server_flags.h"
#include "proto/json/json_pack.h"

#define POLL_MS 1000		  /* pollAfterMs of the contract */
#define LIMITED_PATIENCE_MS 60000 /* with a server that is asked too often */
#define CANCEL_WAIT_MS 75000	  /* the longest grace is a minute */
#define ID_WAIT_MS 250 /* for the run's id once it is to be cancelled */
#define KEY_PREFIX "paddock-"
#define KEY_BYTES ((size_t)16)
#define DEFAULT_OUT "paddock-out"

static struct {
	struct opt_list inputs, grants;
	const char *file, *timeout, *mode, *out, *key;
	bool no_artifacts;
} flags;

static const struct opt opts[] = {
    {"input", 0, OPT_TEXT, &flags.file, "FILE",
     "a JSON object of inputs; - is stdin"},
    {"set", 'i', OPT_LIST, &flags.inputs, "KEY=VALUE",
     "one input; KEY=@FILE its text, KEY:=JSON as it stands"},
    {"grant", 0, OPT_LIST, &flags.grants, "[TEMPLATE:]KEY=VALUE",
     "use a private server that grants this to the template"},
    {"timeout", 't', OPT_TEXT, &flags.timeout, "DURATION",
     "end the run after that: 90s, 5m, 1m30s, 1500ms; a bare number is seconds"},
    {"mode", 0, OPT_TEXT, &flags.mode, "MODE",
     "sync or auto wait for the end; async prints the run's id at once"},
    {"out", 'o', OPT_TEXT, &flags.out, "DIR",
     "write artifacts here, not to ./" DEFAULT_OUT "/RUN"},
    {"no-artifacts", 0, OPT_FLAG, &flags.no_artifacts, NULL,
     "leave artifacts on the server"},
    {"idempotency-key", 0, OPT_TEXT, &flags.key, "KEY",
     "the same key and inputs give the same run again"},
};

struct job {
	const struct cli *cli;
	struct client *client;
	char *template;	     /* owned */
	const char *version; /* within its text, after the @; or NULL */
	struct json_object *inputs;
	int64_t timeout_ms;
	char key[sizeof(KEY_PREFIX) + 2 * KEY_BYTES]; /* finds the run again */
	struct progress progress;
	bool cancelling;
};

/* ---- what is asked for ---- */

static int usage_error(const char *errmsg)
{
	message_print("%s", errmsg);
	return CLI_USAGE;
}

static int bad_timeout(const char *text)
{
	message_print(
	    "--timeout is \"%.64s\"; it has to be a duration: 90s, 5m, 1m30s, "
	    "1500ms; a bare number is seconds",
	    text);
	return CLI_USAGE;
}

static int bad_key(const char *text)
{
	message_print("--idempotency-key has %zu bytes; 1 to 200 would pass",
		      strlen(text));
	return CLI_USAGE;
}

static int read_flags(struct job *j, const char *operand)
{
	char *at;

	if (flags.timeout != NULL &&
	    duration_parse(&j->timeout_ms, flags.timeout) < 0)
		return bad_timeout(flags.timeout);
	if (flags.key != NULL &&
	    (flags.key[0] == '\0' || strlen(flags.key) > 200))
		return bad_key(flags.key);
	j->template = xstrdup(operand);
	at = strchr(j->template, '@');
	if (at != NULL) {
		*at = '\0';
		j->version = at + 1;
	}
	return 0;
}

/* The inputs of --input; typed ones wait for the schema. */
static int read_input_file(struct job *j)
{
	j->inputs = json_object_new_object();
	if (flags.file == NULL)
		return 0;
	json_object_put(j->inputs);
	j->inputs = NULL;
	if (json_file_read(&j->inputs, flags.file) < 0)
		return CLI_USAGE;
	if (!json_object_is_type(j->inputs, json_type_object))
		return usage_error("--input has to be a JSON object, {…}");
	return 0;
}

/* The template's entry in the list: that version, else the first. Borrowed. */
static struct json_object *pick(const struct job *j, struct json_object *list)
{
	size_t n = json_length(list);

	for (size_t i = 0; j->version != NULL && i < n; i++) {
		struct json_object *t = json_object_array_get_idx(list, i);
		const char *version = json_member_str(t, "version");

		if (version != NULL && strcmp(version, j->version) == 0)
			return t;
	}
	return n > 0 ? json_object_array_get_idx(list, 0) : NULL;
}

static int put_inputs(struct job *j, struct json_object *schema)
{
	struct json_object *typed = json_object_new_object();
	char errmsg[512];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < flags.inputs.n; i++)
		rc = input_put(typed, schema, flags.inputs.item[i], errmsg,
			       sizeof(errmsg));
	if (rc == 0)
		input_merge(j->inputs, typed);
	json_object_put(typed);
	return rc < 0 ? usage_error(errmsg) : 0;
}

/*
 * Of T, a template's entry, LIMIT is the most time that a run may have. Said
 * before it runs, not when its time is over.
 */
static void say_cut(const struct job *j, struct json_object *t)
{
	struct json_object *limit =
	    json_member(json_member(t, "effectiveLimits"), "maxTimeoutMs");
	int64_t most = json_member_int(limit, "allowed");
	char *who = remedy_who(limit), had[QUANTITY_SIZE];

	if (limit != NULL && j->timeout_ms > most)
		message_print(
		    "--timeout %s is cut to %s, the most that a run of %s may "
		    "have%s%s",
		    flags.timeout, quantity(had, most, "ms"), j->template,
		    who != NULL ? "; " : "", who != NULL ? who : "");
	free(who);
}

/*
 * What the template takes, for -i, and the most time it may have, for -t; the
 * server checks all of it again.
 */
static int look_up_template(struct job *j)
{
	struct json_object *args, *t;
	struct tool_result a;
	int rc;

	if (flags.inputs.n == 0 && j->timeout_ms == 0)
		return 0;
	args = json_pack("templateId:s", j->template);
	rc = client_tool(j->client, "list_task_templates", args, &a);
	if (rc != 0)
		return rc;
	t = a.good ? pick(j, json_member(a.value, "templates")) : NULL;
	/* an unknown template: let run_task_template say what is near */
	rc = put_inputs(j, json_member(t, "inputsSchema"));
	if (rc == 0)
		say_cut(j, t);
	tool_result_fini(&a);
	return rc;
}

static void make_key(struct job *j)
{
	unsigned char random[KEY_BYTES];

	if (flags.key != NULL)
		return;
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort();
	memcpy(j->key, KEY_PREFIX, sizeof(KEY_PREFIX));
	for (size_t i = 0; i < KEY_BYTES; i++)
		snprintf(j->key + strlen(KEY_PREFIX) + 2 * i, 3, "%02x",
			 random[i]);
}

static struct json_object *arguments(const struct job *j, const char *mode)
{
	return json_pack("templateId:s templateVersion?s inputs:O options:o",
			 j->template, j->version, j->inputs,
			 json_pack("timeoutMs?i mode:s idempotencyKey:s",
				   j->timeout_ms, mode,
				   flags.key != NULL ? flags.key : j->key));
}

/* ---- cancelling ---- */

static bool ask_to_cancel(struct job *j, const char *id)
{
	struct tool_result a;

	message_more("cancelling %s; again to leave at once", id);
	if (client_tool(j->client, "cancel_task_run", json_pack("runId:s", id),
			&a) != 0)
		return false;
	tool_result_fini(&a);
	return true;
}

/*
 * A call under way does not tell its run's id. The same key does, without
 * making a second run. Where the answer is late, the request is cancelled
 * instead, and the call with the same key sees the end.
 */
static int64_t cancel_call(struct job *j, int64_t call)
{
	int64_t again = client_send_tool(j->client, "run_task_template",
					 arguments(j, "async"));
	struct tool_result a;
	int rc;

	progress_hide(&j->progress);
	client_signal_seen(j->client);
	rc = client_wait(j->client, again, ID_WAIT_MS, &a);
	if (rc == -ETIMEDOUT) {
		message_more("cancelling; again to leave at once");
		client_cancel(j->client, call);
		return again;
	}
	if (rc == 0) {
		const char *id = json_member_str(a.value, "runId");

		if (id != NULL)
			ask_to_cancel(j, id);
		tool_result_fini(&a);
	}
	return call;
}

/* ---- waiting ---- */

static void on_progress(void *arg, uint64_t done, uint64_t total,
			const char *message)
{
	struct job *j = arg;

	if (!j->cancelling)
		progress_set(&j->progress, done, total, message);
}

/* The answer to CALL, however long that takes. 0 or an exit status. */
static int wait_answer(struct job *j, int64_t call, struct tool_result *a)
{
	for (;;) {
		int ms = j->cancelling ? CANCEL_WAIT_MS
				       : progress_tick(&j->progress);
		int rc = client_wait(j->client, call, ms, a);

		if (rc == 0)
			return 0;
		if (rc == -EPIPE) {
			message_more(
			    "  hint: \"paddock ps -a%s\" tells what became "
			    "of the run, once a server is there again",
			    server_flags());
			return client_trouble();
		}
		if (rc == -ETIMEDOUT && j->cancelling) {
			message_print("the server does not end the run");
			return client_trouble();
		}
		if (rc == -EINTR) {
			j->cancelling = true;
			call = cancel_call(j, call);
		}
	}
}

static bool ended(struct json_object *view)
{
	const char *status = json_member_str(view, "status");

	return status == NULL || (strcmp(status, "queued") != 0 &&
				  strcmp(status, "running") != 0);
}

static void show_progress(struct job *j, struct json_object *view)
{
	struct json_object *p = json_member(view, "progress");

	if (!j->cancelling)
		progress_set(
		    &j->progress,
		    json_object_get_uint64(json_member(p, "doneSteps")),
		    json_object_get_uint64(json_member(p, "totalSteps")),
		    json_member_str(view, "message"));
}

/* Nothing is waited for but time; a signal cancels the run. */
static int pause_a_while(struct job *j, const char *id)
{
	int64_t end = clock_mono_ms() + POLL_MS;

	while (clock_mono_ms() < end) {
		int tick =
		    j->cancelling ? POLL_MS : progress_tick(&j->progress);
		int64_t left = end - clock_mono_ms();
		struct tool_result none;
		int rc = client_wait(
		    j->client, 0,
		    tick < 0 || tick > left ? (int)(left > 0 ? left : 0) : tick,
		    &none);

		if (rc == -EPIPE)
			return client_trouble();
		if (rc != -EINTR)
			continue;
		j->cancelling = true;
		progress_hide(&j->progress);
		client_signal_seen(j->client);
		if (!ask_to_cancel(j, id))
			return client_trouble();
	}
	return 0;
}

/* The server gave a handle: ask until the run has ended. */
static int follow(struct job *j, struct tool_result *a)
{
	char *id = xstrdup(json_member_str(a->value, "runId"));
	int rc = 0;

	while (rc == 0 &&
	       ((a->good && !ended(a->value)) || client_limited(a) > 0)) {
		rc = pause_a_while(j, id);
		if (rc == 0) {
			tool_result_fini(a);
			rc = wait_answer(
			    j,
			    client_send_tool(j->client, "get_task_run",
					     json_pack("runId:s", id)),
			    a);
		}
		if (rc == 0 && a->good)
			show_progress(j, a->value);
	}
	free(id);
	return rc;
}

/* ---- the end ---- */

static int write_artifacts(struct job *j, struct json_object *view)
{
	const char *id = json_member_str(view, "runId");
	char *dir;
	int rc;

	if (flags.no_artifacts)
		return 0;
	dir = flags.out != NULL ? xstrdup(flags.out)
				: xasprintf(DEFAULT_OUT "/%s", id);
	rc = artifact_write_all(j->client, view, dir, j->cli->quiet);
	free(dir);
	return rc;
}

static int show_end(struct job *j, struct json_object *view)
{
	struct json_object *result;
	int status = report_status(view), rc;

	if (j->cli->json)
		json_pretty_print(view, true);
	else if (json_object_object_get_ex(view, "result", &result))
		json_pretty_print(result, false);
	fflush(stdout); /* what fails is noticed by main() */
	report_end(j->cli, view);
	rc = write_artifacts(j, view);
	report_explain(j->cli, view);
	if (client_signal() != 0 && status == CLI_CANCELED)
		status = CLI_SIGNALED + client_signal();
	/* a result without its artifacts is neither success nor part of one */
	return rc != 0 && (status == CLI_OK || status == CLI_PARTIAL) ? rc
								      : status;
}

static int show_handle(const struct job *j, struct json_object *handle)
{
	if (j->cli->json)
		json_pretty_print(handle, true);
	else
		safe_printf("%s\n", json_member_str(handle, "runId"));
	return 0;
}

static int refused(const struct job *j, struct json_object *refusal)
{
	int status;

	if (j->cli->json)
		json_pretty_print(refusal, true);
	status = report_refusal(refusal, j->template);
	if (status == CLI_ABSENT)
		template_locate(j->cli, j->template,
				client_is_private(j->client));
	return status;
}

static int settle(struct job *j, struct tool_result *a, bool async)
{
	int rc;

	if (json_member_str(a->value, "runId") == NULL ||
	    json_member_str(a->value, "status") == NULL)
		return refused(j, a->value);
	if (async && !ended(a->value))
		return show_handle(j, a->value);
	rc = follow(j, a);
	progress_hide(&j->progress);
	if (rc != 0)
		return rc;
	if (json_member_str(a->value, "status") == NULL)
		return refused(j, a->value);
	return show_end(j, a->value);
}

/*
 * Who asks too often is told when to ask again, and does; the key sees to it
 * that there is one run. 0 and the answer, or an exit status.
 */
static int ask_for_run(struct job *j, const char *mode, struct tool_result *a)
{
	int64_t patience = clock_mono_ms() + LIMITED_PATIENCE_MS, call, ms;
	int rc;

	for (;;) {
		call = client_send_tool(j->client, "run_task_template",
					arguments(j, mode));
		client_on_progress(j->client, call, on_progress, j);
		rc = wait_answer(j, call, a);
		ms = rc == 0 && !j->cancelling ? client_limited(a) : 0;
		if (ms == 0 || clock_mono_ms() > patience)
			return rc;
		tool_result_fini(a);
		if (client_pause(j->client, ms) < 0)
			return client_trouble();
	}
}

static int run_it(struct job *j)
{
	const char *mode = flags.mode != NULL ? flags.mode : "auto";
	bool async = strcmp(mode, "async") == 0;
	struct tool_result a;
	int rc;

	if (async && client_is_private(j->client)) {
		message_print(
		    "--mode async needs the daemon, since a private server ends "
		    "with this command");
		if (server_flags()[0] != '\0' || flags.grants.n > 0)
			message_more(
			    "  hint: leave out --mode async, or what makes "
			    "the server a private one:%s%s",
			    server_flags(),
			    flags.grants.n > 0 ? " --grant" : "");
		else
			message_more(
			    "  hint: start paddockd, or leave --mode async "
			    "out");
		return CLI_TROUBLE;
	}
	rc = look_up_template(j);
	if (rc != 0)
		return rc;
	make_key(j);
	progress_init(&j->progress, j->template, j->cli->quiet);
	rc = ask_for_run(j, mode, &a);
	progress_hide(&j->progress);
	if (rc == 0) {
		rc = settle(j, &a, async);
		tool_result_fini(&a);
	}
	progress_fini(&j->progress);
	return rc;
}

/* A server of our own can be told what it grants; the daemon's operator is. */
static int put_grants(struct cli *own, const struct job *j)
{
	if (flags.grants.n > 0 && own->socket != NULL)
		return usage_error(
		    "--grant is for a private server; the one at "
		    "--socket grants what its own configuration "
		    "says");
	for (size_t i = 0; i < flags.grants.n; i++) {
		const char *grant = flags.grants.item[i];
		bool named = grant[strcspn(grant, ":=")] == ':';

		opt_list_add(&own->grants,
			     xasprintf("%s%s%s", named ? "" : j->template,
				       named ? "" : ":", grant));
	}
	return 0;
}

static void free_grants(struct cli *own)
{
	for (size_t i = 0; i < own->grants.n; i++)
		free((char *)(uintptr_t)own->grants.item[i]);
	opt_list_free(&own->grants);
	opt_list_free(&flags.grants);
}

static int run(const struct cli *cli, int n, const char *const *arg)
{
	struct cli own = *cli;
	struct job j = {.cli = cli};
	int rc = read_flags(&j, arg[0]);

	(void)n;
	if (rc == 0)
		rc = put_grants(&own, &j);
	if (rc == 0)
		rc = read_input_file(&j);
	if (rc == 0) {
		j.client = client_open(&own);
		rc = j.client == NULL ? client_trouble() : run_it(&j);
		client_close(j.client);
	}
	json_object_put(j.inputs);
	free(j.template);
	opt_list_free(&flags.inputs);
	free_grants(&own);
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
    .n_opts = ARRAY_LEN(opts),
    .min = 1,
    .max = 1,
    .run = run,
};
