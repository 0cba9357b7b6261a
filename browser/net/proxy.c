/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.c - Chromium's SOCKS connections, in paddock-browser's loop: each is
 * checked, resolved, checked again and tunnelled. A refusal or failure is told
 * to the session, whose calls report it; Chromium gets a SOCKS error.
 */
#include "browser/net/proxy.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "base/fair_share.h"
#include "browser/net/net_deny.h"
#include "browser/net/resolve.h"
#include "browser/net/socks.h"

#define ADDRESSES_MAX 16 /* addresses of a name that are tried */

struct link {
	struct proxy *proxy;
	struct bufferevent *suggest; /* Chromium */
	struct bufferevent *far;     /* from connecting on */
	struct event *patience;
	struct lookup *lookup;
	bool greeted, asked;
	bool near_ended, far_ended;
	uint32_t way;
	enum url_trust trust;
	char *requestor;
	struct socks_request asked_for;
	union resolver_address to[ADDRESSES_MAX]; /* all of them allowed */
	unsigned n_to, next;
	TAILQ_ENTRY(link) list;
};

struct proxy {
	struct event_base *base;
	struct event *listening;
	int listener;
	const struct proxy_ops *ops;
	void *arg;
	struct resolver *resolver;
	bool alone;
	unsigned n_links;
	TAILQ_HEAD(, link) links;
};

static void link_free(struct link *l)
{
	TAILQ_REMOVE(&l->proxy->links, l, list);
	l->proxy->n_links--;
	resolve_cancel(l->lookup);
	event_free(l->patience);
	bufferevent_free(l->suggest);
	if (l->far != NULL)
		bufferevent_free(l->far);
	free(l->requestor);
	free(l);
}

/* ---- the tunnel ---- */

/* Pass bytes on, and read no more while the other side is behind. */
static void pass(struct bufferevent *from, struct bufferevent *to)
{
	struct evbuffer *out = bufferevent_get_output(to);

	evbuffer_add_buffer(out, bufferevent_get_input(from));
	if (evbuffer_get_length(out) > PROXY_HELD_MAX) {
		bufferevent_disable(from, EV_READ);
		bufferevent_setwatermark(to, EV_WRITE, PROXY_HELD_MAX / 2, 0);
	}
}

/* One end has finished: shut the other down once it has all bytes. */
static void finish(struct link *l, struct bufferevent *to)
{
	if (evbuffer_get_length(bufferevent_get_output(to)) > 0)
		return;
	shutdown(bufferevent_getfd(to), SHUT_WR);
	if (l->near_ended && l->far_ended)
		link_free(l);
}

static void on_tunnel_read(struct bufferevent *bev, void *arg)
{
	struct link *l = arg;

	pass(bev, bev == l->suggest ? l->far : l->suggest);
}

static void on_tunnel_write(struct bufferevent *bev, void *arg)
{
	struct link *l = arg;
	bool suggest = bev == l->suggest;

	bufferevent_setwatermark(bev, EV_WRITE, 0, 0);
	bufferevent_enable(suggest ? l->far : l->suggest, EV_READ);
	if (suggest ? l->far_ended : l->near_ended)
		finish(l, bev);
}

static void on_tunnel_event(struct bufferevent *bev, short what, void *arg)
{
	struct link *l = arg;
	bool suggest = bev == l->suggest;

	if ((what & BEV_EVENT_EOF) == 0) {
		link_free(l);
		return;
	}
	*(suggest ? &l->near_ended : &l->far_ended) = true;
	pass(bev, suggest ? l->far : l->suggest);
	finish(l, suggest ? l->far : l->suggest);
}

/* ---- the answer ---- */

static void on_last_write(struct bufferevent *bev, void *arg)
{
	(void)bev;
	link_free(arg);
}

static void on_near_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev, (void)what;
	link_free(arg);
}

/* Write TEXT, then close. */
static void end_with(struct link *l, const uint8_t *text, size_t n)
{
	bufferevent_disable(l->suggest, EV_READ);
	bufferevent_setcb(l->suggest, NULL, on_last_write, on_near_event, l);
	bufferevent_write(l->suggest, text, n);
}

static void refuse(struct link *l, enum socks_code code)
{
	uint8_t text[SOCKS_REPLY_BYTES];

	socks_reply(text, code);
	end_with(l, text, sizeof(text));
}

static void fail(struct link *l, const char *errmsg, bool policy,
		 enum socks_code code)
{
	const struct socks_request *r = &l->asked_for;

