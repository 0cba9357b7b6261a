/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawner_zygote.c - the life of a zygote: starts a zygote, reads the report, and
 * replaces a zygote that dies or is to be renewed. spawner.c calls the functions. A
 * failed start is repeated after pauses that double. After several failures without any
 * success the server is told: the server ends without a zygote for Lua, and goes on
 * without programs. After one success the start is repeated for ever.
 */
#include "supervisor/spawn/spawner_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/backoff.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/spawn/spawn_exec.h"
#include "supervisor/runtime/runtime.h"

#define EVENTS_PER_WAKE 64
#define START_MAX_S 20 /* from exec to the report; milliseconds are usual */
#define RESTART_FIRST_MS 50 /* after the death of a zygote; doubles */
#define RESTART_MAX_MS 5000
#define FAILED_STARTS_MAX 5 /* failed zygotes in a row, before any success */
#define FAILED_LATER_MAX                                                       \
	20 /* after a success: a minute and a half until a line in the log */

static int read_events(struct zygote *z);
static void on_event(evutil_socket_t fd, short what, void *arg);

/* ---- start of a zygote ---- */

/* Kill a zygote that never reported, for example stopped by a debugger; a new one may. */
static void on_overdue(evutil_socket_t fd, short what, void *arg)
{
	struct zygote *z = arg;

	(void)fd, (void)what;
	log_warn("crew", "zygote=%d report=none after_s=%d", (int)z->pid,
		 START_MAX_S);
	kill(z->pid, SIGKILL);
}

static enum runtime_kind pool_kind(const struct zygote_pool *p)
{
	return (enum runtime_kind)(p - p->spawner->pool);
}

/* Make the zygote's arguments; the caller owns the array and the strings. */
static char **make_argv(const struct spawner *c, enum runtime_kind kind)
{
	const struct spawner_rootfs *t = &c->rootfs;
	char **argv = xcalloc(t->n_packages + t->n_reads + 6, sizeof(char *));
	bool copied = false;
	size_t n = 0;

	argv[n++] = xstrdup("paddock-worker");
	if (kind != 0)
		argv[n++] = xstrdup(runtime_names[kind]);
	if (!runtimes[kind]->sees_host)
		return argv;
	if (t->weak)
		argv[n++] = xstrdup("weak");
	for (size_t i = 0; i < t->n_packages; i++) {
		const struct spawner_package *p = &t->packages[i];
		bool copy = p->copied || p->copied_if;
		const char *behind = p->copied ? ":" : copy ? "?:" : "";

		argv[n++] = xasprintf("package=%" PRIx64 ":%" PRIx64 ":%s%s%s",
				      p->id.dev, p->id.ino,
				      copy ? p->digest : "", behind, p->path);
		copied |= copy;
	}
	if (copied)
		argv[n++] = xasprintf("copies=%" PRIu64 ":%" PRIu64,
				      t->copy_bytes, t->copies_bytes);
	for (size_t i = 0; i < t->n_reads; i++)
		argv[n++] = xasprintf("read=%s", t->reads[i]);
	if (t->artifacts != NULL)
		argv[n++] = xasprintf("artifacts=%" PRIx64 ":%" PRIx64 ":%s",
				      t->artifacts_id.dev, t->artifacts_id.ino,
				      t->artifacts);
	return argv;
}

static int launch_zygote(const struct spawner *c, enum runtime_kind kind,
			 int control, pid_t *pid)
{
	char **argv = make_argv(c, kind);
	int rc = spawn_exec_zygote(c->path, argv, control, pid);

	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
	return rc;
}

