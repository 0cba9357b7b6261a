/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_process.c - receives the reports of the starter and of Chromium's
 * PID 1, for chromium.c. Events of a start before the last are dropped, with
 * their descriptors. Both peers are ours; PID 1's figures are shown and decide
 * nothing else.
 */
#include "browser/process/chromium_process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/os/sys.h"
#include "base/mem.h"
#include "browser/process/chromium_starter.h"
#include "base/os/fdpass.h"

struct chromium_process {
	struct event_base *base;
	int starter;
	const struct chromium_process_ops *ops;
	void *arg;
	struct event *events, *watched;
	uint32_t start; /* number of the last start */
	/* received for the last start, by kind; -1: not yet */
	int fds[CHROMIUM_STARTER_PID1];
	int watch;
	pid_t pid;
	int held;
	struct chromium_init_event over; /* the last kill; kind 0: none */
	int64_t over_at;
};

static void forget_process(struct chromium_process *w)
{
	for (size_t i = 0; i < ARRAY_LEN(w->fds); i++)
		sys_drop(&w->fds[i]);
	if (w->watched != NULL)
		event_free(w->watched);
	w->watched = NULL;
	sys_drop(&w->watch);
	w->pid = -1;
	w->held = -1;
}

/* ---- Chromium's PID 1 ---- */

static void recv_init_event(struct chromium_process *w)
{
	struct chromium_init_event n;

	while (w->watch >= 0 &&
	       recv(w->watch, &n, sizeof(n), MSG_DONTWAIT) == sizeof(n)) {
		if (n.kind == CHROMIUM_INIT_HELD) {
			w->held = n.used != 0;
			continue;
		}
		log_warn("chromium", "ended=\"%s\" %s=%llu allowed=%llu",
			 n.kind == CHROMIUM_INIT_BUSY ? "the busiest"
						      : "the hungriest",
			 n.kind == CHROMIUM_INIT_MEMORY ? "bytes"
			 : n.kind == CHROMIUM_INIT_BUSY ? "cpu_ms"
							: "threads",
			 (unsigned long long)n.used,
			 (unsigned long long)n.allowed);
		w->over = n;
		w->over_at = clock_mono_ms();
	}
}

void chromium_process_silent(struct chromium_process *w, int64_t ms)
{
	const struct chromium_init_order o = {.silent_ms = ms};

	if (w->watch >= 0) /* lost packets are repeated while the silence
			      lasts */
		(void)!send(w->watch, &o, sizeof(o),
			    MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct chromium_process *w = arg;
	char byte;

	(void)what;
	recv_init_event(w);
	if (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0)
		event_del(w->watched); /* the starter reports the end */
}

const struct chromium_init_event *
chromium_process_over(struct chromium_process *w, int64_t ms)
{
	recv_init_event(w);
	return w->over.kind != 0 && clock_mono_ms() - w->over_at <= ms
		   ? &w->over
		   : NULL;
}

int chromium_process_held(const struct chromium_process *w)
{
	return w->held;
}

/* ---- the starter ---- */

static void take_process(struct chromium_process *w, int fd, pid_t pid)
{
	struct chromium_pipes pipes = {w->fds[CHROMIUM_STARTER_TO],
				       w->fds[CHROMIUM_STARTER_FROM],
				       w->fds[CHROMIUM_STARTER_LISTENER]};

	if (fd < 0 || pipes.to < 0 || pipes.from < 0 || pipes.listener < 0) {
		sys_drop(&fd);
		w->ops->failed(w->arg, "its descriptors did not arrive");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(w->fds); i++)
		w->fds[i] = -1;
	w->watch = fd;
	w->pid = pid;
	w->watched = event_new(w->base, fd, EV_READ | EV_PERSIST, on_watch, w);
	event_add(w->watched, NULL);
	w->ops->up(w->arg, &pipes);
}

/* Handle the event N; takes FD. */
static void take_event(struct chromium_process *w,
		       const struct chromium_starter_event *n, int fd)
{
	if (n->start != w->start) {
		sys_drop(&fd);
		return;
	}
	switch ((enum chromium_starter_event_kind)n->kind) {
	case CHROMIUM_STARTER_TO:
	case CHROMIUM_STARTER_FROM:
	case CHROMIUM_STARTER_LISTENER:
		sys_drop(&w->fds[n->kind]);
		w->fds[n->kind] = fd;
		return;
	case CHROMIUM_STARTER_PID1:
		take_process(w, fd, n->value);
		return;
	case CHROMIUM_STARTER_FAILED:
		w->ops->failed(w->arg, n->errmsg);
		return;
	case CHROMIUM_STARTER_ENDED:
		recv_init_event(w);
		w->ops->ended(w->arg, n->value);
		return;
	}
	sys_drop(&fd);
}

static void on_event(evutil_socket_t sock, short what, void *arg)
{
	struct chromium_starter_event n;
	struct chromium_process *w = arg;
	ssize_t got;
	int fd;

	(void)what;
	got = fdpass_recv((int)sock, &n, sizeof(n), &fd, NULL);
	if (got == sizeof(n)) {
		n.errmsg[sizeof(n.errmsg) - 1] = '\0';
		take_event(w, &n, fd);
		return;
	}
	sys_drop(&fd);
	if (got != -EAGAIN) {
		event_del(w->events);
		w->ops->lost(w->arg);
	}
}

static int order(struct chromium_process *w,
		 enum chromium_starter_request_kind kind)
{
	struct chromium_starter_request o = {.kind = kind, .start = w->start};

	return fdpass_send(w->starter, &o, sizeof(o), -1, 0);
}

int chromium_process_start(struct chromium_process *w)
{
	forget_process(w);
	w->over.kind = 0;
	w->start++;
	return order(w, CHROMIUM_STARTER_START);
}

void chromium_process_stop(struct chromium_process *w)
{
	/* without a starter there is none */
	(void)order(
	    w,
	    CHROMIUM_STARTER_STOP); /* without a starter there is no Chromium */
	w->start++;		    /* events of the old start are dropped
				       from now */
	forget_process(w);
}

pid_t chromium_process_pid(const struct chromium_process *w)
{
	return w->pid;
}

/* ---- begin and end of the object ---- */

struct chromium_process *
chromium_process_new(struct event_base *base, int starter,
		     const struct chromium_process_ops *ops, void *arg)
{
	struct chromium_process *w = xcalloc(1, sizeof(*w));

	w->base = base;
	w->starter = starter;
	w->ops = ops;
	w->arg = arg;
	w->watch = w->pid = -1;
	for (size_t i = 0; i < ARRAY_LEN(w->fds); i++)
		w->fds[i] = -1;
	w->events = event_new(base, starter, EV_READ | EV_PERSIST, on_event, w);
	event_add(w->events, NULL);
	return w;
}

void chromium_process_free(struct chromium_process *w)
{
	if (w == NULL)
		return;
	forget_process(w);
	event_free(w->events);
	close(w->starter);
	free(w);
}
