/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_pool.c - the connections of a listener: time limits, by a tick, and
 * which to close when a further client comes. http_listen.c calls the pool. To
 * make room a connection without a known requestor is closed, else the longest
 * idle; if no connection can be closed, http_listen.c refuses the new client.
 */
#include "supervisor/clients/http/http_conn_private.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/send_again.h"
#include "base/mem.h"

struct http_peer { /* an address with anonymous connections */
	unsigned char from[HTTP_PEER_BYTES];
	/* connections of the address, the oldest first */
	struct http_conns conns;
	size_t n;
	UT_hash_handle hh; /* in pool.peers */
};

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
					   .bodies = HTTP_BODIES_MAX,
					   .nobodys = HTTP_BODIES_NOBODY}};
	fair_queue_flow_init(&p->lane);
	TAILQ_INIT(&p->all);
	TAILQ_INIT(&p->anonymous);
	TAILQ_INIT(&p->idle);
}

/* ---- the connections that are closed to make room ---- */

static struct http_peer *find_peer(struct http_pool *p,
				   const unsigned char *from)
{
	struct http_peer *peer;

	HASH_FIND(hh, p->peers, from, HTTP_PEER_BYTES, peer);
	return peer;
}

static struct http_conns *rank_of(struct http_conn *c)
{
	if (c->state != READING && c->state != LINGERING)
		return NULL;
	if (c->user == NULL)
		return &c->pool->anonymous;
	return c->state == LINGERING || !c->begun ? &c->pool->idle : NULL;
}

void http_pool_rank(struct http_conn *c, bool gone)
{
	struct http_conns *rank = gone ? NULL : rank_of(c);
	struct http_peer *peer = c->peer;

	if (c->rank != NULL)
		TAILQ_REMOVE(c->rank, c, rank_link);
	if (c->rank != NULL && peer != NULL) {
		TAILQ_REMOVE(&peer->conns, c, peer_link);
		c->peer = NULL;
		if (--peer->n == 0) {
			HASH_DEL(c->pool->peers, peer);
			free(peer);
		}
	}
	c->rank = rank;
	if (rank == NULL)
		return;
	TAILQ_INSERT_TAIL(rank, c, rank_link);
	if (rank != &c->pool->anonymous)
		return;
	peer = find_peer(c->pool, c->from);
	if (peer == NULL) {
		peer = xcalloc(1, sizeof(*peer));
		memcpy(peer->from, c->from, sizeof(peer->from));
		TAILQ_INIT(&peer->conns);
		HASH_ADD(hh, c->pool->peers, from, sizeof(peer->from), peer);
	}
	TAILQ_INSERT_TAIL(&peer->conns, c, peer_link);
	peer->n++;
	c->peer = peer;
}

void http_pool_add(struct http_pool *p, int fd, const struct sockaddr *from,
		   size_t anonymous)
{
	/*
	 * IPv4 whole, of IPv6 the 64 bits of the network, since a site can use all
	 * addresses of a network
	 */
	unsigned char key[HTTP_PEER_BYTES] = {0};
	struct http_peer *peer;
	struct http_conn *c;

	if (from != NULL && from->sa_family == AF_INET)
		memcpy(key, &((const struct sockaddr_in *)from)->sin_addr, 4);
	else if (from != NULL && from->sa_family == AF_INET6)
		memcpy(key + 8, &((const struct sockaddr_in6 *)from)->sin6_addr,
		       8);
	peer = find_peer(p, key);
	if (peer != NULL && peer->n >= anonymous)
		http_conn_free(TAILQ_FIRST(&peer->conns));
	c = http_conn_new(p, fd);
	memcpy(c->from, key, sizeof(c->from));
	TAILQ_INSERT_TAIL(&p->all, c, link);
	p->n++;
	http_pool_rank(c, false);
}

bool http_pool_yield(struct http_pool *p)
{
	struct http_conn *c = TAILQ_FIRST(&p->anonymous);

	if (c == NULL)
		c = TAILQ_FIRST(&p->idle);
	if (c != NULL)
		http_conn_free(c);
	return c != NULL;
}

static void tick(struct http_conn *c, int64_t now)
{
	if (buf_len(&c->unsent) > 0 &&
	    now - c->moved_ms > c->pool->limits.stall_ms) {
		log_rarely("http", "connection=closed why=\"nothing is read\"");
		http_conn_free(c);
	} else if (c->deadline_ms > 0 && now > c->deadline_ms) {
		if (c->state == READING && c->begun)
			http_conn_fail(c, 408,
				       "the request did not come in time");
		else
			http_conn_free(c);
	} else if (c->state == STREAMING && !c->plain &&
		   now - c->put_ms >= c->pool->keepalive_ms) {
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

	/* the first rounds do not wait for slow clients */
	TAILQ_FOREACH(c, &p->all, link)
		for (int i = 0; i < 8 && http_conn_write(c) == -EAGAIN; i++)
			; /* until the socket takes no more */
	while ((c = TAILQ_FIRST(&p->all)) != NULL) {
		int64_t left;
		int rc;

		while (send_again_may(rc = http_conn_write(c)) &&
		       (left = until_ms - clock_mono_ms()) > 0)
			send_again_wait(c->fd, rc, left);
		http_conn_free(c);
	}
}
