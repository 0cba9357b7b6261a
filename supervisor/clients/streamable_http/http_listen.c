/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_listen.c - the TCP listener: accepts connections, runs the tick, starts,
 * drains and ends HTTP. daemon.c opens it. An address which cannot be used is
 * an exit status with a sentence. Without free descriptors the listener rests;
 * connections over the bound are refused and counted.
 */
#include "supervisor/clients/streamable_http/http_listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/clients/streamable_http/http_session_store.h"
#include "supervisor/clients/streamable_http/http_mcp.h"
#include "supervisor/clients/streamable_http/http_session.h"
#include "supervisor/clients/streamable_http/http_store_wait.h"
#include "supervisor/clients/streamable_http/http_routes.h"

#define BACKLOG 256
#define ACCEPTS_PER_WAKE 64
#define REST_MS 500 /* pause after accept() found no descriptor free */
#define TICK_MS 1000
/* connections of an address without a requestor: at most 1/4 of all */
#define STRANGERS_PART 4
#define OTHER_FDS                                                              \
	768 /* descriptors which lines, files, workers and the store may need */
#define WANTED_FDS (HTTP_CONNECTIONS_MAX + OTHER_FDS)

struct http_listener {
	struct http_routes site;
	struct http_pool pool;
	int fd;
	struct event *readable, *rest, *tick;
	bool stopped;
	size_t connections_max;
	size_t refused; /* connections refused since the last tick */
	char url[HTTP_ADDR_SIZE + 16];
};

/* ---- connections ---- */

static void on_connection(evutil_socket_t listening, short what, void *arg)
{
	struct http_listener *h = arg;
	int fd = -1, on = 1, unsent = HTTP_SOCKET_BYTES;

	(void)what;
	for (int n = 0; n < ACCEPTS_PER_WAKE; n++) {
		struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
		socklen_t len = sizeof(from);

		fd = accept4(listening, (struct sockaddr *)&from, &len,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			break;
		if (h->pool.n >= h->connections_max &&
		    !http_pool_yield(&h->pool)) {
			h->refused++;
			close(fd);
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &unsent, sizeof(unsent));
		http_pool_add(&h->pool, fd, (struct sockaddr *)&from,
			      h->connections_max / STRANGERS_PART);
	}
	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
		log_warn("http", "accept=resting err=\"%s\"", strerror(errno));
		event_del(h->readable);
		event_add(h->rest, CLOCK_TIMEVAL(REST_MS));
	}
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
	struct http_listener *h = arg;

	(void)fd, (void)what;
	if (!h->stopped)
		event_add(h->readable, NULL);
}

/* Set the next tick, early enough for the shortest time limit. */
static void next_tick(struct http_listener *h)
{
	const struct config *config = h->site.ctx->config;
	int64_t ms = TICK_MS;

	h->pool.keepalive_ms = config->sse_keepalive_ms;
	h->pool.body_max = (size_t)config->max_message_bytes;
	if (ms > config->sse_keepalive_ms)
		ms = config->sse_keepalive_ms;
	if (ms > config->session_idle_ms)
		ms = config->session_idle_ms;
	evtimer_add(h->tick, CLOCK_TIMEVAL(ms));
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct http_listener *h = arg;

	(void)fd, (void)what;
	if (h->refused > 0)
		log_warn("http", "connections=refused n=%zu open=%zu",
			 h->refused, h->pool.n);
	h->refused = 0;
	http_pool_tick(&h->pool);
	http_waitq_expire(&h->site.early, HTTP_EARLY_MS, HTTP_ROUTES_STARTS);
	http_store_waits_tick(&h->site.sessions, clock_mono_ms());
	http_session_store_tick(&h->site.sessions);
	http_sessions_sweep(&h->site.sessions,
			    h->site.ctx->config->session_idle_ms);
	next_tick(h);
}

/* ---- the listener ---- */

/*
 * Raise the limit of descriptors as far as the system allows. Returns how many
 * connections fit.
 */
static size_t drop_idle(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0)
		return HTTP_CONNECTIONS_MAX / 8;
	if (lim.rlim_cur < WANTED_FDS) {
		lim.rlim_cur =
		    lim.rlim_max < WANTED_FDS ? lim.rlim_max : WANTED_FDS;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	if (lim.rlim_cur >= WANTED_FDS)
		return HTTP_CONNECTIONS_MAX;
	return lim.rlim_cur > OTHER_FDS + OTHER_FDS ? lim.rlim_cur - OTHER_FDS
						    : lim.rlim_cur / 2;
}

/* Return a socket which listens at A, or -errno. A gets the port. */
static int bind_listen(struct http_addr *a)
{
	int on = 1;
	int fd = socket(a->addr.ss_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a->addr.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&a->addr, a->len) < 0 ||
	    listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a->addr, &a->len) < 0) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	return fd;
}

