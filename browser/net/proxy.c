/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.c - Chromium's SOCKS connections, in paddock-browser's loop: each is
 * checked, resolved, checked again and tunnelled. A refusal or failure is
 * recorded in the session, whose calls report it; Chromium gets a SOCKS error.
 */
#include "browser/net/proxy.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/fair_share.h"
#include "net/net_deny.h"
#include "browser/net/resolve.h"
#include "browser/net/socks.h"

#define ADDRESSES_MAX 16 /* addresses of a name that are tried */

struct conn {
	struct proxy *proxy;
	struct bufferevent *client; /* the connection from Chromium */
	struct bufferevent *server; /* the server's end, while and after
				       connecting */
	struct event *timeout;
	struct lookup *lookup;
	bool greeted, asked;
	bool client_ended, server_ended;
	uint32_t proxy_ip;
	enum url_trust trust;
	char *requestor;
	struct socks_request request;
	/* checked and allowed addresses */
	union resolver_address to[ADDRESSES_MAX];
	unsigned n_to, next;
	TAILQ_ENTRY(conn) list;
};

struct proxy {
	struct event_base *base;
	struct event *listening;
	int listener;
	const struct proxy_ops *ops;
	void *arg;
	struct resolver *resolver;
	bool alone;
	unsigned n_conns;
	TAILQ_HEAD(, conn) conns;
};

static void conn_free(struct conn *c)
{
	TAILQ_REMOVE(&c->proxy->conns, c, list);
	c->proxy->n_conns--;
	resolve_cancel(c->lookup);
	event_free(c->timeout);
	bufferevent_free(c->client);
	if (c->server != NULL)
		bufferevent_free(c->server);
	free(c->requestor);
	free(c);
}

/* ---- the tunnel ---- */

/* Pass bytes on; stop reading FROM while TO is behind. */
static void pass(struct bufferevent *from, struct bufferevent *to)
{
	struct evbuffer *out = bufferevent_get_output(to);

	evbuffer_add_buffer(out, bufferevent_get_input(from));
	if (evbuffer_get_length(out) > PROXY_HELD_MAX) {
		bufferevent_disable(from, EV_READ);
		bufferevent_setwatermark(to, EV_WRITE, PROXY_HELD_MAX / 2, 0);
	}
}

/* Shut TO down once it has all bytes; the other end has finished. */
static void finish_tunnel(struct conn *c, struct bufferevent *to)
{
	if (evbuffer_get_length(bufferevent_get_output(to)) > 0)
		return;
	shutdown(bufferevent_getfd(to), SHUT_WR);
	if (c->client_ended && c->server_ended)
		conn_free(c);
}

static void on_tunnel_read(struct bufferevent *bev, void *arg)
{
	struct conn *c = arg;

	pass(bev, bev == c->client ? c->server : c->client);
}

static void on_tunnel_write(struct bufferevent *bev, void *arg)
{
	struct conn *c = arg;
	bool client = bev == c->client;

	bufferevent_setwatermark(bev, EV_WRITE, 0, 0);
	bufferevent_enable(client ? c->server : c->client, EV_READ);
	if (client ? c->server_ended : c->client_ended)
		finish_tunnel(c, bev);
}

static void on_tunnel_event(struct bufferevent *bev, short what, void *arg)
{
	struct conn *c = arg;
	bool client = bev == c->client;

	if ((what & BEV_EVENT_EOF) == 0) {
		conn_free(c);
		return;
	}
	*(client ? &c->client_ended : &c->server_ended) = true;
	pass(bev, client ? c->server : c->client);
	finish_tunnel(c, client ? c->server : c->client);
}

/* ---- the answer ---- */

static void on_last_write(struct bufferevent *bev, void *arg)
{
	(void)bev;
	conn_free(arg);
}

static void on_client_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev, (void)what;
	conn_free(arg);
}

/* Write TEXT, then close. */
static void end_with(struct conn *c, const uint8_t *text, size_t n)
{
	bufferevent_disable(c->client, EV_READ);
	bufferevent_setcb(c->client, NULL, on_last_write, on_client_event, c);
	bufferevent_write(c->client, text, n);
}

static void refuse_tunnel(struct conn *c, enum socks_code code)
{
	uint8_t text[SOCKS_REPLY_BYTES];

	socks_reply(text, code);
	end_with(c, text, sizeof(text));
}

static void fail_tunnel(struct conn *c, const char *errmsg, bool policy,
			enum socks_code code)
{
	const struct socks_request *r = &c->request;

	c->proxy->ops->failed(c->proxy->arg, c->proxy_ip, r->host, r->port,
			      errmsg, policy);
	refuse_tunnel(c, code);
}

