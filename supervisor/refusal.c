/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/refusal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

static const struct {
	const char *code, *hint;
} hints[] = {
    {"TEMPLATE_NOT_FOUND", "call list_task_templates for the templates that "
			   "there are"},
    {"TEMPLATE_VERSION_UNSUPPORTED",
     "leave templateVersion out, or take one of details.available"},
    {"TRUST_LEVEL_NOT_ALLOWED", "use a connection of a trust level that the "
				"template lists, or another template"},
    {"INVALID_PARAMETER", "correct the argument that details.pointer names "
			  "and call again"},
    {"QUEUE_FULL", "try again after details.retryAfterMs"},
    {"QUOTA_EXCEEDED", "wait until something of yours expires, or ask "
		       "details.whoCanRaise"},
    {"ISOLATION_TOO_WEAK", "the operator has to give programs a stronger cage; "
			   "Lua templates run all the same"},
    {"PERMISSION_NOT_ALLOWED", "the message says who can grant it, if anybody "
			       "can"},
    {"STORE_UNAVAILABLE", "nothing was started; the operator has to mend the "
			  "state directory, then call again"},
    {"SESSION_NOT_FOUND", "leave sessionId out for a session of the run's own"},
    {"ELEMENT_NOT_FOUND", "look at the page again: get_page_info, "
			  "find_element"},
    {"URL_NOT_ALLOWED", "take an address that details.reason does not rule "
			"out"},
    {"NAVIGATION_TIMEOUT", "try again, or allow more (timeoutMs)"},
    {"PAGE_CRASHED", "open a new tab and begin again"},
    {"CALL_NOT_ALLOWED", "the message says who can allow it, if anybody can"},
    {"BROWSER_BUSY", "try again when less is asked of the browser"},
    {"BROWSER_UNAVAILABLE", "the operator has to install or enable the "
			    "browser"},
    {"RUN_NOT_FOUND", "check the runId; list_task_runs names yours"},
    {"RUN_TIMEOUT", "allow more time (options.timeoutMs) or ask for less"},
    {"RUN_CANCELED", "start a new run"},
    {"RUN_INTERRUPTED", "the server was stopped meanwhile; start a new run"},
    {"STEP_EXECUTION_FAILED", "see details.failedStep and its error in steps"},
    {"EXECUTION_ERROR", "see the message: the template, or its inputs, are "
			"to be mended"},
    {"OUTPUT_INVALID", "the template is to be mended by its author"},
    {"WORKER_CRASHED", "try again; if it crashes again, the template is to be "
		       "mended by its author"},
    {"SANDBOX_VIOLATION", "the template tried what no template may; its author "
			  "has to do without"},
    {"RESOURCE_LIMIT", "ask for less, or let details.whoCanRaise raise the "
		       "limit"},
    {"PROTOCOL_VIOLATION", "the worker misbehaved; the template's author "
			   "should look at details.offence"},
    {"ARTIFACT_NOT_FOUND", "check the artifactId; get_task_run lists a run's"},
    {"ARTIFACT_EXPIRED", "run the template again"},
};

void refuse(struct refusal *r, const char *code, struct json_object *details,
	    const char *fmt, ...)
{
	va_list ap;

	assert(r->code == NULL);
	r->code = code;
	r->details = details;
	va_start(ap, fmt);
	r->message = xvasprintf(fmt, ap);
	va_end(ap);
	utf8_mend(r->message); /* it goes into JSON */
}

void refusal_fini(struct refusal *r)
{
	free(r->message);
	json_object_put(r->details);
	*r = (struct refusal){0};
}

const char *refusal_hint(const char *code)
{
	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (strcmp(hints[i].code, code) == 0)
			return hints[i].hint;
	return "see the message";
}

struct json_object *refusal_json(const char *code, const char *message,
				 struct json_object *details)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "error", json_object_new_string(message));
	json_object_object_add(o, "errorCode", json_object_new_string(code));
	json_object_object_add(o, "recoverHint",
			       json_object_new_string(refusal_hint(code)));
	if (details != NULL)
		json_object_object_add(o, "details", json_object_get(details));
	return o;
}
