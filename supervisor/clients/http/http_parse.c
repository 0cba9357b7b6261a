/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_parse.c - the parser of http_parse.h, for http_conn.c. The head is
 * gathered whole and checked byte by byte for what llhttp lets pass (bare
 * newlines, folded lines, other versions). llhttp then reads the head, and the
 * body as it comes, so llhttp decides where a request ends. A fault is a status
 * and a text.
 */
#include "supervisor/clients/http/http_parse.h"

#include <assert.h>
#include <llhttp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "supervisor/clients/http/http_field.h"

#define KEEP_BYTES 65536 /* the buffer of a larger body is freed */

struct http_parse {
	llhttp_t ll;
	size_t body_max;
	enum http_step step;
	int status;
	char errmsg[160];
	/*
	 * The head until llhttp has read it; later the trailers, after the CR
	 * LF that ends the last chunk's line.
	 */
	struct buf head;
	size_t lines; /* lines that ended in the head */
	bool head_read;
	bool in_trailers; /* the last chunk has come */
	char *target;	  /* owned: path and query, separated by a NUL */
	size_t extra;	  /* bytes of chunk extensions and trailers */
	size_t trailers;
	/* the header field that is being read */
	const char *name, *value;
	size_t name_len, value_len;
	struct http_fields fields;
	struct http_request req;
	/* gets the body instead of REQ.BODY, or NULL */
	void (*bytes)(void *arg, const char *data, size_t n);
	void *bytes_arg;
};

