/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_conn_reply.c - writes an answer: the head, then a body, events as they
 * come, or a refusal. All bytes go to the unsent bytes of the connection. The
 * answering modules call these functions and see no failure: the connection of
 * a client that has gone is closed by http_conn.c.
 */
#include "supervisor/clients/http/http_conn.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "base/text/utf8.h"
#include "proto/mcp/rpc.h"
#include "supervisor/clients/http/http_conn_private.h"

/*
 * Have the event loop call on_writable(): never from within wake(), since
 * on_writable() may free C.
 */
static void wake(struct http_conn *c)
{
	if (!event_pending(c->writable, EV_WRITE | EV_TIMEOUT, NULL))
		event_active(c->writable, EV_WRITE, 0);
}

static void put_reply(struct http_conn *c, const char *text, size_t len)
{
	c->put_ms = clock_mono_ms();
	if (buf_len(&c->unsent) == 0)
		c->moved_ms = c->put_ms;
	buf_add(&c->unsent, text, len);
	http_conn_weigh(c);
	wake(c);
}

void http_conn_put_raw(struct http_conn *c, const char *text)
{
	put_reply(c, text, strlen(text));
}

/* Put the bytes of B, which is emptied. */
static void put_buf(struct http_conn *c, struct buf *b)
{
	put_reply(c, buf_data(b), buf_len(b));
	buf_fini(b);
}

static const char *status_reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} all[] = {{200, "OK"},
		   {201, "Created"},
		   {202, "Accepted"},
		   {204, "No Content"},
		   {206, "Partial Content"},
		   {400, "Bad Request"},
		   {401, "Unauthorized"},
		   {403, "Forbidden"},
		   {404, "Not Found"},
		   {405, "Method Not Allowed"},
		   {406, "Not Acceptable"},
		   {408, "Request Timeout"},
		   {410, "Gone"},
		   {411, "Length Required"},
		   {413, "Content Too Large"},
		   {414, "URI Too Long"},
		   {415, "Unsupported Media Type"},
		   {416, "Range Not Satisfiable"},
		   {417, "Expectation Failed"},
		   {429, "Too Many Requests"},
		   {431, "Request Header Fields Too Large"},
		   {501, "Not Implemented"},
		   {503, "Service Unavailable"},
		   {505, "HTTP Version Not Supported"},
		   {507, "Insufficient Storage"}};

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
	    [HTTP_IS_OPTIONS] = "OPTIONS", [HTTP_IS_HEAD] = "HEAD",
	    [HTTP_IS_PUT] = "PUT"};
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

/* Begin HEAD, the head of an answer, with the fields that all answers have. */
static void begin_head(struct http_conn *c, struct buf *head, int status)
{
	const char *connection = c->last || c->pool->closing
				     ? "Connection: close\r\n"
				 : c->old ? "Connection: keep-alive\r\n"
					  : "";
	time_t now = time(NULL);
	char date[64];
	struct tm tm;

	log_access(c, status);
	gmtime_r(&now, &tm);
	strftime(date, sizeof(date), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n",
		 &tm);
	buf_printf(head, "HTTP/1.1 %d %s\r\n%s%s%s", status,
		   status_reason(status), date, connection,
		   c->fields != NULL ? c->fields : "");
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

void http_conn_retry_after(struct http_conn *c, int64_t ms)
{
	char line[64];

	snprintf(line, sizeof(line), "Retry-After: %lld\r\n",
		 (long long)(ms + 999) / 1000);
	http_conn_fields(c, line);
}

int http_conn_status(struct http_conn *c, int status, int64_t retry_ms)
{
	if (retry_ms == 0)
		return status > 0 ? status : 200;
	http_conn_retry_after(c, retry_ms);
	return 429;
}

void http_conn_reply(struct http_conn *c, int status, const char *type,
		     const char *body, size_t len)
{
	struct buf head = {0};

	begin_head(c, &head, status);
	if (type != NULL)
		buf_printf(&head,
			   "Content-Type: %s\r\nContent-Length: %zu\r\n"
			   "X-Content-Type-Options: nosniff\r\n\r\n",
			   type, len);
	else
		buf_add_str(&head, status == 204 ? "\r\n"
						 : "Content-Length: 0\r\n\r\n");
	put_buf(c, &head);
	if (type != NULL && !c->headless)
		put_reply(c, body, len);
	c->watch = NULL;
	http_conn_enter(c, ANSWERED, 0);
}

void http_conn_begin(struct http_conn *c)
{
	struct buf head = {0};

	/* HTTP/1.0: closing ends a stream */
	c->last = c->last || c->old;
	begin_head(c, &head, 200);
	buf_printf(&head,
		   "Content-Type: text/event-stream\r\n"
		   "Cache-Control: no-cache, no-transform\r\n"
		   "X-Accel-Buffering: no\r\n%s\r\n",
		   c->old ? "" : "Transfer-Encoding: chunked\r\n");
	put_buf(c, &head);
	http_conn_enter(c, STREAMING, 0);
}

/* Begin a chunk of LEN bytes, of which BUF has the first. */
static void begin_chunk(const struct http_conn *c, struct buf *buf, size_t len)
{
	if (!c->old)
		buf_printf(buf, "%zx\r\n", len);
}

void http_conn_put(struct http_conn *c, const char *text, size_t len)
{
	struct buf chunk = {0};

	if (len == 0)
		return; /* an empty chunk would end the stream */
	begin_chunk(c, &chunk, len);
	buf_add(&chunk, text, len);
	buf_add_str(&chunk, c->old ? "" : "\r\n");
	put_buf(c, &chunk);
}

void http_conn_put_event(struct http_conn *c, const struct sse *s,
			 const struct sse_event *e)
{
	struct buf event = {0}, head = {0};

	sse_put_head(&event, s, e);
	begin_chunk(c, &head, buf_len(&event) + e->len + strlen(SSE_END));
	buf_add(&head, buf_data(&event), buf_len(&event));
	put_buf(c, &head);
	put_reply(c, e->text, e->len);
	http_conn_put_raw(c, c->old ? SSE_END : SSE_END "\r\n");
	buf_fini(&event);
}

void http_conn_end(struct http_conn *c)
{
	http_conn_due(c, 0);
	if (!c->old && !c->plain)
		http_conn_put_raw(c, "0\r\n\r\n");
	c->watch = NULL;
	http_conn_enter(c, ANSWERED, 0);
	wake(c);
}

void http_conn_begin_body(struct http_conn *c, int status, const char *type,
			  int64_t len)
{
	struct buf head = {0};

	begin_head(c, &head, status);
	buf_printf(&head,
		   "Content-Type: %.300s\r\nContent-Length: %lld\r\n"
		   "X-Content-Type-Options: nosniff\r\n\r\n",
		   type, (long long)len);
	put_buf(c, &head);
	c->plain = true;
	http_conn_enter(c, STREAMING, 0);
}

void http_conn_put_body(struct http_conn *c, const char *data, size_t n)
{
	put_reply(c, data, n);
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
	const struct http_watch *watch = c->watch;

	c->last = true;
	c->watch = NULL;
	/* a sink gets no more bytes */
	if (watch != NULL)
		watch->gone(c->watcher);
	http_conn_refuse(c, status, "%s", errmsg);
}
