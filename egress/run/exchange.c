/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.c - a request's body to the host, and the host's answer to the client, each
 * no faster than the slower side. A malformed answer is refused while no byte went
 * on; later the answer is cut, and the client sees a missing end.
 */
#include "egress/run/conn.h"

#include <errno.h>
#include <string.h>

#include "egress/parse/forward.h"

void exchange_body_up(void *conn, const char *p, size_t n)
{
	struct conn *c = conn;

	forward_part(&c->up, p, n, c->request.chunked);
}

void exchange_body_down(void *conn, const char *p, size_t n)
{
	struct conn *c = conn;

	if (!c->masks) {
		forward_part(&c->down, p, n, c->rechunks);
		return;
	}
	n = mask_stream(&c->child->keys.mask, &c->held, p, n, false);
	forward_part(&c->down, buf_data(&c->held), n, c->rechunks);
	buf_drop(&c->held, n);
}

/* The body is whole: let go of the bytes which might have been part of a secret. */
static void end_body_down(struct conn *c)
{
	size_t n = mask_stream(&c->child->keys.mask, &c->held, NULL, 0, true);

	forward_part(&c->down, buf_data(&c->held), n, c->rechunks);
	buf_fini(&c->held);
	forward_end(&c->down, c->rechunks);
	c->rechunks = false;
}

/* The answer cannot go on. */
static void give_up(struct conn *c)
{
	conn_refuse(c, EGRESS_BAD_ANSWER);
}

/* ---- up ---- */

/* Parse bytes of the request's body; the first bytes came with the head. */
static bool take_request(struct conn *c)
{
	ssize_t n;

	if (c->request.step != MESSAGE_BODY || buf_len(&c->up) >= CONN_HELD_MAX)
		return false;
	if (buf_len(&c->in) == 0) {
		n = stream_read(&c->client, buf_room(&c->in, CONN_PART_BYTES),
				CONN_PART_BYTES);
		if (n <= 0 && n != -EAGAIN)
			c->state = CONN_CLOSED;
		if (n <= 0)
			return false;
		buf_wrote(&c->in, (size_t)n);
	}
	buf_drop(&c->in,
		 message_add(&c->request, buf_data(&c->in), buf_len(&c->in)));
	if (c->request.step == MESSAGE_BAD)
		conn_refuse(c, EGRESS_BAD_REQUEST);
	else if (c->request.step == MESSAGE_WHOLE)
		forward_end(&c->up, c->request.chunked);
	return true;
}

static bool send_up(struct conn *c)
{
	ssize_t n;

	if (buf_len(&c->up) == 0 || !stream_is_open(&c->host))
		return false;
	n = stream_write(&c->host, buf_data(&c->up), buf_len(&c->up));
	if (n > 0) {
		buf_drop(&c->up, (size_t)n);
		if (!conn_count(c, (size_t)n, 0))
			conn_refuse(c, EGRESS_BYTES);
		return true;
	}
	/* a host may have answered before the end of the request */
	if (n != -EAGAIN)
		buf_drop(&c->up, buf_len(&c->up));
	return false;
}

/* ---- down ---- */

static bool has_body(const struct message *a)
{
	return !a->to_head && a->step == MESSAGE_BODY;
}

/* A session's cookie is a secret by another name. */
static bool drops(void *arg, const struct field *f)
{
	(void)arg;
	return span_is(f->name, "Set-Cookie");
}

/* Can the answer be searched for secrets? Secrets in the head are masked now. */
static bool mask_head(struct conn *c)
{
	const struct field *coding =
	    message_field(&c->answer, "Content-Encoding");

	mask_whole(&c->child->keys.mask,
		   c->answer.head.data + c->answer.head.off,
		   buf_len(&c->answer.head));
	return coding == NULL || span_is(coding->value, "identity");
}

