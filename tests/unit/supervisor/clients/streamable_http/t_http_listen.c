/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_http_listen.c - the listener of HTTP: the rest after an accept(2) without a free
 * descriptor, the bounds of connections, the tick, and the end. accept4(2) and the limit
 * of descriptors are the test's own, so no descriptor is really short.
 */
#include "supervisor/clients/streamable_http/http_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/session/session.h"
#include "tests/unit/base/clock_fixture.h"
#include "tests/unit/base/log_fixture.h"
#include "tests/unit/tap.h"

#define PLENTY 65536 /* descriptors: none is short */
#define ENDS_MAX 4096

static struct config *config;
static struct context ctx;
static struct requestors requestors;
static struct sessions sessions;
static struct fair_queue turns;
static struct http_listener *listener;
static int listening;	 /* the descriptor of the last accept4(2) */
static int accept_fails; /* errno of accept4(2), or 0 */
static bool accept_made; /* accept4(2) gives connections without end */
static int accepts;
static int ends[ENDS_MAX], n_ends; /* the clients' ends of those */
static struct rlimit limit;
static int limited; /* calls of setrlimit(2) */

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	int pair[2];

	accepts++;
	listening = fd;
	if (accept_fails != 0) {
		errno = accept_fails;
		return -1;
	}
	if (!accept_made)
		return (int)syscall(SYS_accept4, fd, addr, len, flags);
	if (n_ends == ENDS_MAX ||
	    socketpair(AF_UNIX, SOCK_STREAM | flags, 0, pair) < 0)
		abort();
	ends[n_ends++] = pair[1];
	return pair[0];
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *lim)
{
	if (resource != RLIMIT_NOFILE)
		return (int)syscall(SYS_getrlimit, resource, lim);
	*lim = limit;
	return 0;
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *lim)
{
	if (resource != RLIMIT_NOFILE)
		return (int)syscall(SYS_setrlimit, resource, lim);
	limit = *lim;
	limited++;
	return 0;
}

static void begin(rlim_t descriptors)
{
	char errmsg[512];

	log_begin();
	limit = (struct rlimit){descriptors, descriptors};
	accept_fails = accepts = limited = n_ends = 0;
	accept_made = false;
	config = config_new(0);
	free(config->listen);
	config->listen = xstrdup("127.0.0.1:0");
	ctx = (struct context){.base = event_base_new(),
			       .config = config,
			       .requestors = &requestors,
			       .sessions = &sessions,
			       .turns = &turns,
			       .methods = &methods};
	fair_queue_init(&turns, ctx.base);
	sessions_init(&sessions);
	requestors_apply(&requestors, config);
	if (http_listen_open(&listener, &ctx, errmsg, sizeof(errmsg)) != 0)
		abort();
}

static void end(void)
{
	http_listen_close(listener);
	while (n_ends > 0)
		close(ends[--n_ends]);
	requestors_fini(&requestors);
	sessions_fini(&sessions);
	fair_queue_fini(&turns);
	event_base_free(ctx.base);
	config_free(config);
	log_end();
}

