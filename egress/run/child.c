/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - the loop of a child: the two channels, the listening socket of the cage, and
 * a tick while connections are open. Called by keeper.c after the fork. A wrong
 * packet of the worker ends the child, and so the network of the run alone.
 */
#include "egress/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/fdpass.h"
#include "base/os/log.h"
#include "egress/run/confine.h"
#include "egress/run/conn.h"
#include "egress/run/report.h"
#include "net/net_deny.h"

#define TICK_MS 1000

static void report_totals(struct child *child, bool always)
{
	const struct report r = {.kind = EGRESS_TOTALS,
				 .bytes_up = child->bytes_up,
				 .bytes_down = child->bytes_down};

	if (!always && child->told == child->bytes_up + child->bytes_down)
		return;
	child->told = child->bytes_up + child->bytes_down;
	report_send(child, &r);
}

/* ---- connections ---- */

static void on_tick(evutil_socket_t fd, short events, void *arg)
{
	struct child *child = arg;
	struct conn *c = LIST_FIRST(&child->conns), *next;
	int64_t now = clock_mono_ms();

	(void)fd;
	(void)events;
	for (; c != NULL; c = next) {
		next = LIST_NEXT(c, link);
		conn_tick(c, now);
	}
	report_totals(child, false);
	if (child->n_conns > 0)
		evtimer_add(child->on_tick, CLOCK_TIMEVAL(TICK_MS));
}

static void on_listening(evutil_socket_t fd, short events, void *arg)
{
	struct child *child = arg;
	int client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (client < 0)
		return;
	if (child->n_conns++ == 0)
		evtimer_add(child->on_tick, CLOCK_TIMEVAL(TICK_MS));
	if (child->n_conns == CHILD_CONNS_MAX)
		event_del(child->on_listening);
	conn_new(child, client, false);
}

void child_conn_gone(struct child *child)
{
	if (child->n_conns-- == CHILD_CONNS_MAX)
		event_add(child->on_listening, NULL);
}

/* ---- channels ---- */

/* Is FD a listening TCP socket? */
static bool is_listening(int fd)
{
	int domain = 0, type = 0, accepts = 0;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &len) == 0 &&
	       (domain == AF_INET || domain == AF_INET6) &&
	       type == SOCK_STREAM && accepts != 0;
}

/* The worker hands over the socket, once; then nothing more is read. */
static void on_cage(evutil_socket_t fd, short events, void *arg)
{
	struct child *child = arg;
	struct egress_listen listen = {0};
	bool whole;
	ssize_t n =
	    fdpass_recv(fd, &listen, sizeof(listen), &child->listening, &whole);

	(void)events;
	if (n == -EAGAIN)
		return;
	event_del(child->on_cage);
	if (n == 0)
		return; /* a run which never asks for network */
	if (n != sizeof(listen) || !whole || listen.version != EGRESS_VERSION ||
	    child->listening < 0 || !is_listening(child->listening) ||
	    fcntl(child->listening, F_SETFL, O_NONBLOCK) != 0)
		_exit(1);
	child->on_listening =
	    event_new(child->base, child->listening, EV_READ | EV_PERSIST,
		      on_listening, child);
	event_add(child->on_listening, NULL);
}

/* The supervisor sends nothing but the end of file, which is the end of the run. */
static void on_report(evutil_socket_t fd, short events, void *arg)
{
	struct child *child = arg;

	(void)fd;
	(void)events;
	while (!LIST_EMPTY(&child->conns))
		conn_close(LIST_FIRST(&child->conns));
	report_totals(child, true);
	_exit(0);
}

/* Does TLS of the program end in the child, for any host? */
static bool ends_tls(const struct order *o)
{
	for (size_t i = 0; i < o->n_hosts; i++)
		if (o->hosts[i].rules.given)
			return true;
	return o->n_secrets > 0;
}

