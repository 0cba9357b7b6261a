/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - joins c-ares to the loop of a child. The answers of name servers are parsed
 * by c-ares in the run's own child. A name without an answer in time has no address.
 */
#include "egress/run/names.h"

#include <ares.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SOCKETS_MAX 16

struct names {
	ares_channel channel;
	struct event_base *base;
	struct event *timer;
	struct { /* sockets of the channel; NULL: a free place */
		struct event *event;
		ares_socket_t fd;
	} sockets[SOCKETS_MAX];
};

struct names_query {
	unsigned port;
	bool asking; /* names_ask() has not returned */
	void (*done)(void *arg, const union names_address *list, size_t n);
	void *arg;
};

/* Wake at the next timeout of a question. */
static void set_timer(struct names *n)
{
	struct timeval most = {.tv_sec = 60}, t;

	if (ares_timeout(n->channel, NULL, &t) != NULL)
		evtimer_add(n->timer, ares_timeout(n->channel, &most, &t));
	else
		evtimer_del(n->timer);
}

static void on_socket(evutil_socket_t fd, short events, void *arg)
{
	struct names *n = arg;

	ares_process_fd(n->channel,
			(events & EV_READ) != 0 ? fd : ARES_SOCKET_BAD,
			(events & EV_WRITE) != 0 ? fd : ARES_SOCKET_BAD);
	set_timer(n);
}

static void on_timer(evutil_socket_t fd, short events, void *arg)
{
	struct names *n = arg;

	(void)fd;
	(void)events;
	ares_process_fd(n->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	set_timer(n);
}

/* c-ares has opened or closed FD, or waits for other events. */
static void on_state(void *arg, ares_socket_t fd, int readable, int writable)
{
	struct names *n = arg;
	size_t i = 0;

	while (i < SOCKETS_MAX &&
	       (n->sockets[i].event == NULL || n->sockets[i].fd != fd))
		i++;
	if (i < SOCKETS_MAX) {
		event_free(n->sockets[i].event);
		n->sockets[i].event = NULL;
	}
	for (i = 0; i < SOCKETS_MAX && n->sockets[i].event != NULL; i++)
		;
	if (i == SOCKETS_MAX || (!readable && !writable))
		return;
	n->sockets[i].fd = fd;
	n->sockets[i].event =
	    event_new(n->base, fd,
		      (short)(EV_PERSIST | (readable ? EV_READ : 0) |
			      (writable ? EV_WRITE : 0)),
		      on_socket, n);
	event_add(n->sockets[i].event, NULL);
}

struct names *names_new(struct event_base *base, const char *resolver)
{
	static char files_no_more[] = "b"; /* DNS, and not /etc/hosts */
	struct names *n = xcalloc(1, sizeof(*n));
	/* the granted name alone is looked up */
	struct ares_options options = {.flags = ARES_FLAG_NOSEARCH |
						ARES_FLAG_NOALIASES,
				       .timeout = NAMES_TRY_MS,
				       .tries = NAMES_TRIES,
				       .sock_state_cb = on_state,
				       .sock_state_cb_data = n,
				       .lookups = files_no_more};
	char *list;
	int rc;

	n->base = base;
	if (ares_init_options(&n->channel, &options,
			      ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS |
				  ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB |
				  ARES_OPT_LOOKUPS) != ARES_SUCCESS) {
		free(n);
		return NULL;
	}
	n->timer = evtimer_new(base, on_timer, n);
	if (resolver == NULL)
		return n;
	list = xstrdup(resolver);
	for (char *p = list; *p != '\0'; p++)
		if (*p == ' ')
			*p = ',';
	rc = ares_set_servers_ports_csv(n->channel, list);
	free(list);
	return rc == ARES_SUCCESS ? n : NULL;
}

static size_t take_addresses(const struct ares_addrinfo *info, unsigned port,
			     union names_address list[NAMES_ADDRESSES])
{
	size_t n = 0;

	for (const struct ares_addrinfo_node *a = info->nodes;
	     a != NULL && n < NAMES_ADDRESSES; a = a->ai_next) {
		if ((size_t)a->ai_addrlen > sizeof(list[0]))
			continue;
		memset(&list[n], 0, sizeof(list[n]));
		memcpy(&list[n], a->ai_addr, (size_t)a->ai_addrlen);
		if (list[n].any.sa_family == AF_INET)
			list[n].in.sin_port = htons((uint16_t)port);
		else
			list[n].in6.sin6_port = htons((uint16_t)port);
		n++;
	}
	return n;
}

static void on_answer(void *arg, int status, int timeouts,
		      struct ares_addrinfo *info)
{
	struct names_query *q = arg;
	union names_address list[NAMES_ADDRESSES];
	size_t n = 0;

	(void)timeouts;
	if (status == ARES_SUCCESS && info != NULL)
		n = take_addresses(info, q->port, list);
	if (info != NULL)
		ares_freeaddrinfo(info);
	if (q->done != NULL)
		q->done(q->arg, list, n);
	if (!q->asking)
		free(q);
	else
		q->asking = false; /* names_ask() frees */
}

struct names_query *
names_ask(struct names *n, const char *host, unsigned port,
	  void (*done)(void *arg, const union names_address *list, size_t n),
	  void *arg)
{
	/* the order of addresses is the server's */
	const struct ares_addrinfo_hints hints = {.ai_flags = ARES_AI_NOSORT,
						  .ai_family = AF_UNSPEC,
						  .ai_socktype = SOCK_STREAM};
	struct names_query *q = xcalloc(1, sizeof(*q));

	*q = (struct names_query){
	    .port = port, .asking = true, .done = done, .arg = arg};
	ares_getaddrinfo(n->channel, host, NULL, &hints, on_answer, q);
	set_timer(n);
	if (!q->asking) {
		free(q);
		return NULL;
	}
	q->asking = false;
	return q;
}

void names_cancel(struct names_query *q)
{
	if (q != NULL)
		q->done = NULL; /* on_answer() frees */
}
