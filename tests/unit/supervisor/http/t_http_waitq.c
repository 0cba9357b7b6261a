/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_waitq.c - requests that wait: how many, how long, and who hangs up. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/http/http_waitq.h"
#include "tests/unit/tap.h"

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

static struct event_base *base;
static struct http_pool pool;
static struct http_waitq waits;
static bool ready;
static size_t told; /* requests that were served */
static struct http_conn *asked;
static int users[2];

static bool on_head(void *arg, struct http_conn *c,
		    const struct http_request *r)
{
	(void)arg, (void)r;
	http_conn_set_user(c, &users[0]);
	return true;
}

static void on_request(void *arg, struct http_conn *c,
		       const struct http_request *r)
{
	(void)arg, (void)r;
	asked = c;
	if (!ready)
		return;
	told++;
	http_conn_reply(c, 204, NULL, NULL, 0);
}

static void on_closed(void *arg, struct http_conn *c)
{
	(void)arg, (void)c;
}

static const struct http_conn_ops ops = {on_head, on_request, on_closed};

static int come(struct http_conn **c)
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

/* The first line of what came to FD. */
static const char *answer(int fd)
{
	static char in[4096];
	ssize_t n;

	for (int i = 0; i < 4; i++)
		event_base_loop(base, EVLOOP_NONBLOCK);
	n = read(fd, in, sizeof(in) - 1);
	in[n > 0 ? n : 0] = '\0';
	in[strcspn(in, "\r")] = '\0';
	return in;
}

static void begin(void)
{
	base = event_base_new();
	http_pool_init(&pool, base, &ops, NULL);
	http_waitq_init(&waits);
	ready = false;
	told = 0;
}

static void end(void)
{
	http_pool_fini(&pool, 0);
	event_base_free(base);
}

static void test_go(void)
{
	struct http_conn *c[3];
	int fd[3];

	begin();
	for (int i = 0; i < 3; i++) {
		fd[i] = come(&c[i]);
		ok(http_waitq_add(&waits, c[i]), "request %d waits", i);
	}
	is_str(answer(fd[0]), "", "nothing is said meanwhile");
	close(fd[1]);
	shutdown(fd[2], SHUT_WR);
	http_waitq_expire(&waits, 60000, "no");
	is_int((long long)waits.n, 3,
	       "who has not waited for so long waits on");
	http_pool_drain(&pool);
	ready = true;
	http_waitq_resume(&waits);
	is_int((long long)told, 3, "then all are told");
	is_int((long long)waits.n, 0, "and none waits");
	is_str(answer(fd[0]), "HTTP/1.1 204 No Content", "each has its answer");
	is_str(answer(fd[2]), "HTTP/1.1 204 No Content",
	       "also who sends no more");
	end();
	close(fd[0]);
	close(fd[2]);
}

static void test_refused(void)
{
	struct http_conn *c;
	int fd;

	begin();
	fd = come(&c);
	http_waitq_add(&waits, c);
	http_waitq_expire(&waits, 0, "it is too early");
	is_str(answer(fd), "HTTP/1.1 503 Service Unavailable",
	       "who has waited for long enough is sent away");
	is_int((long long)waits.n, 0, "and waits no more");
	close(fd);
	end();
}

static void test_gone(void)
{
	struct http_conn *c;
	int fd;

	begin();
	fd = come(&c);
	http_waitq_add(&waits, c);
	close(fd);
	end(); /* all connections are closed */
	is_int((long long)waits.n, 0, "who is gone waits no more");
}

static void test_many(void)
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
	ok(http_waitq_add(&waits, c), "which leaves room for another's");
	end();
	while (true) {
		close(fd[n]);
		if (n-- == 0)
			break;
	}
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	test_go();
	test_refused();
	test_gone();
	test_many();
	return tap_done();
}
