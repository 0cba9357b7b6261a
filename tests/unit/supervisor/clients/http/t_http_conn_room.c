/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_conn_room.c - connections which make room for others. */
#include "tests/unit/supervisor/clients/http/http_conn_fixture.h"

/*
 * A client at 10.0.0.HOST, where at most MOST connections without a requestor are
 * allowed.
 */
static int come(int host, size_t most)
{
	struct sockaddr_in from = {
	    .sin_family = AF_INET,
	    .sin_addr = {htonl(0x0A000000u + (unsigned)host)}};
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) < 0)
		abort();
	http_pool_add(&pool, fds[1], (struct sockaddr *)&from, most);
	return fds[0];
}

static bool is_open(int fd)
{
	char c;

	return read(fd, &c, 1) != 0;
}

static void say_by(int fd, const char *text)
{
	int was = client;

	client = fd;
	say(text);
	client = was;
}

/* The next connection which makes room is FD. */
static bool yields(int fd)
{
	bool was_open = is_open(fd), room = http_pool_yield(&pool);
	bool gone = !is_open(fd);

	close(fd);
	return was_open && room && gone;
}

#define MINE "POST /mine HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"

TEST(room)
{
	int upload, rest, half, late;

	begin(NULL);
	upload = client;
	say(MINE "ab");
	rest = come(1, 100);
	say_by(rest, MINE "abcd");
	http_conn_reply(asked, 204, NULL, NULL, 0);
	event_base_loop(base, EVLOOP_NONBLOCK);
	is_open(rest); /* reads a byte */
	half = come(2, 100);
	say_by(half, HEAD "ab");
	late = come(3, 100);
	ok(yields(half), "a request of nobody's is the first to make room");
	ok(yields(late), "next to make room is a connection without a request");
	while (read(rest, seen, sizeof(seen)) > 0)
		;
	ok(yields(rest),
	   "next to make room is an idle connection of a requestor");
	ok(!http_pool_yield(&pool) && is_open(upload),
	   "a request of a requestor in progress never makes room");
	say("cd");
	ok(asked != NULL, "a request in progress is served");
	end();
}

TEST(addresses)
{
	int a, b, c, other, more;

	begin(NULL);
	other = come(9, 3);
	a = come(1, 3);
	b = come(1, 3);
	c = come(1, 3);
	say_by(b, MINE "ab");
	more = come(1, 3);
	ok(is_open(a) && is_open(c),
	   "connections with a requestor do not count for the address");
	close(more);
	more = come(1, 3);
	ok(!is_open(a), "of one address the oldest unknown one makes room");
	ok(is_open(b) && is_open(c) && is_open(other),
	   "no other connection is closed, however old");
	close(a), close(b), close(c), close(other), close(more);
	end();
	ok(pool.peers == NULL, "no address is left at the end");
}

int main(void)
{
	return http_conn_main();
}
