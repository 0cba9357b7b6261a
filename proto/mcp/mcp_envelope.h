/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_envelope.h - what a stateless request says of itself in params._meta, and
 * what its answer says of this server; pure functions.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
#ifndef PROTO_MCP_MCP_ENVELOPE_H
#define PROTO_MCP_MCP_ENVELOPE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/mcp.h"

#define MCP_META_VERSION "io.modelcontextprotocol/protocolVersion"
#define MCP_META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define MCP_META_CLIENT "io.modelcontextprotocol/clientInfo"
#define MCP_META_LOG_LEVEL "io.modelcontextprotocol/logLevel"
#define MCP_META_SERVER "io.modelcontextprotocol/serverInfo"
#define MCP_META_SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

/* As a path of mcp_declares(): the client knows tasks. */
#define MCP_EXTENSION_TASKS "extensions/io.modelcontextprotocol/tasks"
/*
 * paddock's own: who declares it beside that one answers by tasks/update what a run
 * asks of which a call gave the handle alone.
 */
#define MCP_EXTENSION_ANSWERS_LATER "extensions/paddock/answersLater"

#define MCP_VERSION_MAX 64 /* bytes of a version that is echoed */

struct mcp_envelope {
	/* _meta has MCP_META_VERSION, of whatever type: the message is of the
	   stateless era, good or bad. */
	bool claims;
	/* Each lent by params, and NULL where it is missing or malformed. */
	const char *version;
	struct json_object *capabilities;
	struct json_object *client_info;
	int log_level;		    /* as mcp_level_of(); -1: none is wanted */
	enum mcp_revision revision; /* good when code is 0 */
	/* 0, or what to answer a request with: RPC_INVALID_PARAMS for what is
	   missing or malformed, RPC_UNSUPPORTED_VERSION only when all else is
	   good. A notification needs the version alone. */
	int code;
	char text[400]; /* with code: what came, and what would pass */
};

/*
 * Read PARAMS (NULL: none), which stays the caller's and must outlive E. One
 * that does not claim gets the code and text of what it lacks, for who knows
 * by a header that it is of this era.
 */
void mcp_envelope_read(struct mcp_envelope *e, struct json_object *params);

/*
 * What PARAMS' _meta has as traceparent (https://www.w3.org/TR/trace-context),
 * by which a request is found again in the logs of all that it went through;
 * NULL: nothing of that form. Lent by params; of any revision.
 */
#define MCP_TRACE_SIZE 56 /* with NUL */
const char *mcp_trace_parent(struct json_object *params);

/* The data of E's error, the caller's; NULL when there is none. */
struct json_object *mcp_envelope_data(const struct mcp_envelope *e);

/* {supported: every revision that is served, requested}; the caller owns it. */
struct json_object *mcp_unsupported_version_data(const char *requested);

/*
 * A capability is named by a path: "sampling", "elicitation/form". What
 * follows "extensions/" is one name, in which a slash is nothing special:
 * "extensions/io.modelcontextprotocol/tasks".
 */
/* Does CAPABILITIES (may be NULL) have it, an object? */
bool mcp_declares(struct json_object *capabilities, const char *path);
/* {requiredCapabilities: {…}}, RPC_MISSING_CAPABILITY's data; the caller's. */
struct json_object *mcp_missing_capability(const char *path);

/* {name, title?, version}: this server, as REV has it; the caller owns it. */
struct json_object *mcp_server_info(enum mcp_revision rev);

/*
 * For a stateless REV: RESULT, which is the caller's alone, says that it is
 * complete unless it has a resultType, and its _meta which server made it. A
 * _meta that is there is not changed but replaced by one with more. For an
 * older REV nothing is done.
 */
void mcp_finish_result(struct json_object *result, enum mcp_revision rev);

/* PARAMS, or a result, belong to the subscription that request ID (raw) is. */
void mcp_add_subscription(struct json_object *params, const char *id);

/* The JSON-RPC error code that REV has for what CODE says here. */
int mcp_error_code(int code, enum mcp_revision rev);

#endif
