/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.c - checks a call's caller and arguments, for call.c, by the table of
 * ipc/browser_proto.c. A wrong argument is the call's fault INVALID_PARAMETER,
 * with a pointer to the argument and what would pass.
 */
#include "browser/browser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "browser/net/host_grants.h"
#include "proto/json/json_pack.h"
#include "ipc/host_pattern.h"

static int refuse_arg(struct call *c, const char *name, const char *keyword,
		      const char *expected)
{
	char *pointer = xasprintf("/%s", name);
	struct json_object *details = json_pack(
	    "pointer:s keyword:s expected:s", pointer, keyword, expected);

	free(pointer);
	return call_fault(c, "INVALID_PARAMETER", details,
			  "%s: %.64s must be %s", c->action->name, name,
			  expected);
}

static int refuse_unknown_arg(struct call *c, const char *name)
{
	struct suggest suggest;
	char *expected;
	int rc;

	suggest_init(&suggest, name);
	for (const struct browser_proto_arg *a = c->action->args; a->name; a++)
		suggest_try(&suggest, a->name);
	expected = suggest.best == NULL
		       ? xstrdup("an argument that it knows")
		       : xasprintf("%s, perhaps", suggest.best);
	rc = refuse_arg(c, name, "additionalProperties", expected);
	free(expected);
	return rc;
}

static int check_string(struct call *c, const struct browser_proto_arg *a,
			struct json_object *v)
{
	size_t n = (size_t)json_object_get_string_len(v);
	char expected[80];

	snprintf(expected, sizeof(expected),
		 "a string of %" PRId64 " to %" PRId64 " bytes without a NUL",
		 a->min, a->max);
	if (!json_object_is_type(v, json_type_string))
		return refuse_arg(c, a->name, "type", expected);
	if (n < (size_t)a->min || n > (size_t)a->max ||
	    strlen(json_object_get_string(v)) != n)
		return refuse_arg(c, a->name, "maxLength", expected);
	return 0;
}

static int check_integer(struct call *c, const struct browser_proto_arg *a,
			 struct json_object *v)
{
	char expected[64];
	int64_t n = json_object_get_int64(v);

	snprintf(expected, sizeof(expected),
		 "an integer from %" PRId64 " to %" PRId64, a->min, a->max);
	if (json_object_is_type(v, json_type_double) &&
	    json_object_get_double(v) == (double)n)
		; /* a double such as 5.0 is an integer, too */
	else if (!json_object_is_type(v, json_type_int))
		return refuse_arg(c, a->name, "type", expected);
	return n < a->min || n > a->max
		   ? refuse_arg(c, a->name, "range", expected)
		   : 0;
}

/* Is S a word of LIST? */
static bool listed(const char *list, const char *s)
{
	size_t n = strlen(s);

	for (const char *p = list; n > 0 && (p = strstr(p, s)) != NULL; p++)
		if ((p == list || p[-1] == ' ') &&
		    (p[n] == ' ' || p[n] == '\0'))
			return strchr(s, ' ') == NULL;
	return false;
}

static int check_id_arg(struct call *c, const struct browser_proto_arg *a,
			struct json_object *v)
{
	const bool tab = a->type == BROWSER_PROTO_TAB_ID;
	const char *s = json_object_get_string(v);

	if (!json_object_is_type(v, json_type_string))
		return refuse_arg(c, a->name, "type", "a string");
	if (id_ok(s, tab ? BROWSER_PROTO_TAB : BROWSER_PROTO_SESSION))
		return 0;
	return call_fault(c, "SESSION_NOT_FOUND", NULL,
			  "there is no such %s: create_tab gives ids",
			  tab ? "tab" : "session");
}

static int check_arg(struct call *c, const struct browser_proto_arg *a,
		     struct json_object *v)
{
	char expected[256];

