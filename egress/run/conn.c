/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.c - the states of a connection, its reading of heads and its end. A
 * wrong request of the program is refused, with a report; a wrong answer of the host ends
 * the exchange, with a refusal while no part of the answer has gone on.
 */
#include "egress/run/conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "egress/parse/forward.h"
#include "egress/run/report.h"
#include "proto/json/json_pack.h"

#define ROUNDS_MAX                                                             \
	16 /* steps of a connection before the next connection has a turn */
#define DRAINED_MAX (1u << 20) /* bytes read behind a refused request */

void conn_enter(struct conn *c, enum conn_state state, int seconds)
{
	c->state = state;
	c->deadline_ms = clock_mono_ms() + seconds * INT64_C(1000);
}

bool conn_count(struct conn *c, size_t up, size_t down)
{
	struct child *child = c->child;
	uint64_t most = (uint64_t)child->order->bytes;

	c->bytes_up += up;
	c->bytes_down += down;
	child->bytes_up += up;
	child->bytes_down += down;
	return most == 0 || child->bytes_up + child->bytes_down <= most;
}

void conn_leave_host(struct conn *c)
{
	const struct report r = {.kind = EGRESS_CLOSED,
				 .connection = c->number,
				 .host = c->at.host,
				 .port = c->at.port,
				 .bytes_up = c->bytes_up,
				 .bytes_down = c->bytes_down,
				 .address = c->address};

	names_cancel(c->query);
	c->query = NULL;
	stream_close(&c->host);
	if (c->number != 0)
		report_send(c->child, &r);
	c->number = 0;
	c->bytes_up = c->bytes_down = 0;
	buf_fini(&c->up);
}

/* ---- refusals ---- */

static struct json_object *refusal(const struct conn *c,
				   enum egress_reason reason)
{
	const struct egress_reason_row *row = &egress_reasons[reason];
	struct json_object *o =
	    json_pack("error:s message:s", row->code, row->sentence);
	char place[PLACE_TEXT_MAX], grant[PLACE_TEXT_MAX + 16];

	if (c->at.port != 0)
		json_add(o, "host:s port:i", c->at.host, c->at.port);
	if (reason == EGRESS_NOT_GRANTED && c->at.port != 0) {
		place_text(place, &c->at, 0);
		snprintf(grant, sizeof(grant), "network = %s", place);
		json_add(o, "grant:s", grant);
	}
	return o;
}

static void write_refusal(struct conn *c, enum egress_reason reason)
{
	struct json_object *o = refusal(c, reason);
	const char *text;
	size_t len;

	text = json_text(o, &len);
	buf_printf(&c->down,
		   "HTTP/1.1 %u Refused by paddock\r\n"
		   "Content-Type: application/json\r\n" FORWARD_ERROR
		   ": %s\r\nContent-Length: %zu\r\n%s\r\n",
		   egress_reasons[reason].status, egress_reasons[reason].code,
		   len + 1, c->worker ? "" : "Connection: close\r\n");
	buf_add(&c->down, text, len);
	buf_add_str(&c->down, "\n");
	json_object_put(o);
}

static void report_refusal(struct conn *c, enum egress_reason reason)
{
	const char *query =
	    c->path.n == 0 ? NULL : memchr(c->path.p, '?', c->path.n);
	const struct report r = {
	    .kind = EGRESS_REFUSED,
	    .reason = reason,
	    .connection = c->number,
	    .host = c->at.host,
	    .port = c->at.port,
	    .method = c->state == CONN_HEAD || c->state == CONN_CLOSED
			  ? NULL
			  : message_method(&c->request),
	    .path = c->path.p,
	    .path_len = query == NULL ? c->path.n : (size_t)(query - c->path.p),
	    .address = c->address};

	report_send(c->child, &r);
}

void conn_refuse(struct conn *c, enum egress_reason reason)
{
	bool speaks_http = c->state < CONN_HELLO ||
			   (c->state == CONN_EXCHANGE && !c->answered);

	report_refusal(c, reason);
	conn_leave_host(c);
	if (c->worker && c->state == CONN_EXCHANGE && c->rechunks) {
		forward_cut(&c->down, egress_reasons[reason].code);
		conn_enter(c, CONN_REFUSED, CONN_IDLE_S);
		return;
	}
	if (!speaks_http) {
		c->state = CONN_CLOSED;
		return;
	}
	buf_fini(&c->down);
	write_refusal(c, reason);
	c->bytes_up = 0;
	if (c->worker && c->request.step != MESSAGE_BAD)
		conn_enter(c, CONN_REFUSED, CONN_IDLE_S);
	else
		conn_enter(c, CONN_LAST, CONN_LAST_S);
}

