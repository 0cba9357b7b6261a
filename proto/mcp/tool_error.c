/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_error.c - a tool's refusal: code, sentence, details and hint; the hint
 * comes from the code alone, or from the cause in the details. Code in the
 * supervisor that refuses a call fills a tool_error, and session/request.c
 * answers by it. Setting a second error is an assertion; nothing else can fail.
 */
#include "proto/mcp/tool_error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/quantity.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/json/json_pointer.h"

void tool_error_set(struct tool_error *r, const char *code,
		    struct json_object *details, const char *fmt, ...)
{
	va_list ap;

	assert(r->code == NULL);
	r->code = code;
	r->details = details;
	va_start(ap, fmt);
	r->message = xvasprintf(fmt, ap);
	va_end(ap);
	utf8_mend(r->message); /* the message goes into JSON */
}

void tool_error_fini(struct tool_error *r)
{
	free(r->message);
	json_object_put(r->details);
	*r = (struct tool_error){0};
}

struct json_object *tool_error_json(const char *code, const char *message,
				    struct json_object *details)
{
	struct json_object *o;
	char *hint = recover_hint_of(code, details);

	o = json_pack("error:s errorCode:s recoverHint:s details?O", message,
		      code, hint, details);
	free(hint);
	return o;
}

struct json_object *tool_error_limit(const char *limit, int64_t used,
				     int64_t allowed, const char *unit,
				     const char *who_can_raise)
{
	struct json_object *d = json_pack("limit:s", limit);

	if (used >= 0)
		json_add(d, "used:i", used);
	json_add(d, "allowed:i unit:s whoCanRaise:s", allowed, unit,
		 who_can_raise);
	return d;
}

#define LIST_MAX 8 /* items, such as versions, that a sentence names */

/* ---- hints by the details ---- */

static char *about_version(struct json_object *d)
{
	struct json_object *list = json_member(d, "available");
	size_t n = json_length(list);
	struct buf b = {0};

	if (n == 0)
		return NULL;
	n = n < LIST_MAX ? n : LIST_MAX;
	buf_add_str(&b,
		    "leave templateVersion out for the newest, or ask for ");
	for (size_t i = 0; i < n; i++) /* "a, b or c" */
		buf_printf(
		    &b, "%s%s",
		    i == 0	 ? ""
		    : i + 1 == n ? " or "
				 : ", ",
		    json_object_get_string(json_object_array_get_idx(list, i)));
	return buf_take(&b, NULL);
}

/* Write POINTER as a program would: /inputs/urls/0 is inputs.urls[0]. */
static char *argument(const char *pointer)
{
	struct buf b = {0};

	while (*pointer == '/') {
		char *token = json_pointer_token(&pointer);
		bool number = *token != '\0' &&
			      token[strspn(token, "0123456789")] == '\0';

		buf_add_str(&b, number ? "[" : buf_len(&b) > 0 ? "." : "");
		buf_add_str(&b, token);
		buf_add_str(&b, number ? "]" : "");
		free(token);
	}
	return buf_take(&b, NULL);
}

static char *about_argument(struct json_object *d)
{
	const char *pointer = json_member_str(d, "pointer");
	const char *expected = json_member_str(d, "expected");
	const char *keyword = json_member_str(d, "keyword");
	char *name, *hint;

	if (pointer == NULL || pointer[0] != '/')
		return NULL;
	name = argument(pointer);
	hint = xasprintf("%s %s and call again%s%s",
			 keyword != NULL &&
				 strcmp(keyword, "additionalProperties") == 0
			     ? "correct or leave out"
			     : "correct",
			 name, expected != NULL ? "; what would pass: " : "",
			 expected != NULL ? expected : "");
	free(name);
	return hint;
}

/* How room is had again below a quota; any other limit: by time alone. */
static const struct {
	const char *limit;
	const char *wait;  /* the whole advice; NULL: try again after a time */
	const char *since; /* the event at that time, or "" */
} quotas[] = {
    {"artifact_bytes", "wait until something of yours expires", NULL},
    {"store_bytes", "wait until something of yours expires", NULL},
    {"default_store_bytes", "wait until something of yours expires", NULL},
    {"cpu_seconds_per_hour", NULL,
     ", when what was used an hour ago counts no more"},
    {"max_parked_runs",
     "answer or cancel a run of yours that waits for answers", NULL},
    {"checks under way", NULL, ", when some of your checks have ended"},
};

