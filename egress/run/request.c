/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - decides on a request whose head was read: the meant host, the right of the
 * run to reach the host so, and the head for the host. Nothing is guessed: a request with
 * two hosts is refused.
 */
#include "egress/run/conn.h"

#include <string.h>
#include <strings.h>

#include "egress/parse/forward.h"
#include "egress/run/report.h"

#define HTTP_PORT 80

/* ---- the host ---- */

/* Is there a single Host, AT's? Without REQUIRED, Host may be missing. */
static bool host_agrees(const struct message *m, const struct place *at,
			unsigned fallback, bool required)
{
	const struct field *f = message_field(m, "Host");
	struct place other;

	if (f == NULL)
		return !required;
	for (size_t i = 0; i < m->n_fields; i++)
		if (&m->fields[i] != f && span_is(m->fields[i].name, "Host"))
			return false;
	return place_parse(&other, f->value.p, f->value.n, fallback) &&
	       other.port == at->port && strcmp(other.host, at->host) == 0;
}

/* CONNECT: a place with a port, and nothing behind the head before the answer. */
static enum egress_reason read_connect(struct conn *c, struct place *at)
{
	const struct message *m = &c->request;

	if (m->step != MESSAGE_WHOLE || buf_len(&c->in) > 0 ||
	    !place_parse(at, m->target.p, m->target.n, 0))
		return EGRESS_BAD_REQUEST;
	if (!host_agrees(m, at, at->port, false))
		return EGRESS_HOST_DIFFERS;
	return EGRESS_NO_REASON;
}

/* An absolute address: "http://HOST[:PORT]/PATH". */
static enum egress_reason read_absolute(struct conn *c, struct place *at)
{
	static const char scheme[] = "http://";
	const struct message *m = &c->request;
	size_t skip = strlen(scheme), n = 0;
	struct span t = m->target;

	if (t.n <= skip || strncasecmp(t.p, scheme, skip) != 0 ||
	    memchr(t.p, '#', t.n) != NULL)
		return EGRESS_BAD_REQUEST;
	t.p += skip;
	t.n -= skip;
	while (n < t.n && t.p[n] != '/' && t.p[n] != '?')
		n++;
	if (!place_parse(at, t.p, n, HTTP_PORT))
		return EGRESS_BAD_REQUEST;
	c->path = (struct span){t.p + n, t.n - n};
	if (!host_agrees(m, at, HTTP_PORT, !message_is_1_0(m)))
		return EGRESS_HOST_DIFFERS;
	return EGRESS_NO_REASON;
}

/* ---- the right ---- */

/* Set C's place to AT; the connection to another place is left. */
static void set_place(struct conn *c, const struct place *at)
{
	if (at->port != c->at.port || strcmp(at->host, c->at.host) != 0)
		conn_leave_host(c);
	c->at = *at;
}

static enum egress_reason check_path(const struct conn *c)
{
	const char *query =
	    c->path.n > 0 ? memchr(c->path.p, '?', c->path.n) : NULL;
	size_t n = query == NULL ? c->path.n : (size_t)(query - c->path.p);

	return rules_allow(&c->grant->rules, message_method(&c->request),
			   n == 0 ? "/" : c->path.p, n == 0 ? 1 : n)
		   ? EGRESS_NO_REASON
		   : EGRESS_RULE;
}

static enum egress_reason check_limits(const struct conn *c)
{
	const struct child *child = c->child;
	const struct order *o = child->order;

	if (o->bytes > 0 &&
	    child->bytes_up + child->bytes_down >= (uint64_t)o->bytes)
		return EGRESS_BYTES;
	if (!c->tunnel && o->requests > 0 &&
	    child->requests >= (uint64_t)o->requests)
		return EGRESS_REQUESTS;
	return EGRESS_NO_REASON;
}

static enum egress_reason check(struct conn *c)
{
	enum egress_reason why;

	c->grant = policy_host(&c->child->policy, c->at.host, c->at.port);
	if (c->grant == NULL)
		return EGRESS_NOT_GRANTED;
	why = policy_denied(c->at.host);
	if (why == EGRESS_NO_REASON && !c->tunnel)
		why = check_path(c);
	return why != EGRESS_NO_REASON ? why : check_limits(c);
}

void request_begin(struct conn *c)
{
	struct place at = {0};
	enum egress_reason why;

	c->tunnel = strcmp(message_method(&c->request), "CONNECT") == 0;
	c->answered = false;
	c->path = (struct span){0};
	why = c->tunnel ? read_connect(c, &at) : read_absolute(c, &at);
	set_place(c, &at);
	if (why == EGRESS_NO_REASON)
		why = check(c);
	if (why != EGRESS_NO_REASON)
		conn_refuse(c, why);
	else if (stream_is_open(&c->host) && !c->tunnel)
		request_send(c);
	else
		reach_start(c);
}

/* ---- the request for the host ---- */

static void send_request(struct conn *c)
{
	char host[PLACE_TEXT_MAX];
	const char *query =
	    c->path.n > 0 ? memchr(c->path.p, '?', c->path.n) : NULL;
	const struct report r = {
	    .kind = EGRESS_REQUEST,
	    .connection = c->number,
	    .host = c->at.host,
	    .port = c->at.port,
	    .method = message_method(&c->request),
	    .path = c->path.n == 0 || c->path.p[0] == '?' ? "/" : c->path.p,
	    .path_len = c->path.n == 0 || c->path.p[0] == '?' ? 1
			: query == NULL			      ? c->path.n
					: (size_t)(query - c->path.p),
	    .address = c->address};

	c->child->requests++;
	report_send(c->child, &r);
	place_text(host, &c->at, HTTP_PORT);
	forward_request(&c->up, &c->request, host, c->path);
	c->answer.to_head = strcmp(message_method(&c->request), "HEAD") == 0;
	c->closes = !c->request.keeps;
	conn_enter(c, CONN_EXCHANGE, CONN_IDLE_S);
}

void request_send(struct conn *c)
{
	if (!c->tunnel) {
		send_request(c);
		return;
	}
	buf_add_str(&c->down, "HTTP/1.1 200 Connection established\r\n\r\n");
	conn_enter(c, CONN_GRANTED, CONN_HELLO_S);
}