int zygote_start(struct spawner *c, enum runtime_kind kind)
{
	struct zygote *z = xcalloc(1, sizeof(*z));
	int ends[2] = {-1, -1};
	int rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		rc = -errno;
		free(z);
		return rc;
	}
	/* the child's end lies above the numbers that the child assigns */
	rc = fcntl(ends[1], F_DUPFD_CLOEXEC, 16);
	if (rc >= 0) {
		close(ends[1]);
		ends[1] = rc;
		rc = launch_zygote(c, kind, ends[1], &z->pid);
	} else {
		rc = -errno;
	}
	close(ends[1]);
	if (rc < 0) {
		close(ends[0]);
		free(z);
		return rc;
	}
	evutil_make_socket_nonblocking(ends[0]);
	z->spawner = c;
	z->kind = kind;
	if (runtimes[kind]->sees_host)
		z->artifacts = c->rootfs.artifacts_id;
	z->control = ends[0];
	z->readable =
	    event_new(c->base, z->control, EV_READ | EV_PERSIST, on_event, z);
	event_add(z->readable, NULL);
	z->overdue = evtimer_new(c->base, on_overdue, z);
	evtimer_add(z->overdue, CLOCK_TIMEVAL(START_MAX_S * 1000));
	TAILQ_INIT(&z->pending);
	LIST_INSERT_HEAD(&c->zygotes, z, link);
	return 0;
}

/*
 * ---- the end of a zygote ----
 */

struct zygote *zygote_of_pid(struct spawner *c, pid_t pid)
{
	struct zygote *z;

	LIST_FOREACH(z, &c->zygotes, link)
		if (z->pid == pid)
			return z;
	return NULL;
}

static void schedule_restart(struct zygote_pool *p)
{
	p->restart_ms =
	    backoff_ms(p->restart_ms, RESTART_FIRST_MS, RESTART_MAX_MS);
	event_add(p->restart, CLOCK_TIMEVAL(p->restart_ms));
}

/*
 * Handle a failed start. An earlier success proves that starts can succeed: then go on,
 * since the cause may pass; spawner_trouble() has the cause meanwhile.
 */
static void start_failed(struct zygote_pool *p, const char *errmsg)
{
	struct spawner *c = p->spawner;

	if (!p->said)
		snprintf(p->why, sizeof(p->why), "%s", errmsg);
	p->said = false;
	log_warn("crew", "zygote=none why=\"%s\"", p->why);
	if (p->current != NULL)
		return; /* the old zygote was to be renewed, and still serves */
	p->failed_starts++;
	if (p->measured || p->failed_starts < FAILED_STARTS_MAX)
		schedule_restart(p);
	else
		c->ops.on_broken(c->arg, pool_kind(p), p->why);
	if (p->measured && p->failed_starts == FAILED_LATER_MAX &&
	    !runtimes[pool_kind(p)]->always)
		c->ops.on_broken(c->arg, pool_kind(p), p->why);
}

const char *spawner_trouble(const struct spawner *c, enum runtime_kind kind)
{
	const struct zygote_pool *p = &c->pool[kind];

	return p->current == NULL && p->failed_starts >= FAILED_LATER_MAX
		   ? p->why
		   : NULL;
}

static bool is_on_its_way(const struct spawner *c, enum runtime_kind kind)
{
	const struct zygote *z;

	LIST_FOREACH(z, &c->zygotes, link)
		if (!z->ready && !z->retired && z->kind == kind)
			return true;
	return false;
}

void zygote_restart(evutil_socket_t fd, short what, void *arg)
{
	struct zygote_pool *p = arg;
	enum runtime_kind kind = pool_kind(p);
	int rc = 0;

	(void)fd, (void)what;
	if (p->wanted && !is_on_its_way(p->spawner, kind))
		rc = zygote_start(p->spawner, kind);
	if (rc < 0)
		start_failed(p, strerror(-rc));
}

static void retire(struct zygote *z)
{
	z->retired = true;
	shutdown(z->control, SHUT_WR);
}

void zygote_retire(struct spawner *c, enum runtime_kind kind)
{
	struct zygote *z;

	c->pool[kind].current = NULL;
	evtimer_del(c->pool[kind].restart);
	LIST_FOREACH(z, &c->zygotes, link) {
		if (z->kind != kind)
			continue;
		retire(z);
		if (!z->ready)
			kill(z->pid, SIGKILL);
	}
}

