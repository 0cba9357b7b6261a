/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress_child.c - the children of paddock-egress: opened for a worker, heard,
 * ended with the worker. worker.c owns them. The reports are claims of a process
 * that parses what strangers send: a report that breaks the protocol ends the
 * child, and a flood of reports waits in the channel, where the child waits, too.
 */
#include "supervisor/egress/egress_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "base/os/sys.h"
#include "ipc/chan.h"
#include "proto/json/json_pack.h"

#define REPORTS_PER_WAKE 64
#define PAUSE_MS 5 /* after so many */

#define BROKEN "paddock-egress broke the protocol, and the run's part was ended"
#define ENDED "the run's part of paddock-egress has ended"

static void close_report(struct egress_child *c)
{
	if (c->report < 0)
		return;
	event_free(c->readable);
	close(c->report);
	c->report = -1;
	evtimer_del(c->later);
}

/* Nothing more comes of C: tell the owner. WHY: as of on_lost(). */
static void lose_child(struct egress_child *c, const char *why)
{
	const struct egress_ops *ops = c->ops;
	void (*done)(void *) = c->done;

	if (c->report < 0)
		return;
	close_report(c);
	c->ops = NULL;
	c->done = NULL;
	if (done != NULL)
		done(c->done_arg); /* frees C */
	else if (ops != NULL)
		ops->on_lost(c->owner, why);
}

static void take_report(struct egress_child *c, const struct egress_report *r)
{
	c->egress->refused += r->kind == EGRESS_REFUSED;
	if (c->ops != NULL)
		c->ops->on_report(c->owner, r);
}

/* Read reports. Returns why C is to be given up, or NULL. */
static const char *read_reports(struct egress_child *c)
{
	_Alignas(struct egress_report) char frame[CHAN_FRAME_MAX];

	for (int i = 0; i < REPORTS_PER_WAKE; i++) {
		ssize_t n = chan_recv(c->report, frame);

		if (n == -EAGAIN)
			return NULL;
		if (n <= 0)
			return ENDED;
		if (egress_report_check(frame, (size_t)n) < 0)
			return BROKEN;
		take_report(c, (const struct egress_report *)frame);
	}
	if (c->done == NULL) {
		event_del(c->readable);
		evtimer_add(c->later, CLOCK_TIMEVAL(PAUSE_MS));
	}
	return NULL;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct egress_child *c = arg;
	const char *why = read_reports(c);

	(void)fd, (void)what;
	if (why != NULL)
		lose_child(c, why);
}

/* The pause is over, or the child did not tell the rest in time. */
static void on_later(evutil_socket_t fd, short what, void *arg)
{
	struct egress_child *c = arg;

	(void)fd, (void)what;
	if (c->done != NULL)
		lose_child(c, ENDED);
	else
		event_add(c->readable, NULL);
}

/* Return the text by which a child's rights are compared; the caller's. */
static char *text_of(struct json_object *network, struct json_object *secrets)
{
	size_t len;

	return xasprintf("%s %s", json_text(network, &len),
			 secrets != NULL ? json_text(secrets, &len) : "");
}

static int find_place(const struct egress *e)
{
	for (unsigned i = 0; i < UID_RANGE_EGRESS; i++)
		if (!e->places[i])
			return (int)i;
	return -1;
}

enum limit egress_limit(enum egress_reason reason)
{
	return reason == EGRESS_BYTES	      ? LIMIT_NETWORK_BYTES
	       : reason == EGRESS_REQUESTS    ? LIMIT_NETWORK_REQUESTS
	       : reason == EGRESS_CONNECTIONS ? LIMIT_NETWORK_CONNECTIONS
					      : LIMITS;
}

static struct json_object *packet_of(const struct egress_child *c,
				     const struct egress_ask *a)
{
	return json_pack("open:i uid?i run:s template:s requestor:s network:O "
			 "secrets:o maxBytes:i maxRequests:i maxConnections:i "
			 "memoryBytes:i cpuMs:i",
			 c->number, uid_range_egress(c->place), a->run,
			 a->template, a->requestor, a->network,
			 a->secrets != NULL ? json_object_get(a->secrets)
					    : json_object_new_array(),
			 a->bytes, a->requests, a->connections,
			 EGRESS_CHILD_BYTES, a->cpu_ms);
}

