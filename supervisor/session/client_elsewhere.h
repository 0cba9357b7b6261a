/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_elsewhere.h - requests of ours to a client of a session that several machines
 * have: its answer may come to another than the one that asked, which forwards it.
 */
#ifndef SUPERVISOR_SESSION_CLIENT_ELSEWHERE_H
#define SUPERVISOR_SESSION_CLIENT_ELSEWHERE_H

#include "supervisor/session/session.h"

/*
 * The id of the next request to S's client, as JSON text. Of one that other machines may
 * have, it says which machine asks, so that no two ask by the same one.
 */
void client_elsewhere_name(char *out, size_t size, struct session *s);

/* M, a response that nobody here waits for, goes to whoever asked for it, if any. */
void client_elsewhere_forward(struct session *s, const struct rpc_msg *m);

/* For runs_ops: BODY is such a response, which has come to another machine. */
void client_elsewhere_hear(struct context *ctx, const char *body);

#endif
