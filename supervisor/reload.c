/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload.c - replaces the configuration and the templates of a running server.
 * daemon.c asks at a HUP. A valid configuration is taken at once, since it may
 * revoke rights, whatever the packages. A thread loads the templates, whose
 * size is unknown. The template of a broken package is kept, and reported. A
 * wrong configuration changes nothing.
 */
#include "supervisor/reload.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loop_guard.h"
#include "base/os/log.h"
#include "base/os/log_append.h"
#include "base/mem.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/run/audit.h"
#include "supervisor/browser/browser.h"
#include "supervisor/egress/egress.h"
#include "supervisor/config/config.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/health/interpreters.h"
#include "supervisor/run/worker/programs.h"
#include "supervisor/server.h"
#include "supervisor/session/session.h"
#include "supervisor/start/reload_report.h"
#include "supervisor/start/template_watch.h"
#include "supervisor/start/worker_groups.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/threads/thread_pool.h"
#include "supervisor/mcp/methods/subscriber.h"
#include "supervisor/run/warm/residents.h"
#include "supervisor/run/warm/warm.h"

/* deadline: thousands of large packages take a while */
#define LOAD_CPU_MS 600000
#define FREED_AT_ONCE 2 /* templates freed in one turn of the loop */

/* A caller who waits for the report of a reload. */
struct asker {
	void (*told)(void *arg, struct json_object *report);
	void *arg;
	bool later; /* wants the reload after the one under way */
};

/* The work to do again when the reload under way is over. */
enum again { AGAIN_NOTHING, AGAIN_TEMPLATES, AGAIN_ALL };

struct reload {
	struct server *server;
	config_reader read;
	void *read_arg;
	struct reload_ops ops;
	void *arg;
	struct load *load; /* the loading under way, or NULL */
	enum again again;  /* work asked for meanwhile */
	struct asker *askers;
	size_t n_askers;
	struct json_object *report; /* report of the reload under way */
	bool by_watch;		    /* the watch asked for this reload */
	struct template_watch *watch;
	struct event *first; /* load once, for the sake of the watch */
	/* old templates, freed while free_more is pending */
	struct catalogue *old;
	struct event *free_more;
};

/* A loading of templates on a thread. */
struct load {
	/* the reload that waits for the result, or cancelled */
	struct reload *reload;
	struct thread_pool_job *job;
	struct catalogue_folders folders;
	struct catalogue *catalogue; /* the result, once loaded */
	bool watches;
	int watch_fd; /* the old watch, then the new one; negative: no watch */
};

static void begin_reload(struct reload *r);
static void load_changed(struct reload *r);

static void add_asker(struct reload *r,
		      void (*told)(void *arg, struct json_object *report),
		      void *arg, bool later)
{
	r->askers = xrealloc(r->askers, (r->n_askers + 1) * sizeof(*r->askers));
	r->askers[r->n_askers++] = (struct asker){told, arg, later};
}

/* ---- freeing the old templates, a few in each turn ---- */

static void free_more(evutil_socket_t fd, short what, void *arg)
{
	struct reload *r = arg;

	(void)fd, (void)what;
	if (catalogue_shrink(r->old, FREED_AT_ONCE)) {
		event_add(r->free_more, CLOCK_TIMEVAL(0));
		return;
	}
	catalogue_free(r->old);
	r->old = NULL;
}

/* ---- the swap ---- */

static void not_changed(void *arg, const char *key)
{
	reload_report_restart(arg, key);
	log_warn("daemon",
		 "reload key=%s changed=no msg=\"it takes a restart\"", key);
}

static bool same_templates(const struct catalogue *a, const struct catalogue *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->all[i]->id, b->all[i]->id) != 0 ||
		    strcmp(a->all[i]->digest, b->all[i]->digest) != 0)
			return false;
	return true;
}

/* A and B have the same templates: are they all in the same folders? */
static bool same_folders(const struct catalogue *a, const struct catalogue *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->all[i]->dir, b->all[i]->dir) != 0 ||
		    !file_id_same(&a->all[i]->folder, &b->all[i]->folder))
			return false;
	return true;
}

/*
 * Reopen the logs, so that a rotated file is let go in any case; a log that
 * cannot be opened stays as before.
 */
static void open_logs(const struct config *c)
{
	int rc = audit_open(c->audit_file);

	if (rc < 0)
		log_error("daemon", "audit_file=\"%s\" err=\"%s\"",
			  c->audit_file, log_append_why(-rc));
	rc = log_open(c->log_file);
	if (rc < 0)
		log_error("daemon", "log_file=\"%s\" err=\"%s\"", c->log_file,
			  log_append_why(-rc));
}

