/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_process.c - chromium.c's ear. Notes of a start that is not the last one are
 * dropped, with the descriptors that they bring. Both peers are ours; the
 * watch's numbers are told to people and decide nothing else.
 */
#include "browser/process/chromium_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "browser/process/chromium_starter.h"
#include "base/os/fdpass.h"

struct world {
	struct event_base *base;
	int starter;
	const struct world_ops *ops;
	void *arg;
	struct event *notes, *watched;
	uint32_t start; /* the last */
	int fds[STARTER_WORLD]; /* that came for it, by kind; -1: not yet */
	int watch;
	pid_t pid;
	int held;
	struct watch_note over; /* kind 0: none */
	int64_t over_at;
};

static void drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void forget(struct world *w)
{
	for (size_t i = 0; i < ARRAY_LEN(w->fds); i++)
		drop(&w->fds[i]);
	if (w->watched != NULL)
		event_free(w->watched);
	w->watched = NULL;
	drop(&w->watch);
	w->pid = -1;
	w->held = -1;
}

/* ---- its PID 1 ---- */

static void hear_watch(struct world *w)
{
	struct watch_note n;

	while (w->watch >= 0 &&
	       recv(w->watch, &n, sizeof(n), MSG_DONTWAIT) == sizeof(n)) {
		if (n.kind == WATCH_HELD) {
			w->held = n.used != 0;
			continue;
		}
		log_warn("chromium", "ended=\"the hungriest\" %s=%llu allowed=%llu",
			 n.kind == WATCH_MEMORY ? "bytes" : "threads",
			 (unsigned long long)n.used,
			 (unsigned long long)n.allowed);
		w->over = n;
		w->over_at = clock_mono_ms();
	}
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct world *w = arg;
	char byte;

	(void)what;
	hear_watch(w);
	if (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0)
		event_del(w->watched); /* the starter tells that it ended */
}

const struct watch_note *world_over(struct world *w, int64_t ms)
{
	hear_watch(w);
	return w->over.kind != 0 && clock_mono_ms() - w->over_at <= ms
		   ? &w->over
		   : NULL;
}

int world_held(const struct world *w)
{
	return w->held;
}

/* ---- the starter ---- */

static void take_world(struct world *w, int fd, pid_t pid)
{
	struct world_ends ends = {w->fds[STARTER_TO], w->fds[STARTER_FROM],
				  w->fds[STARTER_LISTENER]};

	if (fd < 0 || ends.to < 0 || ends.from < 0 || ends.listener < 0) {
		drop(&fd);
		w->ops->failed(w->arg, "its descriptors did not arrive");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(w->fds); i++)
		w->fds[i] = -1;
	w->watch = fd;
	w->pid = pid;
	w->watched = event_new(w->base, fd, EV_READ | EV_PERSIST, on_watch, w);
	event_add(w->watched, NULL);
	w->ops->up(w->arg, &ends);
}

/* Takes FD. */
static void take(struct world *w, const struct starter_note *n, int fd)
{
	if (n->start != w->start) {
		drop(&fd);
		return;
	}
	switch ((enum starter_note_kind)n->kind) {
	case STARTER_TO:
	case STARTER_FROM:
	case STARTER_LISTENER:
		drop(&w->fds[n->kind]);
		w->fds[n->kind] = fd;
		return;
	case STARTER_WORLD:
		take_world(w, fd, n->value);
		return;
	case STARTER_FAILED:
		w->ops->failed(w->arg, n->why);
		return;
	case STARTER_ENDED:
		hear_watch(w);
		w->ops->ended(w->arg, n->value);
		return;
	}
	drop(&fd);
}

static void on_note(evutil_socket_t sock, short what, void *arg)
{
	struct starter_note n;
	struct world *w = arg;
	ssize_t got;
	int fd;

	(void)what;
	got = pass_recv((int)sock, &n, sizeof(n), &fd, NULL);
	if (got == sizeof(n)) {
		n.why[sizeof(n.why) - 1] = '\0';
		take(w, &n, fd);
		return;
	}
	drop(&fd);
	if (got != -EAGAIN) {
		event_del(w->notes);
		w->ops->lost(w->arg);
	}
}

static int order(struct world *w, enum starter_order_kind kind)
{
	struct starter_order o = {.kind = kind, .start = w->start};

	return pass_send(w->starter, &o, sizeof(o), -1, 0);
}

int world_start(struct world *w)
{
	forget(w);
	w->over.kind = 0;
	w->start++;
	return order(w, STARTER_START);
}

void world_stop(struct world *w)
{
	(void)order(w, STARTER_STOP); /* without a starter there is none */
	w->start++; /* what is told of it is old */
	forget(w);
}

pid_t world_pid(const struct world *w)
{
	return w->pid;
}

/* ---- its own beginning and end ---- */

struct world *world_new(struct event_base *base, int starter,
			const struct world_ops *ops, void *arg)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->base = base;
	w->starter = starter;
	w->ops = ops;
	w->arg = arg;
	w->watch = w->pid = -1;
	for (size_t i = 0; i < ARRAY_LEN(w->fds); i++)
		w->fds[i] = -1;
	w->notes =
	    event_new(base, starter, EV_READ | EV_PERSIST, on_note, w);
	event_add(w->notes, NULL);
	return w;
}

void world_free(struct world *w)
{
	if (w == NULL)
		return;
	forget(w);
	event_free(w->notes);
	close(w->starter);
	free(w);
}