/* Greet the worker, with certificates where TLS may end here. */
static void greet(struct child *child)
{
	struct egress_hello hello = {.version = EGRESS_VERSION};
	size_t bytes = 0;
	int fd = -1;

	if (ends_tls(child->order)) {
		child->authority = authority_new();
		if (child->authority != NULL)
			fd = authority_certificates(child->authority,
						    child->tls, &bytes);
		if (fd < 0) {
			log_error("egress", "child=no-authority err=%d", -fd);
			_exit(1);
		}
	}
	hello.certificates_bytes = (uint32_t)bytes;
	if (fdpass_send(child->cage, &hello, sizeof(hello), fd, 0) < 0)
		_exit(0);
	if (fd >= 0)
		close(fd);
}

static void on_keys(evutil_socket_t fd, short events, void *arg)
{
	struct child *child = arg;

	(void)events;
	if (keys_take(&child->keys, fd) == -EPIPE)
		event_del(child->on_keys); /* the keeper is ending */
}

/* Wait for the values of all secrets, right after the fork. */
static void take_keys(struct child *child)
{
	child->keys.order = child->order;
	for (size_t i = 0; i < child->order->n_secrets; i++)
		if (keys_take(&child->keys, child->keys_from) < 0)
			_exit(1);
	(void)fcntl(child->keys_from, F_SETFL, O_NONBLOCK);
}

/* Is the cage channel a stream, on which a Lua worker speaks HTTP itself? */
static bool is_stream(int cage)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return getsockopt(cage, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       type == SOCK_STREAM;
}

static void serve_worker(struct child *child)
{
	if (fcntl(child->cage, F_SETFL, O_NONBLOCK) != 0)
		_exit(1);
	child->n_conns++;
	evtimer_add(child->on_tick, CLOCK_TIMEVAL(TICK_MS));
	conn_new(child, child->cage, true);
}

/* ---- the life ---- */

/* Open everything a caged process cannot open. */
static void prepare(struct child *child)
{
	const struct timeval most = {.tv_sec = REPORT_WAIT_S};
	struct event_config *config = event_config_new();

	(void)setsockopt(child->report, SOL_SOCKET, SO_SNDTIMEO, &most,
			 sizeof(most));
	/* a single descriptor, and no variables of the environment */
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK |
					  EVENT_BASE_FLAG_IGNORE_ENV);
	child->base = event_base_new_with_config(config);
	event_config_free(config);
	child->names = names_new(child->base, child->policy.settings->resolver);
	if (child->base == NULL || child->names == NULL ||
	    net_deny_init(child->policy.settings->deny) < 0) {
		log_error("egress", "child=unprepared err=%d", errno);
		_exit(1);
	}
	child->on_cage = event_new(child->base, child->cage,
				   EV_READ | EV_PERSIST, on_cage, child);
	child->on_report =
	    event_new(child->base, child->report, EV_READ, on_report, child);
	child->on_keys = event_new(child->base, child->keys_from,
				   EV_READ | EV_PERSIST, on_keys, child);
	child->on_tick = evtimer_new(child->base, on_tick, child);
	event_add(child->on_keys, NULL);
	if (!is_stream(child->cage))
		event_add(child->on_cage, NULL);
	event_add(child->on_report, NULL);
}

_Noreturn void child_run(const struct child_plan *plan, int fds[CHILD_CHANNELS])
{
	static struct child child;
	pid_t parent = getppid();

	confine_begin(parent, fds, CHILD_CHANNELS);
	child = (struct child){.policy = {plan->settings, plan->order},
			       .order = plan->order,
			       .tls = plan->tls,
			       .cage = fds[CHILD_CAGE],
			       .report = fds[CHILD_REPORT],
			       .keys_from = fds[CHILD_KEYS],
			       .listening = -1};
	prepare(&child);
	take_keys(&child);
	if (!is_stream(child.cage))
		greet(&child);
	confine_end(plan->settings, plan->order, plan->filter, parent,
		    CHILD_FILES_MAX);
	if (is_stream(child.cage))
		serve_worker(&child);
	event_base_dispatch(child.base);
	_exit(0);
}
