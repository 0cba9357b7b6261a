/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/run/audit.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/browser/browser.h"
#include "supervisor/tools/contract_tools.h"
#include "supervisor/grants/grants.h"
#include "supervisor/health/health.h"
#include "supervisor/input/input.h"
#include "supervisor/exec/artifact_save.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/exec/programs.h"
#include "supervisor/requestor/requestor.h"

/* All but a uid of its own per run, Landlock, and an empty process. */
#define PROGRAM_LAYERS                                                         \
	(SANDBOX_ALL &                                                         \
	 ~(SANDBOX_BIT(SANDBOX_UID) | SANDBOX_BIT(SANDBOX_LANDLOCK) |          \
	   SANDBOX_BIT(SANDBOX_CLOSED) | SANDBOX_BIT(SANDBOX_EMPTY_ENV)))

#define SWEEP_EVERY_S 60
#define MINUTE_S 60
#define SICK_EVERY_S 1
#define RECOVER_AGAIN_S 5
#define FLUSH_MS 2000 /* at the end, for all clients that are slow */
#define STOP_STORE_MS 10000

/* ---- the crew reports ---- */

static void check_level(struct server *srv)
{
	const struct isolation *iso = &srv->isolation;
	char lacks[256];

	if (iso->level >= srv->require)
		return;
	isolation_lacks(iso, srv->require, lacks, sizeof(lacks));
	log_tell(
	    LOG_LEVEL_ERROR, "server",
	    "runs would be caged as %s, but %s is required, which lacks %s%s%s%s; "
	    "paddock doctor says what would help, or require less "
	    "(require_isolation)",
	    isolation_name(iso->level), isolation_name(srv->require), lacks,
	    iso->report.text[0] != '\0' ? " (" : "", iso->report.text,
	    iso->report.text[0] != '\0' ? ")" : "");
	server_stop(srv, EX_UNAVAILABLE);
}

static bool has_programs(const struct catalogue *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->all[i]->runtime == RUNTIME_PROGRAM)
			return true;
	return false;
}

bool server_is_measured(const struct server *srv)
{
	return srv->isolation.view != NULL &&
	       (srv->programs_known || !has_programs(srv->catalogue));
}

void server_look(struct server *srv)
{
	if (srv->exit_status != 0 || !server_is_measured(srv))
		return;
	if (!srv->told_ready && srv->on_ready != NULL) {
		srv->told_ready = true;
		srv->on_ready(srv);
	}
	if (srv->runs != NULL)
		runs_pump(srv->runs);
}

/* What the operator can do besides, when ERRMSG is first a user namespace. */
static const char *opt_in(const struct server *srv, const char *errmsg)
{
	static const char layer[] = "userns:";
	bool root = geteuid() == 0 || privsep_pid() != 0;

	if (strncmp(errmsg, layer, strlen(layer)) != 0 || !root ||
	    srv->config->allow_weak_programs)
		return "";
	return "; where the other namespaces can be had, the operator can let "
	       "programs do without: allow_weak_programs = yes in [sandbox], "
	       "and what that risks is told there";
}

/*
 * A program runs in all of its cage or not at all; but the operator may let a
 * user namespace be missing when each has a uid of its own.
 */
static void on_programs(struct server *srv,
			const struct zygote_proto_event *report,
			const char *errmsg)
{
	struct isolation *iso = &srv->isolation;
	uint32_t lacks = report != NULL ? PROGRAM_LAYERS & ~report->layers : 0;
	bool weak = lacks == SANDBOX_BIT(SANDBOX_USERNS) &&
		    (report->layers & SANDBOX_BIT(SANDBOX_UID)) != 0 &&
		    srv->config->allow_weak_programs;

	srv->programs_known = true;
	iso->no_programs[0] = iso->weak[0] = '\0';
	if (errmsg == NULL && lacks != 0)
		errmsg = report->text;
	if (errmsg != NULL)
		snprintf(weak ? iso->weak : iso->no_programs, sizeof(iso->weak),
			 "%.*s%s", ZYGOTE_PROTO_TEXT_MAX - 1, errmsg,
			 opt_in(srv, errmsg));
	if (iso->weak[0] != '\0')
		log_warn("server",
			 "programs=weak missing=\"%s\" msg=\"programs run "
			 "without a user namespace, since allow_weak_programs "
			 "is yes: a fault of the kernel's that gives them a "
			 "capability gives it over this machine\"",
			 iso->weak);
	else if (iso->no_programs[0] != '\0')
		log_warn("server", "programs=refused why=\"%s\"",
			 iso->no_programs);
	else
		log_info("server", "programs=caged missing=\"%s\"",
			 report->text);
	server_look(srv);
}

