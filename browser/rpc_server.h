/* SPDX-License-Identifier: Apache-2.0 */
/* rpc_server.h - the supervisor's socket: whole CALLs in, whole ANSWERs out. */
#ifndef BROWSER_RPC_SERVER_H
#define BROWSER_RPC_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "browser/browser.h"

struct rpc_server;

/*
 * Serve FD. The loop ends when the supervisor is gone, or breaks the protocol.
 */
struct rpc_server *rpc_server_new(struct browser *b, int fd);
void rpc_server_free(struct rpc_server *w);
/* Answer the CALL SEQ; takes BODY, an object. */
void rpc_server_reply(struct rpc_server *w, uint32_t seq, bool ok,
		      struct json_object *body);

#endif
