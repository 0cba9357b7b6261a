/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - subscriptions/listen of MCP 2026-07-28: one request by whose stream
 * its client is told what it asked to be told, until one of both ends.
 */
#ifndef SUPERVISOR_METHODS_LISTEN_H
#define SUPERVISOR_METHODS_LISTEN_H

#include "supervisor/session/request.h"

#define LISTEN_URIS_MAX 64 /* of one request… */
#define LISTEN_TASKS_MAX 64

void listen_begin(struct request *c);

#endif