/* Return why no child can be had now; NULL: one can. */
static const char *find_fault(const struct egress *e,
			      const struct egress_ask *a)
{
	static char text[192];
	const char *trouble = egress_trouble(e), *lacked = NULL;

	if (trouble == NULL && e->stale && a->secrets != NULL)
		lacked = egress_config_lacked(e->config, e->argv, a->secrets);
	if (lacked == NULL)
		return trouble;
	snprintf(text, sizeof(text),
		 "the secret %s has another file, which is read as soon as no "
		 "run has network",
		 lacked);
	return text;
}

/* A Lua worker cannot make a stream non-blocking itself. */
static int channel_type(const struct egress_ask *a)
{
	return a->streams ? SOCK_STREAM | SOCK_NONBLOCK : SOCK_SEQPACKET;
}

struct egress_child *egress_open(struct egress *e, const struct egress_ask *ask,
				 int *cage, const char **why, int *rc)
{
	int place = find_place(e), report[2] = {-1, -1}, channel[2];
	struct egress_child *c;
	const char *trouble = find_fault(e, ask);

	*why = trouble;
	*rc = trouble != NULL ? -ENETDOWN : -EAGAIN;
	if (trouble != NULL || place < 0 || chan_pair(report) < 0 ||
	    socketpair(AF_UNIX, channel_type(ask) | SOCK_CLOEXEC, 0, channel) !=
		0) {
		sys_close(report[0]);
		sys_close(report[1]);
		return NULL;
	}
	c = xcalloc(1, sizeof(*c));
	*c = (struct egress_child){.egress = e,
				   .number = ++e->last_number,
				   .place = (unsigned)place,
				   .network =
				       text_of(ask->network, ask->secrets),
				   .report = report[0]};
	e->places[place] = true;
	e->opened++;
	c->readable =
	    event_new(e->base, c->report, EV_READ | EV_PERSIST, on_readable, c);
	event_add(c->readable, NULL);
	c->later = evtimer_new(e->base, on_later, c);
	LIST_INSERT_HEAD(&e->children, c, link);
	egress_send(e, packet_of(c, ask), (const int[]){channel[1], report[1]});
	*cage = channel[0];
	return c;
}

bool egress_child_serves(const struct egress_child *c,
			 struct json_object *network,
			 struct json_object *secrets)
{
	char *text;
	bool same;

	if (c == NULL)
		return json_length(network) == 0;
	text = text_of(network, secrets);
	same = c->report >= 0 && strcmp(c->network, text) == 0;
	free(text);
	return same;
}

void egress_child_watch(struct egress_child *c, const struct egress_ops *ops,
			void *owner)
{
	if (c == NULL)
		return;
	c->ops = ops;
	c->owner = owner;
}

bool egress_child_end(struct egress_child *c, void (*done)(void *arg),
		      void *arg)
{
	if (c == NULL || c->report < 0 || shutdown(c->report, SHUT_WR) != 0)
		return false;
	c->done = done;
	c->done_arg = arg;
	event_add(c->readable, NULL);
	evtimer_add(c->later, CLOCK_TIMEVAL(EGRESS_END_MS));
	return true;
}

void egress_child_free(struct egress_child *c)
{
	if (c == NULL)
		return;
	close_report(c);
	event_free(c->later);
	c->egress->places[c->place] = false;
	LIST_REMOVE(c, link);
	egress_retire(c->egress);
	free(c->network);
	free(c);
}

void egress_child_told(struct egress *e, uint32_t number, const char *why)
{
	struct egress_child *c;

	LIST_FOREACH(c, &e->children, link)
		if (c->number == number)
			break;
	if (c == NULL || why == NULL)
		return;
	log_debug("egress", "child=%u why=\"%s\"", number, why);
	lose_child(c, why);
}

/* The owner of a lost child may free others, too. */
void egress_children_lost(struct egress *e, const char *why)
{
	struct egress_child *c;

	do {
		LIST_FOREACH(c, &e->children, link)
			if (c->report >= 0)
				break;
		if (c != NULL && why == NULL)
			c->ops = NULL;
		if (c != NULL)
			lose_child(c, why);
	} while (c != NULL);
}
