/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_required.h - an answer that asks for more input, with a state for the
 * client to bring back with the answers (MCP 2026-07-28, multi round-trip
 * requests).
 */
#ifndef SUPERVISOR_INPUT_INPUT_REQUIRED_H
#define SUPERVISOR_INPUT_INPUT_REQUIRED_H

#include "base/id.h"
#include "proto/mcp/request_state.h"
#include "supervisor/session/request.h"

/*
 * Answer REQ (of a revision without sessions) by "input_required": REQUESTS
 * ({key: {method, params}}, taken) are needed, and the client is to come back
 * with ST, whose run, round and call are set.
 */
void input_required(struct request *req, struct json_object *requests,
		    struct request_state *st);

/*
 * Returns the key, lent, of this server's seals. Servers with the same database
 * or state folder have the same key. Before the database was first reached, the
 * state folder's key stands in.
 */
const unsigned char *input_seal_key(const struct context *ctx);

/* Does REQ bring a state? */
bool input_required_is_retry(const struct request *req);
/*
 * Open REQ's state into ST, whose call is set: a retry repeats its call. False:
 * the state is foreign, too old, or of another requestor or call, and REQ has
 * been answered by an error with the reason.
 */
bool input_required_open(struct request *req, struct request_state *st);
/* Refuse REQ, whose state was used before. */
void input_required_used(struct request *req);

#endif
