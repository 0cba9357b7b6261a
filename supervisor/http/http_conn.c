/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/http/http_conn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "base/fair_share.h"
#include "base/text/utf8.h"
#include "proto/mcp/rpc.h"
#include "supervisor/http/http_conn_private.h"
#include "supervisor/session/session.h"

#define READ_BYTES 65536
#define RETRY_AFTER "Retry-After: 1\r\n"

/* ---- the end ---- */

/* What has come of requests is more now, or less. */
static void hold(struct http_conn *c, size_t now)
{
	c->pool->held.bodies += now - c->held;
	c->usage->bodies += now - c->held;
	c->held = now;
}

/* What waits for the client to read it has changed. */
static void weigh(struct http_conn *c, size_t now)
{
	c->pool->held.unread += now - c->counted;
	c->usage->unread += now - c->counted;
	c->counted = now;
}

/* The block as it is: what has left of it is freed with the rest. */
static size_t weight(const struct http_conn *c)
{
	return (buf_len(&c->unsent) > 0 ? c->unsent.cap : 0) + c->due;
}

void http_conn_due(struct http_conn *c, size_t bytes)
{
	c->due = bytes;
	weigh(c, weight(c));
}

void http_conn_set_usage(struct http_conn *c, struct http_usage *usage)
{
	size_t held = c->held;

	hold(c, 0);
	weigh(c, 0);
	c->usage = usage != NULL ? usage : &c->pool->nobody;
	hold(c, held);
	weigh(c, weight(c));
}

void http_conn_set_flow(struct http_conn *c, struct fair_queue_flow *lane)
{
	c->lane = lane != NULL ? lane : &c->pool->lane;
}

void http_conn_free(struct http_conn *c)
{
	struct http_pool *p = c->pool;

	if (c->watch != NULL)
		c->watch->gone(c->watcher);
	p->ops->on_closed(p->arg, c);
	hold(c, 0);
	weigh(c, 0);
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

static void enter(struct http_conn *c, enum http_conn_state state,
		  int64_t limit_ms)
{
	c->state = state;
	c->since_ms = clock_mono_ms();
	c->deadline_ms = limit_ms > 0 ? c->since_ms + limit_ms : 0;
	http_pool_rank(c, false);
}

/* Closing at once, with bytes unread, would take the answer back. */
static void linger(struct http_conn *c)
{
	if (c->ended || shutdown(c->fd, SHUT_WR) < 0) {
		http_conn_free(c);
		return;
	}
	enter(c, LINGERING, c->pool->limits.linger_ms);
	event_add(c->readable, NULL);
}

/* ---- out ---- */

/* Later, when the loop comes round: nobody is called from within a call. */
static void wake(struct http_conn *c)
{
	if (!event_pending(c->writable, EV_WRITE, NULL))
		event_active(c->writable, EV_WRITE, 0);
}

static void put(struct http_conn *c, const char *text, size_t len)
{
	if (buf_len(&c->unsent) == 0)
		c->moved_ms = clock_mono_ms();
	c->put_ms = clock_mono_ms();
	buf_add(&c->unsent, text, len);
	weigh(c, weight(c));
	wake(c);
}

static void put_str(struct http_conn *c, const char *text)
{
	put(c, text, strlen(text));
}

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} all[] = {{200, "OK"},
		   {202, "Accepted"},
		   {204, "No Content"},
		   {400, "Bad Request"},
		   {401, "Unauthorized"},
		   {403, "Forbidden"},
		   {404, "Not Found"},
		   {405, "Method Not Allowed"},
		   {406, "Not Acceptable"},
		   {408, "Request Timeout"},
		   {413, "Content Too Large"},
		   {414, "URI Too Long"},
		   {415, "Unsupported Media Type"},
		   {417, "Expectation Failed"},
		   {429, "Too Many Requests"},
		   {431, "Request Header Fields Too Large"},
		   {501, "Not Implemented"},
		   {503, "Service Unavailable"},
		   {505, "HTTP Version Not Supported"}};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].status == status)
			return all[i].reason;
	return "Error";
}

static void log_access(const struct http_conn *c, int status)
{
	static const char *const names[] = {
	    [HTTP_OTHER] = "other",	   [HTTP_IS_GET] = "GET",
	    [HTTP_IS_POST] = "POST",	   [HTTP_IS_DELETE] = "DELETE",
	    [HTTP_IS_OPTIONS] = "OPTIONS", [HTTP_IS_HEAD] = "HEAD"};
	const struct http_request *r;

	if (!c->head_told) {
		log_debug("http", "status=%d", status);
		return;
	}
	r = http_parse_request(c->parse);
	log_debug("http", "status=%d method=%s path=\"%.*s\" ms=%lld", status,
		  names[r->method], (int)strcspn(r->path, "\""), r->path,
		  (long long)(clock_mono_ms() - c->told_ms));
}