void conn_reset(struct conn *c)
{
	message_next(&c->request);
	message_next(&c->answer);
	c->path = (struct span){0};
	c->until_ms = 0;
	c->rechunks = false;
	buf_fini(&c->held);
	conn_enter(c, CONN_HEAD, CONN_HEAD_S);
}

/* ---- steps: true when something was done ---- */

/* Read from the client into IN. 1, 0 at -EAGAIN, -1 when closed. */
static int read_client(struct conn *c)
{
	ssize_t n = stream_read(&c->client, buf_room(&c->in, CONN_PART_BYTES),
				CONN_PART_BYTES);

	if (n > 0)
		buf_wrote(&c->in, (size_t)n);
	return n > 0 ? 1 : n == -EAGAIN ? 0 : -1;
}

/* Between requests a host sends nothing, so any byte and the end lead to a close. */
static void watch_idle_host(struct conn *c)
{
	char byte;

	if (stream_is_open(&c->host) &&
	    stream_read(&c->host, &byte, 1) != -EAGAIN)
		conn_leave_host(c);
}

static bool step_head(struct conn *c)
{
	int got = buf_len(&c->in) > 0 ? 1 : read_client(c);

	watch_idle_host(c);
	if (got < 0)
		c->state = CONN_CLOSED;
	if (got <= 0)
		return false;
	buf_drop(&c->in,
		 message_add(&c->request, buf_data(&c->in), buf_len(&c->in)));
	if (c->request.step == MESSAGE_BAD)
		conn_refuse(c, EGRESS_BAD_REQUEST);
	else if (c->request.step != MESSAGE_HEAD)
		request_begin(c);
	return true;
}

/* Write to the client: true when bytes went. */
static bool write_client(struct conn *c)
{
	ssize_t n;

	if (buf_len(&c->down) == 0)
		return false;
	n = stream_write(&c->client, buf_data(&c->down), buf_len(&c->down));
	if (n > 0)
		buf_drop(&c->down, (size_t)n);
	else if (n != -EAGAIN)
		c->state = CONN_CLOSED;
	return n > 0;
}

static bool step_granted(struct conn *c)
{
	bool wrote = write_client(c);

	if (c->state == CONN_GRANTED && buf_len(&c->down) == 0)
		conn_enter(c, CONN_HELLO, CONN_HELLO_S);
	return wrote || c->state != CONN_GRANTED;
}

/* Let the client read the refusal, and read on meanwhile: unread bytes would make the
 * kernel drop the refusal. */
static bool step_last(struct conn *c)
{
	char bytes[CONN_PART_BYTES];
	ssize_t n;

	if (buf_len(&c->down) > 0)
		return write_client(c);
	stream_end(&c->client);
	n = stream_read(&c->client, bytes, sizeof(bytes));
	if (n > 0)
		c->bytes_up += (size_t)n;
	if ((n <= 0 && n != -EAGAIN) || c->bytes_up > DRAINED_MAX)
		c->state = CONN_CLOSED;
	return n > 0;
}

bool conn_ends_tls(const struct conn *c)
{
	return c->grant->rules.given || (c->worker && c->secure) ||
	       keys_have(&c->child->keys, &c->at);
}

/* Go on with the handshake of S; at the end call DONE. */
static bool shake(struct conn *c, struct stream *s,
		  void (*done)(struct conn *c))
{
	int rc = stream_shake(s);

	if (rc == 0)
		done(c);
	else if (rc != -EAGAIN && s == &c->client)
		conn_refuse(c, EGRESS_NOT_TLS);
	else if (rc != -EAGAIN)
		conn_refuse(c, SSL_get_verify_result(s->ssl) == X509_V_OK
				   ? EGRESS_TLS
				   : EGRESS_CERTIFICATE);
	return rc != -EAGAIN;
}

static bool step_verify(struct conn *c)
{
	return shake(c, &c->host, request_send);
}

/* The client speaks HTTP from now on, inside of TLS. */
static void begin_inside(struct conn *c)
{
	message_next(&c->request);
	conn_enter(c, CONN_HEAD, CONN_HEAD_S);
}

static bool step_shake(struct conn *c)
{
	return shake(c, &c->client, begin_inside);
}

/* Read away the rest of the request, and let the worker go on with the next. */
static bool step_refused(struct conn *c)
{
	bool did = write_client(c);
	int got = 0;

	if (c->state == CONN_REFUSED && c->request.step == MESSAGE_BODY) {
		got = buf_len(&c->in) > 0 ? 1 : read_client(c);
		if (got > 0)
			buf_drop(&c->in,
				 message_add(&c->request, buf_data(&c->in),
					     buf_len(&c->in)));
		buf_fini(&c->up);
	}
	if (got < 0 || c->request.step == MESSAGE_BAD)
		c->state = CONN_CLOSED;
	else if (c->state == CONN_REFUSED && buf_len(&c->down) == 0 &&
		 c->request.step == MESSAGE_WHOLE)
		conn_reset(c);
	return did || got > 0 || c->state == CONN_HEAD;
}

