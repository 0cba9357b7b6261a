/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress.c - paddock-egress as a child of paddockd: started for the first run
 * with network, written to and read by a socket, started again after an end.
 * server.c owns the child, reload.c configures the child. If the program dies
 * or breaks the protocol, all runs with network fail; a program without answers
 * is started again after growing pauses.
 */
#include "supervisor/egress/egress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/os/fdpass.h"
#include "base/os/log.h"
#include "base/os/sys.h"
#include "base/send_again.h"
#include "ipc/chan.h"
#include "proto/json/json_pack.h"
#include "supervisor/egress/egress_private.h"
#include "supervisor/spawn/helper/helper_log.h"
#include "supervisor/spawn/spawn_exec.h"

#define PACKETS_PER_WAKE 64
#define RESTART_FIRST_MS 100
#define RESTART_MAX_MS 5000
#define END_MS 3000 /* time of the program to end after the socket */

#define GONE "paddock-egress has ended, and the run's network with it"
#define NOT_STARTED                                                            \
	"paddock-egress cannot be started; the server's log says why"

static void set_trouble(struct egress *e, const char *why)
{
	free(e->trouble);
	e->trouble = xstrdup_opt(why);
}

/* ---- packets to the program ---- */

static void free_packet(struct egress *e, struct egress_packet *p)
{
	TAILQ_REMOVE(&e->out, p, link);
	sys_close(p->fds[0]);
	sys_close(p->fds[1]);
	free(p->text);
	free(p);
}

static void drop_packets(struct egress *e)
{
	while (!TAILQ_EMPTY(&e->out))
		free_packet(e, TAILQ_FIRST(&e->out));
}

static struct egress_packet *packet_new(struct json_object *o, const int fds[2])
{
	struct egress_packet *p = xcalloc(1, sizeof(*p));
	const char *text = json_text(o, &p->len);

	p->text = xstrndup(text, p->len);
	p->fds[0] = fds != NULL ? fds[0] : -1;
	p->fds[1] = fds != NULL ? fds[1] : -1;
	json_object_put(o);
	return p;
}

static void flush_packets(struct egress *e)
{
	struct egress_packet *p;

	while (e->life == EGRESS_RUNNING &&
	       (p = TAILQ_FIRST(&e->out)) != NULL) {
		int rc = fdpass_send_two(e->fd, p->text, p->len, p->fds,
					 MSG_DONTWAIT);

		if (send_again_may(rc)) {
			SEND_AGAIN(e->writable, e->fd, rc);
			return;
		}
		free_packet(e, p); /* other failures show when reading */
	}
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	flush_packets(arg);
}

/* ---- the end of the program ---- */

static void pause_starts(struct egress *e)
{
	if (e->answered)
		e->restart_ms = 0;
	e->restart_ms =
	    backoff_ms(e->restart_ms, RESTART_FIRST_MS, RESTART_MAX_MS);
	e->start_at = clock_mono_ms() + e->restart_ms;
}

static void close_socket(struct egress *e)
{
	if (e->fd < 0)
		return;
	event_free(e->readable);
	event_free(e->writable);
	close(e->fd);
	e->fd = -1;
}

static void lose_program(struct egress *e, const char *errmsg)
{
	if (e->life != EGRESS_RUNNING)
		return;
	log_warn("egress", "pid=%d gone why=\"%s\"", (int)e->pid, errmsg);
	e->life = EGRESS_ENDING;
	close_socket(e);
	kill(e->pid, SIGKILL);
	pause_starts(e);
	drop_packets(e);
	egress_children_lost(e, GONE);
}

bool egress_exited(struct egress *e, pid_t pid, int status)
{
	if (e == NULL || e->life == EGRESS_NONE || pid != e->pid)
		return false;
	log_info("egress", "pid=%d status=%d", (int)pid, status);
	lose_program(e, "the process has ended");
	e->life = EGRESS_NONE;
	e->pid = 0;
	if (!TAILQ_EMPTY(&e->out))
		event_active(e->again, 0, 0);
	return true;
}

/* ---- packets from the program ---- */

/* Handle the packet O. False: O breaks the protocol. */
static bool take_packet(struct egress *e, struct json_object *o)
{
	const char *config = json_member_str(o, "config");
	const char *message = json_member_str(o, "message");
	struct json_object *open = json_member(o, "open");
	struct json_object *ended = json_member(o, "ended");

	e->answered = true;
	if (config != NULL && strcmp(config, "ok") == 0) {
		set_trouble(e, NULL);
	} else if (config != NULL && message != NULL) {
		log_error("egress", "config=refused why=\"%s\"", message);
		if (e->starts > 0 && e->trouble == NULL)
			set_trouble(e, message);
	} else if (json_object_is_type(open, json_type_int)) {
		if (!json_member_bool(o, "ok"))
			egress_child_told(e,
					  (uint32_t)json_object_get_int64(open),
					  message != NULL ? message : GONE);
	} else if (json_object_is_type(ended, json_type_int)) {
		log_debug("egress", "child=%lld status=%lld",
			  (long long)json_object_get_int64(ended),
			  (long long)json_member_int(o, "status"));
	} else {
		return false;
	}
	return true;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	static char frame[CHAN_FRAME_MAX];
	struct egress *e = arg;

	(void)what;
	for (int i = 0; i < PACKETS_PER_WAKE && e->life == EGRESS_RUNNING;
	     i++) {
		ssize_t n = chan_recv(fd, frame);
		struct json_object *o;

		if (n == -EAGAIN)
			return;
		o = n > 0 ? json_unpack(frame, (size_t)n) : NULL;
		if (n <= 0)
			lose_program(e, "the end of the socket is closed");
		else if (o == NULL || !take_packet(e, o))
			lose_program(e, "the protocol was broken");
		json_object_put(o);
	}
}

