/* SPDX-License-Identifier: Apache-2.0 */
/* client_request.h - a request of the server to a client, and how it ends. */
#ifndef SUPERVISOR_SESSION_CLIENT_REQUEST_H
#define SUPERVISOR_SESSION_CLIENT_REQUEST_H

#include <json-c/json.h>
#include <stdint.h>

#include "proto/mcp/rpc.h"
#include "supervisor/session/session.h"

/* of a client, under way at the same time */
#define SESSION_CLIENT_REQUESTS_MAX 256
#define CLIENT_REQUEST_NAME "paddock-" /* the beginning of each id */

struct client_request;

enum client_request_end {
	CLIENT_REQUEST_RESULT,	/* M.result is an object */
	CLIENT_REQUEST_REFUSED, /* M.error, if present: {code, message} */
	CLIENT_REQUEST_EXPIRED, /* no answer in time; the client was told */
	CLIENT_REQUEST_GONE,	/* the session has ended */
};

/*
 * Called once, when the request A ends and is freed. M is the response of the
 * first two ends; a callee who takes M leaves it empty.
 */
typedef void (*client_request_done)(void *arg, enum client_request_end end,
				    struct rpc_msg *m);

/*
 * Send METHOD with PARAMS (*lent*) by STREAM (NULL: the stream without a
 * request) and wait TIMEOUT_MS for the answer. NULL: too many requests are
 * under way. The owner of STREAM drops the request before STREAM gets its
 * answer.
 */
struct client_request *client_request_send(struct session *s, void *stream,
					   const char *method,
					   struct json_object *params,
					   int64_t timeout_ms,
					   client_request_done done, void *arg);

/* Cancel A without calling DONE. The client is told REASON (NULL: nothing). */
void client_request_drop(struct client_request *a, const char *reason);

/*
 * Take the response M. The caller frees what is left of M. False: no request
 * awaits M.
 */
bool client_request_response(struct session *s, struct rpc_msg *m);

#endif
