#include "supervisor/crew_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "supervisor/launch.h"

#define NOTES_PER_WAKE 64
#define START_MAX_S 20 /* from exec to the report; milliseconds are usual */
#define RESTART_MAX_MS 5000
#define FAILED_STARTS_MAX 5 /* zygotes in a row that never reported… */
#define FAILED_LATER_MAX 20 /* …once one did: a minute and a half */

static int read_notes(struct zygote *z);
static void on_note(evutil_socket_t fd, short what, void *arg);

/* ---- birth of a zygote ---- */

/* Held up, by a debugger say: another may do better. */
static void on_overdue(evutil_socket_t fd, short what, void *arg)
{
	struct zygote *z = arg;

	(void)fd, (void)what;
	log_warn("crew", "zygote=%d report=none after_s=%d", (int)z->pid,
		 START_MAX_S);
	kill(z->pid, SIGKILL);
}

int zygote_start(struct crew *c)
{
	struct timeval tv = {.tv_sec = START_MAX_S};
	struct zygote *z = xcalloc(1, sizeof(*z));
	char *argv[] = {(char *)"paddock-worker", NULL};
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
		rc = launch_zygote(c->path, argv, ends[1], &z->pid);
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
	z->crew = c;
	z->control = ends[0];
	z->readable = event_new(c->base, z->control, EV_READ | EV_PERSIST,
				on_note, z);
	event_add(z->readable, NULL);
	z->overdue = evtimer_new(c->base, on_overdue, z);
	evtimer_add(z->overdue, &tv);
	TAILQ_INIT(&z->pending);
	LIST_INSERT_HEAD(&c->zygotes, z, link);
	return 0;
}

/* ---- its end ---- */

struct zygote *zygote_of_pid(struct crew *c, pid_t pid)
{
	struct zygote *z;

	LIST_FOREACH(z, &c->zygotes, link)
		if (z->pid == pid)
			return z;
	return NULL;
}

static void zygote_free(struct zygote *z)
{
	LIST_REMOVE(z, link);
	event_free(z->readable);
	event_free(z->overdue);
	close(z->control);
	free(z);
}

static void schedule_restart(struct crew *c)
{
	struct timeval tv = {.tv_sec = c->restart_ms / 1000,
			     .tv_usec = c->restart_ms % 1000 * 1000L};

	event_add(c->restart, &tv);
	c->restart_ms *= 2;
	if (c->restart_ms > RESTART_MAX_MS)
		c->restart_ms = RESTART_MAX_MS;
}

/* One that served before shows that it can be done: then be patient. */
static void start_failed(struct crew *c, const char *why)
{
	unsigned most = c->measured ? FAILED_LATER_MAX : FAILED_STARTS_MAX;

	log_warn("crew", "zygote=none why=\"%s\"", why);
	if (c->current != NULL)
		return; /* it was to be renewed, and serves on */
	if (++c->failed_starts >= most)
		c->ops.on_broken(c->arg, why);
	else
		schedule_restart(c);
}

static bool is_on_its_way(const struct crew *c)
{
	const struct zygote *z;

	LIST_FOREACH(z, &c->zygotes, link)
		if (!z->ready)
			return true;
	return false;
}

void zygote_restart(evutil_socket_t fd, short what, void *arg)
{
	struct crew *c = arg;
	int rc = is_on_its_way(c) ? 0 : zygote_start(c);

	(void)fd, (void)what;
	if (rc < 0)
		start_failed(c, strerror(-rc));
}

void zygote_gone(struct zygote *z, int status)
{
	struct crew *c = z->crew;
	bool ready = z->ready, retired = z->retired;

	z->gone = true;
	if (c->current == z)
		c->current = NULL;
	while (read_notes(z) == NOTES_PER_WAKE)
		; /* its last words */
	if (!TAILQ_EMPTY(&z->pending))
		c->strangers = true;
	crew_fail_pending(z, ESRCH);
	zygote_free(z);
	if (c->stopping || retired)
		return;
	log_warn("crew", "zygote=gone status=%d", status);
	if (ready)
		schedule_restart(c);
	else
		start_failed(c, "the worker program ends before it has measured "
				"its cage");
}

/* ---- notes ---- */

/* The newest zygote that is ready serves; an older one is let go. */
static void on_report(struct zygote *z, const struct crew_note *note)
{
	struct crew *c = z->crew;
	struct zygote *old = c->current;

	if (z->gone)
		return;
	z->ready = true;
	evtimer_del(z->overdue);
	c->measured = true;
	c->current = z;
	c->restart_ms = RESTART_FIRST_MS;
	c->failed_starts = 0;
	if (old != NULL) {
		old->retired = true;
		shutdown(old->control, SHUT_WR);
	}
	c->ops.on_report(c->arg, note);
}

static void on_broken(struct crew *c, const char *why)
{
	if (c->measured)
		log_warn("crew", "zygote=broken why=\"%s\"", why);
	else
		c->ops.on_broken(c->arg, why);
}

/* How many there were, at most NOTES_PER_WAKE. */
static int read_notes(struct zygote *z)
{
	struct crew_note note;
	int i;

	for (i = 0; i < NOTES_PER_WAKE; i++) {
		ssize_t n = recv(z->control, &note, sizeof(note), MSG_DONTWAIT);

		if (n == 0)
			event_del(z->readable); /* SIGCHLD tells the rest */
		if (n != (ssize_t)sizeof(note))
			break;
		note.text[sizeof(note.text) - 1] = '\0';
		if (note.type == CREW_SPAWNED)
			crew_spawned(z, &note);
		else if (note.type == CREW_REPORT)
			on_report(z, &note);
		else if (note.type == CREW_BROKEN)
			on_broken(z->crew, note.text);
	}
	return i;
}

static void on_note(evutil_socket_t fd, short what, void *arg)
{
	struct zygote *z = arg;

	(void)fd, (void)what;
	read_notes(z);
	crew_settle(z->crew);
}

void crew_renew(struct crew *c)
{
	int rc;

	if (c->stopping || is_on_its_way(c) ||
	    event_pending(c->restart, EV_TIMEOUT, NULL))
		return;
	rc = zygote_start(c);
	if (rc < 0)
		log_warn("crew", "zygote=renew failed err=\"%s\"", strerror(-rc));
}
