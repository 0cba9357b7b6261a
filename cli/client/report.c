/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - prints refusals, ended runs and artifacts that were not kept as
 * sentences on stderr, and gives the exit status for each. run.c, wait.c,
 * explain.c and tool_call.c are among the callers. A code unknown here is shown
 * in the server's words; a member that the server left out is not shown.
 */
#include "cli/client/report.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/terminal/duration.h"
#include "cli/terminal/remedy.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json.h"

#define STEPS_SHOWN 20
#define PLAIN                                                                  \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _./:-"

/*
 * Show the --grant flag for the grant that a run lacked, for a private server.
 * Templates choose the words of a grant, and users copy the hint, so words with
 * characters that act in a shell are not shown. False: nothing was printed.
 */
static bool say_grant(struct json_object *details)
{
	struct json_object *asked = json_member(details, "asked");
	const char *key = json_member_str(details, "key");
	const char *who = json_member_str(details, "whoCanGrant");
	size_t n = json_length(asked);
	struct buf b = {0};
	char *words;
	bool plain;

	if (key == NULL || who == NULL || n == 0 ||
	    strncmp(who, "the operator", 12) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i > 0 ? " " : "",
			   json_object_get_string(
			       json_object_array_get_idx(asked, i)));
	words = buf_take(&b, NULL);
	plain = words[strspn(words, PLAIN)] == '\0';
	if (plain)
		message_more("  hint: for one run, on a server of your own: "
			     "--grant \"%s=%s\"",
			     key, words);
	free(words);
	return plain;
}

/*
 * Print what would help against the error FROM, after PREFIX: a flag, our own
 * hint, or else the server's.
 */
static void say_cure(struct json_object *from, const char *about,
		     const char *prefix)
{
	struct json_object *details = json_member(from, "details");
	char *own;

	if (json_member_is(from, "errorCode", "PERMISSION_NOT_ALLOWED") &&
	    say_grant(details))
		return;
	own = remedy_hint(json_member_str(from, "errorCode"), details, about);
	if (own != NULL)
		message_more("  %s%s", prefix, own);
	else if (json_member_str(from, "recoverHint") != NULL)
		message_more("  %s%s", prefix,
			     json_member_str(from, "recoverHint"));
	free(own);
}

/*
 * Return the input's name as -i takes it: "/inputs/o/deep" is "o.deep". NULL:
 * POINTER names no input.
 */
static char *input_name(const char *pointer)
{
	static const char inputs[] = "/inputs/";
	char *name;

	if (pointer == NULL || strncmp(pointer, inputs, strlen(inputs)) != 0)
		return NULL;
	name = xstrdup(pointer + strlen(inputs));
	for (char *at = name; *at != '\0'; at++)
		if (*at == '/')
			*at = '.';
	return name;
}

/*
 * Print the server's sentence. An input named as schemas name inputs ("/n is
 * 0") gets the name of -i ("the input n is 0").
 */
static void say_refusal(const char *error, const char *pointer)
{
	static const char whole[] = "the value lacks the member ";
	char *name = input_name(pointer);
	size_t n = name != NULL ? strlen(name) + 1 : 0; /* with the "/" */

	if (name != NULL && pointer != NULL &&
	    strncmp(error, pointer + strlen("/inputs"), n) == 0)
		message_print("the input %s%s", name, error + n);
	else if (pointer != NULL && strcmp(pointer, "/inputs") == 0 &&
		 strncmp(error, whole, strlen(whole)) == 0)
		message_print("the input %s is missing", error + strlen(whole));
	else
		message_print("%s", error);
	free(name);
}

static void say_who(struct json_object *details)
{
	char *who = remedy_who(details);

	if (who != NULL)
		message_more("  %s", who);
	free(who);
}

/* Exit statuses of refusals; a code that is not listed is CLI_TROUBLE. */
static const struct {
	const char *code;
	int exit;
} faults[] = {{"INVALID_PARAMETER", CLI_USAGE},
	      {"TEMPLATE_NOT_FOUND", CLI_ABSENT},
	      {"TEMPLATE_VERSION_UNSUPPORTED", CLI_ABSENT},
	      {"RUN_NOT_FOUND", CLI_ABSENT},
	      {"ARTIFACT_NOT_FOUND", CLI_ABSENT},
	      {"ARTIFACT_EXPIRED", CLI_ABSENT},
	      {"SESSION_NOT_FOUND", CLI_ABSENT},
	      {"NOTEBOOK_NOT_FOUND", CLI_ABSENT},
	      {"JSON-RPC -32002", CLI_ABSENT}}; /* resource not found */