/* What holds the zygote that has just reported. */
static const char *measured_cgroup(const struct server *srv)
{
	pid_t pid = spawner_zygote_pid(srv->spawner, RUNTIME_LUA);

	return cgroup_holds(CGROUP_LUA, pid) ? cgroup_name() : "none";
}

static void on_report(void *arg, enum runtime kind,
		      const struct zygote_proto_event *report)
{
	struct server *srv = arg;
	bool more = cgroup_why()[0] != '\0';
	const char *cgroup;

	if (kind == RUNTIME_PROGRAM) {
		on_programs(srv, report, NULL);
		return;
	}
	cgroup = measured_cgroup(srv);
	isolation_set(&srv->isolation, report, cgroup);
	log_info("server",
		 "isolation=%s landlock_abi=%d uid_base=%d cgroup=%s "
		 "missing=\"%s\" why=\"%s%s%s%s\"",
		 isolation_name(srv->isolation.level), report->landlock_abi,
		 report->uid_base, cgroup, srv->isolation.missing, report->text,
		 more && report->text[0] != '\0' ? "; " : "",
		 more ? "cgroup: " : "", cgroup_why());
	if (srv->isolation.level == ISOLATION_NONE) {
		log_tell(LOG_LEVEL_ERROR, "server",
			 "a worker cannot be caged here, so nothing is run%s%s",
			 report->text[0] != '\0' ? ": " : "", report->text);
		server_stop(srv, EX_UNAVAILABLE);
		return;
	}
	check_level(srv);
	server_look(srv);
}

static void on_broken(void *arg, enum runtime kind, const char *errmsg)
{
	if (kind == RUNTIME_PROGRAM) {
		on_programs(arg, NULL, errmsg);
		return;
	}
	log_tell(LOG_LEVEL_ERROR, "server",
		 "no worker can be caged here, so nothing is run: %s", errmsg);
	server_stop(arg, EX_UNAVAILABLE);
}

static bool on_other(void *arg, pid_t pid, int status)
{
	return browser_exited(((struct server *)arg)->browser, pid, status);
}

/* ---- events ---- */

static void on_child(evutil_socket_t fd, short what, void *arg)
{
	struct signalfd_siginfo info;

	(void)what;
	if (read(fd, &info, sizeof(info)) > 0)
		spawner_reap(((struct server *)arg)->spawner);
}

/* By signalfd(2), which takes fewer calls than a handler that wakes a loop. */
static void watch_children(struct server *srv)
{
	sigset_t set;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	srv->child_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	srv->on_child = event_new(srv->base, srv->child_fd,
				  EV_READ | EV_PERSIST, on_child, srv);
	event_add(srv->on_child, NULL);
}

static void on_store(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	store_dispatch(((struct server *)arg)->store);
}

/* Those who wait for what cannot be recorded hear of it. */
static void on_sick(evutil_socket_t fd, short what, void *arg)
{
	struct server *srv = arg;
	const char *errmsg = store_failing_message(srv->store);

	(void)fd, (void)what;
	health_watch(srv);
	if (errmsg == NULL)
		return;
	runs_tell_unrecorded(srv->runs, errmsg);
	store_probe(srv->store, NULL, NULL); /* is it mended? */
}