/*
 * Check what CONFIG says of the listener. Returns 0, or the exit status with
 * ERRMSG.
 */
static int check_listen_addr(struct http_addr *a, const struct config *config,
			     char *errmsg, size_t size)
{
	bool good = http_addr_parse(a, config->listen);

	if (good && (a->loopback || http_routes_token_possible(config)))
		return 0;
	if (!good)
		snprintf(errmsg, size,
			 "listen is %s; expected ADDR:PORT, such as "
			 "127.0.0.1:8080",
			 config->listen);
	else
		snprintf(errmsg, size,
			 "listen is %s, which is not loopback, and no "
			 "[requestor] has a token_sha256: anybody could come; "
			 "make one by paddock token, or listen on 127.0.0.1",
			 config->listen);
	return EX_CONFIG;
}

static int explain_listener(const struct config *config, int rc, char *errmsg,
			    size_t size)
{
	snprintf(errmsg, size, "%s cannot be listened at: %s; %s by listen",
		 config->listen, strerror(-rc),
		 rc == -EADDRNOTAVAIL
		     ? "name an address that this machine has, such as "
		       "127.0.0.1,"
		     : "end what has it, or name another address or port");
	return rc == -EACCES || rc == -EPERM ? EX_NOPERM : EX_UNAVAILABLE;
}

int http_listen_try(const struct config *c, bool bind, char *errmsg,
		    size_t size)
{
	struct http_addr a;
	int status = check_listen_addr(&a, c, errmsg, size);
	int fd = status == 0 && bind ? bind_listen(&a) : -1;

	if (fd >= 0)
		close(fd);
	else if (status == 0 && bind)
		status = explain_listener(c, fd, errmsg, size);
	return status;
}

static void start_listener(struct http_listener *h, struct context *ctx)
{
	char text[HTTP_ADDR_SIZE];

	http_addr_text(&h->site.addr, text);
	snprintf(h->url, sizeof(h->url), "http://%s/mcp", text);
	h->connections_max = drop_idle();
	h->site.connections_max = h->connections_max;
	http_waitq_init(&h->site.early);
	http_pool_init(&h->pool, ctx->base, &http_routes_ops, &h->site);
	h->pool.turns = ctx->turns;
	http_mcp_init(&h->site.sessions, ctx, &h->pool.held);
	h->readable =
	    event_new(ctx->base, h->fd, EV_READ | EV_PERSIST, on_connection, h);
	h->rest = evtimer_new(ctx->base, on_rest, h);
	h->tick = evtimer_new(ctx->base, on_tick, h);
	event_add(h->readable, NULL);
	next_tick(h);
}

int http_listen_open(struct http_listener **out, struct context *ctx,
		     char *errmsg, size_t size)
{
	struct http_listener *h = xcalloc(1, sizeof(*h));
	int status;

	h->site.ctx = ctx;
	h->fd = -1;
	status = check_listen_addr(&h->site.addr, ctx->config, errmsg, size);
	if (status == 0)
		h->fd = bind_listen(&h->site.addr);
	if (status == 0 && h->fd < 0)
		status = explain_listener(ctx->config, h->fd, errmsg, size);
	if (status != 0) {
		free(h);
		return status;
	}
	start_listener(h, ctx);
	*out = h;
	return 0;
}

void http_listen_ready(struct http_listener *h)
{
	if (h == NULL)
		return;
	h->site.ready = true;
	http_waitq_resume(&h->site.early);
}

void http_listen_recheck(struct http_listener *h)
{
	if (h == NULL)
		return;
	h->site.looked_ms = clock_mono_ms();
	http_sessions_recheck(&h->site.sessions);
}

static void stop_listener(struct http_listener *h)
{
	if (h->stopped)
		return;
	h->stopped = true;
	event_del(h->readable);
	event_del(h->rest);
	close(h->fd);
	http_waitq_expire(&h->site.early, 0, HTTP_ROUTES_ENDS);
}

void http_listen_drain(struct http_listener *h)
{
	if (h == NULL)
		return;
	stop_listener(h);
	http_pool_drain(&h->pool);
}

void http_listen_close(struct http_listener *h)
{
	if (h == NULL)
		return;
	stop_listener(h);
	http_mcp_fini(&h->site.sessions);
	http_pool_fini(&h->pool, h->site.ctx->flush_until_ms);
	event_free(h->readable);
	event_free(h->rest);
	event_free(h->tick);
	free(h);
}

const char *http_listen_url(const struct http_listener *h)
{
	return h == NULL ? "" : h->url;
}

size_t http_listen_connections(const struct http_listener *h)
{
	return h == NULL ? 0 : h->pool.n;
}

size_t http_listen_sessions(const struct http_listener *h)
{
	return h == NULL ? 0 : h->site.sessions.n;
}