/* ---- connecting ---- */

static void try_next(struct conn *c);

static void on_server_event(struct bufferevent *bev, short what, void *arg)
{
	uint8_t text[SOCKS_REPLY_BYTES];
	struct conn *c = arg;
	int on = 1;

	if ((what & BEV_EVENT_CONNECTED) == 0) {
		bufferevent_free(bev);
		c->server = NULL;
		try_next(c);
		return;
	}
	setsockopt(bufferevent_getfd(bev), IPPROTO_TCP, TCP_NODELAY, &on,
		   sizeof(on));
	event_del(c->timeout);
	socks_reply(text, SOCKS_DONE);
	bufferevent_write(c->client, text, sizeof(text));
	bufferevent_setcb(c->client, on_tunnel_read, on_tunnel_write,
			  on_tunnel_event, c);
	bufferevent_setcb(c->server, on_tunnel_read, on_tunnel_write,
			  on_tunnel_event, c);
	bufferevent_enable(c->client, EV_READ | EV_WRITE);
	bufferevent_enable(c->server, EV_READ | EV_WRITE);
	pass(c->client, c->server); /* bytes that Chromium sent early */
}

static void try_next(struct conn *c)
{
	while (c->next < c->n_to) {
		union resolver_address *a = &c->to[c->next++];
		size_t len = a->any.sa_family == AF_INET ? sizeof(a->in)
							 : sizeof(a->in6);

		c->server = bufferevent_socket_new(c->proxy->base, -1,
						   BEV_OPT_CLOSE_ON_FREE);
		bufferevent_setcb(c->server, NULL, NULL, on_server_event, c);
		if (bufferevent_socket_connect(c->server, &a->any, (int)len) ==
		    0)
			return;
		bufferevent_free(c->server);
		c->server = NULL;
	}
	fail_tunnel(c, "nothing answers there", false, SOCKS_REFUSED);
}

static const char *may_reach(const struct conn *c,
			     const struct sockaddr *address)
{
	return c->proxy->ops->reach(c->proxy->arg, c->proxy_ip, c->request.host,
				    c->request.port, address);
}

/* Refuse a name when any of its addresses is forbidden; else connect. */
static void on_resolved(void *arg, const union resolver_address *list,
			unsigned n, const char *error)
{
	struct conn *c = arg;
	const uint16_t port = (uint16_t)c->request.port;
	const char *errmsg;

	c->lookup = NULL;
	if (n == 0) {
		fail_tunnel(c, error, false, SOCKS_UNREACHABLE);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		errmsg = url_policy_address(&list[i].any, c->trust);
		if (errmsg == NULL)
			errmsg = net_deny_address(&list[i].any, c->trust);
		if (errmsg == NULL)
			errmsg = may_reach(c, &list[i].any);
		if (errmsg != NULL) {
			fail_tunnel(c, errmsg, true, SOCKS_FORBIDDEN);
			return;
		}
		if (c->n_to == ADDRESSES_MAX)
			continue;
		c->to[c->n_to] = list[i];
		if (list[i].any.sa_family == AF_INET)
			c->to[c->n_to].in.sin_port = htons(port);
		else
			c->to[c->n_to].in6.sin6_port = htons(port);
		c->n_to++;
	}
	try_next(c);
}

static void go(struct conn *c)
{
	const struct resolve_for who = {c->requestor, c->proxy_ip};
	union resolver_address number;
	const char *errmsg = url_policy_port(c->request.port, c->trust);

	c->asked = true;
	bufferevent_disable(c->client, EV_READ);
	if (errmsg == NULL)
		errmsg = url_policy_host(c->request.host, c->trust);
	if (errmsg == NULL)
		errmsg = net_deny_host(c->request.host);
	if (errmsg == NULL)
		errmsg = may_reach(c, NULL);
	if (errmsg != NULL) {
		fail_tunnel(c, errmsg, true, SOCKS_FORBIDDEN);
		return;
	}
	if (resolve_number(c->request.host, &number)) {
		on_resolved(c, &number, 1, NULL);
		return;
	}
	c->lookup =
	    resolve(c->proxy->resolver, &who, c->request.host, on_resolved, c);
	if (c->lookup == NULL)
		fail_tunnel(c, "too many of your names wait to be resolved",
			    false, SOCKS_FAILED);
}

/* ---- the request ---- */