static bool step_nothing(struct conn *c)
{
	(void)c;
	return false;
}

static bool (*const steps[CONN_STATES])(struct conn *c) = {
    [CONN_HEAD] = step_head,	      [CONN_NAME] = step_nothing,
    [CONN_CONNECT] = reach_step,      [CONN_VERIFY] = step_verify,
    [CONN_SHAKE] = step_shake,	      [CONN_GRANTED] = step_granted,
    [CONN_HELLO] = tunnel_hello_step, [CONN_TUNNEL] = tunnel_step,
    [CONN_EXCHANGE] = exchange_step,  [CONN_REFUSED] = step_refused,
    [CONN_LAST] = step_last,	      [CONN_CLOSED] = step_nothing,
};

/* ---- the loop ---- */

static void watch(struct conn *c)
{
	bool up = buf_len(&c->up) < CONN_HELD_MAX;
	bool down = buf_len(&c->down) < CONN_HELD_MAX;
	bool flows = c->state == CONN_TUNNEL || c->state == CONN_EXCHANGE;
	bool asks =
	    c->state == CONN_EXCHANGE && c->request.step != MESSAGE_BODY;

	stream_watch(
	    &c->client,
	    (flows && up && !c->client.ended && !asks) ||
		c->state == CONN_HEAD || c->state == CONN_HELLO ||
		c->state == CONN_SHAKE || c->state == CONN_LAST ||
		(c->state == CONN_REFUSED && c->request.step == MESSAGE_BODY),
	    buf_len(&c->down) > 0 ||
		(c->state == CONN_SHAKE && c->client.waits_to_write));
	stream_watch(&c->host,
		     (flows && down && !c->host.ended) ||
			 c->state == CONN_HEAD || c->state == CONN_VERIFY,
		     buf_len(&c->up) > 0 || c->state == CONN_CONNECT ||
			 (c->state == CONN_VERIFY && c->host.waits_to_write));
}

void conn_close(struct conn *c)
{
	conn_leave_host(c);
	stream_close(&c->client);
	buf_fini(&c->in);
	buf_fini(&c->held);
	buf_fini(&c->down);
	message_fini(&c->request);
	message_fini(&c->answer);
	LIST_REMOVE(c, link);
	child_conn_gone(c->child);
	free(c);
}

void conn_turn(struct conn *c)
{
	unsigned rounds = 0;

	while (rounds < ROUNDS_MAX && steps[c->state](c))
		rounds++;
	if (c->state == CONN_CLOSED) {
		conn_close(c);
		return;
	}
	if (rounds > 0 &&
	    (c->state == CONN_TUNNEL || c->state == CONN_EXCHANGE))
		conn_enter(c, c->state, CONN_IDLE_S);
	watch(c);
	if (rounds == ROUNDS_MAX &&
	    (stream_has_pending(&c->client) || stream_has_pending(&c->host)))
		event_active(c->client.readable, EV_READ, 0);
}

static void on_event(evutil_socket_t fd, short events, void *arg)
{
	(void)fd;
	(void)events;
	conn_turn(arg);
}

void conn_new(struct child *child, int fd, bool worker)
{
	struct conn *c = xcalloc(1, sizeof(*c));
	const int on = 1;

	c->child = child;
	c->host.fd = -1;
	c->key = -1;
	c->worker = worker;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	stream_open(&c->client, child->base, fd, on_event, c);
	message_init(&c->request, false, exchange_body_up, c);
	message_init(&c->answer, true, exchange_body_down, c);
	LIST_INSERT_HEAD(&child->conns, c, link);
	conn_enter(c, CONN_HEAD, CONN_HEAD_S);
	conn_turn(c);
}

void conn_tick(struct conn *c, int64_t now_ms)
{
	if (c->worker && c->state == CONN_HEAD)
		return; /* a run may ask at any time */
	if (now_ms < c->deadline_ms &&
	    (c->until_ms == 0 || now_ms < c->until_ms))
		return;
	switch (c->state) {
	case CONN_NAME:
		conn_refuse(c, EGRESS_NAME);
		break;
	case CONN_CONNECT:
		c->why = EGRESS_SLOW;
		if (c->until_ms > 0 && now_ms >= c->until_ms)
			conn_refuse(c, EGRESS_SLOW);
		else
			reach_next_address(c);
		break;
	case CONN_VERIFY:
	case CONN_EXCHANGE:
		conn_refuse(c, EGRESS_SLOW);
		break;
	default:
		c->state = CONN_CLOSED;
	}
	conn_turn(c);
}