/* ---- starting the program ---- */

/* Start the program with the descriptor END. 0 or -errno. */
static int launch(struct egress *e, int end)
{
	/* above the descriptor numbers which the child assigns */
	int high = fcntl(end, F_DUPFD_CLOEXEC, 16);
	int log = high < 0 ? -errno : helper_log_open(e->log);
	int rc;

	egress_config_free(e->argv);
	e->argv = egress_config_argv(e->config);
	e->stale = false;
	rc = log < 0 ? log
		     : spawn_exec_helper(CGROUP_EGRESS, e->program, e->argv,
					 high, log, &e->pid);
	sys_close(high);
	if (log >= 0)
		close(log);
	return rc;
}

static int start_program(struct egress *e)
{
	int ends[2], rc = chan_pair(ends);

	if (rc < 0)
		return rc;
	sys_roomy(ends[0]);
	rc = launch(e, ends[1]);
	close(ends[1]);
	if (rc < 0) {
		close(ends[0]);
		return rc;
	}
	log_info("egress", "pid=%d started", (int)e->pid);
	e->life = EGRESS_RUNNING;
	e->starts++;
	e->answered = false;
	e->fd = ends[0];
	e->readable =
	    event_new(e->base, e->fd, EV_READ | EV_PERSIST, on_readable, e);
	e->writable = event_new(e->base, e->fd, EV_WRITE, on_writable, e);
	event_add(e->readable, NULL);
	return 0;
}

/* Packets wait: start the program, now or later. */
static void try_start(struct egress *e)
{
	int64_t wait = e->start_at - clock_mono_ms();
	struct egress_packet *config;
	int rc;

	if (wait > 0) {
		evtimer_add(e->again, CLOCK_TIMEVAL(wait));
		return;
	}
	rc = start_program(e);
	if (rc < 0) {
		log_error("egress", "pid=none err=\"%s\"", strerror(-rc));
		e->answered = false;
		pause_starts(e);
		drop_packets(e);
		egress_children_lost(e, NOT_STARTED);
		return;
	}
	config = packet_new(egress_config_packet(e->config, e->argv), NULL);
	TAILQ_INSERT_HEAD(&e->out, config, link);
	flush_packets(e);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct egress *e = arg;

	(void)fd, (void)what;
	if (e->life == EGRESS_NONE && !TAILQ_EMPTY(&e->out) && !e->stopped)
		try_start(e);
}

void egress_send(struct egress *e, struct json_object *o, const int fds[2])
{
	struct egress_packet *p = packet_new(o, fds);

	TAILQ_INSERT_TAIL(&e->out, p, link);
	if (e->life == EGRESS_RUNNING)
		flush_packets(e);
	else
		event_active(e->again, 0, 0);
}

void egress_configure(struct egress *e, const struct config *config)
{
	e->config = config;
	set_trouble(e, NULL);
	if (e->life != EGRESS_RUNNING)
		return;
	e->stale = egress_config_lacked(config, e->argv, NULL) != NULL;
	egress_send(e, egress_config_packet(config, e->argv), NULL);
	egress_retire(e);
}

/* The next run with network starts the program, with the files of today. */
void egress_retire(struct egress *e)
{
	if (!e->stale || e->life != EGRESS_RUNNING || !LIST_EMPTY(&e->children))
		return;
	log_info("egress", "pid=%d ends why=\"secrets have other files\"",
		 (int)e->pid);
	e->stale = false;
	e->life = EGRESS_ENDING;
	close_socket(e);
	drop_packets(e);
}

const char *egress_trouble(const struct egress *e)
{
	return e->stopped ? "the server is ending" : e->trouble;
}

void egress_log(const struct egress *e)
{
	const struct egress_child *c;
	unsigned n = 0;

	LIST_FOREACH(c, &e->children, link)
		n++;
	log_info("egress",
		 "status=%s starts=%llu children=%u opened=%llu refused=%llu",
		 e->life == EGRESS_RUNNING ? "running" : "off", e->starts, n,
		 e->opened, e->refused);
}

/* ---- start and end of the server ---- */

struct egress *egress_new(struct event_base *base, const char *program,
			  const struct config *config)
{
	struct egress *e = xcalloc(1, sizeof(*e));

	e->base = base;
	e->program = program;
	e->config = config;
	e->fd = -1;
	e->again = evtimer_new(base, on_again, e);
	e->log = helper_log_new(base, "egress");
	TAILQ_INIT(&e->out);
	LIST_INIT(&e->children);
	return e;
}

/* Close the socket: the program ends all children, and exits. */
void egress_stop(struct egress *e)
{
	const struct timespec delay = {.tv_nsec = 5000000};
	int64_t until = clock_mono_ms() + END_MS;
	int status;

	if (e == NULL)
		return;
	e->stopped = true;
	drop_packets(e);
	egress_children_lost(e, NULL);
	close_socket(e);
	if (e->life == EGRESS_NONE)
		return;
	e->life = EGRESS_NONE;
	while (clock_mono_ms() < until) {
		if (waitpid(e->pid, &status, WNOHANG) != 0)
			return;
		nanosleep(&delay, NULL);
	}
	kill(e->pid, SIGKILL);
	waitpid(e->pid, &status, 0);
}

void egress_free(struct egress *e)
{
	if (e == NULL)
		return;
	helper_log_free(e->log);
	event_free(e->again);
	egress_config_free(e->argv);
	free(e->trouble);
	free(e);
}