/* Take the greeting. Chromium never sends a wrong greeting: close then. */
static bool take_greeting(struct conn *c, struct evbuffer *in)
{
	uint8_t m[SOCKS_MESSAGE_MAX], answer[2] = {SOCKS_VERSION};
	ssize_t got = evbuffer_copyout(in, m, sizeof(m));
	int n = socks_greeting(m, got < 0 ? 0 : (size_t)got, &answer[1]);

	if (n == 0)
		return false;
	if (n < 0) {
		conn_free(c);
		return false;
	}
	evbuffer_drain(in, (size_t)n);
	if (answer[1] != SOCKS_NO_AUTH) {
		end_with(c, answer, sizeof(answer));
		return false;
	}
	c->greeted = true;
	bufferevent_write(c->client, answer, sizeof(answer));
	return true;
}

static void on_client_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	uint8_t m[SOCKS_MESSAGE_MAX];
	struct conn *c = arg;
	enum socks_code code;
	ssize_t got;
	int n;

	if ((!c->greeted && !take_greeting(c, in)) || c->asked)
		return;
	got = evbuffer_copyout(in, m, sizeof(m));
	n = socks_request(m, got < 0 ? 0 : (size_t)got, &c->request, &code);
	if (n < 0)
		refuse_tunnel(c, code);
	if (n <= 0)
		return;
	evbuffer_drain(in, (size_t)n);
	go(c);
}

static void on_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd, (void)what;
	if (c->asked)
		c->proxy->ops->failed(c->proxy->arg, c->proxy_ip,
				      c->request.host, c->request.port,
				      "nothing answers in time", false);
	conn_free(c);
}

/* Has C's session and requestor room? Connections are left for others. */
static bool has_tunnel_room(const struct proxy *p, const struct conn *c)
{
	const struct conn *o;
	unsigned mine = 0, session = 0;

	TAILQ_FOREACH(o, &p->conns, list)
		if (strcmp(o->requestor, c->requestor) == 0) {
			mine++;
			session += o->proxy_ip == c->proxy_ip;
		}
	return session < PROXY_SESSION_MAX &&
	       mine < (p->alone ? PROXY_CONNECTIONS_MAX
				: fair_share(PROXY_CONNECTIONS_MAX,
					     (int64_t)(p->n_conns - mine)));
}

static bool take_client(struct conn *c, int fd)
{
	struct sockaddr_in own = {0};
	struct proxy_client client;
	socklen_t len = sizeof(own);

	if (getsockname(fd, (struct sockaddr *)&own, &len) != 0)
		return false;
	c->proxy_ip = ntohl(own.sin_addr.s_addr);
	if (!c->proxy->ops->client(c->proxy->arg, c->proxy_ip, &client))
		return false;
	c->trust = client.trust;
	c->requestor = xstrdup(client.requestor);
	return has_tunnel_room(c->proxy, c);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval timeout = {.tv_sec = PROXY_CONNECT_S};
	struct proxy *p = arg;
	struct conn *c;
	int fd_client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)what;
	if (fd_client < 0)
		return;
	c = xcalloc(1, sizeof(*c));
	c->proxy = p;
	if (p->n_conns >= PROXY_CONNECTIONS_MAX || !take_client(c, fd_client)) {
		close(fd_client);
		free(c->requestor);
		free(c);
		return;
	}
	c->client =
	    bufferevent_socket_new(p->base, fd_client, BEV_OPT_CLOSE_ON_FREE);
	c->timeout = evtimer_new(p->base, on_timeout, c);
	event_add(c->timeout, &timeout);
	TAILQ_INSERT_TAIL(&p->conns, c, list);
	p->n_conns++;
	bufferevent_setcb(c->client, on_client_read, NULL, on_client_event, c);
	bufferevent_enable(c->client, EV_READ | EV_WRITE);
}

struct proxy *proxy_new(struct event_base *base, int listener,
			struct resolver *resolver, bool alone,
			const struct proxy_ops *ops, void *arg)
{
	struct proxy *p = xcalloc(1, sizeof(*p));

	p->base = base;
	p->listener = listener;
	p->ops = ops;
	p->arg = arg;
	p->resolver = resolver;
	p->alone = alone;
	TAILQ_INIT(&p->conns);
	p->listening =
	    event_new(base, listener, EV_READ | EV_PERSIST, on_accept, p);
	event_add(p->listening, NULL);
	return p;
}

void proxy_free(struct proxy *p)
{
	struct conn *c;

	if (p == NULL)
		return;
	while ((c = TAILQ_FIRST(&p->conns)) != NULL)
		/*
		 * NOLINTNEXTLINE(clang-analyzer-unix.Malloc): conn_free()
		 * unlinks
		 */
		conn_free(c);
	event_free(p->listening);
	close(p->listener);
	free(p);
}
