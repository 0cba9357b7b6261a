/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - subscriptions/listen of MCP 2026-07-28: a request by whose stream
 * the client is told of the changes named in the request, until client or
 * server ends.
 */
#ifndef SUPERVISOR_METHODS_LISTEN_H
#define SUPERVISOR_METHODS_LISTEN_H

#include "supervisor/session/request.h"

#define LISTEN_URIS_MAX 64 /* most URIs of a request */
#define LISTEN_TASKS_MAX 64

void listen_begin(struct request *req);

#endif