	l->proxy->ops->failed(l->proxy->arg, l->way, r->host, r->port, errmsg,
			      policy);
	refuse(l, code);
}

/* ---- connecting ---- */

static void try_next(struct link *l);

static void on_far_event(struct bufferevent *bev, short what, void *arg)
{
	uint8_t text[SOCKS_REPLY_BYTES];
	struct link *l = arg;
	int on = 1;

	if ((what & BEV_EVENT_CONNECTED) == 0) {
		bufferevent_free(bev);
		l->far = NULL;
		try_next(l);
		return;
	}
	setsockopt(bufferevent_getfd(bev), IPPROTO_TCP, TCP_NODELAY, &on,
		   sizeof(on));
	event_del(l->patience);
	socks_reply(text, SOCKS_DONE);
	bufferevent_write(l->suggest, text, sizeof(text));
	bufferevent_setcb(l->suggest, on_tunnel_read, on_tunnel_write,
			  on_tunnel_event, l);
	bufferevent_setcb(l->far, on_tunnel_read, on_tunnel_write,
			  on_tunnel_event, l);
	bufferevent_enable(l->suggest, EV_READ | EV_WRITE);
	bufferevent_enable(l->far, EV_READ | EV_WRITE);
	pass(l->suggest, l->far); /* what was sent early */
}

static int length_of(const union resolver_address *a)
{
	return a->any.sa_family == AF_INET ? (int)sizeof(a->in)
					   : (int)sizeof(a->in6);
}

static void try_next(struct link *l)
{
	while (l->next < l->n_to) {
		unsigned i = l->next++;

		l->far = bufferevent_socket_new(l->proxy->base, -1,
						BEV_OPT_CLOSE_ON_FREE);
		bufferevent_setcb(l->far, NULL, NULL, on_far_event, l);
		if (bufferevent_socket_connect(l->far, &l->to[i].any,
					       length_of(&l->to[i])) == 0)
			return;
		bufferevent_free(l->far);
		l->far = NULL;
	}
	fail(l, "nothing answers there", false, SOCKS_REFUSED);
}

static const char *may_reach(const struct link *l,
			     const struct sockaddr *address)
{
	return l->proxy->ops->reach(l->proxy->arg, l->way, l->asked_for.host,
				    l->asked_for.port, address);
}

/* A name with one address that may not be reached is refused. */
static void on_resolved(void *arg, const union resolver_address *list,
			unsigned n, const char *error)
{
	struct link *l = arg;
	const uint16_t port = (uint16_t)l->asked_for.port;
	const char *errmsg;

	l->lookup = NULL;
	if (n == 0) {
		fail(l, error, false, SOCKS_UNREACHABLE);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		errmsg = url_policy_address(&list[i].any, l->trust);
		if (errmsg == NULL)
			errmsg = net_deny_address(&list[i].any, l->trust);
		if (errmsg == NULL)
			errmsg = may_reach(l, &list[i].any);
		if (errmsg != NULL) {
			fail(l, errmsg, true, SOCKS_FORBIDDEN);
			return;
		}
		if (l->n_to == ADDRESSES_MAX)
			continue;
		l->to[l->n_to] = list[i];
		if (list[i].any.sa_family == AF_INET)
			l->to[l->n_to].in.sin_port = htons(port);
		else
			l->to[l->n_to].in6.sin6_port = htons(port);
		l->n_to++;
	}
	try_next(l);
}

static void go(struct link *l)
{
	const struct resolve_for who = {l->requestor, l->way};
	union resolver_address number;
	const char *errmsg = url_policy_port(l->asked_for.port, l->trust);

	l->asked = true;
	bufferevent_disable(l->suggest, EV_READ);
	if (errmsg == NULL)
		errmsg = url_policy_host(l->asked_for.host, l->trust);
	if (errmsg == NULL)
		errmsg = net_deny_host(l->asked_for.host);
	if (errmsg == NULL)
		errmsg = may_reach(l, NULL);
	if (errmsg != NULL) {
		fail(l, errmsg, true, SOCKS_FORBIDDEN);
		return;
	}
	if (resolve_number(l->asked_for.host, &number)) {
		on_resolved(l, &number, 1, NULL);
		return;
	}
	l->lookup = resolve(l->proxy->resolver, &who, l->asked_for.host,
			    on_resolved, l);
	if (l->lookup == NULL)
		fail(l, "too many of your names wait to be resolved", false,
		     SOCKS_FAILED);
}

/* ---- the request ---- */

