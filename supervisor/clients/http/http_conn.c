/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_conn.c - one HTTP connection: reads a request, has the owner of the pool
 * answer, then reads the next request. A connection is closed when its client
 * breaks HTTP or goes.
 */
#include "supervisor/clients/http/http_conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/fair_share.h"
#include "base/send_again.h"
#include "base/os/sys.h"
#include "supervisor/clients/http/http_conn_private.h"
#include "supervisor/requestor/memory.h"

#define READ_BYTES 65536

/* ---- the end ---- */

/* Count NOW bytes of requests as held by C, in place of c->held. */
static void hold_body(struct http_conn *c, size_t now)
{
	c->pool->held.bodies += now - c->held;
	c->usage->bodies += now - c->held;
	memory_change(c->usage->memory, c->held, now);
	c->held = now;
}

/* Count NOW bytes as unread by C's client, in place of c->counted. */
static void weigh_body(struct http_conn *c, size_t now)
{
	struct http_pool *p = c->pool;
	bool less = now < c->counted;

	p->held.unread += now - c->counted;
	c->usage->unread += now - c->counted;
	memory_change(c->usage->memory, c->counted, now);
	c->counted = now;
	if (less && p->ops->on_unread_less != NULL)
		p->ops->on_unread_less(p->arg);
}

void http_conn_weigh(struct http_conn *c)
{
	/* the whole block: sent bytes stay allocated until the rest is sent */
	weigh_body(c, (buf_len(&c->unsent) > 0 ? c->unsent.cap : 0) + c->due);
}

void http_conn_due(struct http_conn *c, size_t bytes)
{
	c->due = bytes;
	http_conn_weigh(c);
}

void http_conn_set_usage(struct http_conn *c, struct http_usage *usage,
			 struct fair_queue_flow *lane)
{
	size_t held = c->held;

	c->lane = lane != NULL ? lane : &c->pool->lane;

	hold_body(c, 0);
	weigh_body(c, 0);
	c->usage = usage != NULL ? usage : &c->pool->nobody;
	hold_body(c, held);
	http_conn_weigh(c);
}

void http_conn_free(struct http_conn *c)
{
	struct http_pool *p = c->pool;

	if (c->watch != NULL)
		c->watch->gone(c->watcher);
	p->ops->on_closed(p->arg, c);
	hold_body(c, 0);
	weigh_body(c, 0);
	fair_queue_cancel(&c->turn);
	http_pool_rank(c, true);
	TAILQ_REMOVE(&p->all, c, link);
	p->n--;
	event_free(c->readable);
	event_free(c->writable);
	close(c->fd);
	http_parse_free(c->parse);
	buf_fini(&c->in);
	buf_fini(&c->unsent);
	free(c->fields);
	free(c);
}

void http_conn_enter(struct http_conn *c, enum http_conn_state state,
		     int64_t limit_ms)
{
	c->state = state;
	c->since_ms = clock_mono_ms();
	c->deadline_ms = limit_ms > 0 ? c->since_ms + limit_ms : 0;
	http_pool_rank(c, false);
}

/* ---- for the module that answers ---- */

size_t http_conn_unsent(const struct http_conn *c)
{
	return buf_len(&c->unsent);
}

void http_conn_watch(struct http_conn *c, const struct http_watch *w,
		     void *watcher)
{
	c->watch = watcher != NULL ? w : NULL;
	c->watcher = watcher;
}

void *http_conn_watcher(const struct http_conn *c)
{
	return c->watcher;
}

bool http_conn_ended(const struct http_conn *c)
{
	return c->ended;
}

const struct http_request *http_conn_request(const struct http_conn *c)
{
	return http_parse_request(c->parse);
}

char *http_conn_take_body(struct http_conn *c, size_t *len)
{
	return http_parse_take_body(c->parse, len);
}

