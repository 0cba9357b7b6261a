/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - owns the parts of one instance, starts and stops the parts in
 * order, and wires them; main.c starts the server, reload.c calls
 * server_look(). A failed start is an exit status with a line. Without a
 * measured cage, or a loop, the server ends; a failed store is tried again.
 */
#include "supervisor/server.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loop_guard.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/run/audit.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/browser/browser.h"
#include "supervisor/cluster/cluster_table.h"
#include "supervisor/egress/egress.h"
#include "supervisor/mcp/children/children.h"
#include "supervisor/mcp/tools/contract_tools.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/health/health.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/run/exec/artifact_save.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/run/health/interpreters.h"
#include "supervisor/run/worker/programs.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/start/worker_groups.h"
#include "supervisor/store/store.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/threads/thread_pool.h"
#include "supervisor/run/warm/residents.h"
#include "supervisor/run/warm/warm.h"
#include "supervisor/runtime/runtime.h"

#define SWEEP_EVERY_S 60
#define MINUTE_S 60
#define SICK_EVERY_S 1
#define FLUSH_MS 2000 /* time at the end for slow clients to read */
#define STOP_STORE_MS 10000
#define FAILED_PAUSE_US 10000
#define FAILED_TURNS_MAX 1000
#define TURN_US 4000 /* turns end then, and the loop looks for new events */

static void stop_server(struct context *ctx, int exit_status)
{
	struct server *srv = CONTAINER(ctx, struct server, context);

	srv->stopped = true;
	if (srv->exit_status == 0)
		srv->exit_status = exit_status;
	event_base_loopbreak(ctx->base);
}

/* ---- reports of the spawner ---- */

/* Are the cages of all loaded templates measured? */
static bool is_measured(const struct context *ctx)
{
	const struct catalogue *c = ctx->catalogue;
	bool done = true;

	for (size_t i = 0; i < RUNTIMES; i++)
		if (runtimes[i]->always)
			done &= runtimes[i]->is_measured(ctx->isolation);
	for (size_t i = 0; done && i < c->n; i++)
		done =
		    runtimes[c->all[i]->runtime]->is_measured(ctx->isolation);
	return done;
}

void server_look(struct server *srv)
{
	struct context *ctx = &srv->context;

	ctx->measured = is_measured(ctx);
	if (srv->exit_status != 0 || !ctx->measured)
		return;
	if (!srv->told_ready && srv->on_ready != NULL) {
		srv->told_ready = true;
		srv->on_ready(srv->arg);
		loop_guard_begin();
	}
	runs_pump(ctx->runs);
}

static void on_report(void *arg, enum runtime_kind kind,
		      const struct zygote_proto_event *report)
{
	struct server *srv = arg;
	int status =
	    runtimes[kind]->measured(&srv->context, (int)srv->require, report);

	if (status != 0)
		stop_server(&srv->context, status);
	warm_renew(srv->context.warm, kind);
	server_look(srv);
}

static void on_broken(void *arg, enum runtime_kind kind, const char *errmsg)
{
	struct server *srv = arg;
	int status = runtimes[kind]->broken(&srv->context, errmsg);

	if (status != 0)
		stop_server(&srv->context, status);
	else
		server_look(srv);
}

static bool on_other(void *arg, pid_t pid, int status)
{
	const struct context *ctx = &((struct server *)arg)->context;

	return browser_exited(ctx->browser, pid, status) ||
	       egress_exited(ctx->egress, pid, status);
}

/* ---- events ---- */

static void on_child(evutil_socket_t fd, short what, void *arg)
{
	struct signalfd_siginfo info;
	struct context *ctx = arg;

	(void)what;
	if (read(fd, &info, sizeof(info)) > 0)
		spawner_reap(ctx->spawner);
}

/*
 * Watch children by signalfd(2), with fewer calls than a handler waking the
 * loop.
 */
static void watch_children(struct server *srv)
{
	sigset_t set;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	srv->child_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	srv->on_child =
	    event_new(srv->context.base, srv->child_fd, EV_READ | EV_PERSIST,
		      on_child, &srv->context);
	event_add(srv->on_child, NULL);
}

static void on_store(evutil_socket_t fd, short what, void *arg)
{
	struct context *ctx = arg;

	(void)fd, (void)what;
	store_dispatch(ctx->store);
}

