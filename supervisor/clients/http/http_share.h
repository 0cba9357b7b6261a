/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_share.h - how many answers over HTTP a requestor may have open at the
 * same time, in and outside of sessions: a share of what the server allows in
 * all (base/fair_share.h).
 */
#ifndef SUPERVISOR_HTTP_HTTP_SHARE_H
#define SUPERVISOR_HTTP_HTTP_SHARE_H

#include "supervisor/clients/http/http_conn.h"
#include "supervisor/requestor/requestor.h"

#define HTTP_STREAMS_MAX 1536 /* streams with a connection, of all requestors */
#define HTTP_STREAMS_EACH 1024 /* streams with a connection, of a requestor */
#define HTTP_OPEN_EACH 4096    /* unfinished answers of a requestor */
/* bytes kept for those answers; see HTTP_OPEN_TIGHT */
#define HTTP_OPEN_BYTES (16u << 20)
/* newest bytes kept of a stream above HTTP_OPEN_BYTES */
#define HTTP_OPEN_TIGHT 16384
/*
 * A requestor is backlogged with more than HTTP_UNREAD_EACH bytes unread, or
 * more than the requestor's share of HTTP_UNREAD_ALL (base/fair_share.h), but
 * never with less than HTTP_UNREAD_LEAST.
 */
#define HTTP_UNREAD_EACH (32u << 20)
#define HTTP_UNREAD_ALL (128u << 20)
#define HTTP_UNREAD_LEAST (1u << 20)
#define HTTP_PLAIN_MS 200 /* an answer that comes sooner needs no stream */

struct http_share {
	const struct http_usage *conns; /* borrowed: what all clients hold */
	size_t n_read; /* streams and calls with a connection */
};

/* May Q have a further connection for a stream? */
bool http_share_allows_stream(const struct http_share *all,
			      const struct requestor *q);
/* May Q await a further answer, which may be a STREAM? */
bool http_share_has_room(const struct http_share *all,
			 const struct requestor *q, bool stream);
/*
 * The text for a requestor without room, which may retry in HTTP_RETRY_SOON_MS.
 */
#define HTTP_SHARE_FULL                                                        \
	"too many answers are awaited at the same time; wait for some"
/* Does Q leave more than the share of Q unread? */
bool http_share_is_backlogged(const struct http_share *all,
			      const struct requestor *q);

#endif
