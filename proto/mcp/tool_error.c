/* SPDX-License-Identifier: Apache-2.0 */
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
