/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon.c - handles signals and draining, opens the sockets, and informs the
 * service manager. main.c makes the daemon; HUP goes to reload.c. A socket that
 * cannot be opened is an exit status with a line; a refused reload changes
 * nothing; a drain that takes too long ends the runs.
 */
#include "supervisor/daemon.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/browser/browser.h"
#include "supervisor/egress/egress.h"
#include "supervisor/config/config.h"
#include "supervisor/context.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/store/state/disk_space.h"
#include "supervisor/run/health/health.h"
#include "supervisor/clients/streamable_http/http_listen.h"
#include "supervisor/clients/stdio/unix_listen.h"
#include "supervisor/start/sdnotify.h"
#include "supervisor/reload.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/spawn/isolation.h"
#include "supervisor/store/store.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/threads/thread_pool.h"
#include "supervisor/run/warm/residents.h"
#include "supervisor/run/warm/warm.h"
#include "supervisor/run/health/interpreters.h"

#define FIRST_PASSED_FD 3
#define END_MS 3000 /* time for ended runs to be recorded and answered */

struct daemon {
	struct context *ctx;
	struct reload *reload;
	struct unix_listener *listener; /* the unix socket; NULL on stdio */
	struct http_listener *http;	/* the HTTP port; NULL: no TCP */
	int signals_fd;			/* descriptor of signalfd(2) */
	struct event *signals;
	struct event *watchdog;
	struct event *drain; /* timer that ends the drain, whatever is left */
	/* turn to log the requestors for USR1, from LOGGED on */
	struct fair_queue_turn logging;
	struct requestor *logged;
	bool ready;  /* the cage is good, and clients are accepted */
	bool ending; /* the runs were told to end */
	int64_t started_ms;
};

/*
 * Inform the service manager; on stdio its variables are for the parent
 * process.
 */
static void tell_manager(const struct daemon *d, const char *state)
{
	int rc = d->listener == NULL ? 0 : sdnotify_send(state);

	if (rc < 0)
		log_warn("daemon", "notified=no err=\"%s\"", strerror(-rc));
}

/* ---- reload ---- */

static void on_taken(void *arg)
{
	struct daemon *d = arg;

	unix_listen_recheck(d->listener);
	http_listen_recheck(d->http);
	runs_reloaded(d->ctx->runs);
}

/* ERRMSG: why the reload was refused; NULL: the reload is done. */
static void on_reloaded(void *arg, const char *errmsg)
{
	struct daemon *d = arg;

	if (errmsg != NULL)
		log_error("daemon", "reload=refused why=\"%s\"", errmsg);
	else
		log_info("daemon", "reload=done templates=%zu broken=%zu",
			 d->ctx->catalogue->n, d->ctx->catalogue->n_problems);
	runs_reloaded(d->ctx->runs);
	if (d->ready && d->ctx->others)
		interpreters_try(d->ctx->interpreters);
	if (d->ready && !d->ctx->draining)
		tell_manager(d, "READY=1");
}

static void on_reloading(void *arg)
{
	struct daemon *d = arg;
	char state[96];

	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%lld",
		 (long long)clock_mono_us());
	if (d->ready && !d->ctx->draining)
		tell_manager(d, state);
}

static const struct reload_ops reload_ops = {on_reloading, on_taken,
					     on_reloaded};

static void on_hup(struct daemon *d)
{
	reload_ask(d->reload, NULL, NULL);
}

/* ---- the other signals ---- */

/* Log a few requestors in a turn: there may be thousands, each with a line. */
static void log_some(void *arg)
{
	struct daemon *d = arg;

	d->logged = requestors_log(d->ctx->requestors, d->logged);
	if (d->logged != NULL)
		fair_queue_requeue(d->ctx->turns, d->ctx->chores, &d->logging);
}

