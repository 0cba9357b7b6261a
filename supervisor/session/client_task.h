/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_task.h - a request of the server which the client may make a task of
 * its own (MCP 2025-11-25): asked, then polled and fetched.
 */
#ifndef SUPERVISOR_SESSION_CLIENT_TASK_H
#define SUPERVISOR_SESSION_CLIENT_TASK_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "supervisor/session/session.h"

struct client_task;

enum client_task_end {
	CLIENT_TASK_RESULT,  /* M.result is an object */
	CLIENT_TASK_REFUSED, /* M.error is the client's: {code, message} */
	CLIENT_TASK_FAILED,  /* the task failed, or was malformed: ERRMSG */
	CLIENT_TASK_GONE,    /* the session has ended */
};

/*
 * Called once, when the task ends and is freed. M is the response of the first
 * two ends; a callee who takes M leaves it empty. ERRMSG is *lent*, or NULL.
 */
typedef void (*client_task_done)(void *arg, enum client_task_end end,
				 struct rpc_msg *m, const char *errmsg);

/*
 * Ask METHOD of S by STREAM; see client_request.h. *Lends* PARAMS, which get a
 * "task" member if the client takes METHOD as a task: the client is to keep the
 * task for TTL_MS, and the caller drops it before. NULL: too many requests to S
 * are under way.
 */
struct client_task *client_task_ask(struct session *s, void *stream,
				    const char *method,
				    struct json_object *params, int64_t ttl_ms,
				    client_task_done done, void *arg);

/*
 * Drop T without calling DONE: the client is told REASON (NULL: nothing), or
 * told to cancel its task.
 */
void client_task_drop(struct client_task *t, const char *reason);

#endif
