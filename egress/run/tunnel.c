/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel.c - a tunnel of TLS: the client's hello is looked at before a byte goes to the
 * host, and has to name that host; then bytes go both ways as they come. After the
 * answer to CONNECT a refusal is an alert of TLS.
 */
#include "egress/run/conn.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "egress/parse/hello.h"

/* ---- the hello ---- */

static enum egress_reason judge(const struct conn *c, const struct hello *h)
{
	if (h->encrypted)
		return EGRESS_ENCRYPTED_HELLO;
	if (h->name[0] == '\0' && !c->at.literal)
		return EGRESS_NO_SERVER_NAME;
	if (h->name[0] != '\0' && strcmp(h->name, c->at.host) != 0)
		return EGRESS_SERVER_NAME_DIFFERS;
	return EGRESS_NO_REASON;
}

static void refuse_hello(struct conn *c, enum egress_reason why)
{
	/* a fatal alert: access_denied */
	static const char alert[] = {21, 3, 3, 0, 2, 2, 49};

	if (why != EGRESS_NOT_TLS)
		(void)send(c->client.fd, alert, sizeof(alert),
			   MSG_NOSIGNAL | MSG_DONTWAIT);
	conn_refuse(c, why);
}

/* Wake when more than N bytes can be read. False: no more will come. */
static bool wait_for_more(const struct conn *c, int n)
{
	struct pollfd p = {.fd = c->client.fd, .events = POLLRDHUP};
	const int least = n + 1;

	(void)setsockopt(c->client.fd, SOL_SOCKET, SO_RCVLOWAT, &least,
			 sizeof(least));
	return poll(&p, 1, 0) == 0;
}

/* Be the host for the client, by a certificate of the run's authority. */
static void end_tls(struct conn *c)
{
	SSL *ssl = authority_to_client(c->child->authority, &c->at);

	if (ssl == NULL) {
		refuse_hello(c, EGRESS_TLS);
		return;
	}
	stream_secure(&c->client, ssl);
	conn_enter(c, CONN_SHAKE, CONN_HELLO_S);
}

bool tunnel_hello_step(struct conn *c)
{
	uint8_t bytes[HELLO_MAX];
	ssize_t n = recv(c->client.fd, bytes, sizeof(bytes), MSG_PEEK);
	enum egress_reason why;
	struct hello h;

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		c->state = CONN_CLOSED;
		return true;
	}
	switch (hello_parse(&h, bytes, (size_t)n)) {
	case HELLO_PART:
		if (!wait_for_more(c, (int)n))
			c->state = CONN_CLOSED;
		return false;
	case HELLO_FOREIGN:
		why = EGRESS_NOT_TLS;
		break;
	default:
		why = judge(c, &h);
	}
	(void)wait_for_more(c, 0);
	if (why != EGRESS_NO_REASON)
		refuse_hello(c, why);
	else if (conn_ends_tls(c))
		end_tls(c);
	else
		conn_enter(c, CONN_TUNNEL, CONN_IDLE_S);
	return true;
}

/* ---- bytes ---- */

struct way {
	struct stream *from, *to;
	struct buf *held;
	bool up;
};

/* Read into HELD. True when bytes came, or the end. */
static bool read_way(struct conn *c, const struct way *w)
{
	ssize_t n;

	if (w->from->ended || buf_len(w->held) >= CONN_HELD_MAX)
		return false;
	n = stream_read(w->from, buf_room(w->held, CONN_PART_BYTES),
			CONN_PART_BYTES);
	if (n > 0) {
		buf_wrote(w->held, (size_t)n);
		if (!conn_count(c, w->up ? (size_t)n : 0,
				w->up ? 0 : (size_t)n))
			conn_refuse(c, EGRESS_BYTES);
	} else if (n != 0 && n != -EAGAIN) {
		c->state = CONN_CLOSED;
	}
	return n >= 0;
}

static bool write_way(struct conn *c, const struct way *w)
{
	ssize_t n = 0;

	if (buf_len(w->held) > 0) {
		n = stream_write(w->to, buf_data(w->held), buf_len(w->held));
		if (n > 0)
			buf_drop(w->held, (size_t)n);
		else if (n != -EAGAIN)
			c->state = CONN_CLOSED;
	}
	if (w->from->ended && buf_len(w->held) == 0)
		stream_end(w->to);
	return n > 0;
}

bool tunnel_step(struct conn *c)
{
	const struct way ways[] = {{&c->client, &c->host, &c->up, true},
				   {&c->host, &c->client, &c->down, false}};
	bool did = false;

	for (size_t i = 0; i < 2; i++) {
		did = read_way(c, &ways[i]) || did;
		if (c->state != CONN_TUNNEL)
			return false;
		did = write_way(c, &ways[i]) || did;
		if (c->state != CONN_TUNNEL)
			return false;
	}
	if (c->host.shut && c->client.shut)
		c->state = CONN_CLOSED;
	return did && c->state == CONN_TUNNEL;
}