static struct event *every(struct server *srv, int seconds,
			   event_callback_fn fn)
{
	struct event *ev = event_new(srv->base, -1, EV_PERSIST, fn, srv);
	struct timeval tv = {.tv_sec = seconds};

	event_add(ev, &tv);
	return ev;
}

/* ---- the store, when first needed ---- */

/* The requestor NAME, when this instance serves it; else NULL. */
static struct requestor *served(void *arg, const char *name)
{
	struct server *srv = arg;
	struct requestor *q = srv->local;

	if (srv->others && strncmp(name, "uid:", 4) == 0)
		q = requestors_of_uid(&srv->requestors,
				      (uid_t)strtoul(name + 4, NULL, 10));
	else if (srv->others && srv->config->listen != NULL &&
		 strcmp(name, REQUESTOR_ANONYMOUS) == 0)
		q = requestors_anonymous(&srv->requestors);
	else if (srv->others)
		q = requestors_find(&srv->requestors, name);
	return q != NULL && !requestor_gone(q) && strcmp(q->name, name) == 0
		   ? q
		   : NULL;
}

static void on_recovered(void *arg, const struct store_result *res);

/* Each minute asks for it, and a failure again in a moment: one at a time. */
static void recover(struct server *srv)
{
	if (srv->recovering)
		return;
	srv->recovering = true;
	(srv->passing ? store_recover_begun : store_recover)(srv->store,
							     on_recovered, srv);
}

void server_recover(struct server *srv)
{
	recover(srv);
}

static void recover_again(evutil_socket_t fd, short what, void *arg)
{
	struct server *srv = arg;

	(void)fd, (void)what;
	srv->recovering = false;
	recover(srv);
}

static void on_recovered(void *arg, const struct store_result *res)
{
	struct timeval later = {.tv_sec = RECOVER_AGAIN_S};
	struct server *srv = arg;

	if (res->rc != 0) {
		log_debug("server", "recovery=failed err=\"%s\"", res->errmsg);
		event_base_once(srv->base, -1, EV_TIMEOUT, recover_again, srv,
				&later);
	} else {
		srv->recovering = false;
		runs_reclaim(srv->runs, served, srv, srv->catalogue, res);
	}
}

/* Time has passed: who may have, or start, more again? */
static void look_at_requestors(struct server *srv)
{
	struct requestor *q, *next;

	HASH_ITER(hh, srv->requestors.by_name, q, next) {
		requestor_hold(q);
		artifact_save_count(srv->store, q);
	}
	runs_pump(srv->runs);
}

/* Others may have died since we looked last. */
static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	struct server *srv = arg;

	(void)fd, (void)what;
	recover(srv);
	store_sweep(srv->store, clock_wall_ms());
	look_at_requestors(srv);
}

/* Of what too many lines would have said, how many there were. */
static void on_minute(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
	log_held_back(false);
	audit_held_back(false);
}

static void on_ask(void *arg, struct run *r, const struct worker_question *ask)
{
	struct server *srv = arg;

	if (ask->kind == WORKER_QUESTION_CALL)
		browser_ask(srv->browser, r, ask);
	else
		input_ask(srv, r, ask);
}

static void on_drop(void *arg, struct run *r, uint32_t seq)
{
	input_cancel(arg, r, seq);
	browser_drop(r, seq);
}

static bool may_run(void *arg, const struct template *t, struct tool_error *r)
{
	const struct server *srv = arg;

	return browser_allow(t, srv->config, r);
}

static void on_probed(void *arg, const struct store_result *res)
{
	struct server *srv = arg;

	srv->opened = true;
	if (srv->on_opened != NULL)
		srv->on_opened(srv, res->rc, res->errmsg);
	else if (res->rc != 0)
		log_error("store", "msg=\"%s\"", res->errmsg);
}

struct runs *server_runs(struct server *srv)
{
	struct runs_env env = {.base = srv->base,
			       .config = srv->config,
			       .isolation = &srv->isolation,
			       .spawner = srv->spawner,
			       .thread_pool = srv->thread_pool,
			       .turns = &srv->turns,
			       .instance = srv->instance,
			       .on_ask = on_ask,
			       .on_drop = on_drop,
			       .may_run = may_run,
			       .arg = srv,
			       .quiet = &srv->quiet,
			       .draining = &srv->draining,
			       .shared = srv->others};

