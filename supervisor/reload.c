/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload.c - another configuration and other templates, in mid-life: all of
 * them or none. daemon.c asks for it at a HUP. Packages are read and compiled on
 * a thread, for nobody knows how large they are; what is wrong with one of them,
 * or with the configuration, is told and changes nothing.
 */
#include "supervisor/reload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/spawn/privsep.h"
#include "supervisor/run/audit.h"
#include "supervisor/browser/browser.h"
#include "supervisor/config/config.h"
#include "supervisor/grants/grants.h"
#include "supervisor/worker/interpreters.h"
#include "supervisor/worker/programs.h"
#include "supervisor/server.h"
#include "supervisor/session/session.h"
#include "supervisor/start/worker_groups.h"
#include "supervisor/templates/catalogue.h"
#include "supervisor/threads/thread_pool.h"
#include "supervisor/methods/subscriber.h"
#include "supervisor/warm/warm.h"

#define LOAD_CPU_MS 600000 /* thousands of large packages take a while */
#define FREED_AT_ONCE 2	   /* templates, in one turn of the loop */

struct reload {
	struct server *server;
	config_reader read;
	void *read_arg;
	reload_done done;
	void *arg;
	struct load *load;     /* under way, or NULL */
	bool again;	       /* asked for meanwhile */
	struct catalogue *old; /* being freed, while free_more is pending */
	struct event *free_more;
};

/* What the thread works on. */
struct load {
	struct reload *reload; /* that waits for it, unless it is cancelled */
	struct thread_pool_job *job;
	struct config *config;
	struct catalogue *catalogue; /* once it is loaded */
};

/* ---- what was there goes, a little in each turn ---- */

static void free_soon(struct reload *r)
{
	event_add(r->free_more, CLOCK_TIMEVAL(0));
}

static void free_more(evutil_socket_t fd, short what, void *arg)
{
	struct reload *r = arg;

	(void)fd, (void)what;
	if (catalogue_shrink(r->old, FREED_AT_ONCE)) {
		free_soon(r);
		return;
	}
	catalogue_free(r->old);
	r->old = NULL;
}

/* What a reload before this one left to be freed goes at once. */
static void let_go(struct reload *r, struct catalogue *c)
{
	catalogue_free(r->old);
	r->old = c;
	free_soon(r);
}

/* ---- the swap ---- */

