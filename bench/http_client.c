/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/measure.h"

#define ANSWER_MAX (1 << 20)
#define HEAD_MAX 1024
#define BODY_MAX 1024

struct conn {
	int fd;
	char *buf; /* ANSWER_MAX; the received part of the answer */
	size_t len;
	size_t head;  /* bytes of the head; 0: not whole yet */
	long length;  /* of the body; -1: chunked */
	size_t chunk; /* where the next chunk begins */
	size_t end;   /* of the body, without the chunks' sizes */
	bool under_way;
};

struct http {
	struct conn conns[HTTP_CONNS_MAX];
	int n;
	int epoll;
	struct epoll_event ready[HTTP_CONNS_MAX];
	int n_ready, n_taken;
	char host[64], path[64];
	char session[128];	  /* "": no session */
	const char *capabilities; /* of requests; NULL: the session's */
	int last_id;
};

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "bench: %s: %.400s\n", what, text);
	exit(1);
}

static void conn_open(struct http *h, int i)
{
	struct conn *c = &h->conns[i];
	/* reported once: an idle connection that is closed is no news */
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = i};
	struct sockaddr_in to = {.sin_family = AF_INET};
	char ip[32] = "";
	unsigned port = 0;
	int one = 1;

	if (sscanf(h->host, "%31[0-9.]:%u", ip, &port) != 2 ||
	    inet_pton(AF_INET, ip, &to.sin_addr) != 1)
		fail("no address", h->host);
	to.sin_port = htons((uint16_t)port);
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 ||
	    connect(c->fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    epoll_ctl(h->epoll, EPOLL_CTL_ADD, c->fd, &event) < 0)
		die(h->host);
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (c->buf == NULL)
		c->buf = xcalloc(1, ANSWER_MAX + 1);
}

/* A server may close a connection after a long idle time. */
static void conn_reopen(struct http *h, int i)
{
	char byte;

	if (recv(h->conns[i].fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
		return;
	close(h->conns[i].fd);
	conn_open(h, i);
}

/* Return the value of header NAME (with the colon) in HEAD; "" when missing. */
static const char *header(const char *head, const char *name, char value[128])
{
	value[0] = '\0';
	for (const char *p = strstr(head, "\r\n"); p != NULL && p[2] != '\r';
	     p = strstr(p + 2, "\r\n"))
		if (strncasecmp(p + 2, name, strlen(name)) == 0)
			sscanf(p + 2 + strlen(name), " %127[^\r]", value);
	return value;
}

static void read_head(struct http *h, struct conn *c)
{
	char *end = strstr(c->buf, "\r\n\r\n");
	char value[128];

	if (end == NULL)
		return;
	c->head = c->chunk = c->end = (size_t)(end + 4 - c->buf);
	end[2] = '\0';
	if (strncmp(c->buf, "HTTP/1.1 20", 11) != 0)
		fail("refused", c->buf);
	if (strcasecmp(header(c->buf, "connection:", value), "close") == 0)
		fail("not kept alive", c->buf);
	if (h->session[0] == '\0' && h->capabilities == NULL)
		snprintf(h->session, sizeof(h->session), "%s",
			 header(c->buf, "mcp-session-id:", value));
	header(c->buf, "content-length:", value);
	c->length = value[0] != '\0' ? strtol(value, NULL, 10) : -1;
	header(c->buf, "transfer-encoding:", value);
	if (c->length < 0 && strcasecmp(value, "chunked") != 0)
		fail("no length", c->buf);
}

/* Take chunks' sizes out of the received bytes: true at the last chunk. */
static bool read_chunks(struct conn *c)
{
	for (;;) {
		char *line = c->buf + c->chunk;
		char *data = strstr(line, "\r\n");
		size_t size;

		if (data == NULL)
			return false;
		data += 2;
		size = strtoul(line, NULL, 16);
		if (c->len - (size_t)(data - c->buf) < size + 2)
			return false;
		if (size == 0)
			return true;
		memmove(c->buf + c->end, data, size);
		c->end += size;
		c->chunk = (size_t)(data - c->buf) + size + 2;
	}
}

/* Read the available bytes; true when the answer is whole. */
static bool conn_read(struct http *h, struct conn *c)
{
	ssize_t n = read(c->fd, c->buf + c->len, ANSWER_MAX - c->len);

	if (n <= 0)
		die("the server hung up");
	c->len += (size_t)n;
	c->buf[c->len] = '\0';
	if (c->head == 0)
		read_head(h, c);
	if (c->head == 0)
		return false;
	if (c->length < 0) {
		if (!read_chunks(c))
			return false;
	} else {
		if (c->len - c->head < (size_t)c->length)
			return false;
		c->end = c->len;
	}
	c->buf[c->end] = '\0';
	c->under_way = false;
	return true;
}

static void put(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0)
			die("write");
		data += n;
		len -= (size_t)n;
	}
}

