/* SPDX-License-Identifier: Apache-2.0 */
/* http_artifacts_private.h - what uploads and downloads over HTTP share. */
#ifndef SUPERVISOR_HTTP_ARTIFACTS_HTTP_ARTIFACTS_PRIVATE_H
#define SUPERVISOR_HTTP_ARTIFACTS_HTTP_ARTIFACTS_PRIVATE_H

#include "proto/mcp/tool_error.h"
#include "supervisor/clients/http_artifacts/http_artifacts.h"

/* Answer C with the error E, and free the parts of E. */
void http_artifacts_refuse(struct http_conn *c, struct tool_error *e);
/* Count a request against Q's rate. False: C was refused. */
bool http_artifacts_in_rate(struct requestor *q, struct http_conn *c);

#endif