char *tool_error_quota_hint(struct json_object *d)
{
	const char *limit = json_member_str(d, "limit");
	int64_t ms = json_member_int(d, "retryAfterMs");
	const char *since = "";
	char time[QUANTITY_SIZE];

	for (size_t i = 0; limit != NULL && i < ARRAY_LEN(quotas); i++) {
		if (strcmp(quotas[i].limit, limit) != 0)
			continue;
		if (quotas[i].wait != NULL)
			return xstrdup(quotas[i].wait);
		since = quotas[i].since;
	}
	if (ms <= 0)
		return xstrdup("try again when less of yours is under way");
	return xasprintf("try again in %s%s", quantity(time, ms, "ms"), since);
}

bool tool_error_can_be_raised(struct json_object *d)
{
	static const char nobody[] = "nobody";
	const char *who = json_member_str(d, "whoCanRaise");

	return who != NULL && strncmp(who, nobody, strlen(nobody)) != 0;
}

static char *about_quota(struct json_object *d)
{
	char *wait = tool_error_quota_hint(d), *hint;

	if (!tool_error_can_be_raised(d))
		return wait;
	hint = xasprintf("%s, or have the limit raised, by %s", wait,
			 json_member_str(d, "whoCanRaise"));
	free(wait);
	return hint;
}

static char *about_wait(struct json_object *d)
{
	struct json_object *ms = json_member(d, "retryAfterMs");
	char time[QUANTITY_SIZE];

	if (!json_object_is_type(ms, json_type_int))
		return NULL;
	return xasprintf("try again in %s",
			 quantity(time, json_object_get_int64(ms), "ms"));
}

/*
 * Hint by what ended the run: the template with its own code, or a program with
 * a status.
 */
static char *about_execution(struct json_object *d)
{
	const char *code = json_member_str(d, "templateCode");
	struct json_object *status = json_member(d, "exitCode");

	if (code != NULL)
		return xasprintf("the template ended the run itself, with its "
				 "code %s; its message says why",
				 code);
	if (json_object_is_type(status, json_type_int))
		return xasprintf("the program itself ended with status %s; the "
				 "run's log has what it wrote to stderr",
				 json_object_get_string(status));
	return NULL;
}

static char *about_output(struct json_object *d)
{
	const char *pointer = json_member_str(d, "pointer");
	char *where, *hint;

	if (pointer == NULL || pointer[0] != '/')
		return NULL;
	where = argument(pointer);
	hint = xasprintf("the template's author has to mend what it returns as "
			 "%s",
			 where);
	free(where);
	return hint;
}

/* Hints made of a detail's text, with the words before and after it. */
static const struct {
	const char *code, *detail, *before, *after;
} around[] = {
    {"RESOURCE_LIMIT", "whoCanRaise",
     "ask for less, or have the limit raised, by ", ""},
    {"RUN_TIMEOUT", "whoCanRaise",
     "ask for less at once, or have it given more time, by ", ""},
    {"EXECUTION_ERROR", "cure", "", ""},
    {"STEP_EXECUTION_FAILED", "failedStep", "the step ",
     " failed; if what it says is about the inputs, correct them; if it is "
     "about a grant, the operator can give that; else the template's author "
     "has to mend it"},
    {"URL_NOT_ALLOWED", "reason",
     "take another address; this one is ruled out by: ", ""},
    {"PROTOCOL_VIOLATION", "offence",
     "nothing that you send changes that; the template's author has to look "
     "for its reason: ",
     ""},
};

/* Return the hint by a detail's text; NULL: there is no such detail. */
static char *about_text(const char *code, struct json_object *d)
{
	for (size_t i = 0; i < ARRAY_LEN(around); i++) {
		const char *text = json_member_str(d, around[i].detail);

		if (text != NULL && strcmp(around[i].code, code) == 0)
			return xasprintf("%s%s%s", around[i].before, text,
					 around[i].after);
	}
	return NULL;
}

/* ---- hints by the code ---- */