/* Tell clients that wait for a record which cannot be written. */
static void on_sick(evutil_socket_t fd, short what, void *arg)
{
	struct context *ctx = arg;
	const char *errmsg = store_failing_message(ctx->store);

	(void)fd, (void)what;
	health_watch(ctx);
	requestors_log_memory(ctx->requestors);
	if (errmsg == NULL)
		return;
	runs_tell_unrecorded(ctx->runs, errmsg);
	/* try whether the store is mended */
	store_probe(ctx->store, NULL, NULL);
}

static struct event *every(struct context *ctx, int seconds,
			   event_callback_fn fn)
{
	struct event *ev = event_new(ctx->base, -1, EV_PERSIST, fn, ctx);

	event_add(ev, CLOCK_TIMEVAL(seconds * 1000));
	return ev;
}

/* ---- the store, when first needed ---- */

/* Take over the runs of servers that died since the last sweep. */
static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	struct context *ctx = arg;
	struct requestor *q, *next;

	(void)fd, (void)what;
	runs_recover(ctx->runs);
	store_sweep(ctx->store, clock_wall_ms());
	/* time has passed: requestors may use or start more again */
	HASH_ITER(hh, ctx->requestors->by_name, q, next) {
		requestor_hold(q);
		artifact_save_count(ctx->store, q);
	}
	runs_pump(ctx->runs);
}

/* Log how many lines were held back. */
static void on_minute(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
	log_held_back(false);
	audit_held_back(false);
}

static void on_ask(struct context *ctx, struct run *r,
		   const struct worker_question *ask)
{
	if (ask->kind == WORKER_QUESTION_CALL && children_serve(ask->tool))
		children_ask(ctx, r, ask);
	else if (ask->kind == WORKER_QUESTION_CALL)
		browser_ask(ctx->browser, r, ask);
	else
		input_ask(ctx, r, ask);
}

static void on_drop(struct context *ctx, struct run *r, uint32_t seq)
{
	input_cancel(ctx, r, seq);
	browser_drop(r, seq);
	children_drop(r, seq);
}

static void on_probed(void *arg, const struct store_result *res)
{
	struct server *srv = arg;

	srv->context.opened = true;
	if (srv->on_opened != NULL)
		srv->on_opened(srv->arg, res->rc, res->errmsg);
	else if (res->rc != 0)
		log_error("store", "msg=\"%s\"", res->errmsg);
}

/*
 * The first request, of a run or of the daemon, begins the store: before it the
 * state folder is not touched, for clients start a server just to ask what it
 * is.
 */
static void on_store_begun(void *arg, int err)
{
	struct server *srv = arg;
	struct context *ctx = &srv->context;

	if (err != 0) {
		log_tell(LOG_LEVEL_ERROR, "server",
			 "the store cannot be started: %s", strerror(err));
		exit(EX_UNAVAILABLE);
	}
	privsep_give_state(); /* the store reports any failure */
	/* do without a commit: a client waits for the first answer */
	(ctx->others ? store_probe : store_open)(ctx->store, on_probed, srv);
	runs_remote_open(ctx->runs);
	srv->sweep = every(ctx, SWEEP_EVERY_S, on_sweep);
	srv->sick = every(ctx, SICK_EVERY_S, on_sick);
	on_sweep(-1, 0, ctx);
}

/* Open the store. 0, or the exit status. */
static int open_store(struct server *srv)
{
	struct context *ctx = &srv->context;
	char host[HOST_NAME_MAX + 1] = "";

	ctx->store = store_start(ctx->config->state_dir, ctx->instance);
	if (ctx->store == NULL) {
		log_tell(LOG_LEVEL_ERROR, "server",
			 "the store cannot be started: %s", strerror(errno));
		return EX_UNAVAILABLE;
	}
	store_set_url(ctx->store, ctx->config->database);
	if (store_is_shared(ctx->store))
		ctx->cluster = &cluster_table;
	if (ctx->config->node_name == NULL)
		gethostname(host, sizeof(host) - 1);
	store_set_node_name(ctx->store, ctx->config->node_name != NULL
					    ? ctx->config->node_name
					    : host);
	store_set_artifacts(ctx->store, config_has_rows(ctx->config)
					    ? NULL
					    : config_files_dir(ctx->config));
	store_on_begin(ctx->store, on_store_begun, srv);
	srv->on_store = event_new(ctx->base, store_fd(ctx->store),
				  EV_READ | EV_PERSIST, on_store, ctx);
	event_add(srv->on_store, NULL);
	return 0;
}