int report_refusal(struct json_object *refusal, const char *about)
{
	const char *code = json_member_str(refusal, "errorCode");
	const char *error = json_member_str(refusal, "error");
	struct json_object *details = json_member(refusal, "details");
	struct json_object *retry = json_member(details, "retryAfterMs");
	const char *who = json_member_str(details, "whoCanRaise");
	char time[DURATION_SIZE];

	say_refusal(error != NULL ? error
				  : "the server refuses, and does not say why",
		    json_member_str(details, "pointer"));
	if (code != NULL)
		message_more("  code: %s", code);
	/* the error itself may name who can raise the limit */
	if (error == NULL || who == NULL || strstr(error, who) == NULL)
		say_who(details);
	if (json_object_is_type(retry, json_type_int)) {
		duration_text(time, json_object_get_int64(retry));
		message_more("  retry after %s", time);
	}
	say_cure(refusal, about, "hint: ");
	for (size_t i = 0; code != NULL && i < ARRAY_LEN(faults); i++)
		if (strcmp(faults[i].code, code) == 0)
			return faults[i].exit;
	return CLI_TROUBLE;
}

/* ---- runs ---- */

static const struct {
	const char *status;
	int exit;
} ends[] = {{"succeeded", CLI_OK},
	    {"partial_success", CLI_PARTIAL},
	    {"failed", CLI_FAILED},
	    {"canceled", CLI_CANCELED}};

int report_status(struct json_object *view)
{
	const char *status = json_member_str(view, "status");

	if (json_member_is(json_member(view, "error"), "errorCode",
			   "RUN_TIMEOUT"))
		return CLI_TIMEOUT;
	for (size_t i = 0; status != NULL && i < ARRAY_LEN(ends); i++)
		if (strcmp(ends[i].status, status) == 0)
			return ends[i].exit;
	return CLI_OK; /* the run has not ended */
}

static void say_steps(struct json_object *steps)
{
	size_t failed = 0;

	json_each(step, steps) {
		struct json_object *error = json_member(step, "error");
		const char *code = json_member_str(error, "code");
		const char *message = json_member_str(error, "message");

		if (!json_member_is(step, "status", "failed") ||
		    failed++ >= STEPS_SHOWN)
			continue;
		message_more(
		    "  step %s failed%s: %s%s%s", json_member_str(step, "name"),
		    json_member_int(step, "attempts") > 1 ? " in every attempt"
							  : "",
		    code != NULL ? code : "",
		    code != NULL && message ? ": " : "",
		    message != NULL ? message : "");
	}
	if (failed > STEPS_SHOWN)
		message_more("  and %zu more", failed - STEPS_SHOWN);
}

static void say_line(void *arg, const char *line)
{
	(void)arg;
	message_more("  %s", line);
}

/*
 * Print why a run failed beyond the message above: of a timeout only who can
 * raise the limit.
 */
static void say_why(const struct cli *cli, struct json_object *error,
		    const char *id)
{
	const char *limit =
	    json_member_str(json_member(error, "details"), "limit");
	char *words;

	if (limit != NULL && strcmp(limit, "timeout") == 0) {
		say_who(json_member(error, "details"));
	} else if (limit != NULL) {
		words = remedy_limit(json_member(error, "details"));
		if (words != NULL)
			message_more("  %s", words);
		free(words);
		say_who(json_member(error, "details"));
	} else if (error != NULL) {
		words = server_flags_for_run(cli, id);
		say_cure(error, words, "");
		free(words);
	}
}

/*
 * Print the message of a failed run without Lua's stack traceback, which
 * "paddock explain" shows.
 */
static void say_failed(const char *id, const char *message)
{
	const char *trace =
	    message != NULL ? strstr(message, "\nstack traceback:") : NULL;

	if (message == NULL)
		message_print("%s failed", id);
	else
		message_print("%s failed: %.*s", id,
			      (int)(trace != NULL ? (size_t)(trace - message)
						  : strlen(message)),
			      message);
}

/*
 * The result of any template may hold an exitCode, of given code or not.
 * Numbers beyond 0 to 255 count as 1.
 */
int report_exit_code(struct json_object *view)
{
	struct json_object *code =
	    json_member(json_member(view, "result"), "exitCode");
	int64_t n = json_object_is_type(code, json_type_int)
			? json_object_get_int64(code)
			: 0;

	return n >= 0 && n <= 255 ? (int)n : 1;
}

void report_success(const struct cli *cli, struct json_object *view)
{
	struct json_object *ms =
	    json_member(json_member(view, "metrics"), "elapsedMs");
	char time[DURATION_SIZE];
	int code;

	if (cli->quiet || !json_member_is(view, "status", "succeeded") ||
	    lost_artifacts_count(view) > 0 ||
	    !json_object_is_type(ms, json_type_int))
		return;
	duration_text(time, json_object_get_int64(ms));
	code = report_exit_code(view);
	if (code != 0)
		message_print("%s succeeded in %s; the code's exit code is %d",
			      json_member_str(view, "runId"), time, code);
	else
		message_print("%s succeeded in %s",
			      json_member_str(view, "runId"), time);
}