static const struct {
	const char *code;
	char *(*hint)(struct json_object *details); /* returns NULL when DETAILS
						       do not help */
} abouts[] = {
    {"TEMPLATE_VERSION_UNSUPPORTED", about_version},
    {"INVALID_PARAMETER", about_argument},
    {"QUEUE_FULL", about_wait},
    {"QUOTA_EXCEEDED", about_quota},
    {"EXECUTION_ERROR", about_execution},
    {"OUTPUT_INVALID", about_output},
};

static const struct {
	const char *code, *hint;
} hints[] = {
    {"TEMPLATE_NOT_FOUND",
     "call list_task_templates for the templates that there are"},
    {"TEMPLATE_VERSION_UNSUPPORTED",
     "leave templateVersion out for the newest; list_task_templates has all"},
    {"TRUST_LEVEL_NOT_ALLOWED",
     "use a connection of a trust level that the template lists, or another "
     "template; its author can list this level in trustLevelSupport"},
    {"INVALID_PARAMETER", "correct the arguments and call again"},
    {"QUEUE_FULL", "try again when some of the runs that wait have ended"},
    {"ISOLATION_TOO_WEAK",
     "the operator has to give programs a stronger cage; Lua templates run "
     "all the same"},
    {"PERMISSION_NOT_ALLOWED",
     "the message says who can grant it, if anybody can"},
    {"STORE_UNAVAILABLE",
     "try again later; \"paddock status\" tells the operator what keeps the "
     "record of runs from being read or written"},
    {"SESSION_NOT_FOUND", "leave sessionId out for a session of the run's own"},
    {"ELEMENT_NOT_FOUND",
     "look at the page again: get_page_info, find_element"},
    {"URL_NOT_ALLOWED", "take an address that the server's policy allows"},
    {"NAVIGATION_TIMEOUT", "try again, or allow more (timeoutMs)"},
    {"PAGE_CRASHED", "open a new tab and begin again"},
    {"CALL_NOT_ALLOWED", "the message says who can allow it, if anybody can"},
    {"BROWSER_BUSY", "try again when less is asked of the browser"},
    {"BROWSER_UNAVAILABLE",
     "the operator has to install or enable the browser"},
    {"RUN_NOT_FOUND", "check the runId; list_task_runs names yours"},
    {"RUN_TIMEOUT", "allow more time (options.timeoutMs) or ask for less"},
    {"INPUT_TIMEOUT", "run it again, and answer its question in time"},
    {"INPUT_FAILED", "use a client that answers such questions"},
    {"RUN_CANCELED", "retry_task_run runs it again"},
    {"NOTEBOOK_ELSEWHERE",
     "take another name for the notebook, or end the notebook first"},
    {"RUN_INTERRUPTED",
     "the server was stopped meanwhile; retry_task_run runs it again"},
    {"STEP_EXECUTION_FAILED",
     "steps says which failed, and of what; if that is about the inputs, "
     "correct them"},
    {"EXECUTION_ERROR",
     "the message says what went wrong: if that is about what you gave, such "
     "as an input or code, correct it; else the template's author has to mend "
     "it"},
    {"OUTPUT_INVALID", "the template's author has to mend what it returns"},
    {"WORKER_CRASHED",
     "try again (retry_task_run); if it crashes again, the template's author "
     "has to mend it"},
    {"SANDBOX_VIOLATION",
     "the template tried what no template may; its author has to do without"},
    {"RESOURCE_LIMIT", "ask for less at once"},
    {"PROTOCOL_VIOLATION",
     "nothing that you send changes that; the template's author has to look "
     "for the reason"},
    {"ARTIFACT_NOT_FOUND", "check the artifactId; get_task_run lists a run's"},
    {"ARTIFACT_EXPIRED", "run the template again"},
};

char *recover_hint_of(const char *code, struct json_object *details)
{
	const char *usual = "the message says what is wrong";
	char *hint = about_text(code, details);

	for (size_t i = 0; i < ARRAY_LEN(abouts) && hint == NULL; i++)
		if (strcmp(abouts[i].code, code) == 0)
			hint = abouts[i].hint(details);
	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (strcmp(hints[i].code, code) == 0)
			usual = hints[i].hint;
	return hint != NULL ? hint : xstrdup(usual);
}
