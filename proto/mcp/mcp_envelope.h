/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_envelope.h - the envelope of a stateless request in params._meta, and the
 * description of this server in the answer; pure functions.
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

/* A path for mcp_declares(): the client knows tasks. */
#define MCP_EXTENSION_TASKS "extensions/io.modelcontextprotocol/tasks"
/*
 * paddock's own extension. A call may give only the handle of a run; a client
 * that declares this beside MCP_EXTENSION_TASKS answers the run's questions by
 * tasks/update.
 */
#define MCP_EXTENSION_ANSWERS_LATER "extensions/paddock/answersLater"

#define MCP_VERSION_MAX 64 /* bytes of a version that an answer repeats */

struct mcp_envelope {
	/* _meta has MCP_META_VERSION, of any type: the message is stateless,
	 * good or bad */
	bool claims;
	/* lent by params; NULL where missing or malformed */
	const char *version;
	struct json_object *capabilities;
	struct json_object *client_info;
	int log_level;		    /* a level as in mcp_level_of(); -1: no
				       log is wanted */
	enum mcp_revision revision; /* valid when code is 0 */
	/* 0, or the error for the answer to a request: RPC_INVALID_PARAMS for a
	 * missing or malformed part, RPC_UNSUPPORTED_VERSION only when all
	 * other parts are good. A notification needs the version alone. */
	int code;
	char text[400]; /* the fault and what would pass, when code is set */
};

/*
 * Read the envelope of PARAMS (NULL: none), which stays the caller's and must
 * outlive E. Without claims, E still gets the code and text of the missing
 * parts, for a caller that knows by a header that the message is stateless.
 */
void mcp_envelope_read(struct mcp_envelope *e, struct json_object *params);

/*
 * Return traceparent of PARAMS' _meta (https://www.w3.org/TR/trace-context), by
 * which a request is found in the logs of all servers on its way. Lent by
 * params; any revision. NULL: no text of the right form.
 */
#define MCP_TRACE_SIZE 56 /* bytes of a traceparent, with NUL */
const char *mcp_trace_parent(struct json_object *params);

/* Return the data of E's error, the caller's; NULL when there is none. */
struct json_object *mcp_envelope_data(const struct mcp_envelope *e);

/*
 * Return {supported, requested}, where supported has all revisions served; the
 * caller owns the object.
 */
struct json_object *mcp_unsupported_version_data(const char *requested);

/*
 * A capability is named by a path: "sampling", "elicitation/form". The text
 * behind "extensions/" is one name, with any slash a part of the name:
 * "extensions/io.modelcontextprotocol/tasks".
 */
/* Does CAPABILITIES (may be NULL) have an object at PATH? */
bool mcp_declares(struct json_object *capabilities, const char *path);
/*
 * Return the known part of the capabilities CAME (lent, any value): a session
 * keeps only capabilities that paddock asks for by mcp_declares(). The caller
 * owns the object.
 */
struct json_object *mcp_known_capabilities(struct json_object *came);
/*
 * Return {requiredCapabilities}, RPC_MISSING_CAPABILITY's data; the caller's.
 */
struct json_object *mcp_missing_capability(const char *path);

/*
 * Return {name, title?, version} of this server, as REV has it; the caller owns
 * the object.
 */
struct json_object *mcp_server_info(enum mcp_revision rev);

/*
 * Complete RESULT, which is the caller's alone, for a stateless REV: add
 * resultType "complete" unless there is one, and name the server in _meta. An
 * existing _meta is replaced by a copy with more, never changed. For an older
 * REV do nothing.
 */
void mcp_finish_result(struct json_object *result, enum mcp_revision rev);

/*
 * Mark PARAMS (or a result) as part of the subscription with request ID (raw).
 */
void mcp_add_subscription(struct json_object *params, const char *id);

/* Return the JSON-RPC error code that REV has in place of CODE. */
int mcp_error_code(int code, enum mcp_revision rev);

#endif
