/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_process.c - paddock-browser as a child of paddockd: starts it for the
 * first call, reads and writes its socket, starts it again when it ends.
 * browser*.c call it. If the program dies, is silent or breaks the protocol,
 * all calls fail; a program which never answered is started again after growing
 * pauses.
 */
#include "supervisor/browser/browser_process.h"

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
#include "base/os/log.h"
#include "base/send_again.h"
#include "base/mem.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "supervisor/browser/browser_rpc.h"
#include "supervisor/spawn/helper/helper_log.h"
#include "proto/json/json_pack.h"

#define FRAMES_PER_WAKE 256
/* time from a call's timeout until the call is overdue */
#define OVERDUE_MS 10000
#define RESTART_FIRST_MS 100
#define RESTART_MAX_MS 5000
#define FAILED_STARTS_MAX 5 /* in a row, without any answer */
#define END_MS 3000	    /* time of the program to end after its stream */

#define NEVER_ANSWERED                                                         \
	"paddock-browser ends before it has answered; the server's log may "   \
	"say why"

#define SILENT                                                                 \
	"paddock-browser did not answer, and was ended with all its pages"
#define NOT_STARTED                                                            \
	"paddock-browser cannot be started; the server's log says why"

enum life { NONE, RUNNING, ENDING };

struct browser_process {
	struct browser_process_env env;
	enum life life;
	pid_t pid;
	int fd;
	struct event *readable, *writable;
	struct event *look;  /* a call is to be sent, or the program started */
	struct event *hurry; /* while ENDING: kills the program */
	int64_t start_at;    /* clock_mono_ms(): no start before */
	int64_t restart_ms;
	unsigned failed; /* starts in a row without an answer */
	uint64_t starts;
	const char *trouble; /* the last fault, until the program answers */
	struct browser_rpc requests;
	struct helper_log *log;
};

/* ---- the end of the program ---- */

static void close_channel(struct browser_process *b)
{
	if (b->fd < 0)
		return;
	event_free(b->readable);
	event_free(b->writable);
	close(b->fd);
	b->fd = -1;
}

static void look_in(struct browser_process *b, int64_t ms)
{
	event_add(b->look, CLOCK_TIMEVAL(ms));
}

/*
 * Set the time of the next start: a program which never answered has to wait.
 */
static void pause_starts(struct browser_process *b)
{
	if (b->requests.answered) {
		b->restart_ms = 0;
		b->failed = 0;
	} else {
		b->failed++;
	}
	b->restart_ms =
	    backoff_ms(b->restart_ms, RESTART_FIRST_MS, RESTART_MAX_MS);
	b->start_at = clock_mono_ms() + b->restart_ms;
}

/*
 * Give up the program, which broke the protocol or is silent: fail its calls.
 */
static void lose_process(struct browser_process *b, const char *errmsg)
{
	if (b->life != RUNNING)
		return;
	log_warn("browser", "broker=%d gone why=\"%s\"", (int)b->pid, errmsg);
	b->life = ENDING;
	close_channel(b);
	event_add(b->hurry, CLOCK_TIMEVAL(END_MS));
	pause_starts(b);
	b->trouble = b->requests.answered ? NULL : NEVER_ANSWERED;
	if (b->requests.answered)
		browser_rpc_fail_begun(
		    &b->requests, "PAGE_CRASHED",
		    "the browser has ended, and its pages and sessions "
		    "with it");
	else
		browser_rpc_fail_begun(&b->requests, "BROWSER_UNAVAILABLE",
				       NEVER_ANSWERED);
}

static void on_hurry(evutil_socket_t fd, short what, void *arg)
{
	const struct browser_process *b = arg;

	(void)fd, (void)what;
	if (b->life == ENDING)
		kill(b->pid, SIGKILL);
}

bool browser_process_exited(struct browser_process *b, pid_t pid, int status)
{
	if (b == NULL || b->life == NONE || pid != b->pid)
		return false;
	log_info("browser", "broker=%d status=%d", (int)pid, status);
	lose_process(b, "it has ended");
	evtimer_del(b->hurry);
	b->life = NONE;
	b->pid = 0;
	if (!TAILQ_EMPTY(&b->requests.out))
		look_in(b, 0);
	return true;
}

/* ---- frames from the program ---- */

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	static char frame[CHAN_FRAME_MAX];
	struct browser_process *b = arg;
	const char *errmsg;

	(void)fd, (void)what;
	for (int i = 0; i < FRAMES_PER_WAKE && b->life == RUNNING; i++) {
		ssize_t n = chan_recv(b->fd, frame);

		if (n == -EAGAIN)
			return;
		if (n <= 0)
			lose_process(b, "its end is closed");
		else if (browser_rpc_recv(&b->requests, frame, (size_t)n,
					  &errmsg) < 0)
			lose_process(b, errmsg);
	}
}

/* ---- frames to the program ---- */

static void flush_frames(struct browser_process *b)
{
	static char frame[CHAN_FRAME_MAX];
	size_t n;
	int rc = 0;

	while (rc == 0 && (n = browser_rpc_frame(&b->requests, frame)) > 0) {
		rc = chan_send(b->fd, frame, n);
		if (rc == 0)
			browser_rpc_sent(&b->requests);
	}
	if (send_again_may(rc))
		SEND_AGAIN(b->writable, b->fd, rc);
	/* other failures show when reading */
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	flush_frames(arg);
}

/* ---- starting the program ---- */

