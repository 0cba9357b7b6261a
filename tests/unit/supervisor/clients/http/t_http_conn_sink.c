/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_conn_sink.c - bodies of requests which are passed on as they come. */
#include "tests/unit/supervisor/clients/http/http_conn_fixture.h"

static struct {
	size_t bytes;
	bool wants, gone;
} taken;

static void take_bytes(void *arg, const char *data, size_t n)
{
	(void)arg, (void)data;
	taken.bytes += n;
}

static bool wants_more(void *arg)
{
	(void)arg;
	return taken.wants;
}

static void on_taker_gone(void *watcher)
{
	(void)watcher;
	taken.gone = true;
}

static bool on_sink_head(void *arg, struct http_conn *c,
			 const struct http_request *r)
{
	static const struct http_sink sink = {take_bytes, wants_more};
	static const struct http_watch watch = {.gone = on_taker_gone};

	(void)arg, (void)r;
	asked = c;
	http_conn_watch(c, &watch, &taken);
	http_conn_sink(c, &sink, NULL);
	return true;
}

static const struct http_conn_ops to_sink = {
    .on_head = on_sink_head, .on_request = on_request, .on_closed = on_closed};

#define PUT "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n"

static void begin_sink(int64_t *limit)
{
	begin(limit);
	pool.ops = &to_sink;
	taken.bytes = 0;
	taken.wants = true;
	taken.gone = false;
}

TEST(a_body_that_is_not_held)
{
	begin_sink(&pool.limits.body_ms);
	say(PUT "abc");
	is_int(taken.bytes, 3, "received bytes are passed on at once");
	ok(hears(" 408 ") && taken.gone,
	   "a body which stops is refused, and the receiver is told");
	end();
	begin_sink(&pool.limits.body_ms);
	taken.wants = false;
	say(PUT "abc");
	say("defg");
	is_int(taken.bytes, 3, "a receiver without room gets no more bytes");
	for (int i = 0; i < 100; i++)
		http_pool_tick(&pool);
	ok(!taken.gone, "a full receiver is no fault of the client");
	taken.wants = true;
	http_conn_read_on(asked);
	say("hij");
	event_base_loop(base, EVLOOP_NONBLOCK);
	is_int(taken.bytes, 10, "a receiver with room gets the rest");
	http_conn_reply(asked, 204, NULL, NULL, 0);
	ok(hears(" 204 ") && !taken.gone, "a complete body is answered");
	end();
	begin_sink(NULL);
	say("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "3\r\nabc\r\n");
	say("zz\r\n");
	ok(hears(" 400 ") && taken.gone,
	   "a malformed body is refused, and the receiver is told");
	end();
}

int main(void)
{
	return http_conn_main();
}