/* Write the fields of the request's origin into TEXT; return the length. */
static int put_identity(const struct http *h, char *text, size_t size,
			const char *method, const char *name)
{
	if (h->capabilities == NULL)
		return h->session[0] == '\0'
			   ? 0
			   : snprintf(text, size,
				      "Mcp-Session-Id: %s\r\n"
				      "MCP-Protocol-Version: 2025-11-25\r\n",
				      h->session);
	return snprintf(text, size,
			"MCP-Protocol-Version: 2026-07-28\r\n"
			"Mcp-Method: %s\r\n%s%s%s",
			method, name != NULL ? "Mcp-Name: " : "",
			name != NULL ? name : "", name != NULL ? "\r\n" : "");
}

static void post(struct http *h, int i, const char *method, const char *name,
		 const char *body, size_t len)
{
	struct conn *c = &h->conns[i];
	char text[HEAD_MAX + BODY_MAX];
	int n = snprintf(text, HEAD_MAX,
			 "POST /%s HTTP/1.1\r\nHost: %s\r\n"
			 "Content-Type: application/json\r\n"
			 "Accept: application/json, text/event-stream\r\n"
			 "Content-Length: %zu\r\n",
			 h->path, h->host, len);

	n += put_identity(h, text + n, HEAD_MAX - (size_t)n, method, name);
	n += snprintf(text + n, HEAD_MAX - (size_t)n, "\r\n");
	memcpy(text + n, body, len); /* a single write: a single packet */
	conn_reopen(h, i);
	c->len = c->head = c->end = 0;
	c->under_way = true;
	put(c->fd, text, (size_t)n + len);
}

#define META                                                                   \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"              \
	"\"2026-07-28\",\"io.modelcontextprotocol/clientInfo\":{"              \
	"\"name\":\"bench\",\"version\":\"1\"},"                               \
	"\"io.modelcontextprotocol/clientCapabilities\":"

void http_ask(struct http *h, int i, const char *method, const char *name,
	      const char *params)
{
	bool stateless = h->capabilities != NULL;
	char body[BODY_MAX];
	int n =
	    snprintf(body, sizeof(body),
		     "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\","
		     "\"params\":{%s%s%s%s}}",
		     ++h->last_id, method, params,
		     !stateless		 ? ""
		     : params[0] == '\0' ? META
					 : "," META,
		     stateless ? h->capabilities : "", stateless ? "}" : "");

	if ((size_t)n >= sizeof(body))
		fail("too long", params);
	post(h, i, method, name, body, (size_t)n);
}

/* Wait for a readable connection; return its number. */
static int next_ready(struct http *h)
{
	if (h->n_taken == h->n_ready) {
		h->n_taken = 0;
		h->n_ready = epoll_wait(h->epoll, h->ready, h->n, 30000);
		if (h->n_ready <= 0)
			fail("no answer", h->host);
	}
	return h->ready[h->n_taken++].data.fd;
}

int http_next(struct http *h, const char **body)
{
	for (;;) {
		int i = next_ready(h);
		struct conn *c = &h->conns[i];

		if (c->under_way && conn_read(h, c)) {
			*body = c->buf + c->head;
			return i;
		}
	}
}

void http_wait(struct http *h, int i, const char *text)
{
	struct conn *c = &h->conns[i];

	while (memmem(c->buf + c->head, c->end - c->head, text, strlen(text)) ==
	       NULL) {
		if (!c->under_way)
			fail("an answer without what is waited for",
			     c->buf + c->head);
		if (next_ready(h) == i)
			conn_read(h, c);
	}
}

void http_leave(struct http *h, int i)
{
	close(h->conns[i].fd);
	h->conns[i].under_way = false;
	conn_open(h, i);
}

static struct http *connect_all(const char *at, int conns)
{
	struct http *h = xcalloc(1, sizeof(*h));

	if (sscanf(at, "%63[^/]/%63s", h->host, h->path) != 2)
		fail("no endpoint", at);
	h->n = conns;
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < conns; i++)
		conn_open(h, i);
	return h;
}

static const char ready[] =
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

struct http *http_open(const char *at, int conns)
{
	struct http *h = connect_all(at, conns);
	const char *body;

	http_ask(h, 0, "initialize", NULL,
		 "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
		 "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}");
	http_next(h, &body);
	if (h->session[0] == '\0')
		fail("no session", body);
	post(h, 0, NULL, NULL, ready, sizeof(ready) - 1);
	http_next(h, &body);
	return h;
}

struct http *http_open_stateless(const char *at, int conns,
				 const char *capabilities)
{
	struct http *h = connect_all(at, conns);

	h->capabilities = capabilities;
	return h;
}

void http_close(struct http *h)
{
	for (int i = 0; i < h->n; i++) {
		close(h->conns[i].fd);
		free(h->conns[i].buf);
	}
	close(h->epoll);
	free(h);
}