/* The head of an answer is there: write it for the client. */
static void answer_head(struct conn *c)
{
	static const struct changes masked = {.drops = drops};
	struct message *a = &c->answer;
	bool old = message_is_1_0(&c->request);
	unsigned status = message_status(a);

	if (status == 101 || status < 100 || (c->masks && !mask_head(c))) {
		give_up(c);
		return;
	}
	if (status < 200) {
		if (!old)
			forward_answer(&c->down, a, false, false, false,
				       c->masks ? &masked : NULL);
		message_next(a);
		return;
	}
	c->rechunks = a->chunked || a->until_end || (c->worker && has_body(a));
	c->closes = c->closes || (c->rechunks && old) ||
		    (c->request.step != MESSAGE_WHOLE && !c->worker);
	c->rechunks = c->rechunks && !old;
	forward_answer(&c->down, a, old, c->closes, c->rechunks,
		       c->masks ? &masked : NULL);
	c->answered = true;
}

static void parse_answer(struct conn *c, const char *p, size_t n)
{
	while (n > 0 && c->state == CONN_EXCHANGE) {
		size_t used = message_add(&c->answer, p, n);

		p += used;
		n -= used;
		if (c->answer.step == MESSAGE_BAD) {
			give_up(c);
			return;
		}
		if (c->answer.step != MESSAGE_HEAD && !c->answered)
			answer_head(c);
		if (c->answer.step == MESSAGE_WHOLE)
			break; /* more bytes are nobody's: the host is left */
	}
	if (n > 0 && c->state == CONN_EXCHANGE)
		c->answer.keeps = false;
}

static bool take_answer(struct conn *c)
{
	char part[CONN_PART_BYTES];
	ssize_t n;

	if (c->answer.step == MESSAGE_WHOLE || c->host.ended ||
	    buf_len(&c->down) >= CONN_HELD_MAX)
		return false;
	n = stream_read(&c->host, part, sizeof(part));
	if (n == -EAGAIN)
		return false;
	if (n > 0) {
		bool more = conn_count(c, 0, (size_t)n);

		parse_answer(c, part, (size_t)n);
		if (!more && c->state == CONN_EXCHANGE)
			conn_refuse(c, EGRESS_BYTES);
		return true;
	}
	c->host.ended = true;
	if (c->again && c->answer.step == MESSAGE_HEAD &&
	    buf_len(&c->answer.head) == 0) {
		c->again = false;
		conn_leave_host(c);
		reach_start(c);
		return true;
	}
	/* an end without TLS's own sign is no end of an answer */
	if (n == 0)
		message_end(&c->answer);
	if (n < 0 || c->answer.step == MESSAGE_BAD)
		give_up(c);
	return true;
}

static bool send_down(struct conn *c)
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

/* ---- the end ---- */

static void end(struct conn *c)
{
	bool keeps = c->answer.keeps && !c->answer.until_end &&
		     !c->host.ended && c->request.step == MESSAGE_WHOLE &&
		     buf_len(&c->up) == 0;

	if (!keeps)
		conn_leave_host(c);
	if (c->closes) {
		conn_leave_host(c);
		conn_enter(c, CONN_LAST, CONN_LAST_S);
		return;
	}
	buf_fini(&c->down);
	if (c->request.step == MESSAGE_WHOLE)
		conn_reset(c);
	else
		conn_enter(c, CONN_REFUSED, CONN_IDLE_S);
}

bool exchange_step(struct conn *c)
{
	static bool (*const parts[])(struct conn *) = {take_request, send_up,
						       take_answer, send_down};
	bool did = false;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		did = parts[i](c) || did;
		if (c->state != CONN_EXCHANGE)
			return c->state != CONN_CLOSED;
	}
	if (c->answer.step != MESSAGE_WHOLE || !c->answered)
		return did;
	if (c->rechunks || buf_len(&c->held) > 0)
		end_body_down(c);
	if (buf_len(&c->down) > 0 && !send_down(c))
		return c->state != CONN_EXCHANGE;
	if (buf_len(&c->down) == 0)
		end(c);
	return true;
}