static void on_usr1(struct daemon *d)
{
	struct context *ctx = d->ctx;
	const char *sick = store_failing(ctx->store);
	const char *errmsg = health_reason(ctx);

	log_info(
	    "daemon",
	    "status=%s running=%zu queued=%zu connections=%zu "
	    "http_connections=%zu http_sessions=%zu "
	    "templates=%zu zygote=%d isolation=%s up_s=%lld disk=%s store=\"%s\" "
	    "ready=%s why=\"%s\"",
	    ctx->draining ? "draining"
	    : ctx->quiet  ? "quiet"
			  : "serving",
	    runs_running(ctx->runs), runs_queued(ctx->runs),
	    unix_listen_connections(d->listener),
	    http_listen_connections(d->http), http_listen_sessions(d->http),
	    ctx->catalogue->n,
	    (int)spawner_zygote_pid(ctx->spawner, RUNTIME_LUA),
	    isolation_name(ctx->isolation->level),
	    (long long)(clock_mono_ms() - d->started_ms) / 1000,
	    disk_space_name(disk_space(ctx->config, 0)),
	    !store_is_begun(ctx->store) ? "not opened"
	    : sick != NULL		? sick
					: "ok",
	    errmsg == NULL ? "yes" : "no", errmsg == NULL ? "" : errmsg);
	warm_log(ctx->warm);
	residents_log(ctx->residents);
	if (d->logging.lane == NULL)
		fair_queue_submit(ctx->turns, ctx->chores, &d->logging);
	thread_pool_log(ctx->thread_pool);
	browser_log(ctx->browser);
	egress_log(ctx->egress);
}

static void on_drain_timeout(evutil_socket_t fd, short what, void *arg);

static void await(struct daemon *d, int64_t ms)
{
	if (d->drain == NULL)
		d->drain = evtimer_new(d->ctx->base, on_drain_timeout, d);
	evtimer_add(d->drain, CLOCK_TIMEVAL(ms));
	event_base_loopbreak(
	    d->ctx->base); /* server_loop() then handles the rest */
}

/*
 * Start no more runs. Clients that wait for runs left to the next server are
 * told.
 */
static void begin_drain(struct daemon *d)
{
	struct context *ctx = d->ctx;

	reload_stop(d->reload); /* no client would see the result */
	ctx->quiet = true;
	ctx->draining = true;
	if (d->listener != NULL)
		unix_listen_stop(d->listener);
	http_listen_drain(d->http);
	sessions_end(ctx->sessions);
	warm_stop(ctx->warm);
	residents_stop(ctx->residents);
	runs_drain_parked(ctx->runs);
	if (ctx->cluster != NULL)
		ctx->cluster->hand_over(ctx->runs);
	if (ctx->others)
		runs_leave(ctx->runs);
}

/*
 * End all runs and answer their waiters; when called again, end without
 * answers.
 */
static void stop_now(struct daemon *d)
{
	struct context *ctx = d->ctx;

	tell_manager(d, "STOPPING=1");
	if (d->ending || ctx->runs == NULL ||
	    (!d->ready && !ctx->with_client)) {
		ctx->stop(ctx, 0);
		return;
	}
	d->ending = true;
	if (!ctx->draining)
		begin_drain(d);
	runs_end_now(ctx->runs, !ctx->others);
	await(d, END_MS);
}

static void on_drain_timeout(evutil_socket_t fd, short what, void *arg)
{
	struct daemon *d = arg;

	(void)fd, (void)what;
	log_warn("daemon", "drain=timeout running=%zu",
		 runs_running(d->ctx->runs));
	stop_now(d);
}

static void on_term(struct daemon *d)
{
	struct context *ctx = d->ctx;

	if (d->listener == NULL || ctx->draining) {
		stop_now(d);
		return;
	}
	begin_drain(d);
	tell_manager(d, "STOPPING=1\nSTATUS=draining");
	log_info("daemon", "drain=started running=%zu queued=%zu",
		 runs_running(ctx->runs), runs_queued(ctx->runs));
	await(d, ctx->config->drain_timeout_ms);
}

static void on_tstp(struct daemon *d)
{
	d->ctx->quiet = true;
	log_info("daemon", "quiet=yes");
	tell_manager(d, "STATUS=quiet: runs are accepted and queued");
}

static void on_cont(struct daemon *d)
{
	if (d->ctx->draining)
		return;
	d->ctx->quiet = false;
	log_info("daemon", "quiet=no");
	tell_manager(d, "STATUS=serving");
	runs_pump(d->ctx->runs);
}

static const struct {
	int sig;
	void (*handle)(struct daemon *d);
} handlers[] = {
    {SIGHUP, on_hup},	{SIGUSR1, on_usr1},  {SIGTERM, on_term},
    {SIGINT, on_term},	{SIGQUIT, stop_now}, {SIGTSTP, on_tstp},
    {SIGCONT, on_cont},
};

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct signalfd_siginfo info;

	(void)what;
	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		for (size_t i = 0; i < ARRAY_LEN(handlers); i++)
			if (handlers[i].sig == (int)info.ssi_signo)
				handlers[i].handle(arg);
}