static void turn(void)
{
	event_base_loop(ctx.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* Connect to the listener; the client's descriptor. */
static int come(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr = {htonl(INADDR_LOOPBACK)}};
	const char *colon = strrchr(http_listen_url(listener), ':');
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		abort();
	return fd;
}

static void until_connected(size_t n)
{
	alarm(60);
	while (http_listen_connections(listener) < n)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	alarm(0);
}

static int note_listening(const struct event_base *base, const struct event *ev,
			  void *arg)
{
	bool *yes = arg;

	(void)base;
	*yes |= event_get_fd(ev) == listening &&
		(event_get_events(ev) & EV_READ) != 0;
	return 0;
}

/* Does the loop look at the listening socket? */
static bool is_listening(void)
{
	bool yes = false;

	event_base_foreach_event(ctx.base, note_listening, &yes);
	return yes;
}

TEST(rest)
{
	static const int short_of[] = {EMFILE, ENFILE, ENOMEM};

	begin(PLENTY);
	for (size_t i = 0; i < ARRAY_LEN(short_of); i++) {
		int fd = come();

		accept_fails = short_of[i];
		accepts = 0;
		while (accepts == 0)
			turn();
		ok(!is_listening(), "the listener rests after %s",
		   strerrorname_np(short_of[i]));
		is_int(log_count("accept=resting"), 1, "the rest is logged");
		accept_fails = 0;
		turn();
		is_int((int64_t)http_listen_connections(listener), (int64_t)i,
		       "a resting listener accepts nothing");
		clock_skip(1000);
		until_connected(i + 1);
		ok(is_listening(), "the listener goes on after the rest");
		ends[n_ends++] = fd;
	}
	accept_fails = ECONNABORTED;
	accepts = 0;
	close(come());
	while (accepts == 0)
		turn();
	ok(is_listening(), "a connection that went causes no rest");
	is_int(log_count("accept=resting"), 0,
	       "a connection that went is not logged as a rest");
	end();
}

TEST(rest_at_the_end)
{
	int fd;

	begin(PLENTY);
	fd = come();
	accept_fails = EMFILE;
	while (accepts == 0)
		turn();
	http_listen_drain(listener);
	clock_skip(1000);
	turn();
	ok(!is_listening(), "a drained listener does not go on after the rest");
	close(fd);
	end();
}

TEST(turns)
{
	int fd;

	begin(PLENTY);
	fd = come();
	accept_made = true;
	while (accepts == 0)
		turn();
	is_int(
	    accepts, 64,
	    "the listener accepts a bounded number of connections in a turn");
	turn();
	is_int(accepts, 128,
	       "further connections are accepted in the next turn");
	close(fd);
	end();
}

/* The bound of connections with DESCRIPTORS. */
static int64_t room(rlim_t soft, rlim_t hard)
{
	int64_t n;
	int fd;

	begin(PLENTY);
	http_listen_close(listener);
	limit = (struct rlimit){soft, hard};
	limited = 0;
	if (http_listen_open(&listener, &ctx, (char[512]){0}, 512) != 0)
		abort();
	fd = come();
	accept_made = true;
	while (accepts < 64 * 40)
		turn();
	n = (int64_t)http_listen_connections(listener);
	close(fd);
	end();
	return n;
}

/* Connections of one address without a requestor have a quarter of the bound. */
TEST(bounds)
{
	is_int(room(PLENTY, PLENTY), HTTP_CONNECTIONS_MAX / 4,
	       "a fixed number of connections fits where descriptors are many");
	is_int(limited, 0,
	       "the limit of descriptors stays where descriptors are many");
	is_int(room(100, PLENTY), HTTP_CONNECTIONS_MAX / 4,
	       "a limit that may be raised is raised");
	ok(limited == 1 && limit.rlim_cur == HTTP_CONNECTIONS_MAX + 768,
	   "the limit is raised as far as it is needed");
	is_int(room(100, 2000), (2000 - 768) / 4,
	       "of fewer descriptors those for other uses are left");
	is_int((int64_t)limit.rlim_cur, 2000,
	       "the limit is raised to the most");
	is_int(room(400, 400), 200 / 4,
	       "of very few descriptors half are for connections");
}

TEST(end_of_it)
{
	char byte;
	int fd;

	begin(PLENTY);
	fd = come();
	until_connected(1);
	ok(strncmp(http_listen_url(listener), "http://127.0.0.1:", 17) == 0 &&
	       strstr(http_listen_url(listener), ":0/") == NULL &&
	       strstr(http_listen_url(listener), "/mcp") != NULL,
	   "the URL has the port that was chosen");
	is_int((int64_t)http_listen_sessions(listener), 0,
	       "a connection is no session");
	http_listen_drain(listener);
	ok(!is_listening(), "a drained listener accepts nothing");
	is_int((int64_t)http_listen_connections(listener), 0,
	       "a connection without a request is closed");
	is_int(read(fd, &byte, 1), 0, "the client sees the end");
	ok(fcntl(listening, F_GETFD) < 0,
	   "the port is free for another server");
	close(fd);
	end();
	http_listen_ready(NULL);
	http_listen_recheck(NULL);
	http_listen_drain(NULL);
	http_listen_close(NULL);
	is_str(http_listen_url(NULL), "", "no listener has no URL");
	is_int((int64_t)(http_listen_connections(NULL) +
			 http_listen_sessions(NULL)),
	       0, "no listener has no connections");
}

static struct timeval soonest;

static int note_soonest(const struct event_base *base, const struct event *ev,
			void *arg)
{
	struct timeval at;

	(void)base, (void)arg;
	if (event_get_fd(ev) < 0 && event_pending(ev, EV_TIMEOUT, &at) &&
	    (!timerisset(&soonest) || timercmp(&at, &soonest, <)))
		soonest = at;
	return 0;
}

static void on_nothing(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
}

/* In how many ms the next tick is, by such limits; the clock is stopped. */
static int64_t ticks(int64_t keepalive_ms, int64_t idle_ms)
{
	struct event *now;
	struct timeval at, left;

	begin(PLENTY);
	config->sse_keepalive_ms = keepalive_ms;
	config->session_idle_ms = idle_ms;
	clock_skip(2000);
	turn(); /* the first tick, which sets the next */
	timerclear(&soonest);
	event_base_foreach_event(ctx.base, note_soonest, NULL);
	now = evtimer_new(ctx.base, on_nothing, NULL);
	event_add(now, &(struct timeval){0});
	event_pending(now, EV_TIMEOUT, &at);
	timersub(&soonest, &at, &left);
	event_free(now);
	end();
	return left.tv_sec * 1000 + left.tv_usec / 1000;
}

TEST(tick)
{
	clock_stop(true);
	is_int(ticks(60000, 60000), 1000, "a tick is each second");
	is_int(ticks(300, 60000), 300,
	       "a tick is as often as streams are kept alive");
	is_int(ticks(60000, 200), 200, "a tick is as soon as sessions end");
	is_int(ticks(300, 200), 200, "the shortest limit counts");
	is_int(ticks(200, 300), 200, "whichever limit the shortest is");
	clock_stop(false);
}