	if (srv->runs != NULL)
		return srv->runs;
	privsep_give_state(); /* what is wrong, the store tells */
	srv->store = store_start(srv->config->state_dir, srv->instance);
	if (srv->store == NULL) { /* no thread, no descriptor: so early? */
		log_tell(LOG_LEVEL_ERROR, "server",
			 "the store cannot be started: %s", strerror(errno));
		exit(EX_UNAVAILABLE);
	}
	env.store = srv->store;
	srv->runs = runs_new(&env);
	srv->on_store = event_new(srv->base, store_fd(srv->store),
				  EV_READ | EV_PERSIST, on_store, srv);
	event_add(srv->on_store, NULL);
	/* one client waits for its first answer: no commit for its sake */
	(srv->others ? store_probe : store_open)(srv->store, on_probed, srv);
	srv->sweep = every(srv, SWEEP_EVERY_S, on_sweep);
	srv->sick = every(srv, SICK_EVERY_S, on_sick);
	on_sweep(-1, 0, srv);
	return srv->runs;
}

/* ---- start, stop ---- */

struct catalogue *server_templates(const struct config *config,
				   bool (*goes_on)(void *arg), void *arg)
{
	const char **dirs = xcalloc(config->n_templates, sizeof(*dirs));
	struct catalogue *c;
	size_t n = 0;

	for (size_t i = 0; i < config->n_templates; i++)
		if (config->templates_given ||
		    access(config->templates[i], F_OK) == 0)
			dirs[n++] = config->templates[i];
	c = catalogue_load_while(dirs, n, goes_on, arg);
	free(dirs);
	return c;
}

