/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_waiters.h - guests: clients that wait for a run of ours at other
 * machines. A guest is asked like a waiter at this machine. Messages come from
 * proxied_request.c.
 *
 * A guest is known by a name from its machine. A guest's message is an object:
 *
 *   guest         the guest's name
 *   capabilities  the kinds of question that the guest can be asked
 *   round         the guest comes back with the round, and with answers
 *   answers       heard once. Without a round, or with a round of a server
 *                 that had the run before, the guest waits already
 *   left          the guest waits no more
 *   cancels       the guest wants the run to end, unless another client waits
 */
#ifndef SUPERVISOR_CLUSTER_REMOTE_WAITERS_H
#define SUPERVISOR_CLUSTER_REMOTE_WAITERS_H

#include "supervisor/context.h"
#include "supervisor/mcp/input/input_request.h"
#include "supervisor/run/run.h"

/* a guest without messages for so long is gone, as if cancelled */
#define REMOTE_WAITER_MS 30000

/*
 * Hear MESSAGE (lent; BYTES as text) of a guest of R. Members that are kept
 * leave the message.
 */
void remote_waiters_hear(struct context *ctx, struct run *r,
			 struct json_object *message, size_t bytes);

/* For the table: see supervisor/run/exec/cluster.h. */
const char *remote_waiters_missing(const struct run *r,
				   const struct input_request *q);
bool remote_waiters_may_ask(const struct run *r);
bool remote_waiters_ask(struct context *ctx, struct run *r);

/*
 * Returns messages to R's guests, by their names: {"waits": true} or {"waits":
 * false}; {"used": true}: another client came back with the guest's round;
 * {"round", "keys"}: the guest is to come back with ROUND, and with answers to
 * the questions KEYS. The caller's; NULL: R has no guest.
 */
struct json_object *remote_waiters_shown(const struct run *r);

#endif
