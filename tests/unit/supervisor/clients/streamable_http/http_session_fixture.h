/* SPDX-License-Identifier: Apache-2.0 */
/* http_session_fixture.h - sessions over HTTP, with the test as server. */
#ifndef TESTS_UNIT_SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_FIXTURE_H

#include "supervisor/mcp/methods/methods.h"
#include "supervisor/clients/streamable_http/http_mcp.h"
#include "supervisor/clients/streamable_http/http_session.h"
#include "tests/unit/supervisor/clients/http/http_fixture.h"

extern struct context ctx;
extern struct http_sessions all;

/* Begin, with a store in DIR unless DIR is NULL. */
void server_begin(const char *dir);
void server_end(void);

struct requestor *user(uid_t uid);

/* A usable session of Q. */
struct http_session *session(struct requestor *q);

#endif
