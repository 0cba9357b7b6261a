/* SPDX-License-Identifier: Apache-2.0 */
/* stream_conn.h - an MCP client on a stream of bytes, a message a line. */
#ifndef SUPERVISOR_STDIO_STREAM_CONN_H
#define SUPERVISOR_STDIO_STREAM_CONN_H

#include "supervisor/context.h"
#include "supervisor/session/session.h"

struct stream_conn;

/*
 * Serve REQUESTOR on IN and OUT, which may be the same descriptor and are
 * non-blocking, or regular files; the caller owns them. ON_CLOSED is called
 * when the client is gone, for the caller to stream_conn_free() the connection.
 */
struct stream_conn *
stream_conn_new(struct context *ctx, struct requestor *requestor, int in,
		int out, void (*on_closed)(void *arg, struct stream_conn *c),
		void *arg);

/*
 * Answer only initialize until stream_conn_serve(); other messages wait.
 * initialize needs nothing to be started. Call this before anything is read.
 */
void stream_conn_greet(struct stream_conn *c);
void stream_conn_serve(struct stream_conn *c);

/* Was C closed because a write failed although the client had not gone? */
bool stream_conn_lost(const struct stream_conn *c);

/*
 * Free C. Unsent bytes are lost, except at the end of the server. Runs go on.
 * NULL is fine.
 */
void stream_conn_free(struct stream_conn *c);

struct session *stream_conn_session(struct stream_conn *c);

#endif
