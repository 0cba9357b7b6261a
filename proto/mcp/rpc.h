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
/* paddock's own; data has errorCode, retryAfterMs */
#define RPC_RATE_LIMITED (-32010)
/* MCP until 2025-11-25: server/resources, errors */
#define RPC_RESOURCE_NOT_FOUND (-32002)
/* MCP since 2026-07-28: basic, error codes */
#define RPC_HEADER_MISMATCH (-32020)
#define RPC_MISSING_CAPABILITY (-32021)	 /* data has requiredCapabilities */
#define RPC_UNSUPPORTED_VERSION (-32022) /* data has supported, requested */

#define RPC_BATCH_MAX 128 /* most messages in a batch */
#define RPC_ID_MAX 1024	  /* bytes of an id's text: each call keeps its id */

enum rpc_kind {
	RPC_REQUEST,	  /* has id and method */
	RPC_NOTIFICATION, /* has a method, no id */
	RPC_RESPONSE,	  /* has id and result or error; an error may lack
			     the id */
	RPC_BATCH,	  /* an array: the messages are in parts */
	RPC_BROKEN,	  /* answer with code and error; id where legible */
};

struct rpc_msg {
	enum rpc_kind kind;
	struct json_object *root;   /* owned: the tree of the whole message */
	const char *method;	    /* the method's name, borrowed from root */
	struct json_object *params; /* object or NULL, borrowed from root */
	struct json_object *result; /* RESPONSE: borrowed from root */
	struct json_object *error;  /* RESPONSE: borrowed from root */
	char *id;		    /* owned: the id's text exactly as it
				       came, NUL-ended; NULL without an id */
	char *id_key; /* owned: the id's meaning, as rpc_id_key() writes it */
	size_t id_key_len;
	size_t bytes; /* bytes of the message's text, or counted in its place */
	size_t cost;  /* approximate bytes of memory of the tree */
	size_t
	    held; /* the part of cost that the holder has counted; 0 at first */
	/* owned; BATCH: the messages; NULL: too many */
	struct rpc_msg *parts;
	size_t n_parts;
	char *inputs; /* owned: text that the maker of the message kept, or
			 NULL */
	size_t inputs_len;
	bool id_too_long; /* the id is over RPC_ID_MAX; the kind is BROKEN */
	int code;	  /* BROKEN: the JSON-RPC error code */
	char text[200];	  /* BROKEN: the fault and what would pass */
};

/*
 * Parse one message of LEN bytes. Never fails: other text is RPC_BROKEN. An id
 * is a string or an integer, of RPC_ID_MAX bytes at most; params are an object
 * (MCP uses no positional ones). Release M with rpc_fini().
 */
void rpc_parse(struct rpc_msg *m, const char *text, size_t len);
/*
 * Parse a message whose tree may have no room in memory: M becomes RPC_BROKEN
 * with its id, by CODE and ERRMSG (copied), or by its own fault when it has
 * one.
 */
void rpc_parse_refused(struct rpc_msg *m, const char *text, size_t len,
		       int code, const char *errmsg);
/* Refuse M by CODE and ERRMSG; the tree is freed, a request's id is kept. */
void rpc_refuse(struct rpc_msg *m, int code, const char *errmsg);
void rpc_fini(struct rpc_msg *m);

/*
 * Write the meaning of the id VALUE: two ids are equal when their keys are,
 * however written. Return the key's length, or 0 when VALUE is no id.
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
