/* All connections of a listener; http_conn.h. */
#include "supervisor/http_conn_int.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/log.h"

void http_pool_init(struct http_pool *p, struct event_base *base,
		    const struct http_conn_ops *ops, void *arg)
{
	*p = (struct http_pool){.base = base,
				.ops = ops,
				.arg = arg,
				.limits = {.head_ms = HTTP_HEAD_MS,
					   .body_ms = HTTP_BODY_MS,
					   .idle_ms = HTTP_IDLE_MS,
					   .stall_ms = HTTP_STALL_MS,
					   .linger_ms = HTTP_LINGER_MS,
					   .bodies = HTTP_BODIES_MAX}};
	turn_lane_init(&p->lane);
	TAILQ_INIT(&p->all);
}

void http_pool_add(struct http_pool *p, int fd)
{
	struct http_conn *c = http_conn_new(p, fd);

	TAILQ_INSERT_TAIL(&p->all, c, link);
	p->n++;
}

bool http_pool_yield(struct http_pool *p)
{
	struct http_conn *c, *oldest = NULL;

	TAILQ_FOREACH(c, &p->all, link)
		if ((c->state == READING || c->state == LINGERING) &&
		    (oldest == NULL || c->since_ms < oldest->since_ms))
			oldest = c;
	if (oldest == NULL)
		return false;
	http_conn_free(oldest);
	return true;
}

static void tick(struct http_conn *c, int64_t now)
{
	if (buf_len(&c->unsent) > 0 && now - c->moved_ms > c->pool->limits.stall_ms) {
		log_rarely("http", "connection=closed why=\"nothing is read\"");
		http_conn_free(c);
	} else if (c->deadline_ms > 0 && now > c->deadline_ms) {
		if (c->state == READING && c->begun)
			http_conn_fail(c, 408, "the request did not come in time");
		else
			http_conn_free(c);
	} else if (c->state == STREAMING && now - c->put_ms >=
						c->pool->keepalive_ms) {
		http_conn_put(c, ":\n\n", 3);
	}
}

void http_pool_tick(struct http_pool *p)
{
	int64_t now = clock_mono_ms();
	struct http_conn *c, *after;

	for (c = TAILQ_FIRST(&p->all); c != NULL; c = after) {
		after = TAILQ_NEXT(c, link);
		tick(c, now);
	}
}

void http_pool_drain(struct http_pool *p)
{
	struct http_conn *c, *after;

	p->closing = true;
	for (c = TAILQ_FIRST(&p->all); c != NULL; c = after) {
		after = TAILQ_NEXT(c, link);
		if (c->state == READING && !c->begun)
			http_conn_free(c);
	}
}

void http_pool_fini(struct http_pool *p, int64_t until_ms)
{
	struct http_conn *c;

	TAILQ_FOREACH(c, &p->all, link) /* a slow one keeps no other waiting */
		http_conn_write(c);
	while ((c = TAILQ_FIRST(&p->all)) != NULL) {
		struct pollfd out = {.fd = c->fd, .events = POLLOUT};
		int64_t left;

		while (http_conn_write(c) == -EAGAIN &&
		       (left = until_ms - clock_mono_ms()) > 0)
			poll(&out, 1, (int)left);
		http_conn_free(c);
	}
}