void http_conn_again(struct http_conn *c)
{
	struct http_pool *p = c->pool;

	if (p->turns != NULL)
		fair_queue_requeue(p->turns, c->lane, &c->turn);
	else
		p->ops->on_request(p->arg, c, http_parse_request(c->parse));
}

int64_t http_conn_head_ms(const struct http_conn *c)
{
	return c->told_ms;
}

void http_conn_set_user(struct http_conn *c, void *user)
{
	c->user = user;
	http_pool_rank(c, false);
}

void *http_conn_user(const struct http_conn *c)
{
	return c->user;
}

/* ---- in ---- */

static void on_head(struct http_conn *c)
{
	const struct http_request *r = http_parse_request(c->parse);
	bool whole = http_parse_step(c->parse) == HTTP_WHOLE;
	struct http_pool *p = c->pool;

	c->head_told = true;
	c->told_ms = clock_mono_ms();
	c->headless = r->method == HTTP_IS_HEAD;
	c->old = r->http_1_0;
	c->last = !r->keep_alive || !whole; /* if on_head() refuses R */
	http_conn_enter(c, READING, c->pool->limits.body_ms);
	if (!p->ops->on_head(p->arg, c, r))
		return;
	c->last = !r->keep_alive;
	if (r->wants_continue && !whole)
		http_conn_put_raw(c, "HTTP/1.1 100 Continue\r\n\r\n");
}

/* Does C's requestor hold more bytes than its share of the pool? */
static bool holds_too_much(const struct http_conn *c)
{
	const struct http_pool *p = c->pool;
	size_t own = c->usage->bodies;

	if (c->usage == &p->nobody)
		return own > p->limits.nobodys;
	return memory_is_over(c->usage->memory) ||
	       (int64_t)own > fair_share((int64_t)p->limits.bodies,
					 (int64_t)(p->held.bodies - own));
}

/*
 * Does C hold too much, while another connection of the same requestor holds
 * bytes? A requestor may always send one request, however much others hold.
 */
static bool is_one_too_many(const struct http_conn *c)
{
	bool another =
	    c->usage == &c->pool->nobody || c->usage->bodies > c->held;

	return c->held > 0 && (memory_is_full(c->usage->memory) ||
			       (another && holds_too_much(c)));
}

/*
 * Refuse C's request with 429. The answer has only the requestor's own numbers:
 * how much others hold is not disclosed.
 */
static void refuse_more(struct http_conn *c)
{
	const struct http_pool *p = c->pool;
	bool known = c->usage != &p->nobody;

	c->last = true;
	if (memory_is_over(c->usage->memory)) {
		memory_refuse(c->usage->memory);
		http_conn_retry_after(c, MEMORY_RETRY_MS);
		http_conn_refuse(c, 429, "%s", MEMORY_NO_ROOM);
		return;
	}
	http_conn_retry_after(c, HTTP_RETRY_SOON_MS);
	http_conn_refuse(c, 429,
			 "%zu bytes of requests %s are being held, and "
			 "of the %zu in all this server takes no more now; "
			 "await answers, and try again",
			 c->usage->bodies,
			 known ? "of yours" : "of nobody known",
			 known ? p->limits.bodies : p->limits.nobodys);
}

void http_conn_last(struct http_conn *c)
{
	c->last = true;
}

static void on_bytes(void *arg, const char *data, size_t n)
{
	struct http_conn *c = arg;

	c->sunk += (int64_t)n;
	c->sink->bytes(c->sink_arg, data, n);
}

void http_conn_sink(struct http_conn *c, const struct http_sink *sink,
		    void *arg)
{
	c->sink = sink;
	c->sink_arg = arg;
	c->sunk = 0;
	http_parse_sink(c->parse, on_bytes, c);
}

void http_conn_read_on(struct http_conn *c)
{
	if (c->state != READING || c->ended)
		return;
	if (!c->reads)
		event_add(c->readable, NULL);
	c->deadline_ms = clock_mono_ms() + c->pool->limits.body_ms;
}