/*
 * Renew all parts that depend on configuration and templates. SHOWN: programs'
 * view of the machine stays, as their zygote does.
 */
static void apply_catalogue(struct reload *r, bool changed, bool shown)
{
	struct context *ctx = &r->server->context;

	if (!shown) {
		programs_show(ctx->spawner, ctx->catalogue, ctx->config);
		interpreters_forget(ctx->interpreters);
	}
	grants_log(ctx->catalogue, ctx->config);
	warm_reloaded(ctx->warm, ctx->catalogue);
	residents_reloaded(ctx->residents, ctx->catalogue);
	if (changed) {
		session_lists_changed(ctx);
		subscribers_reloaded(ctx);
	}
	/* server_look() may have waited for a removed template */
	server_look(r->server);
}

/*
 * Put CONFIG (taken) in place, with removed requestors and grants gone at once;
 * REPORT gets the keys that need a restart.
 */
static void take_config(struct reload *r, struct config *config,
			struct json_object *report)
{
	struct context *ctx = &r->server->context;
	const struct config *old = ctx->config;
	bool changed;

	open_logs(config);
	config_keep_fixed(config, old, not_changed, report);
	ctx->config = config;
	changed = requestors_apply(ctx->requestors, config);
	browser_requestors_changed(ctx->browser);
	egress_configure(ctx->egress, config);
	changed |=
	    strcmp(config->publish_templates, old->publish_templates) != 0;
	config_free(old);
	log_set_level((enum log_level)log_level_of(config->log_level));
	worker_groups_limit(config);
	apply_catalogue(r, changed, false);
	r->ops.taken(r->arg);
}

/* Put CATALOGUE (taken) in place; templates of packages that broke are kept. */
static void take_templates(struct reload *r, struct catalogue *catalogue)
{
	struct context *ctx = &r->server->context;
	bool changed, shown;

	catalogue_keep(catalogue, ctx->catalogue);
	changed = !same_templates(ctx->catalogue, catalogue);
	reload_report_templates(r->report, ctx->catalogue, catalogue, NULL);
	shown =
	    r->by_watch && !changed && same_folders(ctx->catalogue, catalogue);
	catalogue_free(r->old); /* of an earlier reload */
	r->old = ctx->catalogue;
	event_add(r->free_more, CLOCK_TIMEVAL(0));
	ctx->catalogue = catalogue;
	loop_guard_allow("a reload, which the operator asks for");
	apply_catalogue(r, changed, shown);
	loop_guard_forbid();
}

/* Tell the callers of the finished reload; REPORT NULL: all callers. */
static void tell_report(struct reload *r, struct json_object *report)
{
	struct asker *all = r->askers;
	size_t n = r->n_askers;

	r->askers = NULL;
	r->n_askers = 0;
	for (size_t i = 0; i < n; i++) {
		if (all[i].later && report != NULL)
			add_asker(r, all[i].told, all[i].arg, false);
		else
			all[i].told(all[i].arg, report);
	}
	free(all);
}

static void end_reload(struct reload *r, const char *errmsg)
{
	struct catalogue *catalogue = r->server->context.catalogue;
	struct json_object *report = r->report;
	enum again again = r->again;

	if (errmsg != NULL) {
		open_logs(r->server->context.config);
		reload_report_templates(report, catalogue, catalogue, errmsg);
	}
	r->again = AGAIN_NOTHING;
	r->report = NULL;
	if (again != AGAIN_ALL) /* the next reload calls done() */
		r->ops.done(r->arg, errmsg);
	tell_report(r, report);
	json_object_put(report);
	if (again == AGAIN_ALL)
		begin_reload(r);
	else if (again == AGAIN_TEMPLATES)
		load_changed(r);
}

/* ---- on a thread ---- */

static bool reload_goes_on(void *arg)
{
	return thread_pool_may_continue(arg);
}

static void load_catalogue(struct thread_pool_job *j, void *arg)
{
	struct load *l = arg;

	if (l->watch_fd >= 0)
		close(l->watch_fd);
	l->watch_fd = l->watches
			  ? template_watch_open(l->folders.dirs, l->folders.n)
			  : -1;
	l->catalogue = catalogue_load_folders(
	    &l->folders, privsep_workers_are_others(), reload_goes_on, j);
}

