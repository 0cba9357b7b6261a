/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks_extension.h - the methods tasks/get, tasks/update, tasks/cancel of the
 * extension io.modelcontextprotocol/tasks of MCP 2026-07-28. A requestor sees
 * its own tasks, of any revision.
 */
#ifndef SUPERVISOR_TASKS_TASKS_EXTENSION_H
#define SUPERVISOR_TASKS_TASKS_EXTENSION_H

#include "supervisor/session/request.h"

void tasks_extension_get(struct request *req);
void tasks_extension_update(struct request *req);
void tasks_extension_cancel(struct request *req);

#endif