/* ---- start, stop ---- */

/*
 * Make the event base, without locks, for one thread uses it. Where programs
 * have the server's uid epoll(7) is avoided: the kernel bounds epoll for all
 * processes of a user together, so a program could leave the server none
 * (/proc/sys/fs/epoll/max_user_watches).
 */
static struct event_base *new_base(void)
{
	const struct timeval most = {.tv_usec = TURN_US};
	struct event_config *cfg = event_config_new();
	struct event_base *base;

	if (geteuid() != 0)
		event_config_avoid_method(cfg, "epoll");
	/* descriptors ready meanwhile are seen, however many came before */
	event_config_set_max_dispatch_interval(cfg, &most, -1, 0);
	event_config_set_flag(cfg, EVENT_BASE_FLAG_NOLOCK);
	base = event_base_new_with_config(cfg);
	event_config_free(cfg);
	return base;
}

/* Set the context's pointers, but for the parts made by server_start(). */
static void wire(struct server *srv)
{
	struct context *ctx = &srv->context;

	ctx->base = new_base();
	ctx->thread_pool = thread_pool_new(ctx->base, THREAD_POOL_THREADS);
	ctx->isolation = &srv->isolation;
	ctx->requestors = &srv->requestors;
	ctx->sessions = &srv->sessions;
	ctx->methods = &methods;
	ctx->turns = &srv->turns;
	ctx->chores = &srv->chores;
	ctx->instance = srv->instance;
	ctx->started_ms = clock_wall_ms();
	ctx->stop = stop_server;
	fair_queue_init(ctx->turns, ctx->base);
	fair_queue_flow_init(ctx->chores);
	sessions_init(ctx->sessions);
	requestors_apply(ctx->requestors, ctx->config);
	ctx->local = requestors_of_uid(ctx->requestors, getuid());
	id_new(srv->instance, "inst");
}

int server_start(struct server *srv, const struct config *config,
		 const struct server_programs *programs,
		 enum isolation_level require)
{
	static const struct spawner_ops ops = {on_report, on_broken, on_other};
	static const struct runs_ops run_ops = {browser_allow, on_ask, on_drop};
	struct context *ctx = &srv->context;
	int status;

	ctx->config = config;
	srv->require = require;
	wire(srv);
	/* prctl(2): EINVAL when the kernel has no seccomp filters */
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) {
		log_tell(LOG_LEVEL_ERROR, "server",
			 "this kernel has no seccomp, so nothing can be run "
			 "safely; use one with CONFIG_SECCOMP_FILTER");
		return EX_UNAVAILABLE;
	}
	signal(SIGPIPE, SIG_IGN);
	watch_children(srv);
	srv->minute = every(ctx, MINUTE_S, on_minute);
	worker_groups_limit(config);
	ctx->spawner = spawner_start(ctx->base, programs->worker, &ops, srv);
	if (ctx->spawner == NULL) {
		log_tell(LOG_LEVEL_ERROR, "server",
			 "%s, which runs are started by, cannot be started: %s",
			 programs->worker, strerror(errno));
		return EX_UNAVAILABLE;
	}
	/* while the zygote measures its cage */
	ctx->catalogue = catalogue_load_configured(
	    config, privsep_workers_are_others(), NULL, NULL);
	ctx->egress = egress_new(ctx->base, programs->egress, config);
	ctx->warm = warm_new(ctx);
	ctx->residents = residents_new(ctx);
	status = open_store(srv);
	if (status != 0)
		return status;
	ctx->interpreters = interpreters_new(ctx);
	ctx->runs = runs_new(ctx, &run_ops);
	ctx->browser = browser_new(ctx, programs->browser);
	ctx->browser_trouble = browser_trouble;
	programs_show(ctx->spawner, ctx->catalogue, config);
	grants_log(ctx->catalogue, config);
	return 0;
}