static void put_head(struct http_conn *c, int status)
{
	char line[96], date[64];
	time_t now = time(NULL);
	struct tm tm;

	log_access(c, status);
	gmtime_r(&now, &tm);
	strftime(date, sizeof(date), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n",
		 &tm);
	snprintf(line, sizeof(line), "HTTP/1.1 %d %s\r\n", status,
		 reason(status));
	put_str(c, line);
	put_str(c, date);
	if (c->last || c->pool->closing)
		put_str(c, "Connection: close\r\n");
	else if (c->old)
		put_str(c, "Connection: keep-alive\r\n");
	if (c->fields != NULL)
		put_str(c, c->fields);
	free(c->fields);
	c->fields = NULL;
}

void http_conn_fields(struct http_conn *c, const char *fields)
{
	char *old = c->fields;

	c->fields =
	    old == NULL ? xstrdup(fields) : xasprintf("%s%s", old, fields);
	free(old);
}

void http_conn_reply(struct http_conn *c, int status, const char *type,
		     const char *body, size_t len)
{
	char line[160];

	put_head(c, status);
	if (type != NULL) {
		snprintf(line, sizeof(line),
			 "Content-Type: %s\r\nContent-Length: %zu\r\n"
			 "X-Content-Type-Options: nosniff\r\n\r\n",
			 type, len);
		put_str(c, line);
		if (!c->headless)
			put(c, body, len);
	} else {
		put_str(c,
			status == 204 ? "\r\n" : "Content-Length: 0\r\n\r\n");
	}
	c->watch = NULL;
	enter(c, ANSWERED, 0);
}