static void loaded(void *arg, const struct thread_pool_result *e)
{
	struct load *l = arg;
	struct reload *r = l->reload;

	r->load = NULL;
	template_watch_set(r->watch, l->watch_fd);
	l->watch_fd = -1;
	if (e->overdue) {
		end_reload(
		    r, "the configuration was taken, but the templates are as "
		       "they were: they take longer to load than ten minutes");
		return;
	}
	take_templates(r, l->catalogue);
	l->catalogue = NULL;
	end_reload(r, NULL);
}

static void drop_reload(void *arg)
{
	struct load *l = arg;

	if (l->watch_fd >= 0)
		close(l->watch_fd);
	catalogue_free(l->catalogue);
	catalogue_folders_fini(&l->folders);
	free(l);
}

static const struct thread_pool_kind kind = {.name = "load",
					     .cpu_ms = LOAD_CPU_MS,
					     .work = load_catalogue,
					     .done = loaded,
					     .drop = drop_reload};

/* ---- asking for a reload, and cancelling ---- */

static void submit_load(struct reload *r)
{
	struct load *l = xcalloc(1, sizeof(*l));

	l->reload = r;
	l->watches = r->server->context.config->watch_templates;
	l->watch_fd = template_watch_take(r->watch);
	catalogue_folders_of(&l->folders, r->server->context.config);
	r->load = l;
	l->job =
	    thread_pool_submit(r->server->context.thread_pool, NULL, &kind, l);
	if (l->job != NULL)
		return;
	r->load = NULL;
	template_watch_set(r->watch, l->watch_fd);
	l->watch_fd = -1;
	drop_reload(l);
	end_reload(r,
		   "the configuration was taken, but the templates are as they "
		   "were: there is no thread to load them on");
}

static void begin_reload(struct reload *r)
{
	struct json_object *report;
	struct config *config;
	char errmsg[1024];

	loop_guard_allow("a reload, which the operator asks for");
	config = r->read(r->read_arg, errmsg, sizeof(errmsg));
	report = reload_report_new(config != NULL ? NULL : errmsg);
	if (config != NULL)
		take_config(r, config, report);
	if (r->load != NULL) { /* the reload is done again later */
		r->again = AGAIN_ALL;
		json_object_put(report);
	} else {
		r->report = report;
		r->by_watch = false;
		if (config != NULL)
			submit_load(r);
		else
			end_reload(r, errmsg);
	}
	loop_guard_forbid();
}

void reload_ask(struct reload *r,
		void (*told)(void *arg, struct json_object *report), void *arg)
{
	if (told != NULL && r->server->context.draining) {
		told(arg, NULL);
		return;
	}
	if (told != NULL)
		add_asker(r, told, arg, r->load != NULL);
	r->ops.begun(r->arg);
	begin_reload(r);
}

/* Load the templates alone, since their folders were changed. */
static void load_changed(struct reload *r)
{
	if (r->load != NULL) {
		if (r->again == AGAIN_NOTHING)
			r->again = AGAIN_TEMPLATES;
		return;
	}
	r->report = reload_report_new(NULL);
	r->by_watch = true;
	submit_load(r);
}

static void on_changed(void *arg)
{
	struct reload *r = arg;

	if (!r->server->context.draining)
		load_changed(r);
}

static void on_first(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	on_changed(arg);
}

void reload_stop(struct reload *r)
{
	r->again = AGAIN_NOTHING;
	if (r->load != NULL)
		thread_pool_cancel(r->load->job);
	r->load = NULL;
	json_object_put(r->report);
	r->report = NULL;
	tell_report(r, NULL);
}

struct reload *reload_new(struct server *srv, config_reader read,
			  void *read_arg, const struct reload_ops *ops,
			  void *arg)
{
	struct reload *r = xcalloc(1, sizeof(*r));

	r->server = srv;
	r->read = read;
	r->read_arg = read_arg;
	r->ops = *ops;
	r->arg = arg;
	r->free_more = evtimer_new(srv->context.base, free_more, r);
	r->watch = template_watch_new(srv->context.base, on_changed, r);
	r->first = evtimer_new(srv->context.base, on_first, r);
	if (srv->context.config->watch_templates)
		evtimer_add(r->first, CLOCK_TIMEVAL(0));
	return r;
}

void reload_free(struct reload *r)
{
	reload_stop(r);
	catalogue_free(r->old);
	template_watch_free(r->watch);
	event_free(r->free_more);
	event_free(r->first);
	free(r);
}