void report_end(const struct cli *cli, struct json_object *view)
{
	const char *id = json_member_str(view, "runId");
	const char *status = json_member_str(view, "status");
	struct json_object *error = json_member(view, "error");
	const char *own; /* the code that the template passed to run.error() */

	if (status == NULL || (strcmp(status, "succeeded") == 0 &&
			       lost_artifacts_count(view) == 0))
		return;
	if (strcmp(status, "canceled") == 0) {
		message_print("%s was cancelled", id);
		return;
	}
	if (strcmp(status, "partial_success") == 0)
		message_print("%s succeeded in part", id);
	else if (strcmp(status, "succeeded") == 0)
		message_print("%s succeeded, but not all that it made was kept",
			      id);
	else if (strcmp(status, "failed") == 0)
		say_failed(id, json_member_str(error, "message"));
	else
		return;
	if (json_member_str(error, "errorCode") != NULL)
		message_more("  code: %s", json_member_str(error, "errorCode"));
	own = json_member_str(json_member(error, "details"), "templateCode");
	if (own != NULL)
		message_more("  the template's code: %s", own);
	say_steps(json_member(view, "steps"));
	lost_artifacts_print(view, say_line, NULL);
	say_why(cli, error, id);
}

void report_explain(const struct cli *cli, struct json_object *view)
{
	const char *id = json_member_str(view, "runId");
	int exit = report_status(view);
	char *words;

	if (id == NULL || exit == CLI_OK || exit == CLI_CANCELED)
		return;
	words = server_flags_for_run(cli, id);
	message_more("  hint: paddock explain %s", words);
	free(words);
}

#define NAMED_MAX 5 /* artifacts that one line names */

static uint64_t count_of(struct json_object *item)
{
	struct json_object *count = json_member(item, "count");

	return json_object_is_type(count, json_type_int)
		   ? json_object_get_uint64(count)
		   : 1;
}

uint64_t lost_artifacts_count(struct json_object *view)
{
	uint64_t sum = 0;

	json_each(item, json_member(view, "missingArtifacts"))
		sum += count_of(item);
	return sum;
}

/* Are A and B missing for the same reason, apart from figures? */
static bool alike(struct json_object *a, struct json_object *b)
{
	const char *one = json_member_str(a, "errorCode");
	const char *other = json_member_str(b, "errorCode");
	const char *limit = json_member_str(json_member(a, "details"), "limit");
	const char *its = json_member_str(json_member(b, "details"), "limit");

	if (one == NULL || other == NULL || strcmp(one, other) != 0)
		return false;
	if (limit != NULL || its != NULL)
		return limit != NULL && its != NULL && strcmp(limit, its) == 0;
	one = json_member_str(a, "message");
	other = json_member_str(b, "message");
	return one != NULL && other != NULL && strcmp(one, other) == 0;
}

/*
 * Append a line for artifact I of LIST and the next ones missing for the same
 * reason. Returns the index after the last. SAID, the run's message, has been
 * printed before and is not repeated.
 */
static size_t add_line(struct buf *out, struct json_object *list, size_t i,
		       size_t n, const char *said)
{
	struct json_object *first = json_object_array_get_idx(list, i);
	const char *message = json_member_str(first, "message");
	uint64_t more = 0;
	size_t named = 0;

	buf_add_str(out, "not kept: ");
	for (; i < n; i++) {
		struct json_object *it = json_object_array_get_idx(list, i);
		const char *name = json_member_str(it, "name");

		if (!alike(first, it) && it != first)
			break;
		more += count_of(it);
		if (named == NAMED_MAX || name == NULL)
			continue;
		buf_printf(out, "%s%s", named++ > 0 ? ", " : "", name);
		more--;
	}
	if (more > 0)
		buf_printf(out, " and %" PRIu64 " more", more);
	if (message != NULL && (said == NULL || strstr(said, message) == NULL))
		buf_printf(out, ": %s", message);
	return i;
}

void lost_artifacts_print(struct json_object *view,
			  void (*say)(void *arg, const char *line), void *arg)
{
	struct json_object *list = json_member(view, "missingArtifacts");
	size_t n = json_length(list);
	struct json_object *error = json_member(view, "error");
	const char *said = json_member_str(error, "message");

	if (lost_artifacts_count(view) == 1 &&
	    json_member(json_member(error, "details"), "missing") != NULL)
		return; /* the run's error is about it */
	for (size_t i = 0; i < n;) {
		struct buf line = {0};

		i = add_line(&line, list, i, n, said);
		buf_add(&line, "", 1);
		say(arg, buf_data(&line));
		buf_fini(&line);
	}
}
