/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.h - the methods tasks/get, tasks/result, tasks/list, tasks/cancel of
 * MCP 2025-11-25, and tasks/get, tasks/update, tasks/cancel of the extension
 * io.modelcontextprotocol/tasks of MCP 2026-07-28. A requestor sees the tasks of all
 * its sessions, of any revision.
 */
#ifndef SUPERVISOR_TASKS_TASKS_H
#define SUPERVISOR_TASKS_TASKS_H

#include "supervisor/session/request.h"

#define TASKS_PAGE 100 /* tasks in an answer of tasks/list */

void tasks_get(struct request *req);
void tasks_result(struct request *req);
void tasks_list(struct request *req);
void tasks_cancel(struct request *req);

/* tasks_extension.c */
void tasks_extension_get(struct request *req);
void tasks_extension_update(struct request *req);
void tasks_extension_cancel(struct request *req);

/* Return the capability for REQUESTOR in initialize; the caller owns it. */
struct json_object *tasks_capability(const struct requestor *requestor);

#endif
