/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_envelope.c - reads the envelope of a stateless request (_meta, which
 * takes the place of a session) for dispatch.c, and completes the answer. A
 * client's mistake becomes a code and a sentence; nothing else can fail.
 */
#include "proto/mcp/mcp_envelope.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/rpc.h"

/* ---- the parts of an envelope ---- */

/* Return the text of V when V is a string without a NUL; else NULL. */
static const char *string_or_null(struct json_object *v)
{
	const char *text;

	if (!json_object_is_type(v, json_type_string))
		return NULL;
	text = json_object_get_string(v);
	return strlen(text) == (size_t)json_object_get_string_len(v) ? text
								     : NULL;
}

static bool take_version(struct mcp_envelope *e, struct json_object *v)
{
	const char *text = string_or_null(v);

	if (text == NULL || *text == '\0' || strlen(text) > MCP_VERSION_MAX)
		return false;
	e->version = text;
	return true;
}

static bool take_capabilities(struct mcp_envelope *e, struct json_object *v)
{
	if (!json_object_is_type(v, json_type_object))
		return false;
	e->capabilities = v;
	return true;
}

static bool take_client(struct mcp_envelope *e, struct json_object *v)
{
	if (json_member_str(v, "name") == NULL ||
	    json_member_str(v, "version") == NULL)
		return false;
	e->client_info = v;
	return true;
}

static bool take_level(struct mcp_envelope *e, struct json_object *v)
{
	int level = mcp_level_of(string_or_null(v));

	if (level < 0)
		return false;
	e->log_level = level;
	return true;
}

static const struct {
	const char *key;
	bool required;
	bool (*take)(struct mcp_envelope *e, struct json_object *v);
	const char *expected;
} parts[] = {
    {MCP_META_VERSION, true, take_version,
     "a string such as \"2026-07-28\", of 64 bytes at most"},
    {MCP_META_CAPABILITIES, true, take_capabilities, "an object, {} for none"},
    {MCP_META_CLIENT, false, take_client,
     "an object with the strings name and version"},
    {MCP_META_LOG_LEVEL, false, take_level,
     "one of emergency, alert, critical, error, warning, notice, info, debug"},
};

/* Record the first fault: V came at KEY (HAS), or nothing did. */
static void set_envelope_fault(struct mcp_envelope *e, const char *key,
			       bool has, struct json_object *v,
			       const char *expected)
{
	if (e->code != 0) /* only the first fault is told */
		return;
	e->code = RPC_INVALID_PARAMS;
	if (has)
		errmsg_set(
		    e->text, sizeof(e->text),
		    "params._meta[\"%s\"] is of the type %s and does not "
		    "pass; the client has to send %s",
		    key, json_type_to_name(json_object_get_type(v)), expected);
	else
		errmsg_set(e->text, sizeof(e->text),
			   "params._meta[\"%s\"] is missing; the client has to "
			   "send %s",
			   key, expected);
}

static void read_parts(struct mcp_envelope *e, struct json_object *meta)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct json_object *v = NULL;
		bool has =
		    json_object_is_type(meta, json_type_object) &&
		    json_object_object_get_ex(meta, parts[i].key, &v) != 0;

		if (has ? !parts[i].take(e, v) : parts[i].required)
			set_envelope_fault(e, parts[i].key, has, v,
					   parts[i].expected);
	}
}

const char *mcp_trace_parent(struct json_object *params)
{
	static const char form[] =
	    "00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
	const char *text = string_or_null(
	    json_member(json_member(params, "_meta"), "traceparent"));

	_Static_assert(sizeof(form) == MCP_TRACE_SIZE, "with its NUL");
	if (text == NULL || strlen(text) != sizeof(form) - 1)
		return NULL;
	for (size_t i = 0; form[i] != '\0'; i++)
		if (form[i] == 'x' ? strchr("0123456789abcdef", text[i]) == NULL
				   : text[i] != form[i])
			return NULL;
	return text;
}

void mcp_envelope_read(struct mcp_envelope *e, struct json_object *params)
{
	static const char lacks_both[] =
	    "params._meta lacks " MCP_META_VERSION " and " MCP_META_CAPABILITIES
	    ": the client sends both with every request, a string such as "
	    "\"2026-07-28\" and an object";
	struct json_object *meta = json_member(params, "_meta");
	int rev;

	_Static_assert(sizeof(lacks_both) <= sizeof(e->text), "it is whole");
	*e = (struct mcp_envelope){.log_level = -1};
	e->claims = json_object_is_type(meta, json_type_object) &&
		    json_object_object_get_ex(meta, MCP_META_VERSION, NULL);
	if (!e->claims &&
	    !json_object_is_type(json_member(meta, MCP_META_CAPABILITIES),
				 json_type_object)) {
		/* as each message of a session: prepared, so almost for nothing */
		e->code = RPC_INVALID_PARAMS;
		memcpy(e->text, lacks_both, sizeof(lacks_both));
		return;
	}
	read_parts(e, meta);
	if (e->code != 0)
		return;
	rev = mcp_revision_of(e->version);
	if (rev >= 0 && mcp_has((enum mcp_revision)rev, MCP_STATELESS)) {
		e->revision = (enum mcp_revision)rev;
		return;
	}
	e->code = RPC_UNSUPPORTED_VERSION;
	errmsg_set(e->text, sizeof(e->text),
		   rev >= 0
		       ? "\"%s\" is served in a session alone, which begins "
			 "with initialize; a request by itself can be of %s"
		       : "\"%s\" is no revision that is served here; a request "
			 "by itself can be of %s",
		   e->version, mcp_revision_name(MCP_LATEST));
}