/* A wrong greeting is not from Chromium. */
static bool take_greeting(struct link *l, struct evbuffer *in)
{
	uint8_t m[SOCKS_MESSAGE_MAX], answer[2] = {SOCKS_VERSION};
	ssize_t got = evbuffer_copyout(in, m, sizeof(m));
	int n = socks_greeting(m, got < 0 ? 0 : (size_t)got, &answer[1]);

	if (n == 0)
		return false;
	if (n < 0) {
		link_free(l);
		return false;
	}
	evbuffer_drain(in, (size_t)n);
	if (answer[1] != SOCKS_NO_AUTH) {
		end_with(l, answer, sizeof(answer));
		return false;
	}
	l->greeted = true;
	bufferevent_write(l->suggest, answer, sizeof(answer));
	return true;
}

static void take_request(struct link *l, struct evbuffer *in)
{
	uint8_t m[SOCKS_MESSAGE_MAX];
	ssize_t got = evbuffer_copyout(in, m, sizeof(m));
	enum socks_code code;
	int n =
	    socks_request(m, got < 0 ? 0 : (size_t)got, &l->asked_for, &code);

	if (n < 0)
		refuse(l, code);
	if (n <= 0)
		return;
	evbuffer_drain(in, (size_t)n);
	go(l);
}

static void on_near_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct link *l = arg;

	if (!l->greeted && !take_greeting(l, in))
		return;
	if (!l->asked)
		take_request(l, in);
}

static void on_impatient(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;

	(void)fd, (void)what;
	if (l->asked)
		l->proxy->ops->failed(l->proxy->arg, l->way, l->asked_for.host,
				      l->asked_for.port,
				      "nothing answers in time", false);
	link_free(l);
}

/* Sessions and requestors leave connections for others. */
static bool has_room(const struct proxy *p, const struct link *l)
{
	const struct link *o;
	unsigned mine = 0, session = 0;

	TAILQ_FOREACH(o, &p->links, list)
		if (strcmp(o->requestor, l->requestor) == 0) {
			mine++;
			session += o->way == l->way;
		}
	return session < PROXY_SESSION_MAX &&
	       mine < (p->alone ? PROXY_CONNECTIONS_MAX
				: fair_share(PROXY_CONNECTIONS_MAX,
					     (int64_t)(p->n_links - mine)));
}

static bool take_way(struct link *l, int fd)
{
	struct sockaddr_in own = {0};
	struct proxy_client client;
	socklen_t len = sizeof(own);

	if (getsockname(fd, (struct sockaddr *)&own, &len) != 0)
		return false;
	l->way = ntohl(own.sin_addr.s_addr);
	if (!l->proxy->ops->client(l->proxy->arg, l->way, &client))
		return false;
	l->trust = client.trust;
	l->requestor = xstrdup(client.requestor);
	return has_room(l->proxy, l);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	struct proxy *p = arg;
	struct link *l;
	int suggest = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)what;
	if (suggest < 0)
		return;
	l = xcalloc(1, sizeof(*l));
	l->proxy = p;
	if (p->n_links >= PROXY_CONNECTIONS_MAX || !take_way(l, suggest)) {
		close(suggest);
		free(l->requestor);
		free(l);
		return;
	}
	l->suggest =
	    bufferevent_socket_new(p->base, suggest, BEV_OPT_CLOSE_ON_FREE);
	l->patience = evtimer_new(p->base, on_impatient, l);
	event_add(l->patience, CLOCK_TIMEVAL(PROXY_CONNECT_S * 1000));
	TAILQ_INSERT_TAIL(&p->links, l, list);
	p->n_links++;
	bufferevent_setcb(l->suggest, on_near_read, NULL, on_near_event, l);
	bufferevent_enable(l->suggest, EV_READ | EV_WRITE);
}

void proxy_alone(struct proxy *p)
{
	p->alone = true;
}

struct proxy *proxy_new(struct event_base *base, int listener,
			struct resolver *resolver, const struct proxy_ops *ops,
			void *arg)
{
	struct proxy *p = xcalloc(1, sizeof(*p));

	p->base = base;
	p->listener = listener;
	p->ops = ops;
	p->arg = arg;
	p->resolver = resolver;
	TAILQ_INIT(&p->links);
	p->listening =
	    event_new(base, listener, EV_READ | EV_PERSIST, on_accept, p);
	event_add(p->listening, NULL);
	return p;
}

void proxy_free(struct proxy *p)
{
	struct link *l;

	if (p == NULL)
		return;
	while ((l = TAILQ_FIRST(&p->links)) != NULL)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): they leave it */
		link_free(l);
	event_free(p->listening);
	close(p->listener);
	free(p);
}
