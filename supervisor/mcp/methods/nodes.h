/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h - paddock/nodes, paddock's own method: the servers which share a
 * database. man/paddockd.8 has its form.
 */
#ifndef SUPERVISOR_METHODS_NODES_H
#define SUPERVISOR_METHODS_NODES_H

#include "supervisor/session/request.h"

void nodes_get(struct request *req);

#endif