/* ---- open, close ---- */

/*
 * Block the handled signals, so that none interrupts the work at the end. Of a
 * TSTP and a CONT that wait to be read the kernel keeps only the last.
 */
sigset_t daemon_hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(handlers); i++)
		sigaddset(&set, handlers[i].sig);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return set;
}

struct daemon *daemon_new(struct server *srv, struct context *ctx,
			  config_reader read_config, void *arg)
{
	struct daemon *d = xcalloc(1, sizeof(*d));
	sigset_t set;

	d->ctx = ctx;
	d->reload = reload_new(srv, read_config, arg, &reload_ops, d);
	ctx->reload = d->reload;
	ctx->reload_ask = reload_ask;
	d->logging = (struct fair_queue_turn){.take = log_some, .arg = d};
	d->started_ms = clock_mono_ms();
	set = daemon_hold_signals();
	d->signals_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	d->signals = event_new(ctx->base, d->signals_fd, EV_READ | EV_PERSIST,
			       on_signal, d);
	event_add(d->signals, NULL);
	return d;
}

static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	tell_manager(arg, "WATCHDOG=1");
}

/* Log why a server that has started serves nothing, if so. */
static void tell_reason(struct daemon *d)
{
	const char *why = health_reason(d->ctx);
	char *text;

	if (why == NULL)
		return;
	text = xasprintf("STATUS=%s", why);
	tell_manager(d, text);
	free(text);
	log_error("daemon", "serving=no why=\"%s\"", why);
}

void daemon_opened(void *arg, int rc, const char *errmsg)
{
	struct daemon *d = arg;
	int status = rc == 0 ? 0 : store_ends_start(rc);
	int64_t watchdog_ms;

	if (d->ctx->draining)
		return;
	if (status != 0)
		log_tell(LOG_LEVEL_ERROR, "daemon", "the %s cannot be used: %s",
			 d->ctx->config->database != NULL ? "database"
							  : "state folder",
			 errmsg);
	else if (rc != 0)
		log_error("store", "msg=\"%s\"", errmsg);
	if (status != 0) {
		d->ctx->stop(d->ctx, status);
		return;
	}
	unix_listen_start(d->listener);
	http_listen_ready(d->http);
	d->ready = true;
	tell_manager(d, "READY=1\nSTATUS=serving");
	log_info("daemon", "ready=yes socket=\"%s\" url=\"%s\" templates=%zu",
		 d->ctx->config->socket, http_listen_url(d->http),
		 d->ctx->catalogue->n);
	tell_reason(d);
	interpreters_try(d->ctx->interpreters);
	watchdog_ms = sdnotify_watchdog_ms();
	if (watchdog_ms <= 0)
		return;
	d->watchdog = event_new(d->ctx->base, -1, EV_PERSIST, on_watchdog, d);
	event_add(d->watchdog, CLOCK_TIMEVAL(watchdog_ms));
}

void daemon_ready(void *arg)
{
	struct daemon *d = arg;

	if (!d->ctx->draining) /* take over the runs of dead servers at once */
		store_begin(d->ctx->store);
}

int daemon_open(struct daemon *d)
{
	const struct config *config = d->ctx->config;
	int passed = sdnotify_listen_fds(), status = EX_UNAVAILABLE;
	char errmsg[512];

	if (passed > 1) {
		log_tell(LOG_LEVEL_ERROR, "daemon",
			 "the service manager passes %d sockets, and one is "
			 "enough",
			 passed);
		return EX_CONFIG;
	}
	d->listener = unix_listen_open(d->ctx, config->socket,
				       passed == 1 ? FIRST_PASSED_FD : -1,
				       errmsg, sizeof(errmsg));
	if (d->listener != NULL)
		status = config->listen == NULL
			     ? 0
			     : http_listen_open(&d->http, d->ctx, errmsg,
						sizeof(errmsg));
	if (status != 0)
		log_tell(LOG_LEVEL_ERROR, "daemon", "%s", errmsg);
	return status;
}

void daemon_free(struct daemon *d)
{
	if (d == NULL)
		return;
	fair_queue_cancel(&d->logging);
	reload_free(d->reload);
	http_listen_close(d->http);
	unix_listen_close(d->listener);
	event_free(d->signals);
	if (d->signals_fd >= 0)
		close(d->signals_fd);
	if (d->watchdog != NULL)
		event_free(d->watchdog);
	if (d->drain != NULL)
		event_free(d->drain);
	free(d);
}
