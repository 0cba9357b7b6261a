/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session.c - which session an id names, whose it is, and whether it is
 * idle; all other files of this folder build on that.
 */
#include "supervisor/streamable_http/http_session.h"

#include "base/clock.h"

struct http_session *http_session_find(struct http_sessions *all,
				       const struct requestor *requestor,
				       const char *id)
{
	struct http_session *s;

	HASH_FIND_STR(all->by_id, id, s);
	if (s == NULL || s->session.requestor != requestor)
		return NULL;
	http_session_used(s);
	return s;
}

void http_session_used(struct http_session *s)
{
	s->used_ms = clock_mono_ms();
	TAILQ_REMOVE(&s->all->by_use, s, link);
	TAILQ_INSERT_TAIL(&s->all->by_use, s, link);
}

bool http_session_is_idle(const struct http_session *s)
{
	return s->n_read == 0 && s->n_open == 0 && s->session.n_requests == 0 &&
	       s->session.client_requests == NULL &&
	       s->session.n_client_tasks == 0;
}
