/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_share.h - what requestors may have at once of answers over HTTP, whether
 * these are a session's or stand by themselves: each its share of what is there
 * for all (base/fair_share.h).
 */
#ifndef SUPERVISOR_HTTP_HTTP_SHARE_H
#define SUPERVISOR_HTTP_HTTP_SHARE_H

#include "supervisor/http/http_conn.h"
#include "supervisor/requestor/requestor.h"

#define HTTP_STREAMS_MAX 1536  /* with a connection, of all requestors */
#define HTTP_STREAMS_EACH 1024 /* of one */
#define HTTP_OPEN_EACH 4096    /* whose answers are to come, of one requestor */
#define HTTP_OPEN_BYTES (16u << 20) /* kept of those: over it each has the… */
#define HTTP_OPEN_TIGHT 16384	    /* …newest bytes */
/*
 * A requestor is backlogged that does not read so many bytes, or its share of
 * what all may (base/fair_share.h), but never for less than the least.
 */
#define HTTP_UNREAD_EACH (32u << 20)
#define HTTP_UNREAD_ALL (128u << 20)
#define HTTP_UNREAD_LEAST (1u << 20)
#define HTTP_PLAIN_MS 200 /* an answer that comes sooner needs no stream */

struct http_share {
	const struct http_usage *conns; /* borrowed: what all clients hold */
	size_t n_read; /* streams and calls that have a connection */
};

/* May Q have one more connection for a stream? */
bool http_share_allows_stream(const struct http_share *all,
			      const struct requestor *q);
/* May Q await one more answer, and one that may be a STREAM? */
bool http_share_has_room(const struct http_share *all,
			 const struct requestor *q, bool stream);
/* If not, it may come again in HTTP_RETRY_SOON_MS, and is told this. */
#define HTTP_SHARE_FULL                                                        \
	"too many answers are awaited at the same time; wait for some"
/* Does Q not read what was sent to it, and more of that than its share? */
bool http_share_is_backlogged(const struct http_share *all,
			      const struct requestor *q);

#endif
