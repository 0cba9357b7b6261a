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
#include "proto/json/json_pack.h"

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
