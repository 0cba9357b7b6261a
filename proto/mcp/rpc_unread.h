/* SPDX-License-Identifier: Apache-2.0 */
/* rpc_unread.h - finds the id of a request with JSON that the parser refuses */
#ifndef PROTO_MCP_RPC_UNREAD_H
#define PROTO_MCP_RPC_UNREAD_H

#include <stddef.h>

#include "proto/json/json.h"

/*
 * Find the value of member "id" in TEXT, an object with a member "method".
 * Return 0, or -ENOENT for any other text, for a name twice and for a doubt.
 */
int rpc_unread_id(struct json_span *id, const char *text, size_t len);

#endif