/*
 * Set C's deadline after bytes of the body came: body_ms from now, or the time by
 * which the average rate has to be reached, whichever is sooner. While the sink has no
 * room, stop reading, with no deadline for the client.
 */
static void await_room(struct http_conn *c)
{
	int64_t limit = c->pool->limits.body_ms, now = clock_mono_ms();
	int64_t all = c->told_ms + limit + c->sunk / HTTP_SINK_PER_MS;

	c->deadline_ms = all < now + limit ? all : now + limit;
	if (c->sink->wants(c->sink_arg))
		return;
	event_del(c->readable);
	c->deadline_ms = 0;
}

/* Act on the state that the parser reached with the bytes added so far. */
static void advance(struct http_conn *c)
{
	enum http_step step = http_parse_step(c->parse);
	struct http_pool *p = c->pool;
	const char *errmsg;

	if (!c->begun && http_parse_begun(c->parse)) {
		c->begun = true;
		http_conn_enter(c, READING, c->pool->limits.head_ms);
	}
	if (step == HTTP_BAD) {
		int status = http_parse_fault(c->parse, &errmsg);

		http_conn_fail(c, status, errmsg);
		return;
	}
	if (step == HTTP_IN_HEAD)
		return;
	hold_body(c, buf_len(&http_parse_request(c->parse)->body));
	if (!c->head_told)
		on_head(c);
	if (c->state != READING)
		return;
	if (is_one_too_many(c)) {
		refuse_more(c);
	} else if (step == HTTP_WHOLE) {
		http_conn_enter(c, ANSWERING, 0);
		if (c->my_turn || p->turns == NULL)
			p->ops->on_request(p->arg, c,
					   http_parse_request(c->parse));
		else
			fair_queue_submit(p->turns, c->lane, &c->turn);
	}
}

static void take_input(struct http_conn *c, const char *data, size_t n)
{
	size_t used = 0;

	while (used < n && c->state == READING) {
		used += http_parse_add(c->parse, data + used, n - used);
		advance(c);
	}
	if (c->sink != NULL && c->state == READING)
		await_room(c);
	if (used == n)
		return;
	buf_add(&c->in, data + used, n - used);
	hold_body(c, c->held + n - used);
	if (buf_len(&c->in) >= HTTP_PIPELINE_MAX || holds_too_much(c))
		event_del(c->readable);
}

/* Parse the bytes that came after the previous request. */
static void take_rest(struct http_conn *c)
{
	struct buf in = c->in;

	c->in = (struct buf){0};
	hold_body(c, 0);
	if (!c->ended)
		event_add(c->readable, NULL);
	take_input(c, buf_data(&in), buf_len(&in));
	buf_fini(&in);
	c->my_turn = false;
	if (c->ended && c->state == READING)
		http_conn_free(c); /* the rest of the request will not come */
}

static void read_input(struct http_conn *c);

static void on_turn(void *arg)
{
	struct http_conn *c = arg;
	struct http_pool *p = c->pool;

	if (c->reads) {
		c->reads = false;
		if (!c->ended)
			event_add(c->readable, NULL);
		read_input(c);
		return;
	}
	if (c->state == ANSWERING) {
		p->ops->on_request(p->arg, c, http_parse_request(c->parse));
		return;
	}
	c->my_turn = true;
	take_rest(c);
}

