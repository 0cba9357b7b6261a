/* SPDX-License-Identifier: Apache-2.0 */
/* recover_hint.h - what a client can do about a refusal or a run's error. */
#ifndef PROTO_MCP_RECOVER_HINT_H
#define PROTO_MCP_RECOVER_HINT_H

#include <json-c/json.h>

/*
 * A sentence on CODE that fits its cause, which DETAILS (or NULL) tells; the
 * caller's. It names tools and their arguments.
 */
char *recover_hint_of(const char *code, struct json_object *details);

#endif
