/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/bar.h"
#include "cli/cli.h"
#include "cli/say.h"
#include "proto/json.h"

/* The server's hints name tools; these name commands. */
static const struct {
	const char *code, *hint;
} hints[] = {
    {"TEMPLATE_NOT_FOUND", "\"paddock template ls\" shows those that there are"},
    {"TEMPLATE_VERSION_UNSUPPORTED",
     "leave the version out for the newest; \"paddock template ls\" shows all"},
    {"RUN_NOT_FOUND", "\"paddock ps -a\" shows your runs"},
    {"ARTIFACT_NOT_FOUND", "\"paddock artifact ls RUN\" shows a run's"},
    {"INVALID_PARAMETER", "\"paddock template show TEMPLATE\" tells what inputs "
			  "it takes"},
    {"RUN_TIMEOUT", "allow more time (--timeout), as far as the template's "
		    "maxTimeoutMs goes, or ask for less"},
    {"RESOURCE_LIMIT", "\"paddock explain RUN\" tells which limit it was, and "
		       "who can raise it"},
    {"QUOTA_EXCEEDED", "wait until something of yours expires, or have it "
		       "raised"},
};

const char *report_hint(const char *code)
{
	for (size_t i = 0; code != NULL && i < ARRAY_LEN(hints); i++)
		if (strcmp(hints[i].code, code) == 0)
			return hints[i].hint;
	return NULL;
}

#define PLAIN                                                                  \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _./:-"

/*
 * What is not granted, but can be, a server of one's own can be told to grant.
 * Templates choose the words: nothing that acts in a shell is shown to copy.
 */
static bool say_grant(struct json_object *details)
{
	struct json_object *asked = json_member(details, "asked");
	const char *key = json_member_str(details, "key");
	const char *who = json_member_str(details, "whoCanGrant");
	size_t n = json_object_is_type(asked, json_type_array)
		       ? json_object_array_length(asked)
		       : 0;
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
		say_more("  hint: for one run, on a server of your own: "
			 "--grant \"%s=%s\"",
			 key, words);
	free(words);
	return plain;
}

static void say_hint(struct json_object *from)
{
	const char *code = json_member_str(from, "errorCode");
	const char *hint = report_hint(code);

	if (code != NULL && strcmp(code, "PERMISSION_NOT_ALLOWED") == 0 &&
	    say_grant(json_member(from, "details")))
		return;
	if (hint == NULL)
		hint = json_member_str(from, "recoverHint");
	if (hint != NULL)
		say_more("  hint: %s", hint);
}

/* Which argument it is about, and what would pass. */
static void say_where(struct json_object *details)
{
	const char *pointer = json_member_str(details, "pointer");
	const char *expected = json_member_str(details, "expected");

	if (pointer != NULL)
		say_more("  at: %s%s%s", pointer[0] != '\0' ? pointer : "/",
			 expected != NULL ? ", where this would pass: " : "",
			 expected != NULL ? expected : "");
}

static void say_retry(struct json_object *details)
{
	struct json_object *ms = json_member(details, "retryAfterMs");
	char time[BAR_TIME_SIZE];

	if (!json_object_is_type(ms, json_type_int))
		return;
	bar_time(time, json_object_get_int64(ms));
	say_more("  retry after %s", time);
}

static void say_who(struct json_object *details)
{
	const char *who = json_member_str(details, "whoCanRaise");

	if (who != NULL)
		say_more("  who can raise it: %s", who);
}

/* Whose fault a refusal is; any other is paddock's own, or the server's. */
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
	      {"JSON-RPC -32002", CLI_ABSENT}}; /* a resource */

static int fault_exit(const char *code)
{
	for (size_t i = 0; code != NULL && i < ARRAY_LEN(faults); i++)
		if (strcmp(faults[i].code, code) == 0)
			return faults[i].exit;
	return CLI_TROUBLE;
}

int report_refusal(struct json_object *refusal)
{
	const char *code = json_member_str(refusal, "errorCode");
	const char *error = json_member_str(refusal, "error");

	say("%s", error != NULL ? error
				: "the server refuses, and does not say why");
	if (code != NULL)
		say_more("  code: %s", code);
	say_where(json_member(refusal, "details"));
	say_hint(refusal);
	say_who(json_member(refusal, "details"));
	say_retry(json_member(refusal, "details"));
	return fault_exit(code);
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
	const char *code = json_member_str(json_member(view, "error"),
					   "errorCode");

	if (code != NULL && strcmp(code, "RUN_TIMEOUT") == 0)
		return CLI_TIMEOUT;
	for (size_t i = 0; status != NULL && i < ARRAY_LEN(ends); i++)
		if (strcmp(ends[i].status, status) == 0)
			return ends[i].exit;
	return CLI_OK; /* it has not ended */
}

static void say_step(struct json_object *step)
{
	struct json_object *error = json_member(step, "error");
	const char *code = json_member_str(error, "code");
	const char *message = json_member_str(error, "message");
	int64_t attempts = json_object_get_int64(json_member(step, "attempts"));

	say_more("  step %s failed%s: %s%s%s", json_member_str(step, "name"),
		 attempts > 1 ? " in every attempt" : "",
		 code != NULL ? code : "", code != NULL && message ? ": " : "",
		 message != NULL ? message : "");
}

static void say_steps(struct json_object *steps)
{
	size_t n = json_object_is_type(steps, json_type_array)
		       ? json_object_array_length(steps)
		       : 0;
	size_t shown = 0, failed = 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *step = json_object_array_get_idx(steps, i);
		const char *status = json_member_str(step, "status");

		if (status == NULL || strcmp(status, "failed") != 0)
			continue;
		failed++;
		if (shown < 20) {
			say_step(step);
			shown++;
		}
	}
	if (failed > shown)
		say_more("  and %zu more", failed - shown);
}

void report_end(struct json_object *view)
{
	const char *id = json_member_str(view, "runId");
	const char *status = json_member_str(view, "status");
	struct json_object *error = json_member(view, "error");
	const char *own; /* what run.error() of the template was given */

	if (status == NULL || strcmp(status, "succeeded") == 0)
		return;
	if (strcmp(status, "canceled") == 0) {
		say("cancelled %s", id);
		return;
	}
	if (strcmp(status, "partial_success") == 0)
		say("%s succeeded in part", id);
	else if (strcmp(status, "failed") == 0)
		say("%s failed: %s", id, json_member_str(error, "message"));
	else
		return;
	if (json_member_str(error, "errorCode") != NULL)
		say_more("  code: %s", json_member_str(error, "errorCode"));
	own = json_member_str(json_member(error, "details"), "templateCode");
	if (own != NULL)
		say_more("  the template's code: %s", own);
	say_steps(json_member(view, "steps"));
	if (error != NULL)
		say_hint(error);
}
