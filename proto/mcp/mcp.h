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

/* The revisions that are served, oldest first, so that they compare. */
enum mcp_revision {
	MCP_2024_11_05,
	MCP_2025_03_26,
	MCP_2025_06_18,
	MCP_2025_11_25, /* the newest that initialize agrees on */
	MCP_2026_07_28, /* each request says so by itself: there are no sessions */
	MCP_REVISIONS
};
#define MCP_LATEST MCP_2026_07_28
#define MCP_LATEST_SESSION MCP_2025_11_25

const char *mcp_revision_name(enum mcp_revision rev);
int mcp_revision_of(const char *name); /* or -EINVAL */
/* The names of all, the newest first: an array, the caller's. */
struct json_object *mcp_revisions(void);

/* The one asked for when initialize can agree on it, else the latest of those
   (lifecycle, version negotiation). NAME may be NULL. */
enum mcp_revision mcp_negotiate(const char *name);

/* What a revision has or lacks; the table is in mcp.c. */
enum mcp_feature {
	MCP_ALWAYS,
	MCP_BATCHES,
	MCP_ANNOTATIONS, /* of tools */
	MCP_AUDIO,	 /* content */
	MCP_PROGRESS_MESSAGE,
	MCP_COMPLETIONS, /* the capability; the method is older */
	MCP_STRUCTURED,	 /* structuredContent, outputSchema */
	MCP_TITLES,
	MCP_RESOURCE_LINKS, /* content */
	MCP_CONTENT_META,   /* _meta and lastModified in it */
	MCP_ICONS,
	MCP_COMPOSED_INPUTS, /* allOf, if, … at the top of an inputSchema */
	MCP_SESSIONS,  /* initialize, ping, logging/setLevel, subscriptions */
	MCP_STATELESS, /* server/discover, resultType, input_required, listen */
	MCP_TASKS,     /* the core's own */
	MCP_FEATURES
};
bool mcp_has(enum mcp_revision rev, enum mcp_feature f);

/*
 * For how long, and by whom, RESULT may be kept, as revisions without sessions
 * have it (basic, caching); to others nothing is added. Nothing here is told to
 * one requestor as to another, but for what DISCOVER says.
 */
enum mcp_cache { MCP_CACHE_DISCOVER, MCP_CACHE_LIST, MCP_CACHE_READ };
void mcp_add_cache_hint(struct json_object *result, enum mcp_revision rev,
			enum mcp_cache what);

/* The status of HTTP that goes with an error of CODE; 0: 200. */
int mcp_error_status(int code, enum mcp_revision rev);

/* The levels of a log, the gravest first; as syslog(3) numbers them. */
#define MCP_LEVELS 8
#define MCP_LEVEL_INFO 6
const char *mcp_level_name(unsigned level);
/* The level named NAME (NULL: none is), or -EINVAL. */
int mcp_level_of(const char *name);

/* JSON text (copied) as a node that is written as it stands. */
struct json_object *mcp_raw(const char *text, size_t len);

/*
 * A CallToolResult of one text block. STRUCTURED (may be NULL) is JSON text
 * of an object, for structuredContent. The caller owns it.
 */
struct json_object *mcp_tool_result(const char *text, size_t len,
				    const char *structured,
				    size_t structured_len, bool is_error);

/*
 * mcp_content.c. The index of the first of CONTENT (an array) that is no
 * content block as clients check it, with what would pass in *EXPECTED
 * (static); -1: all are.
 */
int mcp_content_fault(struct json_object *content, const char **expected);

/*
 * BLOCK (lent; good by the above) as REV knows it: itself, or a text that
 * stands for what REV has no kind for, without members that came later. The
 * caller owns it.
 */
struct json_object *mcp_block_for(struct json_object *block,
				  enum mcp_revision rev);

/* An absolute URI (RFC 3986)? */
bool mcp_uri_ok(const char *text);

/* Is PARAMS' _meta.progressToken a string or an integer? Borrowed, or NULL. */
struct json_object *mcp_progress_token(struct json_object *params);

/*
 * {progressToken, progress, total?, message?}: TOKEN is lent; TOTAL 0 and
 * MESSAGE NULL are left out. The caller owns it.
 */
struct json_object *mcp_progress(struct json_object *token, uint64_t progress,
				 uint64_t total, const char *message);

#endif