struct json_object *mcp_unsupported_version_data(const char *requested)
{
	return json_pack("supported:o requested:s", mcp_revisions(), requested);
}

struct json_object *mcp_envelope_data(const struct mcp_envelope *e)
{
	return e->code == RPC_UNSUPPORTED_VERSION
		   ? mcp_unsupported_version_data(e->version)
		   : NULL;
}

/* ---- capabilities ---- */

/* Copy the next name of *PATH, which moves on; the caller owns the copy. */
static char *next_name(const char **path, bool of_extensions)
{
	size_t n = of_extensions ? strlen(*path) : strcspn(*path, "/");
	char *name = xstrndup(*path, n);

	*path += (*path)[n] == '/' ? n + 1 : n;
	return name;
}

bool mcp_declares(struct json_object *capabilities, const char *path)
{
	struct json_object *at = capabilities;
	bool of_extensions = false;

	while (at != NULL && *path != '\0') {
		char *name = next_name(&path, of_extensions);

		of_extensions =
		    at == capabilities && strcmp(name, "extensions") == 0;
		at = json_member(at, name);
		free(name);
	}
	return json_object_is_type(at, json_type_object);
}

/* Declare PATH in CAPABILITIES, too. */
static void declare_capability(struct json_object *capabilities,
			       const char *path)
{
	struct json_object *at = capabilities;
	bool of_extensions = false;

	while (*path != '\0') {
		char *name = next_name(&path, of_extensions);
		struct json_object *inner = json_member(at, name);

		of_extensions =
		    at == capabilities && strcmp(name, "extensions") == 0;
		if (inner == NULL) {
			inner = json_object_new_object();
			json_object_object_add(at, name, inner);
		}
		at = inner;
		free(name);
	}
}

struct json_object *mcp_missing_capability(const char *path)
{
	struct json_object *required = json_object_new_object();

	declare_capability(required, path);
	return json_pack("requiredCapabilities:o", required);
}

struct json_object *mcp_known_capabilities(struct json_object *came)
{
	static const char *const known[] = {
	    "elicitation",
	    "elicitation/form",
	    "elicitation/url",
	    "sampling",
	    "sampling/tools",
	    "sampling/context",
	    "roots",
	    "tasks/list",
	    "tasks/cancel",
	    "tasks/requests/elicitation/create",
	    "tasks/requests/sampling/createMessage",
	    MCP_EXTENSION_TASKS,
	    MCP_EXTENSION_ANSWERS_LATER,
	};
	struct json_object *kept = json_object_new_object();

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (mcp_declares(came, known[i]))
			declare_capability(kept, known[i]);
	return kept;
}

/* ---- answers ---- */

/*
 * Make this server's {name, title?, version}. Stateless results, which all
 * carry the object, have no title: the title only repeats the name.
 */
struct json_object *mcp_server_info(enum mcp_revision rev)
{
	return json_pack(
	    "name:s title?s version:s", "paddock",
	    mcp_has(rev, MCP_TITLES) && !mcp_has(rev, MCP_STATELESS) ? "paddock"
								     : NULL,
	    PADDOCK_VERSION);
}

void mcp_finish_result(struct json_object *result, enum mcp_revision rev)
{
	struct json_object *old = json_member(result, "_meta"), *meta;

	if (!mcp_has(rev, MCP_STATELESS))
		return;
	if (json_member(result, "resultType") == NULL)
		json_add(result, "resultType:s", "complete");
	/* a _meta of its own, since the maker of the old _meta may keep that */
	meta = json_object_new_object();
	if (json_object_is_type(old, json_type_object)) {
		json_object_object_foreach(old, key, v)
			json_object_object_add(meta, key, json_object_get(v));
	}
	json_object_object_add(meta, MCP_META_SERVER, mcp_server_info(rev));
	json_add(result, "_meta:o", meta);
}

void mcp_add_subscription(struct json_object *params, const char *id)
{
	struct json_object *meta = json_object_new_object();

	json_object_object_add(meta, MCP_META_SUBSCRIPTION,
			       mcp_raw(id, strlen(id)));
	json_add(params, "_meta:o", meta);
}

static const struct {
	int code, stateless;
} codes[] = {
    /* -32000 to -32019 are not for servers to define: HTTP's number is used */
    {RPC_RATE_LIMITED, 429},
    {RPC_RESOURCE_NOT_FOUND, RPC_INVALID_PARAMS},
};

int mcp_error_code(int code, enum mcp_revision rev)
{
	if (mcp_has(rev, MCP_STATELESS))
		for (size_t i = 0; i < ARRAY_LEN(codes); i++)
			if (codes[i].code == code)
				return codes[i].stateless;
	return code;
}
