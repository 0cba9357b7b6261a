/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.c - the features of each revision of MCP, and results, progress and log
 * levels in its form, for sessions, methods and the command. Unknown revisions
 * get the latest, unknown levels -EINVAL; nothing else can fail.
 */
#include "proto/mcp/mcp.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/rpc.h"

static const char *const revisions[MCP_REVISIONS] = {
    [MCP_2024_11_05] = "2024-11-05", [MCP_2025_03_26] = "2025-03-26",
    [MCP_2025_06_18] = "2025-06-18", [MCP_2025_11_25] = "2025-11-25",
    [MCP_2026_07_28] = "2026-07-28",
};

const char *mcp_revision_name(enum mcp_revision rev)
{
	return revisions[rev];
}

/* The first and the last revision with each feature. */
static const struct {
	enum mcp_revision since, until;
} features[MCP_FEATURES] = {
    [MCP_ALWAYS] = {0, MCP_LATEST},
    [MCP_BATCHES] = {MCP_2025_03_26, MCP_2025_03_26},
    [MCP_ANNOTATIONS] = {MCP_2025_03_26, MCP_LATEST},
    [MCP_AUDIO] = {MCP_2025_03_26, MCP_LATEST},
    [MCP_PROGRESS_MESSAGE] = {MCP_2025_03_26, MCP_LATEST},
    [MCP_COMPLETIONS] = {MCP_2025_03_26, MCP_LATEST},
    [MCP_SESSIONS] = {0, MCP_LATEST_SESSION},
    [MCP_STATELESS] = {MCP_2026_07_28, MCP_LATEST},
    [MCP_TASKS] = {MCP_2025_11_25, MCP_2025_11_25},
    [MCP_STRUCTURED] = {MCP_2025_06_18, MCP_LATEST},
    [MCP_TITLES] = {MCP_2025_06_18, MCP_LATEST},
    [MCP_RESOURCE_LINKS] = {MCP_2025_06_18, MCP_LATEST},
    [MCP_CONTENT_META] = {MCP_2025_06_18, MCP_LATEST},
    [MCP_ICONS] = {MCP_2025_11_25, MCP_LATEST},
    [MCP_COMPOSED_INPUTS] = {MCP_2026_07_28, MCP_LATEST},
};

bool mcp_has(enum mcp_revision rev, enum mcp_feature f)
{
	return rev >= features[f].since && rev <= features[f].until;
}

int mcp_revision_of(const char *name)
{
	for (int i = 0; name != NULL && i < MCP_REVISIONS; i++)
		if (strcmp(revisions[i], name) == 0)
			return i;
	return -EINVAL;
}

struct json_object *mcp_revisions(void)
{
	struct json_object *all = json_object_new_array_ext(MCP_REVISIONS);

	for (int i = MCP_REVISIONS - 1; i >= 0; i--)
		json_object_array_add(all,
				      json_object_new_string(revisions[i]));
	return all;
}

enum mcp_revision mcp_negotiate(const char *name)
{
	int rev = mcp_revision_of(name);

	return rev < 0 || rev > MCP_LATEST_SESSION ? MCP_LATEST_SESSION
						   : (enum mcp_revision)rev;
}

void mcp_add_cache_hint(struct json_object *result, enum mcp_revision rev,
			enum mcp_cache what)
{
	static const struct {
		int ttl_ms;
		const char *scope;
	} hints[] = {
	    [MCP_CACHE_DISCOVER] = {300000, "public"},
	    [MCP_CACHE_LIST] = {30000, "private"},
	    [MCP_CACHE_READ] = {0, "private"},
	};

	if (mcp_has(rev, MCP_STATELESS))
		json_add(result, "ttlMs:i cacheScope:s", hints[what].ttl_ms,
			 hints[what].scope);
}

int mcp_error_status(int code, enum mcp_revision rev)
{
	static const struct {
		int code, status;
	} all[] = {{RPC_METHOD_NOT_FOUND, 404},
		   {RPC_HEADER_MISMATCH, 400},
		   {RPC_MISSING_CAPABILITY, 400},
		   {RPC_UNSUPPORTED_VERSION, 400}};

	for (size_t i = 0; mcp_has(rev, MCP_STATELESS) && i < ARRAY_LEN(all);
	     i++)
		if (all[i].code == code)
			return all[i].status;
	return 0;
}

static const char *const levels[MCP_LEVELS] = {
    "emergency", "alert",  "critical", "error",
    "warning",	 "notice", "info",     "debug"};

const char *mcp_level_name(unsigned level)
{
	return levels[level];
}

int mcp_level_of(const char *name)
{
	for (int i = 0; name != NULL && i < MCP_LEVELS; i++)
		if (strcmp(levels[i], name) == 0)
			return i;
	return -EINVAL;
}

struct json_object *mcp_raw(const char *text, size_t len)
{
	struct json_object *o = json_object_new_object();

	json_object_set_serializer(o, json_object_userdata_to_json_string,
				   xstrndup(text, len),
				   json_object_free_userdata);
	return o;
}

struct json_object *mcp_tool_result(const char *text, size_t len,
				    const char *structured,
				    size_t structured_len, bool is_error)
{
	struct json_object *content = json_object_new_array_ext(1);

	json_object_array_add(content,
			      json_pack("type:s text:S", "text", text, len));
	return json_pack(
	    "content:o structuredContent?o isError?b", content,
	    structured == NULL ? NULL : mcp_raw(structured, structured_len),
	    is_error);
}

static struct json_object *token_of(struct json_object *params)
{
	return json_member(json_member(params, "_meta"), "progressToken");
}

bool mcp_progress_token_fits(struct json_object *params)
{
	struct json_object *token = token_of(params);

	return !json_object_is_type(token, json_type_string) ||
	       json_object_get_string_len(token) <= MCP_TOKEN_MAX;
}

struct json_object *mcp_progress_token(struct json_object *params)
{
	struct json_object *token = token_of(params);

	return mcp_progress_token_fits(params) &&
		       (json_object_is_type(token, json_type_string) ||
			json_object_is_type(token, json_type_int))
		   ? token
		   : NULL;
}

struct json_object *mcp_progress(struct json_object *token, uint64_t progress,
				 uint64_t total, const char *message)
{
	return json_pack("progressToken:O progress:i total?i message?s", token,
			 progress, total, message);
}