/* The answer is almost sent: begin the next request, or close C. */
static void next_request(struct http_conn *c)
{
	if (c->last || c->pool->closing || (c->ended && buf_len(&c->in) == 0)) {
		if (buf_len(&c->unsent) > 0)
			return;
		if (c->ended || shutdown(c->fd, SHUT_WR) < 0) {
			http_conn_free(c);
			return;
		}
		/*
		 * the client gets time to read the answer: close(2) at once, with bytes
		 * unread, would have the kernel discard the answer
		 */
		http_conn_enter(c, LINGERING, c->pool->limits.linger_ms);
		event_add(c->readable, NULL);
		return;
	}
	if (c->reads) /* the turn was for more of the finished request's body */
		fair_queue_cancel(&c->turn);
	c->reads = false;
	hold_body(c, buf_len(&c->in));
	http_parse_next(c->parse);
	c->begun = c->head_told = c->headless = false;
	c->sink = NULL;
	c->plain = false;
	http_conn_enter(c, READING, c->pool->limits.idle_ms);
	if (buf_len(&c->in) == 0 || c->pool->turns == NULL) {
		take_rest(c);
		return;
	}
	event_del(c->readable); /* parse these bytes before more */
	fair_queue_requeue(c->pool->turns, c->lane, &c->turn);
}

static void read_input(struct http_conn *c)
{
	static char data[READ_BYTES];
	ssize_t n = read(c->fd, data, sizeof(data));
	bool answered = c->state == ANSWERING || c->state == ANSWERED ||
			(c->state == STREAMING && c->plain); /* a file */

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0 || (n == 0 && !answered)) {
		http_conn_free(c); /* no client is left to answer */
	} else if (n == 0) {
		c->ended = true; /* the answer may still be read */
		event_del(c->readable);
	} else if (c->state != LINGERING) {
		take_input(c, data, (size_t)n);
	}
}

/*
 * Read from C. A body is read in turns of its requestor, since its chunks may
 * be many, and one requestor may send many bodies at the same time.
 */
static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct http_conn *c = arg;
	struct http_pool *p = c->pool;

	(void)fd, (void)what;
	if (c->state != READING || !c->head_told || p->turns == NULL) {
		read_input(c);
		return;
	}
	c->reads = true;
	event_del(c->readable);
	fair_queue_submit(p->turns, c->lane, &c->turn);
}

/* Write at most FAIR_QUEUE_WRITE_BYTES, however fast the client reads. */
int http_conn_write(struct http_conn *c)
{
	size_t wrote = 0;

	while (buf_len(&c->unsent) > 0) {
		if (wrote >= FAIR_QUEUE_WRITE_BYTES)
			return -EAGAIN;
		ssize_t n = send(c->fd, buf_data(&c->unsent),
				 buf_len(&c->unsent), MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sys_send_error();
		wrote += (size_t)n;
		buf_drop(&c->unsent, (size_t)n);
		http_conn_weigh(c);
		c->moved_ms = clock_mono_ms();
	}
	if (c->unsent.cap > READ_BYTES)
		buf_fini(&c->unsent);
	return 0;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct http_conn *c = arg;
	int rc = http_conn_write(c);

	(void)fd, (void)what;
	if (rc < 0 && !send_again_may(rc)) {
		http_conn_free(c);
		return;
	}
	if (rc < 0)
		SEND_AGAIN(c->writable, c->fd, rc);
	if (buf_len(&c->unsent) >= HTTP_UNSENT_LOW)
		return;
	if (c->watch != NULL && c->watch->drained != NULL)
		c->watch->drained(c->watcher);
	if (c->state == ANSWERED)
		next_request(c);
}

/* ---- start ---- */

struct http_conn *http_conn_new(struct http_pool *p, int fd)
{
	struct http_conn *c = xcalloc(1, sizeof(*c));

	c->pool = p;
	c->fd = fd;
	c->turn = (struct fair_queue_turn){.take = on_turn, .arg = c};
	c->lane = &p->lane;
	c->usage = &p->nobody;
	c->parse = http_parse_new(p->body_max);
	c->readable =
	    event_new(p->base, fd, EV_READ | EV_PERSIST, on_readable, c);
	c->writable = event_new(p->base, fd, EV_WRITE, on_writable, c);
	http_conn_enter(c, READING, c->pool->limits.head_ms);
	event_add(c->readable, NULL);
	return c;
}
