/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_share.c - the bounds on open and unread answers of a requestor over
 * HTTP. http_mcp.c, http_session_ops.c and http_call.c ask, and tell a
 * requestor over a bound to come later.
 */
#include "supervisor/clients/http/http_share.h"

#include "base/fair_share.h"
#include "supervisor/requestor/admission.h"

bool http_share_allows_stream(const struct http_share *all,
			      const struct requestor *q)
{
	size_t own = q->http_streams;

	return own < HTTP_STREAMS_EACH &&
	       (int64_t)own < admission_share(HTTP_STREAMS_MAX,
					      (int64_t)(all->n_read - own));
}

bool http_share_has_room(const struct http_share *all,
			 const struct requestor *q, bool stream)
{
	return (!stream || http_share_allows_stream(all, q)) &&
	       q->http_open_streams < HTTP_OPEN_EACH;
}

bool http_share_is_backlogged(const struct http_share *all,
			      const struct requestor *q)
{
	size_t own = q->http.unread;
	size_t others = all->conns->unread - own;

	return own > HTTP_UNREAD_EACH ||
	       (own > HTTP_UNREAD_LEAST &&
		(int64_t)own > fair_share(HTTP_UNREAD_ALL, (int64_t)others));
}
