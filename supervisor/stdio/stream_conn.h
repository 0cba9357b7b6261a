/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_conn.h - one MCP client on a stream of bytes, a message a line.
 */
#ifndef SUPERVISOR_STDIO_STREAM_CONN_H
#define SUPERVISOR_STDIO_STREAM_CONN_H

#include "supervisor/context.h"
#include "supervisor/session/session.h"

struct stream_conn;

/*
 * Serve REQUESTOR on IN and OUT, which may be the same descriptor and are
 * non-blocking, or regular files; the caller owns them. ON_CLOSED is called
 * when the client is gone, for the caller to stream_conn_free() it.
 */
struct stream_conn *
stream_conn_new(struct context *ctx, struct requestor *requestor, int in,
		int out, void (*on_closed)(void *arg, struct stream_conn *c),
		void *arg);

/*
 * From now, when nothing was read yet, until stream_conn_serve(), C answers
 * initialize, which takes nothing that is to be started; all else waits.
 */
void stream_conn_greet(struct stream_conn *c);
void stream_conn_serve(struct stream_conn *c);

/* Did C's end come of output that could not be written, though nobody left? */
bool stream_conn_lost(const struct stream_conn *c);

/* Unsent bytes are lost, but at the server's end. Runs go on. NULL is fine. */
void stream_conn_free(struct stream_conn *c);

struct session *stream_conn_session(struct stream_conn *c);

#endif
