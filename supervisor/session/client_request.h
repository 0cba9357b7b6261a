/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_request.h - a request of ours to a client, and what became of it.
 */
#ifndef SUPERVISOR_SESSION_CLIENT_REQUEST_H
#define SUPERVISOR_SESSION_CLIENT_REQUEST_H

#include <json-c/json.h>
#include <stdint.h>

#include "proto/mcp/rpc.h"
#include "supervisor/session/session.h"

#define SESSION_CLIENT_REQUESTS_MAX 256 /* under way at once, of one client */

struct client_request;

enum client_request_end {
	CLIENT_REQUEST_RESULT,	/* M.result is an object */
	CLIENT_REQUEST_REFUSED, /* M.error, if there is one: {code, message} */
	CLIENT_REQUEST_EXPIRED, /* no answer in time; the client has been told */
	CLIENT_REQUEST_GONE,	/* the session has ended */
};

/*
 * Called once, and A is gone then. M, of the first two, is the response: who
 * takes it leaves it empty.
 */
typedef void (*client_request_done)(void *arg, enum client_request_end end,
				    struct rpc_msg *m);

/*
 * Send METHOD with PARAMS (lent) by STREAM (NULL: by what belongs to no
 * request) and wait TIMEOUT_MS for the answer. NULL: too many are under way.
 * Whoever gives a STREAM drops what was asked before that has its answer.
 */
struct client_request *client_request_send(struct session *s, void *stream,
					   const char *method,
					   struct json_object *params,
					   int64_t timeout_ms,
					   client_request_done done, void *arg);

/* No answer is wanted: the client is told REASON (NULL: nothing); no DONE. */
void client_request_drop(struct client_request *a, const char *reason);

/*
 * M, a response, came. What is left of it is the caller's to let go. False:
 * nothing was asked that it could be for.
 */
bool client_request_response(struct session *s, struct rpc_msg *m);

#endif