	switch (a->type) {
	case BROWSER_PROTO_STRING:
		return check_string(c, a, v);
	case BROWSER_PROTO_INTEGER:
		return check_integer(c, a, v);
	case BROWSER_PROTO_BOOLEAN:
		return json_object_is_type(v, json_type_boolean)
			   ? 0
			   : refuse_arg(c, a->name, "type", "true or false");
	case BROWSER_PROTO_CHOICE:
		snprintf(expected, sizeof(expected), "one of %s", a->values);
		return json_object_is_type(v, json_type_string) &&
			       listed(a->values, json_object_get_string(v))
			   ? 0
			   : refuse_arg(c, a->name, "enum", expected);
	case BROWSER_PROTO_SESSION_ID:
	case BROWSER_PROTO_TAB_ID:
		return check_id_arg(c, a, v);
	}
	return -1;
}

int64_t arg_int(struct call *c, const char *name)
{
	const struct browser_proto_arg *a =
	    browser_proto_arg(c->action, name, strlen(name));

	return json_member(c->args, name) != NULL
		   ? json_member_int(c->args, name)
		   : a->value;
}

bool arg_bool(struct call *c, const char *name)
{
	const struct browser_proto_arg *a =
	    browser_proto_arg(c->action, name, strlen(name));

	return json_member(c->args, name) != NULL
		   ? json_member_bool(c->args, name)
		   : a->value != 0;
}

const char *arg_str(struct call *c, const char *name)
{
	return json_member_str(c->args, name);
}

/*
 * Take the call's hosts. Without hosts a run reaches nothing, and a client all
 * that its trust level allows.
 */
static int take_hosts(struct call *c, struct json_object *list)
{
	if (list == NULL && c->of_run == NULL)
		return 0;
	if (list == NULL || json_object_is_type(list, json_type_array))
		c->hosts = host_grants_new(list);
	if (c->hosts != NULL)
		return 0;
	return call_fault(c, "INVALID_PARAMETER", NULL,
			  "hosts must be an array of at most %u patterns of "
			  "hosts",
			  HOST_PATTERNS_MAX);
}

int args_take(struct call *c, struct json_object *body)
{
	const char *requestor = json_member_str(body, "requestor");
	const char *trust = json_member_str(body, "trust");
	struct json_object *args = json_member(body, "args");
	int64_t timeout = json_member_int(body, "timeoutMs");
	const struct browser_proto_arg *a;

	if (requestor == NULL || trust == NULL || timeout < 1 ||
	    timeout > BROWSER_PROTO_TIMEOUT_MAX ||
	    strlen(requestor) > BROWSER_PROTO_REQUESTOR_MAX)
		return call_fault(c, "INVALID_PARAMETER", NULL,
				  "requestor, trust and timeoutMs must be "
				  "given, timeoutMs 1 to %d",
				  BROWSER_PROTO_TIMEOUT_MAX);
	c->requestor = xstrdup(requestor);
	c->trust = strcmp(trust, "local") == 0 ? URL_LOCAL : URL_REMOTE;
	c->of_run = xstrdup_opt(json_member_str(body, "run"));
	c->in_session = xstrdup_opt(json_member_str(body, "session"));
	c->last = c->deadline = clock_mono_ms() + timeout;
	if (take_hosts(c, json_member(body, "hosts")) < 0)
		return -1;
	if (args != NULL && !json_object_is_type(args, json_type_object))
		return call_fault(c, "INVALID_PARAMETER", NULL,
				  "args must be an object");
	c->args =
	    args == NULL ? json_object_new_object() : json_object_get(args);
	json_object_object_foreach(c->args, name, value) {
		a = browser_proto_arg(c->action, name, strlen(name));
		if (a == NULL)
			return refuse_unknown_arg(c, name);
		if (check_arg(c, a, value) < 0)
			return -1;
	}
	for (a = c->action->args; a->name != NULL; a++)
		if (a->required && json_member(c->args, a->name) == NULL)
			return refuse_arg(c, a->name, "required", "given");
	call_begin(c);
	return 0;
}
