/* SPDX-License-Identifier: Apache-2.0 */
/* rpc_server.h - the supervisor's socket: whole CALLs in, whole ANSWERs out. */
#ifndef BROWSER_RPC_SERVER_H
#define BROWSER_RPC_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "browser/browser.h"

struct wire;

/* The loop ends when the supervisor is gone, or breaks the protocol. */
struct wire *wire_new(struct broker *b, int fd);
void wire_free(struct wire *w);
/* Takes BODY, an object. */
void wire_answer(struct wire *w, uint32_t seq, bool ok,
		 struct json_object *body);

#endif
