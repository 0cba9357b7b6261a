/* SPDX-License-Identifier: Apache-2.0 */
/* http_conn_fixture.c - a pool of connections with a client. */
#include "tests/unit/supervisor/clients/http/http_conn_fixture.h"

#include "base/os/log.h"

struct event_base *base;
struct http_pool pool;
struct http_conn *asked;
int client;
char seen[65536];

bool on_head(void *arg, struct http_conn *c, const struct http_request *r)
{
	(void)arg;
	/* as a token would name the user */
	http_conn_set_user(c, strcmp(r->path, "/mine") == 0 ? seen : NULL);
	return true;
}

void on_request(void *arg, struct http_conn *c, const struct http_request *r)
{
	(void)arg, (void)r;
	asked = c;
}

void on_closed(void *arg, struct http_conn *c)
{
	(void)arg;
	if (asked == c)
		asked = NULL;
}

static const struct http_conn_ops ops = {
    .on_head = on_head, .on_request = on_request, .on_closed = on_closed};

void connect_one(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) < 0)
		abort();
	client = fds[0];
	seen[0] = '\0';
	http_pool_add(&pool, fds[1], NULL, SIZE_MAX);
}

void begin(int64_t *limit)
{
	http_pool_init(&pool, base, &ops, NULL);
	pool.limits.head_ms = pool.limits.body_ms = pool.limits.idle_ms =
	    pool.limits.stall_ms = pool.limits.linger_ms = LATE_MS;
	pool.body_max = LARGE;
	pool.keepalive_ms = LATE_MS;
	if (limit != NULL)
		*limit = SOON_MS;
	connect_one();
}

void end(void)
{
	close(client);
	http_pool_fini(&pool, 0);
}

void say(const char *text)
{
	if (write(client, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	event_base_loop(base, EVLOOP_NONBLOCK);
	event_base_loop(base, EVLOOP_NONBLOCK);
}

bool hears(const char *text)
{
	int64_t until = clock_mono_ms() + PATIENCE_MS;
	ssize_t n = -1;

	while (clock_mono_ms() < until) {
		size_t at = strlen(seen);

		http_pool_tick(&pool);
		event_base_loop(base, EVLOOP_NONBLOCK);
		n = read(client, seen + at, sizeof(seen) - 1 - at);
		seen[n > 0 ? at + (size_t)n : at] = '\0';
		if (text != NULL && strstr(seen, text) != NULL)
			return true;
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return text == NULL;
		usleep(1000);
	}
	return false;
}

int http_conn_main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	base = event_base_new();
	tap_run();
	event_base_free(base);
	return tap_done();
}