static int start_process(struct browser_process *b)
{
	int ends[2], high, log, rc = chan_pair(ends);

	if (rc < 0)
		return rc;
	/* above the descriptor numbers which the child assigns */
	high = fcntl(ends[1], F_DUPFD_CLOEXEC, 16);
	log = high < 0 ? -errno : helper_log_open(b->log);
	rc = log < 0 ? log : b->env.launch(b->env.arg, high, log, &b->pid);
	if (high >= 0)
		close(high);
	if (log >= 0)
		close(log);
	close(ends[1]);
	if (rc < 0) {
		close(ends[0]);
		return rc;
	}
	log_info("browser", "broker=%d started", (int)b->pid);
	b->life = RUNNING;
	b->starts++;
	b->fd = ends[0];
	browser_rpc_begin(&b->requests);
	b->readable =
	    event_new(b->env.base, b->fd, EV_READ | EV_PERSIST, on_readable, b);
	b->writable = event_new(b->env.base, b->fd, EV_WRITE, on_writable, b);
	event_add(b->readable, NULL);
	return 0;
}

static void try_start(struct browser_process *b)
{
	int64_t wait = b->start_at - clock_mono_ms();
	int rc;

	if (b->failed >= FAILED_STARTS_MAX) {
		b->failed--; /* the next call causes a further start */
		browser_rpc_fail_out(&b->requests, "BROWSER_UNAVAILABLE",
				     NEVER_ANSWERED);
		return;
	}
	if (wait > 0) {
		look_in(b, wait);
		return;
	}
	rc = start_process(b);
	if (rc == 0)
		return;
	log_error("browser", "broker=none err=\"%s\"", strerror(-rc));
	browser_rpc_begin(&b->requests);
	pause_starts(b);
	browser_rpc_fail_out(&b->requests, "BROWSER_UNAVAILABLE", NOT_STARTED);
	b->trouble = NOT_STARTED;
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct browser_process *b = arg;

	(void)fd, (void)what;
	browser_rpc_fail_refused(&b->requests);
	if (b->life == NONE && !TAILQ_EMPTY(&b->requests.out))
		try_start(b);
	if (b->life == RUNNING)
		flush_frames(b);
}

/* ---- asking ---- */

static void on_overdue(evutil_socket_t fd, short what, void *arg)
{
	struct browser_rpc_call *c = arg;
	struct browser_process *b = c->process;

	(void)fd, (void)what;
	/* paddock-browser was never started */
	if (c->text != NULL && c->seq == 0) {
		browser_rpc_fail(c, "BROWSER_UNAVAILABLE",
				 "the browser does not start");
		return;
	}
	kill(b->pid, SIGKILL);
	lose_process(b, "it does not answer");
	b->trouble = SILENT;
}

struct browser_rpc_call *browser_process_ask(struct browser_process *b,
					     const char *tool,
					     struct json_object *body,
					     int64_t timeout_ms,
					     browser_rpc_done done, void *arg)
{
	int64_t ms = timeout_ms + OVERDUE_MS;
	struct browser_rpc_call *c = browser_rpc_add(&b->requests, tool, body);

	look_in(b, 0);
	c->process = b;
	c->done = done;
	c->arg = arg;
	if (c->len > MSG_ASK_MAX) {
		c->code = "INVALID_PARAMETER";
		c->errmsg = "the arguments are over 1 MiB, which is fixed";
	} else if (done != NULL && browser_rpc_full(c, b->env.shared)) {
		c->code = "BROWSER_BUSY";
		c->errmsg =
		    "too much of what you asked of the browser waits; try "
		    "again later";
	}
	c->overdue = evtimer_new(b->env.base, on_overdue, c);
	evtimer_add(c->overdue, CLOCK_TIMEVAL(ms));
	return c;
}

/*
 * A call being sent is sent to its end, since paddock-browser answers its
 * number; a cancel follows.
 */
void browser_process_forget(struct browser_rpc_call *c)
{
	struct browser_process *b = c->process;

	c->done = NULL;
	if (c->failing)
		return;
	if (c->seq == 0) {
		browser_rpc_remove(c);
		return;
	}
	browser_process_ask(b, "cancel", json_pack("seq:i", c->seq), 0, NULL,
			    NULL);
}

bool browser_process_is_running(const struct browser_process *b)
{
	return b->life == RUNNING;
}

pid_t browser_process_pid(const struct browser_process *b)
{
	return b->life == NONE ? 0 : b->pid;
}

const char *browser_process_trouble(const struct browser_process *b)
{
	return b->life == RUNNING && b->requests.answered ? NULL : b->trouble;
}

uint64_t browser_process_starts(const struct browser_process *b)
{
	return b->starts;
}

/* ---- start and end of the server ---- */

struct browser_process *
browser_process_new(const struct browser_process_env *env)
{
	struct browser_process *b = xcalloc(1, sizeof(*b));

	b->env = *env;
	b->fd = -1;
	b->look = evtimer_new(env->base, on_look, b);
	b->log = helper_log_new(env->base, "browser");
	b->hurry = evtimer_new(env->base, on_hurry, b);
	browser_rpc_init(&b->requests);
	return b;
}

/* Close the stream: the program ends its browser and then itself. */
void browser_process_stop(struct browser_process *b)
{
	const struct timespec delay = {.tv_nsec = 5000000};
	int64_t until = clock_mono_ms() + END_MS;
	int status;

	if (b == NULL || b->life == NONE)
		return;
	close_channel(b);
	b->life = NONE;
	while (clock_mono_ms() < until) {
		if (waitpid(b->pid, &status, WNOHANG) != 0)
			return;
		nanosleep(&delay, NULL);
	}
	kill(b->pid, SIGKILL);
	waitpid(b->pid, &status, 0);
}

void browser_process_free(struct browser_process *b)
{
	if (b == NULL)
		return;
	browser_rpc_fini(&b->requests);
	helper_log_free(b->log);
	event_free(b->look);
	event_free(b->hurry);
	free(b);
}
