/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_http_waitq.c - waiting requests: the bound on the number, the time, and clients
 * which hang up.
 */
#include "supervisor/clients/http/http_waitq.h"
#include "tests/unit/supervisor/clients/http/http_fixture.h"

static struct http_waitq waits;
static bool ready;
static size_t served;
static int users[2];

static void head(struct http_conn *c)
{
	http_conn_set_user(c, &users[0]);
}

static void serve(struct http_conn *c)
{
	if (!ready)
		return;
	served++;
	http_conn_reply(c, 204, NULL, NULL, 0);
}

static void begin(void)
{
	at_head = head;
	at_request = serve;
	pool_begin();
	http_waitq_init(&waits);
	ready = false;
	served = 0;
}

TEST(go)
{
	struct http_conn *c[3];
	int fd[3];

	begin();
	for (int i = 0; i < 3; i++) {
		fd[i] = come(&c[i]);
		ok(http_waitq_add(&waits, c[i]), "request %d waits", i);
	}
	is_str(first_line(fd[0]), "", "nothing is said meanwhile");
	close(fd[1]);
	shutdown(fd[2], SHUT_WR);
	http_waitq_expire(&waits, 60000, "no");
	is_int((long long)waits.n, 3,
	       "requests which waited less than the time go on waiting");
	http_pool_drain(&pool);
	ready = true;
	http_waitq_resume(&waits);
	is_int((long long)served, 3, "all waiting requests are resumed");
	is_int((long long)waits.n, 0, "no request waits after the resumption");
	is_str(first_line(fd[0]), "HTTP/1.1 204 No Content",
	       "each resumed request has an answer");
	is_str(first_line(fd[2]), "HTTP/1.1 204 No Content",
	       "a client which sends no more gets an answer");
	pool_end();
	close(fd[0]);
	close(fd[2]);
}

TEST(refused)
{
	struct http_conn *c;
	int fd;

	begin();
	fd = come(&c);
	http_waitq_add(&waits, c);
	http_waitq_expire(&waits, 0,
			  "the waiting time of the client has not passed");
	is_str(first_line(fd), "HTTP/1.1 503 Service Unavailable",
	       "a request which waited too long is refused with 503");
	is_int((long long)waits.n, 0, "a refused request waits no more");
	close(fd);
	pool_end();
}

TEST(gone)
{
	struct http_conn *c;
	int fd;

	begin();
	fd = come(&c);
	http_waitq_add(&waits, c);
	close(fd);
	pool_end(); /* the pool closes its connections */
	is_int((long long)waits.n, 0,
	       "a request of a closed connection waits no more");
}

TEST(many)
{
	static int fd[HTTP_WAITQ_MAX + 1];
	struct http_conn *c = NULL;
	size_t n = 0;

	begin();
	for (; n < HTTP_WAITQ_MAX; n++) {
		fd[n] = come(&c);
		if (!http_waitq_add(&waits, c))
			break;
	}
	ok(n > 0 && n < HTTP_WAITQ_MAX, "one requestor's are %zu at most", n);
	http_conn_set_user(c, &users[1]);
	ok(http_waitq_add(&waits, c),
	   "another requestor's request may still wait");
	pool_end();
	while (true) {
		close(fd[n]);
		if (n-- == 0)
			break;
	}
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tap_run();
	return tap_done();
}
