/* SPDX-License-Identifier: Apache-2.0 */
/* http_session_ops.h - HTTP as a transport of session.h; for http_mcp.c. */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_OPS_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_SESSION_OPS_H

#include "supervisor/session/session.h"

extern const struct session_ops http_session_ops; /* of an http_session */

#endif
