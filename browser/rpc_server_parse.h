/* SPDX-License-Identifier: Apache-2.0 */
/* rpc_server_parse.h - joins the supervisor's frames to whole CALLs. Pure. */
#ifndef BROWSER_RPC_SERVER_PARSE_H
#define BROWSER_RPC_SERVER_PARSE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "ipc/msg.h"

/* The CALL being read, or the last. Zeroed: nothing was read. buf_fini() of body
 * frees all. */
struct rpc_server_parse {
	bool under_way;
	uint32_t seq;
	char tool[MSG_NAME_MAX + 1];
	struct buf body;
	size_t total;
};

/*
 * Take the next frame, of LEN bytes. 1: P->seq and P->tool are a CALL with
 * *BODY, an object, the caller's; 0: incomplete; -EPROTO: *ERRMSG (static) says
 * how the supervisor broke the protocol.
 */
int rpc_server_parse(struct rpc_server_parse *p, const void *frame, size_t len,
		     struct json_object **body, const char **errmsg);

#endif
