/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c - decides on a request whose head was read: the meant host, the right of the
 * run to reach the host so, and the head for the host. Nothing is guessed: a request with
 * two hosts is refused.
 */
#include "egress/run/conn.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "egress/parse/forward.h"
#include "egress/run/report.h"

#define HTTP_PORT 80
#define HTTPS_PORT 443

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

static bool begins(struct span s, const char *scheme)
{
	size_t n = strlen(scheme);

	return s.n > n && strncasecmp(s.p, scheme, n) == 0;
}

/*
 * An absolute address: "http://HOST[:PORT]/PATH", and of a worker also "https://", for
 * which the child speaks TLS.
 */
static enum egress_reason read_absolute(struct conn *c, struct place *at)
{
	const struct message *m = &c->request;
	struct span t = m->target;
	bool secure = c->worker && begins(t, "https://");
	size_t skip = strlen(secure ? "https://" : "http://"), n = 0;
	unsigned port = secure ? HTTPS_PORT : HTTP_PORT;

	if ((!secure && !begins(t, "http://")) || memchr(t.p, '#', t.n) != NULL)
		return EGRESS_BAD_REQUEST;
	if (secure != c->secure)
		conn_leave_host(c);
	c->secure = secure;
	t.p += skip;
	t.n -= skip;
	while (n < t.n && t.p[n] != '/' && t.p[n] != '?')
		n++;
	if (!place_parse(at, t.p, n, port))
		return EGRESS_BAD_REQUEST;
	c->path = (struct span){t.p + n, t.n - n};
	if (!host_agrees(m, at, port, !message_is_1_0(m)))
		return EGRESS_HOST_DIFFERS;
	return EGRESS_NO_REASON;
}

/* A request inside of TLS: a path, and the host of the connection. */
static enum egress_reason read_inside(struct conn *c, struct place *at)
{
	const struct message *m = &c->request;
	struct span t = m->target;

	*at = c->at;
	if (t.n == 0 || t.p[0] != '/' || memchr(t.p, '#', t.n) != NULL)
		return EGRESS_BAD_REQUEST;
	c->path = t;
	if (!host_agrees(m, at, HTTPS_PORT, !message_is_1_0(m)))
		return EGRESS_HOST_DIFFERS;
	return EGRESS_NO_REASON;
}

static enum egress_reason read_place(struct conn *c, struct place *at)
{
	bool inside = c->client.ssl != NULL;

	if (c->tunnel)
		return inside || c->worker ? EGRESS_BAD_REQUEST
					   : read_connect(c, at);
	c->secure = inside || c->secure;
	return inside ? read_inside(c, at) : read_absolute(c, at);
}

/* ---- the right ---- */

/* Set C's place to AT; the connection to another place is left. */
static void set_place(struct conn *c, const struct place *at)
{
	if (at->port != c->at.port || strcmp(at->host, c->at.host) != 0)
		conn_leave_host(c);
	c->at = *at;
}

/* The path of the target, without the query. */
static struct span bare_path(const struct conn *c)
{
	static const struct span root = {"/", 1};
	const char *query =
	    c->path.n > 0 ? memchr(c->path.p, '?', c->path.n) : NULL;

	if (c->path.n == 0 || query == c->path.p)
		return root;
	return (struct span){
	    c->path.p, query == NULL ? c->path.n : (size_t)(query - c->path.p)};
}

static enum egress_reason check_path(const struct conn *c)
{
	const struct span path = bare_path(c);

	return rules_allow(&c->grant->rules, message_method(&c->request),
			   path.p, path.n)
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

/* How long the worker waits for the answer, if the worker says so. */
static void set_timeout(struct conn *c)
{
	const struct field *f = message_field(&c->request, FORWARD_TIMEOUT);
	char text[12] = "";

	if (!c->worker || f == NULL || f->value.n >= sizeof(text))
		return;
	memcpy(text, f->value.p, f->value.n);
	c->until_ms = clock_mono_ms() + strtol(text, NULL, 10);
}

/*
 * A host may close a connection between two requests. A request without a body is sent
 * once more then, and a request with a body has a new connection.
 */
static void use_host(struct conn *c)
{
	c->again = stream_is_open(&c->host) && !c->tunnel &&
		   c->request.step == MESSAGE_WHOLE && !c->request.chunked &&
		   c->request.length == 0;
	if (c->again) {
		request_send(c);
	} else {
		conn_leave_host(c);
		reach_start(c);
	}
}

void request_begin(struct conn *c)
{
	struct place at = {0};
	enum egress_reason why;

	c->tunnel = strcmp(message_method(&c->request), "CONNECT") == 0;
	c->answered = false;
	set_timeout(c);
	c->path = (struct span){0};
	why = read_place(c, &at);
	if (c->client.ssl == NULL)
		set_place(c, &at);
	if (why == EGRESS_NO_REASON)
		why = check(c);
	if (why != EGRESS_NO_REASON)
		conn_refuse(c, why);
	else
		use_host(c);
}

/* ---- the request for the host ---- */

static bool drops(void *arg, const struct field *f)
{
	const struct conn *c = arg;

	/* answers come as they are searched for secrets: whole, and not compressed */
	if (span_is(f->name, "Accept-Encoding") || span_is(f->name, "Range") ||
	    span_is(f->name, "If-Range"))
		return true;
	return c->key >= 0 && keys_drop(&c->child->keys, c->key, f);
}

static bool writes(void *arg, const struct field *f, struct buf *to)
{
	const struct conn *c = arg;

	return c->key >= 0 && keys_replace(&c->child->keys, c->key, f, to);
}

/* Write the request for a host of secrets, perhaps with a secret. */
static void send_with_key(struct conn *c, const char *host)
{
	const struct keys *k = &c->child->keys;
	struct buf more = {0}, path = {0};
	const struct changes changes = {drops, writes, &more, c};

	buf_add_str(&more, "Accept-Encoding: identity\r\n");
	if (c->key >= 0) {
		keys_field(k, c->key, &more);
		keys_path(k, c->key, c->path, &path);
	} else {
		buf_add(&path, c->path.p, c->path.n);
	}
	forward_request(&c->up, &c->request, host,
			(struct span){buf_data(&path), buf_len(&path)},
			&changes);
	explicit_bzero(more.data, more.cap);
	explicit_bzero(path.data, path.cap);
	buf_fini(&more);
	buf_fini(&path);
}

static void send_request(struct conn *c)
{
	const struct span path = bare_path(c);
	struct report r = {.kind = EGRESS_REQUEST,
			   .connection = c->number,
			   .host = c->at.host,
			   .port = c->at.port,
			   .method = message_method(&c->request),
			   .path = path.p,
			   .path_len = path.n,
			   .address = c->address};
	char host[PLACE_TEXT_MAX];

	c->masks = c->secure && keys_have(&c->child->keys, &c->at);
	c->key = c->masks ? keys_find(&c->child->keys, &c->at, r.method, path.p,
				      path.n)
			  : -1;
	if (c->key >= 0)
		r.secret = c->child->order->secrets[c->key]->name;
	c->child->requests++;
	report_send(c->child, &r);
	place_text(host, &c->at, c->secure ? HTTPS_PORT : HTTP_PORT);
	if (c->masks)
		send_with_key(c, host);
	else
		forward_request(&c->up, &c->request, host, c->path, NULL);
	c->answer.to_head = strcmp(message_method(&c->request), "HEAD") == 0;
	c->closes = !c->request.keeps && !c->worker;
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
