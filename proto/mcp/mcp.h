/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.h - the shapes of the Model Context Protocol; pure functions.
 *
 * https://modelcontextprotocol.io/specification
 */
#ifndef PROTO_MCP_MCP_H
#define PROTO_MCP_MCP_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The revisions served, oldest first, so they compare by age. */
enum mcp_revision {
	MCP_2024_11_05,
	MCP_2025_03_26,
	MCP_2025_06_18,
	MCP_2025_11_25, /* the newest that initialize agrees on */
	MCP_2026_07_28, /* no sessions: each request names the revision */
	MCP_REVISIONS
};
#define MCP_LATEST MCP_2026_07_28
#define MCP_LATEST_SESSION MCP_2025_11_25

const char *mcp_revision_name(enum mcp_revision rev);
int mcp_revision_of(const char *name); /* Return the revision, or -EINVAL. */
/* Return the names of all revisions, newest first: an array, the caller's. */
struct json_object *mcp_revisions(void);

/* Return the revision NAME (may be NULL) when initialize can agree on it, else
 * the latest revision with sessions (lifecycle, version negotiation). */
enum mcp_revision mcp_negotiate(const char *name);

/* The features that a revision has or lacks; the table is in mcp.c. */
enum mcp_feature {
	MCP_ALWAYS,
	MCP_BATCHES,
	MCP_ANNOTATIONS, /* annotations of tools */
	MCP_AUDIO,	 /* audio in content */
	MCP_PROGRESS_MESSAGE,
	MCP_COMPLETIONS, /* the capability; the method is older */
	MCP_STRUCTURED,	 /* structuredContent, outputSchema */
	MCP_TITLES,
	MCP_RESOURCE_LINKS, /* resource_link in content */
	MCP_CONTENT_META,   /* _meta and lastModified in content */
	MCP_ICONS,
	MCP_COMPOSED_INPUTS, /* allOf, if and others at the top of an
				inputSchema */
	MCP_SESSIONS,  /* initialize, ping, logging/setLevel, subscriptions */
	MCP_STATELESS, /* server/discover, resultType, input_required, listen */
	MCP_TASKS,     /* tasks of the core, not of the extension */
	MCP_FEATURES
};
bool mcp_has(enum mcp_revision rev, enum mcp_feature f);

/*
 * Add to RESULT for how long and by whom it may be kept (basic, caching), when
 * REV is a revision without sessions; else add nothing. Results other than
 * DISCOVER are private to a requestor.
 */
enum mcp_cache { MCP_CACHE_DISCOVER, MCP_CACHE_LIST, MCP_CACHE_READ };
void mcp_add_cache_hint(struct json_object *result, enum mcp_revision rev,
			enum mcp_cache what);

/* Return the HTTP status for the error CODE; 0: 200. */
int mcp_error_status(int code, enum mcp_revision rev);

/* The log levels, gravest first, numbered as in syslog(3). */
#define MCP_LEVELS 8
#define MCP_LEVEL_INFO 6
const char *mcp_level_name(unsigned level);
/* Return the level named NAME, or -EINVAL; NULL is no level. */
int mcp_level_of(const char *name);

/* Make a node of JSON text (copied), written as it stands. */
struct json_object *mcp_raw(const char *text, size_t len);

/*
 * Make a CallToolResult of one text block. STRUCTURED (may be NULL) is JSON
 * text of an object, for structuredContent. The caller owns the result.
 */
struct json_object *mcp_tool_result(const char *text, size_t len,
				    const char *structured,
				    size_t structured_len, bool is_error);

/*
 * Return the index of the first member of CONTENT (an array) that clients would
 * refuse as a content block, with what would pass in *EXPECTED (static); -1:
 * all are good. In mcp_content.c.
 */
int mcp_content_fault(struct json_object *content, const char **expected);

/*
 * Return BLOCK (lent; mcp_content_fault() passed it) as REV knows it: without
 * newer members, and as a text block when REV lacks the kind. The caller owns
 * the result.
 */
struct json_object *mcp_block_for(struct json_object *block,
				  enum mcp_revision rev);

/* Is TEXT an absolute URI (RFC 3986)? */
bool mcp_uri_ok(const char *text);

/*
 * Return _meta.progressToken of PARAMS when it is a string or an integer.
 * Borrowed, or NULL.
 */
struct json_object *mcp_progress_token(struct json_object *params);
/*
 * Bytes of a token; a longer token is refused, since notifications repeat it.
 */
#define MCP_TOKEN_MAX 1024
bool mcp_progress_token_fits(struct json_object *params);

/*
 * Make {progressToken, progress, total?, message?}: TOKEN is lent; TOTAL 0 and
 * MESSAGE NULL are left out. The caller owns the object.
 */
struct json_object *mcp_progress(struct json_object *token, uint64_t progress,
				 uint64_t total, const char *message);

#endif
