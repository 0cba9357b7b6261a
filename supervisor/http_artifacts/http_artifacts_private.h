/* SPDX-License-Identifier: Apache-2.0 */
/* http_artifacts_private.h - what files that come and that go over HTTP share. */
#ifndef SUPERVISOR_HTTP_ARTIFACTS_HTTP_ARTIFACTS_PRIVATE_H
#define SUPERVISOR_HTTP_ARTIFACTS_HTTP_ARTIFACTS_PRIVATE_H

#include "proto/mcp/tool_error.h"
#include "supervisor/http_artifacts/http_artifacts.h"

/* E (let go) is C's answer, and its last where more of what it sends may come. */
void http_artifacts_refuse(struct http_conn *c, struct tool_error *e);
/* Counts against Q's rate. False: C has been refused. */
bool http_artifacts_in_rate(struct requestor *q, struct http_conn *c);

#endif