void zygote_gone(struct zygote *z, int status)
{
	struct spawner *c = z->spawner;
	struct zygote_pool *p = &c->pool[z->kind];
	bool ready = z->ready, retired = z->retired;

	z->gone = true;
	if (p->current == z)
		p->current = NULL;
	while (read_events(z) == EVENTS_PER_WAKE)
		; /* read the last messages */
	if (!TAILQ_EMPTY(&z->pending))
		c->unknown_children = true;
	spawner_fail_pending(z, ESRCH);
	LIST_REMOVE(z, link);
	event_free(z->readable);
	event_free(z->overdue);
	close(z->control);
	spawner_rootfs_forget(z);
	free(z);
	if (c->stopping || retired)
		return;
	log_warn("crew", "zygote=gone status=%d", status);
	if (ready)
		schedule_restart(p);
	else
		start_failed(p,
			     "the worker program ends before it has measured "
			     "its cage");
}

/* ---- events ---- */

/* The newest ready zygote serves; the older one is retired. */
static void on_report(struct zygote *z, const struct zygote_proto_event *event)
{
	struct spawner *c = z->spawner;
	struct zygote_pool *p = &c->pool[z->kind];
	struct zygote *old = p->current;

	if (z->gone || z->retired)
		return;
	z->ready = true;
	evtimer_del(z->overdue);
	/*
	 * not before the report, so that no client's first request waits; measured later
	 */
	(void)cgroup_place((enum cgroup_leaf)z->kind, z->pid);
	p->measured = true;
	if (runtimes[z->kind]->sees_host)
		c->shares_uid = event->uid_base < 0;
	p->current = z;
	p->restart_ms = 0;
	p->failed_starts = 0;
	p->said = false;
	if (old != NULL)
		retire(old);
	c->ops.on_report(c->arg, z->kind, event);
}

static void on_broken(struct zygote *z, const char *errmsg)
{
	struct spawner *c = z->spawner;
	struct zygote_pool *p = &c->pool[z->kind];

	if (z->retired)
		return;
	snprintf(p->why, sizeof(p->why), "%s", errmsg);
	p->said = true;
	if (p->measured)
		log_warn("crew", "zygote=broken why=\"%s\"", errmsg);
	else
		c->ops.on_broken(c->arg, z->kind, errmsg);
}

/* Read events of Z. Returns the number, at most EVENTS_PER_WAKE. */
static int read_events(struct zygote *z)
{
	struct zygote_proto_event event;
	int i;

	for (i = 0; i < EVENTS_PER_WAKE; i++) {
		ssize_t n =
		    recv(z->control, &event, sizeof(event), MSG_DONTWAIT);

		if (n == 0)
			event_del(z->readable); /* SIGCHLD reports the rest */
		if (n != (ssize_t)sizeof(event))
			break;
		event.text[sizeof(event.text) - 1] = '\0';
		if (event.type == ZYGOTE_PROTO_SPAWNED)
			spawner_spawned(z, &event);
		else if (event.type == ZYGOTE_PROTO_REPORT)
			on_report(z, &event);
		else if (event.type == ZYGOTE_PROTO_BROKEN)
			on_broken(z, event.text);
		else if (event.type == ZYGOTE_PROTO_MOUNT_FAILED)
			spawner_rootfs_failed(z, &event);
		if (TAILQ_EMPTY(&z->pending))
			return i + 1; /* no more are due */
	}
	return i;
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	struct zygote *z = arg;

	(void)fd, (void)what;
	read_events(z);
	spawner_settle(z->spawner);
}

void spawner_renew(struct spawner *c, enum runtime_kind kind)
{
	const struct zygote_pool *p = &c->pool[kind];
	int rc;

	if (c->stopping || !p->wanted || is_on_its_way(c, kind) ||
	    event_pending(p->restart, EV_TIMEOUT, NULL))
		return;
	rc = zygote_start(c, kind);
	if (rc < 0)
		log_warn("crew", "zygote=renew failed err=\"%s\"",
			 strerror(-rc));
}