static void not_changed(const char *key)
{
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

/* A rotated file is let go whatever the configuration says. */
static void reopen_logs(const struct config *c)
{
	int rc = audit_open(c->audit_file);

	if (rc < 0)
		log_error("daemon", "audit_file=\"%s\" err=\"%s\"",
			  c->audit_file, strerror(-rc));
	rc = log_open(c->log_file);
	if (rc < 0)
		log_error("daemon", "log_file=\"%s\" err=\"%s\"", c->log_file,
			  strerror(-rc));
}

/* On failure end() opens those again that there were. */
static int open_logs(const struct config *c)
{
	int rc = audit_open(c->audit_file);

	return rc == 0 ? log_open(c->log_file) : rc;
}

/* 0, or -EINVAL with ERRMSG and nothing changed. Takes CONFIG and CATALOGUE. */
static int swap_in(struct reload *r, struct config *config,
		   struct catalogue *catalogue, char *errmsg, size_t size)
{
	struct context *ctx = &r->server->context;
	bool changed = !same_templates(ctx->catalogue, catalogue);
	const struct config *old = ctx->config;
	int rc;

	rc = open_logs(config);
	if (rc < 0) {
		snprintf(errmsg, size, "a log file cannot be opened: %s",
			 strerror(-rc));
		catalogue_free(catalogue);
		config_free(config);
		return -EINVAL;
	}
	config_keep_fixed(config, old, not_changed);
	ctx->config = config;
	changed |= requestors_apply(ctx->requestors, config);
	browser_requestors_changed(ctx->browser);
	changed |= config->publish_templates != old->publish_templates;
	config_free(old);
	let_go(r, ctx->catalogue);
	ctx->catalogue = catalogue;
	log_set_level((enum log_level)log_level_of(config->log_level));
	programs_show(ctx->spawner, catalogue, config);
	interpreters_forget(ctx->interpreters);
	grants_log(catalogue, config);
	worker_groups_limit(config);
	warm_reloaded(ctx->warm, catalogue);
	if (changed) {
		session_lists_changed(ctx);
		subscribers_reloaded(ctx);
	}
	server_look(r->server); /* what was waited for may be gone */
	return 0;
}

static void end(struct reload *r, const char *errmsg)
{
	if (errmsg != NULL)
		reopen_logs(r->server->context.config);
	r->done(r->arg, errmsg);
	if (!r->again)
		return;
	r->again = false;
	reload_ask(r);
}

/* All is loaded, good or not. */
static void settle(struct reload *r, struct config *config,
		   struct catalogue *catalogue)
{
	char errmsg[1024];

	if (catalogue->n_problems > 0) {
		snprintf(errmsg, sizeof(errmsg), "%s: %s",
			 catalogue->problems[0].path,
			 catalogue->problems[0].errmsg);
		catalogue_free(catalogue);
		config_free(config);
		end(r, errmsg);
		return;
	}
	end(r, swap_in(r, config, catalogue, errmsg, sizeof(errmsg)) < 0
		   ? errmsg
		   : NULL);
}

/* ---- on a thread ---- */

static bool goes_on(void *arg)
{
	return thread_pool_may_continue(arg);
}

static void work(struct thread_pool_job *j, void *arg)
{
	struct load *l = arg;

	l->catalogue = catalogue_load_configured(
	    l->config, privsep_workers_are_others(), goes_on, j);
}

static void loaded(void *arg, const struct thread_pool_result *e)
{
	struct load *l = arg;
	struct reload *r = l->reload;
	struct config *config = l->config;
	struct catalogue *catalogue = l->catalogue;

	r->load = NULL;
	l->config = NULL;
	l->catalogue = NULL;
	if (!e->overdue) {
		settle(r, config, catalogue);
		return;
	}
	catalogue_free(catalogue);
	config_free(config);
	end(r, "the templates take longer to load than ten minutes");
}

static void drop(void *arg)
{
	struct load *l = arg;

	catalogue_free(l->catalogue);
	config_free(l->config);
	free(l);
}

static const struct thread_pool_kind kind = {.name = "load",
					     .cpu_ms = LOAD_CPU_MS,
					     .work = work,
					     .done = loaded,
					     .drop = drop};

/* ---- asked for, or not any more ---- */

void reload_ask(struct reload *r)
{
	struct load *l;
	struct config *config;
	char errmsg[1024];

	if (r->load != NULL) {
		r->again = true;
		return;
	}
	config = r->read(r->read_arg, errmsg, sizeof(errmsg));
	if (config == NULL) {
		end(r, errmsg);
		return;
	}
	l = xcalloc(1, sizeof(*l));
	*l = (struct load){.reload = r, .config = config};
	r->load = l;
	l->job =
	    thread_pool_submit(r->server->context.thread_pool, NULL, &kind, l);
	if (l->job != NULL)
		return;
	r->load = NULL;
	drop(l);
	end(r, "there is no thread to load the templates on");
}

void reload_stop(struct reload *r)
{
	r->again = false;
	if (r->load != NULL)
		thread_pool_cancel(r->load->job);
	r->load = NULL;
}

struct reload *reload_new(struct server *srv, config_reader read,
			  void *read_arg, reload_done done, void *arg)
{
	struct reload *r = xcalloc(1, sizeof(*r));

	r->server = srv;
	r->read = read;
	r->read_arg = read_arg;
	r->done = done;
	r->arg = arg;
	r->free_more = evtimer_new(srv->context.base, free_more, r);
	return r;
}

void reload_free(struct reload *r)
{
	reload_stop(r);
	catalogue_free(r->old);
	event_free(r->free_more);
	free(r);
}
