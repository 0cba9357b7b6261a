/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.c - from the place in a request to a connection: the name is looked up, each
 * address is checked and connected to in turn, until a host accepts. The checked
 * address is the address in connect(2).
 */
#include "egress/run/conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "egress/run/report.h"

static void on_event(evutil_socket_t fd, short events, void *arg)
{
	(void)fd;
	(void)events;
	conn_turn(arg);
}

static socklen_t size_of(const union names_address *a)
{
	return a->any.sa_family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
}

static void write_address(struct conn *c, const union names_address *a)
{
	memset(c->address, 0, sizeof(c->address));
	(void)inet_ntop(a->any.sa_family,
			a->any.sa_family == AF_INET
			    ? (const void *)&a->in.sin_addr
			    : (const void *)&a->in6.sin6_addr,
			c->address, sizeof(c->address));
}

/* Begin to connect to A: 0, or the reason why not. */
static enum egress_reason try_address(struct conn *c,
				      const union names_address *a)
{
	enum egress_reason why = policy_address(&c->child->policy, &a->any);
	const int on = 1;
	int fd;

	write_address(c, a);
	if (why != EGRESS_NO_REASON)
		return why;
	fd = socket(a->any.sa_family,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno == EMFILE ? EGRESS_OVERLOADED : EGRESS_UNREACHABLE;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, &a->any, size_of(a)) != 0 && errno != EINPROGRESS) {
		close(fd);
		return EGRESS_UNREACHABLE;
	}
	stream_open(&c->host, c->child->base, fd, on_event, c);
	return EGRESS_NO_REASON;
}

void reach_next_address(struct conn *c)
{
	stream_close(&c->host);
	while (c->next < c->n_list) {
		enum egress_reason why = try_address(c, &c->list[c->next++]);

		if (why == EGRESS_NO_REASON) {
			conn_enter(c, CONN_CONNECT, CONN_CONNECT_S);
			return;
		}
		/* a failed connection says more than a refused address */
		if (c->why == EGRESS_NO_REASON || c->why == EGRESS_ADDRESS)
			c->why = why;
	}
	conn_refuse(c, c->why);
}

static void on_names(void *arg, const union names_address *list, size_t n)
{
	struct conn *c = arg;

	c->query = NULL;
	if (n == 0) {
		conn_refuse(c, EGRESS_NAME);
	} else {
		memcpy(c->list, list, n * sizeof(*list));
		c->n_list = n;
		reach_next_address(c);
	}
}

static void on_names_later(void *arg, const union names_address *list, size_t n)
{
	struct conn *c = arg;
	/* within names_ask() the connection is in its turn already */
	bool later = c->query != NULL;

	on_names(arg, list, n);
	if (later)
		conn_turn(c);
}

void reach_start(struct conn *c)
{
	struct sockaddr_storage address;
	union names_address one = {0};

	if (c->child->order->connections > 0 &&
	    c->child->connections >= (uint64_t)c->child->order->connections) {
		conn_refuse(c, EGRESS_CONNECTIONS);
		return;
	}
	c->n_list = c->next = 0;
	c->why = EGRESS_NO_REASON;
	conn_enter(c, CONN_NAME, CONN_NAME_S);
	if (!c->at.literal) {
		c->query = names_ask(c->child->names, c->at.host, c->at.port,
				     on_names_later, c);
		return;
	}
	(void)host_is_address(c->at.host, &address);
	memcpy(&one, &address, sizeof(one));
	if (one.any.sa_family == AF_INET)
		one.in.sin_port = htons((uint16_t)c->at.port);
	else
		one.in6.sin6_port = htons((uint16_t)c->at.port);
	on_names(c, &one, 1);
}

/* A tunnel begins at once, and TLS which ends here by a handshake. */
static void arrive_for_tls(struct conn *c)
{
	SSL *ssl;

	if (!conn_ends_tls(c)) {
		request_send(c);
		return;
	}
	ssl = tls_to_host(c->child->tls, &c->at);
	if (ssl == NULL) {
		conn_refuse(c, EGRESS_TLS);
		return;
	}
	stream_secure(&c->host, ssl);
	conn_enter(c, CONN_VERIFY, CONN_HELLO_S);
}

/* The address accepted. */
static void arrive(struct conn *c)
{
	struct report r = {.kind = EGRESS_OPENED,
			   .host = c->at.host,
			   .port = c->at.port,
			   .method = message_method(&c->request),
			   .address = c->address};

	c->number = ++c->child->connections;
	r.connection = c->number;
	report_send(c->child, &r);
	if (c->tunnel || c->secure)
		arrive_for_tls(c);
	else
		request_send(c);
}

bool reach_step(struct conn *c)
{
	const union names_address *a = &c->list[c->next - 1];

	/* asked again, connect(2) tells how the first went */
	if (connect(c->host.fd, &a->any, size_of(a)) == 0 || errno == EISCONN) {
		arrive(c);
		return true;
	}
	if (errno == EALREADY || errno == EINPROGRESS || errno == EINTR)
		return false;
	c->why = EGRESS_UNREACHABLE;
	reach_next_address(c);
	return true;
}
