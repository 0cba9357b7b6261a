/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the methods that a client may call: the only list of them.
 */
#ifndef SUPERVISOR_METHODS_METHODS_H
#define SUPERVISOR_METHODS_METHODS_H

#include "supervisor/session/request.h"

/* Serve C's request: it is answered now or later. */
void methods_call(struct request *c);

/* May the answer to NAME take long, and say things meanwhile? */
bool methods_is_slow(const char *name);

/* A notification of S's client came; nobody answers one. */
void methods_notify(struct session *s, const struct rpc_msg *msg);

#endif