/* prctl(2): EINVAL when the kernel has no seccomp filters. */
static bool have_seccomp(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

/*
 * One thread alone uses it, so it needs no locks. Where programs have our uid
 * we do without epoll(7): it is bounded for all of a user's processes together,
 * so that a program could leave us none (/proc/sys/fs/epoll/max_user_watches).
 */
static struct event_base *new_base(void)
{
	struct event_config *cfg = event_config_new();
	struct event_base *base;

	if (geteuid() != 0)
		event_config_avoid_method(cfg, "epoll");

	event_config_set_flag(cfg, EVENT_BASE_FLAG_NOLOCK);
	base = event_base_new_with_config(cfg);
	event_config_free(cfg);
	return base;
}

#define ZYGOTE_BYTES (256ll << 20)    /* and what is measured in their cage */
#define SHIM_START_BYTES (16ll << 20) /* until it is in its run's own group */
#define ZYGOTE_PROCESSES 16
#define BROKER_BYTES (INT64_C(256) << 20)

void server_limit_groups(const struct config *c)
{
	int64_t runs = c->max_concurrent_runs < ZYGOTE_PROTO_SLOTS
			   ? c->max_concurrent_runs
			   : ZYGOTE_PROTO_SLOTS;
	/* as sandbox/rlimits.c: a quarter is malloc's waste */
	int64_t one =
	    c->max_memory_bytes + c->max_memory_bytes / 4 + SHIM_START_BYTES;
	const struct cgroup_limits lua = {
	    .memory_bytes = (uint64_t)(ZYGOTE_BYTES + runs * one),
	    .processes = (uint64_t)runs + ZYGOTE_PROCESSES};
	const struct cgroup_limits programs = {
	    .memory_bytes = (uint64_t)(ZYGOTE_BYTES + runs * SHIM_START_BYTES),
	    .processes = (uint64_t)runs + ZYGOTE_PROCESSES};
	/* above what the browser's own watch allows, which tells why */
	const struct cgroup_limits browser = {
	    .memory_bytes =
		(uint64_t)(c->browser_max_memory + c->browser_max_memory / 4 +
			   BROKER_BYTES),
	    .processes = (uint64_t)(c->browser_max_processes +
				    c->browser_max_processes / 4)};

	cgroup_limit(CGROUP_LUA, &lua);
	cgroup_limit(CGROUP_PROGRAMS, &programs);
	cgroup_limit(CGROUP_BROWSER, &browser);
}

int server_start(struct server *srv, struct config *config,
		 struct catalogue *catalogue, const char *worker_path,
		 const char *browser_path, enum isolation_level require)
{
	static const struct spawner_ops ops = {on_report, on_broken, on_other};

	srv->config = config;
	srv->catalogue = catalogue;
	srv->require = require;
	srv->base = new_base();
	srv->thread_pool = thread_pool_new(srv->base, THREAD_POOL_THREADS);
	fair_queue_init(&srv->turns, srv->base);
	fair_queue_flow_init(&srv->chores);
	TAILQ_INIT(&srv->to_tell);
	requestors_apply(&srv->requestors, config);
	srv->local = requestors_of_uid(&srv->requestors, getuid());
	LIST_INIT(&srv->sessions);
	id_new(srv->instance, "inst");
	if (!have_seccomp()) {
		log_tell(LOG_LEVEL_ERROR, "server",
			 "this kernel has no seccomp, so nothing can be run "
			 "safely; use one with CONFIG_SECCOMP_FILTER");
		return EX_UNAVAILABLE;
	}
	signal(SIGPIPE, SIG_IGN);
	watch_children(srv);
	srv->minute = every(srv, MINUTE_S, on_minute);
	server_limit_groups(config);
	srv->spawner = spawner_start(srv->base, worker_path, &ops, srv);
	if (srv->spawner == NULL) {
		log_tell(LOG_LEVEL_ERROR, "server",
			 "%s, which runs are started by, cannot be started: %s",
			 worker_path, strerror(errno));
		return EX_UNAVAILABLE;
	}
	srv->browser = browser_new(srv, browser_path);
	programs_show(srv->spawner, catalogue, config);
	grants_log(catalogue, config);
	return 0;
}

int server_loop(struct server *srv)
{
	if (srv->exit_status == 0)
		event_base_dispatch(srv->base);
	srv->flush_until_ms = clock_mono_ms() + FLUSH_MS;
	return srv->exit_status;
}

void server_stop(struct server *srv, int exit_status)
{
	if (srv->exit_status == 0)
		srv->exit_status = exit_status;
	event_base_loopbreak(srv->base);
}

static void event_done(struct event *ev)
{
	if (ev != NULL)
		event_free(ev);
}

void server_fini(struct server *srv)
{
	srv->quiet = true; /* nothing that comes back now starts a run */
	if (srv->runs != NULL)
		runs_interrupt(srv->runs, !srv->others);
	browser_stop(srv->browser);
	spawner_stop(srv->spawner);
	event_done(srv->on_store); /* its descriptor is closed next */
	if (srv->runs != NULL)
		runs_remote_deaf(srv->runs); /* as is that of its nudges */
	store_stop(srv->store, STOP_STORE_MS);
	runs_free(srv->runs);
	/* what the store answered at its end has asked it, by the runs */
	spawner_free(srv->spawner);
	browser_free(srv->browser);
	thread_pool_free(
	    srv->thread_pool); /* whoever waited for a job is gone */
	event_done(srv->on_child);
	if (srv->child_fd > 0)
		close(srv->child_fd);
	event_done(srv->sweep);
	event_done(srv->sick);
	event_done(srv->minute);
	isolation_fini(&srv->isolation);
	catalogue_free(srv->catalogue);
	requestors_fini(&srv->requestors);
	config_free(srv->config);
	contract_tools_fini();
	fair_queue_cancel(&srv->telling);
	fair_queue_cancel(&srv->logging);
	fair_queue_fini(&srv->turns);
	log_held_back(true);
	audit_held_back(true);
	if (srv->base != NULL)
		event_base_free(srv->base);
}