void http_conn_begin(struct http_conn *c)
{
	c->last = c->last || c->old; /* its end is where it closes */
	put_head(c, 200);
	put_str(c, "Content-Type: text/event-stream\r\n"
		   "Cache-Control: no-cache, no-transform\r\n"
		   "X-Accel-Buffering: no\r\n");
	put_str(c, c->old ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n");
	enter(c, STREAMING, 0);
}

void http_conn_put(struct http_conn *c, const char *text, size_t len)
{
	char size[32];

	if (len == 0)
		return; /* an empty chunk is the end */
	snprintf(size, sizeof(size), "%zx\r\n", len);
	if (!c->old)
		put_str(c, size);
	put(c, text, len);
	if (!c->old)
		put_str(c, "\r\n");
}

void http_conn_end(struct http_conn *c)
{
	c->due = 0;
	weigh(c, weight(c));
	if (!c->old)
		put_str(c, "0\r\n\r\n");
	c->watch = NULL;
	enter(c, ANSWERED, 0);
	wake(c);
}

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

void http_conn_refuse(struct http_conn *c, int status, const char *fmt, ...)
{
	struct buf out = {0};
	char errmsg[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(errmsg, sizeof(errmsg), fmt, ap);
	va_end(ap);
	utf8_mend(errmsg);
	log_debug("http", "refused=%d why=\"%s\"", status, errmsg);
	rpc_put_error(&out, NULL,
		      status < 500 ? RPC_INVALID_REQUEST : RPC_INTERNAL_ERROR,
		      errmsg, NULL);
	http_conn_reply(c, status, "application/json", buf_data(&out),
			buf_len(&out));
	buf_fini(&out);
}

void http_conn_fail(struct http_conn *c, int status, const char *errmsg)
{
	c->last = true;
	http_conn_refuse(c, status, "%s", errmsg);
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
	c->last = !r->keep_alive || !whole; /* if it is refused now */
	enter(c, READING, c->pool->limits.body_ms);
	if (!p->ops->on_head(p->arg, c, r))
		return;
	c->last = !r->keep_alive;
	if (r->wants_continue && !whole)
		put_str(c, "HTTP/1.1 100 Continue\r\n\r\n");
}

/* C's payer holds more than what others leave it. */
static bool holds_too_much(const struct http_conn *c)
{
	const struct http_pool *p = c->pool;
	size_t own = c->usage->bodies;

	if (c->usage == &p->nobody)
		return own > p->limits.nobodys;
	return (int64_t)own > fair_share((int64_t)p->limits.bodies,
					 (int64_t)(p->held.bodies - own));
}

/* And one more: each may send one request, however much the others hold. */
static bool is_one_too_many(const struct http_conn *c)
{
	bool another =
	    c->usage == &c->pool->nobody || c->usage->bodies > c->held;

	return c->held > 0 && another && holds_too_much(c);
}

/* Nothing is said of others: what they hold is theirs to know. */
static void refuse_more(struct http_conn *c)
{
	const struct http_pool *p = c->pool;
	bool known = c->usage != &p->nobody;

	c->last = true;
	http_conn_fields(c, RETRY_AFTER);
	http_conn_refuse(c, 429,
			 "%zu bytes of requests %s are being held, and "
			 "of the %zu in all this server takes no more now; "
			 "await answers, and try again",
			 c->usage->bodies,
			 known ? "of yours" : "of nobody known",
			 known ? p->limits.bodies : p->limits.nobodys);
}

/* What has come so far is taken: is it enough for something? */
static void advance(struct http_conn *c)
{
	enum http_step step = http_parse_step(c->parse);
	struct http_pool *p = c->pool;
	const char *errmsg;

	if (!c->begun && http_parse_begun(c->parse)) {
		c->begun = true;
		enter(c, READING, c->pool->limits.head_ms);
	}
	if (step == HTTP_BAD) {
		int status = http_parse_fault(c->parse, &errmsg);

		http_conn_fail(c, status, errmsg);
		return;
	}
	if (step == HTTP_IN_HEAD)
		return;
	hold(c, buf_len(&http_parse_request(c->parse)->body));
	if (!c->head_told)
		on_head(c);
	if (c->state != READING)
		return;
	if (is_one_too_many(c)) {
		refuse_more(c);
	} else if (step == HTTP_WHOLE) {
		enter(c, ANSWERING, 0);
		if (c->my_turn || p->turns == NULL)
			p->ops->on_request(p->arg, c,
					   http_parse_request(c->parse));
		else
			fair_queue_submit(p->turns, c->lane, &c->turn);
	}
}

static void take(struct http_conn *c, const char *data, size_t n)
{
	size_t used = 0;

	while (used < n && c->state == READING) {
		used += http_parse_add(c->parse, data + used, n - used);
		advance(c);
	}
	if (used == n)
		return;
	buf_add(&c->in, data + used, n - used);
	hold(c, c->held + n - used);
	if (buf_len(&c->in) >= HTTP_PIPELINE_MAX || holds_too_much(c))
		event_del(c->readable);
}

/* What came after the request before. */
static void take_rest(struct http_conn *c)
{
	struct buf in = c->in;

	c->in = (struct buf){0};
	hold(c, 0);
	if (!c->ended)
		event_add(c->readable, NULL);
	take(c, buf_data(&in), buf_len(&in));
	buf_fini(&in);
	c->my_turn = false;
	if (c->ended && c->state == READING)
		http_conn_free(c); /* the rest of that request will not come */
}

static void on_turn(void *arg)
{
	struct http_conn *c = arg;
	struct http_pool *p = c->pool;

	if (c->state == ANSWERING) {
		p->ops->on_request(p->arg, c, http_parse_request(c->parse));
		return;
	}
	c->my_turn = true;
	take_rest(c);
}

/* The answer has left, or nearly: the next request, or the end. */
static void next_request(struct http_conn *c)
{
	if (c->last || c->pool->closing || (c->ended && buf_len(&c->in) == 0)) {
		if (buf_len(&c->unsent) == 0)
			linger(c);
		return;
	}
	hold(c, buf_len(&c->in));
	http_parse_next(c->parse);
	c->begun = c->head_told = c->headless = false;
	enter(c, READING, c->pool->limits.idle_ms);
	if (buf_len(&c->in) == 0 || c->pool->turns == NULL) {
		take_rest(c);
		return;
	}
	event_del(c->readable); /* what has come comes first */
	fair_queue_requeue(c->pool->turns, c->lane, &c->turn);
}

static void on_end(struct http_conn *c)
{
	if (c->state != ANSWERING && c->state != ANSWERED) {
		http_conn_free(c); /* nobody is there to be answered */
		return;
	}
	c->ended = true; /* or half of it: the answer may still be read */
	event_del(c->readable);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	static char data[READ_BYTES];
	struct http_conn *c = arg;
	ssize_t n = read(fd, data, sizeof(data));

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		http_conn_free(c);
	else if (n == 0)
		on_end(c);
	else if (c->state != LINGERING)
		take(c, data, (size_t)n);
}

/* No more than SESSION_WRITE_BYTES at once, however fast it is read. */
int http_conn_write(struct http_conn *c)
{
	size_t wrote = 0;

	while (buf_len(&c->unsent) > 0) {
		if (wrote >= SESSION_WRITE_BYTES)
			return -EAGAIN;
		ssize_t n = send(c->fd, buf_data(&c->unsent),
				 buf_len(&c->unsent), MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		wrote += (size_t)n;
		buf_drop(&c->unsent, (size_t)n);
		weigh(c, weight(c));
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
	if (rc < 0 && rc != -EAGAIN) {
		http_conn_free(c);
		return;
	}
	if (rc == -EAGAIN)
		event_add(c->writable, NULL);
	if (buf_len(&c->unsent) >= HTTP_UNSENT_LOW)
		return;
	if (c->watch != NULL)
		c->watch->drained(c->watcher);
	if (c->state == ANSWERED)
		next_request(c);
}

/* ---- birth ---- */

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
	enter(c, READING, c->pool->limits.head_ms);
	event_add(c->readable, NULL);
	return c;
}
