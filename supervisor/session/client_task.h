/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_task.h - a request of ours that the client may make a task of its
 * own (MCP 2025-11-25): asked, and then polled and fetched.
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
	CLIENT_TASK_FAILED,  /* its task did, or made no sense: ERRMSG */
	CLIENT_TASK_GONE,    /* the session has ended */
};

/*
 * Called once, and the task is gone then. M, of the first two, is the
 * response: who takes it leaves it empty. ERRMSG is lent, or NULL.
 */
typedef void (*client_task_done)(void *arg, enum client_task_end end,
				 struct rpc_msg *m, const char *errmsg);

/*
 * Ask METHOD of S by STREAM; see client_request.h. PARAMS are lent, and get a "task"
 * member when the client takes METHOD as one: it is to keep it for TTL_MS,
 * by when the caller has dropped it. NULL: too much is asked of S already.
 */
struct client_task *client_task_ask(struct session *s, void *stream,
				    const char *method,
				    struct json_object *params, int64_t ttl_ms,
				    client_task_done done, void *arg);

/*
 * No answer is wanted: the client is told REASON (NULL: nothing), or to
 * cancel its task. DONE is not called.
 */
void client_task_drop(struct client_task *t, const char *reason);

#endif