/*
 * Is the server draining, with all runs ended, no client waiting to be told of a run,
 * and no file on its way from or to a client?
 */
static bool is_drained(const struct context *ctx)
{
	return ctx->draining && runs_unrecorded(ctx->runs) == 0 &&
	       ctx->lookups == 0 && ctx->uploads + ctx->downloads == 0 &&
	       thread_pool_jobs(ctx->thread_pool) == 0 &&
	       !sessions_owe_answers(ctx->sessions);
}

/*
 * Serve until something ends the loop, or for a turn while draining. False: the
 * loop is over. poll(2) and epoll_wait(2) may fail for want of the kernel's
 * memory, so a failure is followed by a pause and another turn; after many in a
 * row the server ends.
 */
static bool serve_loop(struct server *srv)
{
	struct context *ctx = &srv->context;
	int rc = event_base_loop(ctx->base, ctx->draining ? EVLOOP_ONCE : 0);

	if (rc >= 0) {
		srv->failed_turns = 0;
		return rc == 0;
	}
	log_rarely("server", "poll=failed err=\"%s\"", strerror(errno));
	if (++srv->failed_turns < FAILED_TURNS_MAX) {
		usleep(FAILED_PAUSE_US);
		return true;
	}
	log_tell(LOG_LEVEL_ERROR, "server",
		 "the kernel lets nothing be awaited: %s", strerror(errno));
	srv->exit_status = EX_OSERR;
	return false;
}

int server_loop(struct server *srv)
{
	struct context *ctx = &srv->context;

	while (!srv->stopped && !is_drained(ctx) && serve_loop(srv))
		;
	loop_guard_end();
	ctx->flush_until_ms = clock_mono_ms() + FLUSH_MS;
	if (ctx->runs != NULL)
		runs_end_waits(ctx->runs);
	sessions_end(ctx->sessions);
	return srv->exit_status;
}

static void event_done(struct event *ev)
{
	if (ev != NULL)
		event_free(ev);
}

/*
 * Log counters that are not zero: everything taken has been given back by now.
 */
static void tell_left(const struct context *ctx)
{
	size_t left = requestors_left(ctx->requestors);

	if (ctx->uploads + ctx->downloads + ctx->client_requests > 0)
		log_warn(
		    "server",
		    "left=%zu of=uploads downloads=%zu client_requests=%zu",
		    ctx->uploads, ctx->downloads, ctx->client_requests);
	log_debug("server", "requestors=%zu counters_left=%zu",
		  (size_t)HASH_COUNT(ctx->requestors->by_name), left);
}

void server_fini(struct server *srv)
{
	struct context *ctx = &srv->context;

	ctx->quiet = true; /* no returning run starts again */
	if (ctx->runs != NULL)
		runs_interrupt(ctx->runs, !ctx->others);
	browser_stop(ctx->browser);
	egress_stop(ctx->egress); /* no worker waits for its child then */
	warm_stop(ctx->warm);
	residents_stop(ctx->residents);
	spawner_stop(ctx->spawner);
	/* the descriptor of the event is closed next */
	event_done(srv->on_store);
	if (ctx->runs != NULL)
		runs_remote_deaf(ctx->runs); /* stop hearing the nudges, too */
	store_stop(ctx->store, STOP_STORE_MS);
	runs_free(ctx->runs);
	/* the store's last answers still used the warm workers */
	warm_free(ctx->warm);
	residents_free(ctx->residents);
	spawner_free(ctx->spawner);
	interpreters_free(ctx->interpreters);
	browser_free(ctx->browser);
	egress_free(ctx->egress);
	thread_pool_free(
	    ctx->thread_pool); /* no job has a caller who waits any more */
	event_done(srv->on_child);
	if (srv->child_fd > 0)
		close(srv->child_fd);
	event_done(srv->sweep);
	event_done(srv->sick);
	event_done(srv->minute);
	isolation_fini(&srv->isolation);
	catalogue_free(ctx->catalogue);
	tell_left(ctx);
	requestors_fini(&srv->requestors);
	config_free(ctx->config);
	contract_tools_fini();
	sessions_fini(&srv->sessions);
	fair_queue_fini(&srv->turns);
	log_held_back(true);
	audit_held_back(true);
	if (ctx->base != NULL)
		event_base_free(ctx->base);
}
