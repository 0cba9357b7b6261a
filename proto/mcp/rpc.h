/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc.h - JSON-RPC 2.0 messages; https://www.jsonrpc.org/specification
 */
#ifndef PROTO_MCP_RPC_H
#define PROTO_MCP_RPC_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define RPC_PARSE_ERROR (-32700)
#define RPC_INVALID_REQUEST (-32600)
#define RPC_METHOD_NOT_FOUND (-32601)
#define RPC_INVALID_PARAMS (-32602)
#define RPC_INTERNAL_ERROR (-32603)
#define RPC_RATE_LIMITED (-32010) /* ours; data has errorCode, retryAfterMs */
/* MCP until 2025-11-25: server/resources, errors */
#define RPC_RESOURCE_NOT_FOUND (-32002)
/* MCP since 2026-07-28: basic, error codes */
#define RPC_HEADER_MISMATCH (-32020)
#define RPC_MISSING_CAPABILITY (-32021)	 /* data has requiredCapabilities */
#define RPC_UNSUPPORTED_VERSION (-32022) /* data has supported, requested */

#define RPC_BATCH_MAX 128 /* messages in one */
#define RPC_ID_MAX 1024	  /* bytes of an id as it comes: each call keeps one */

enum rpc_kind {
	RPC_REQUEST,	  /* id and method */
	RPC_NOTIFICATION, /* method alone */
	RPC_RESPONSE,	  /* id and result or error; an error may lack the id */
	RPC_BATCH,	  /* an array: its messages are parts */
	RPC_BROKEN, /* answer with code and error; id where it was legible */
};

struct rpc_msg {
	enum rpc_kind kind;
	struct json_object *root;   /* owned: the whole message */
	const char *method;	    /* borrowed from root */
	struct json_object *params; /* borrowed; object or NULL */
	struct json_object *result; /* borrowed; RESPONSE */
	struct json_object *error;  /* borrowed; RESPONSE */
	char *id;		    /* owned: the id's bytes exactly as they
				       came, NUL-ended; NULL without one */
	char *id_key; /* owned: what it means, for rpc_id_key(); with id */
	size_t id_key_len;
	size_t bytes; /* of the text that it came as */
	/* owned; BATCH: each a message; NULL: too many */
	struct rpc_msg *parts;
	size_t n_parts;
	char *inputs; /* owned; NULL, or what its maker kept of the text */
	size_t inputs_len;
	bool id_too_long; /* it is over RPC_ID_MAX, and BROKEN */
	int code;	  /* BROKEN: the JSON-RPC error code */
	char text[200];	  /* BROKEN: what came and what would pass */
};

/*
 * Parse one message of LEN bytes. Never fails: what is not a message is
 * RPC_BROKEN. An id is a string or an integer, of RPC_ID_MAX bytes at most; params are an
 * object (MCP uses no positional ones). Release it with rpc_fini().
 */
void rpc_parse(struct rpc_msg *m, const char *text, size_t len);
void rpc_fini(struct rpc_msg *m);

/*
 * What the id VALUE means, however it was written: two ids are the same one
 * when their keys are. Its length, or 0 when VALUE is none.
 */
size_t rpc_id_key(char out[RPC_ID_MAX + 1], struct json_object *value);

/*
 * Append one compact message to OUT, without a newline. ID is raw JSON text
 * as rpc_msg.id, NULL writes null. RESULT, DATA and PARAMS are lent and may
 * be NULL (result NULL is {}; data and params NULL are left out). MESSAGE is
 * cut where it stops being UTF-8. 0, or -EMSGSIZE, with OUT as it was, when
 * that would exceed its max.
 */
int rpc_put_result(struct buf *out, const char *id, struct json_object *result);
int rpc_put_error(struct buf *out, const char *id, int code,
		  const char *message, struct json_object *data);
int rpc_put_notification(struct buf *out, const char *method,
			 struct json_object *params);
int rpc_put_request(struct buf *out, const char *id, const char *method,
		    struct json_object *params);

#endif