static int bad(struct http_parse *p, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int bad(struct http_parse *p, int status, const char *fmt, ...)
{
	va_list ap;

	if (p->step == HTTP_BAD)
		return -1;
	va_start(ap, fmt);
	vsnprintf(p->errmsg, sizeof(p->errmsg), fmt, ap);
	va_end(ap);
	p->step = HTTP_BAD;
	p->status = status;
	return -1;
}

static struct http_parse *of(llhttp_t *ll)
{
	return ll->data;
}

/* ---- what llhttp finds ---- */

static int on_url(llhttp_t *ll, const char *at, size_t n)
{
	struct http_parse *p = of(ll);

	if (n > HTTP_TARGET_MAX)
		return bad(p, 414,
			   "the target has %zu bytes; at most %d are "
			   "taken",
			   n, HTTP_TARGET_MAX);
	free(p->target);
	p->target = xstrndup(at, n);
	return 0;
}

static int count_extra(struct http_parse *p, size_t n)
{
	p->extra += n;
	if (p->extra <= HTTP_EXTRA_MAX)
		return 0;
	return bad(p, 400,
		   "chunk extensions and trailers of more than %d "
		   "bytes came",
		   HTTP_EXTRA_MAX);
}

static int on_extension(llhttp_t *ll, const char *at, size_t n)
{
	(void)at;
	return count_extra(of(ll), n);
}

/* The head is given to llhttp in one call, so each span comes whole. */
static int on_name(llhttp_t *ll, const char *at, size_t n)
{
	struct http_parse *p = of(ll);

	if (p->head_read)
		return 0;
	p->name = at;
	p->name_len = n;
	p->value_len = 0;
	return 0;
}

static int on_value(llhttp_t *ll, const char *at, size_t n)
{
	struct http_parse *p = of(ll);

	if (p->head_read)
		return 0;
	p->value = at;
	p->value_len = n;
	return 0;
}

static int on_field(llhttp_t *ll)
{
	struct http_parse *p = of(ll);
	const char *errmsg = NULL;
	int status;

	if (p->head_read) {
		if (++p->trailers > HTTP_FIELDS_MAX)
			return bad(p, 400, "more than %d trailers came",
				   HTTP_FIELDS_MAX);
		return 0;
	}
	status = http_fields_add(&p->fields, p->name, p->name_len, p->value,
				 p->value_len, &errmsg);
	return status == 0 ? 0 : bad(p, status, "%s", errmsg);
}

static enum http_method method_of(uint8_t method)
{
	switch (method) {
	case HTTP_GET:
		return HTTP_IS_GET;
	case HTTP_POST:
		return HTTP_IS_POST;
	case HTTP_DELETE:
		return HTTP_IS_DELETE;
	case HTTP_OPTIONS:
		return HTTP_IS_OPTIONS;
	case HTTP_HEAD:
		return HTTP_IS_HEAD;
	case HTTP_PUT:
		return HTTP_IS_PUT;
	default:
		return HTTP_OTHER;
	}
}

/*
 * Split the target into path and query. An absolute target (a proxy's) names
 * the host as well, which has to equal the Host field.
 */
static int split_target(struct http_parse *p)
{
	static const char scheme[] = "http://";
	char *t = p->target, *path = t, *query;

	if (strncasecmp(t, scheme, strlen(scheme)) == 0) {
		t += strlen(scheme);
		path = t + strcspn(t, "/?");
		if (*path != '/' ||
		    strlen(p->req.field[HTTP_HOST]) != (size_t)(path - t) ||
		    strncasecmp(t, p->req.field[HTTP_HOST],
				(size_t)(path - t)) != 0)
			return bad(p, 400,
				   "the target names another host than "
				   "Host does, or no path");
	}
	if (*path != '/' && p->req.method != HTTP_IS_OPTIONS &&
	    p->req.method != HTTP_OTHER)
		return bad(p, 400, "the target is not a path");
	query = strchr(path, '?');
	if (query != NULL)
		*query++ = '\0';
	p->req.path = path;
	p->req.query = query;
	return 0;
}

static int on_head(llhttp_t *ll)
{
	struct http_parse *p = of(ll);
	const char *errmsg = NULL;
	int status;

	ll->upgrade = 0; /* no protocol but HTTP is spoken */
	p->head_read = true;
	p->req.method = method_of(ll->method);
	p->req.http_1_0 = ll->http_minor == 0;
	p->req.keep_alive = llhttp_should_keep_alive(ll) != 0;
	status = http_fields_check(&p->fields, p->req.http_1_0, &errmsg);
	if (status != 0)
		return bad(p, status, "%s", errmsg);
	http_fields_lend(&p->fields, &p->req);
	p->req.wants_continue = p->fields.expect && !p->req.http_1_0;
	if (split_target(p) < 0)
		return -1;
	p->req.chunked = (ll->flags & F_CHUNKED) != 0;
	p->req.has_length = (ll->flags & F_CONTENT_LENGTH) != 0;
	p->req.length = p->req.has_length ? ll->content_length : 0;
	if (p->req.has_length && p->req.method != HTTP_IS_PUT &&
	    ll->content_length > p->body_max)
		return bad(p, 413,
			   "a body of %llu bytes is announced; this "
			   "server takes at most %zu (its "
			   "max_message_bytes)",
			   (unsigned long long)ll->content_length, p->body_max);
	p->step = HTTP_IN_BODY;
	return 0;
}

static int on_body(llhttp_t *ll, const char *at, size_t n)
{
	struct http_parse *p = of(ll);

	if (p->bytes != NULL) {
		p->bytes(p->bytes_arg, at, n);
		return 0;
	}
	if (buf_len(&p->req.body) + n > p->body_max)
		return bad(p, 413,
			   "a body of more than %zu bytes came; this "
			   "server takes at most that (its "
			   "max_message_bytes)",
			   p->body_max);
	buf_add(&p->req.body, at, n);
	return 0;
}

/*
 * The header of a chunk came. After the last chunk, which is empty, come the
 * trailers, which are gathered and checked as the head is.
 */
static int on_chunk(llhttp_t *ll)
{
	struct http_parse *p = of(ll);

	if (ll->content_length > 0)
		return 0;
	p->in_trailers = true;
	buf_add(&p->head, "\r\n", 2);
	return HPE_PAUSED;
}

static int on_whole(llhttp_t *ll)
{
	of(ll)->step = HTTP_WHOLE;
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
    .on_url = on_url,
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_header_value_complete = on_field,
    .on_chunk_extension_name = on_extension,
    .on_chunk_extension_value = on_extension,
    .on_headers_complete = on_head,
    .on_chunk_header = on_chunk,
    .on_body = on_body,
    .on_message_complete = on_whole,
};

/* Give llhttp N bytes. Returns how many llhttp took. */
static size_t run_parser(struct http_parse *p, const char *data, size_t n)
{
	llhttp_errno_t rc = llhttp_execute(&p->ll, data, n);

	if (rc == HPE_OK)
		return n;
	if (rc == HPE_PAUSED)
		return (size_t)(llhttp_get_error_pos(&p->ll) - data);
	if (rc == HPE_INVALID_METHOD)
		bad(p, 501, "the method is not one of HTTP's");
	else
		bad(p, 400, "this is not HTTP as this server reads it: %.100s",
		    llhttp_get_error_reason(&p->ll));
	return n;
}

/* ---- the head ---- */

/*
 * Say what is wrong with the last byte of HEAD, or NULL: bytes that HTTP
 * readers interpret differently are refused.
 */
static const char *head_fault(const char *head, size_t len)
{
	unsigned char c = (unsigned char)head[len - 1];
	unsigned char before = len > 1 ? (unsigned char)head[len - 2] : 0;

	if (c == '\n')
		return before == '\r' ? NULL : "a line ends in a bare newline";
	if (before == '\r')
		return "a carriage return is not followed by a newline";
	if (c == '\r')
		return len == 1 ? "there is no request line" : NULL;
	if ((c < ' ' && c != '\t') || c == 0x7f)
		return "a control character came";
	if (before == '\n' && (c == ' ' || c == '\t'))
		return "a header line is folded";
	if (before == '\n' && c == ':')
		return "a header field has no name";
	return NULL;
}

/* Check the form and the HTTP version of the request line, which just ended. */
static void check_request_line(struct http_parse *p)
{
	size_t n = buf_len(&p->head) - 2, blanks = 0;
	const char *line = buf_data(&p->head);
	const char *version = n < 9 ? line : line + n - 9;

	for (size_t i = 0; i < n; i++)
		blanks += line[i] == ' ';
	if (blanks != 2 || n < 9)
		bad(p, 400,
		    "a request line has a method, a target and a "
		    "version, one space apart");
	else if (memcmp(version, " HTTP/1.1", 9) != 0 &&
		 memcmp(version, " HTTP/1.0", 9) != 0)
		bad(p, memcmp(version, " HTTP/2.0", 9) == 0 ? 505 : 400,
		    "HTTP/1.1 and HTTP/1.0 are spoken here");
}

/* Say what is wrong with the last N bytes of P's head, or NULL. */
static const char *fault_in_last(const struct http_parse *p, size_t n)
{
	const char *errmsg = NULL;

	for (size_t len = buf_len(&p->head) - n + 1;
	     len <= buf_len(&p->head) && errmsg == NULL; len++)
		errmsg = head_fault(buf_data(&p->head), len);
	return errmsg;
}

/* Add DATA up to the end of a line or of the room. Returns the bytes taken. */
static size_t add_head(struct http_parse *p, const char *data, size_t n)
{
	size_t had = buf_len(&p->head), room = HTTP_HEAD_MAX - had, used;
	const char *end = memchr(data, '\n', n), *errmsg, *head;

	n = end != NULL ? (size_t)(end - data) + 1 : n;
	n = n < room ? n : room;
	if (n == 0) {
		bad(p, 431, "a head of more than %d bytes came", HTTP_HEAD_MAX);
		return 0;
	}
	buf_add(&p->head, data, n);
	head = buf_data(&p->head);
	errmsg = fault_in_last(p, n);
	if (errmsg != NULL) {
		bad(p, 400, "%s", errmsg);
	} else if (data[n - 1] == '\n' && p->lines++ == 0) {
		check_request_line(p);
	} else if (data[n - 1] == '\n' &&
		   memcmp(head + had + n - 4, "\r\n\r\n", 4) == 0) {
		used = run_parser(p, head, had + n);
		/* llhttp and this file have to agree on where the head ends */
		if (p->step != HTTP_BAD && (!p->head_read || used != had + n))
			bad(p, 400,
			    "the head does not end where its blank line is");
		buf_fini(&p->head);
	}
	return n;
}

/* ---- trailers, whose values are ignored, but which end the request ---- */

/* Add DATA up to the end of a line. Returns how many bytes were taken. */
static size_t add_trailers(struct http_parse *p, const char *data, size_t n)
{
	const char *end = memchr(data, '\n', n), *errmsg;
	size_t len, used;

	n = end != NULL ? (size_t)(end - data) + 1 : n;
	if (count_extra(p, n) < 0)
		return n;
	buf_add(&p->head, data, n);
	len = buf_len(&p->head);
	errmsg = fault_in_last(p, n);
	if (errmsg != NULL) {
		bad(p, 400, "%s, among the trailers", errmsg);
	} else if (len >= 4 &&
		   memcmp(buf_data(&p->head) + len - 4, "\r\n\r\n", 4) == 0) {
		llhttp_resume(&p->ll);
		used = run_parser(p, buf_data(&p->head) + 2, len - 2);
		if (p->step != HTTP_BAD &&
		    (p->step != HTTP_WHOLE || used != len - 2))
			bad(p, 400,
			    "the trailers do not end where their blank line "
			    "is");
		buf_fini(&p->head);
	}
	return n;
}

/* ---- the interface ---- */

struct http_parse *http_parse_new(size_t body_max)
{
	struct http_parse *p = xcalloc(1, sizeof(*p));

	p->body_max = body_max;
	http_parse_next(p);
	return p;
}

void http_parse_next(struct http_parse *p)
{
	struct buf body = p->req.body;

	llhttp_init(&p->ll, HTTP_REQUEST, &settings);
	p->ll.data = p;
	p->step = HTTP_IN_HEAD;
	buf_fini(&p->head);
	p->lines = 0;
	p->head_read = p->in_trailers = false;
	p->extra = p->trailers = 0;
	http_fields_fini(&p->fields);
	p->req = (struct http_request){0};
	p->bytes = NULL;
	if (body.cap > KEEP_BYTES)
		buf_fini(&body);
	else
		buf_drop(&body, buf_len(&body));
	p->req.body = body;
}

void http_parse_sink(struct http_parse *p,
		     void (*bytes)(void *arg, const char *data, size_t n),
		     void *arg)
{
	p->bytes = bytes;
	p->bytes_arg = arg;
	if (buf_len(&p->req.body) > 0)
		bytes(arg, buf_data(&p->req.body), buf_len(&p->req.body));
	buf_fini(&p->req.body);
}

char *http_parse_take_body(struct http_parse *p, size_t *len)
{
	return buf_take(&p->req.body, len);
}

void http_parse_free(struct http_parse *p)
{
	if (p == NULL)
		return;
	http_fields_fini(&p->fields);
	buf_fini(&p->req.body);
	free(p->target);
	buf_fini(&p->head);
	free(p);
}

size_t http_parse_add(struct http_parse *p, const char *data, size_t n)
{
	size_t used = 0;

	while (used < n && p->step == HTTP_IN_HEAD)
		used += add_head(p, data + used, n - used);
	while (used < n && p->step == HTTP_IN_BODY)
		used += p->in_trailers ? add_trailers(p, data + used, n - used)
				       : run_parser(p, data + used, n - used);
	return used;
}

enum http_step http_parse_step(const struct http_parse *p)
{
	return p->step;
}

bool http_parse_begun(const struct http_parse *p)
{
	return p->step != HTTP_IN_HEAD || buf_len(&p->head) > 0;
}

const struct http_request *http_parse_request(const struct http_parse *p)
{
	assert(p->head_read);
	return &p->req;
}

int http_parse_fault(const struct http_parse *p, const char **errmsg)
{
	assert(p->step == HTTP_BAD);
	*errmsg = p->errmsg;
	return p->status;
}
