/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_fixture.c - a pool of connections for tests. Each request is noted and
 * left unanswered, but for what the test does with it.
 */
#include "tests/unit/supervisor/clients/http/http_fixture.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

struct event_base *base;
struct http_pool pool;
struct http_conn *asked;
int told;
void (*at_head)(struct http_conn *c);
void (*at_request)(struct http_conn *c);

static bool on_head(void *arg, struct http_conn *c,
		    const struct http_request *r)
{
	(void)arg, (void)r;
	if (at_head != NULL)
		at_head(c);
	return true;
}

static void on_request(void *arg, struct http_conn *c,
		       const struct http_request *r)
{
	(void)arg, (void)r;
	asked = c;
	told++;
	if (at_request != NULL)
		at_request(c);
}

static void on_closed(void *arg, struct http_conn *c)
{
	(void)arg, (void)c;
}

void pool_open(void)
{
	static const struct http_conn_ops ops = {.on_head = on_head,
						 .on_request = on_request,
						 .on_closed = on_closed};

	http_pool_init(&pool, base, &ops, NULL);
	pool.body_max = 1 << 20;
}

void pool_begin(void)
{
	base = event_base_new();
	told = 0;
	pool_open();
}

void pool_end(void)
{
	http_pool_fini(&pool, 0);
	event_base_free(base);
}

int come(struct http_conn **c)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		abort();
	asked = NULL;
	http_pool_add(&pool, ends[1], NULL, SIZE_MAX);
	if (write(ends[0], GET, strlen(GET)) != (ssize_t)strlen(GET))
		abort();
	while (asked == NULL)
		event_base_loop(base, EVLOOP_ONCE);
	*c = asked;
	return ends[0];
}

void loop(void)
{
	for (int i = 0; i < 4; i++)
		event_base_loop(base, EVLOOP_NONBLOCK);
}

const char *first_line(int fd)
{
	static char in[4096];
	ssize_t n;

	loop();
	n = read(fd, in, sizeof(in) - 1);
	in[n > 0 ? n : 0] = '\0';
	in[strcspn(in, "\r")] = '\0';
	return in;
}
