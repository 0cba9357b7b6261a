/* SPDX-License-Identifier: Apache-2.0 */
/* http_stream_private.h - for http_stream.c, http_stream_get.c, http_session_ops.c. */
#ifndef SUPERVISOR_STREAMABLE_HTTP_HTTP_STREAM_PRIVATE_H
#define SUPERVISOR_STREAMABLE_HTTP_HTTP_STREAM_PRIVATE_H

#include "supervisor/streamable_http/http_stream.h"

/* ---- http_stream.c ---- */

/* A new one of S's, in none of its lists. */
struct http_stream *http_stream_make(struct http_session *s);
/* CONN hears ST, or no more; hung up, it gets a whole response here. */
void http_stream_attach(struct http_stream *st, struct http_conn *conn);
void http_stream_detach(struct http_stream *st);
void http_stream_hang_up(struct http_stream *st);
void http_stream_prime(struct http_stream *st); /* its first event */
/* As much as the connection takes for now. */
void http_stream_pump(struct http_stream *st);
/* One more event; a plain answer is none any more. */
void http_stream_send(struct http_stream *st, const char *text, size_t len,
		      enum sse_kind kind);
/* The last event of ST, begun; NULL: it ends without one. Others may go. */
void http_stream_finish(struct http_stream *st, const char *text, size_t len);

/* ---- http_stream_get.c ---- */

/*
 * Of S's streams of no request the one that has what is said next: that
 * somebody hears, and was asked for last, or would be; or NULL.
 */
struct http_stream *http_stream_push_current(const struct http_session *s);

#endif
