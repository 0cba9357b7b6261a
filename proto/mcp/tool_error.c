/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_error.c - a refusal as tools tell it: code, sentence, details and hint.
 * Whoever refuses a call in the supervisor fills one, and session/request.c
 * answers by it. Only one may be set, which is asserted; making it cannot fail.
 */
#include "proto/mcp/tool_error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/mcp/recover_hint.h"

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
	utf8_mend(r->message); /* it goes into JSON */
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
	struct json_object *o = json_object_new_object();
	char *hint = recover_hint_of(code, details);

	json_object_object_add(o, "error", json_object_new_string(message));
	json_object_object_add(o, "errorCode", json_object_new_string(code));
	json_object_object_add(o, "recoverHint", json_object_new_string(hint));
	free(hint);
	if (details != NULL)
		json_object_object_add(o, "details", json_object_get(details));
	return o;
}

struct json_object *tool_error_limit(const char *limit, int64_t used,
				     int64_t allowed, const char *unit,
				     const char *who_can_raise)
{
	struct json_object *d = json_object_new_object();

	json_object_object_add(d, "limit", json_object_new_string(limit));
	if (used >= 0)
		json_object_object_add(d, "used", json_object_new_int64(used));
	json_object_object_add(d, "allowed", json_object_new_int64(allowed));
	json_object_object_add(d, "unit", json_object_new_string(unit));
	json_object_object_add(d, "whoCanRaise",
			       json_object_new_string(who_can_raise));
	return d;
}
