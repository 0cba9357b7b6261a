/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriber.c - subscriptions to URIs, and the changes each waits for: notices
 * of local runs, changes of remote runs, and reloads. subscriptions.c has a
 * subscriber for each session, listen.c for each request. A change without a
 * stream is told once there is a stream; a URI over the bound is refused.
 */
#include "supervisor/mcp/methods/subscriber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/mcp/tasks/remote_run_watch.h"
#include "supervisor/mcp/tools/run_lookup.h"
#include "supervisor/session/result/resource_uri.h"
#include "supervisor/mcp/methods/resources.h"

struct subscriber {
	struct session *session; /* borrowed */
	const struct subscriber_ops *ops;
	void *arg;
	LIST_HEAD(, subscription) all;
	size_t n;
	LIST_ENTRY(subscriber) link; /* in sessions.subscribers */
};

struct subscription {
	struct subscriber *of;
	char *uri;
	enum resource_uri_kind kind;
	struct run *run; /* borrowed, while the run goes on and is watched */
	struct run_watch watch;
	/* watch of a remote run, or NULL */
	struct remote_run_watch *away;
	struct revisit *revisit; /* read of a row after a restart, or NULL */
	/* of the template which offers the URI; "": no template */
	char digest[65];
	bool missed; /* the URI may have changed while there was no stream */
	bool told;
	int64_t told_ms;
	struct event *later; /* tells a change held back by the rate */
	LIST_ENTRY(subscription) link; /* in subscriber.all */
};

/* A read of the row of a subscription's run. */
struct revisit {
	struct run_row_lookup row;
	char run_id[ID_SIZE];
	struct subscription *of; /* NULL: the subscription has ended */
};

/* Return the bytes of memory of U: with its timer and its URI. */
static size_t cost_of(const struct subscription *u)
{
	return 1024 + strlen(u->uri);
}

static void forget_subscription(struct subscription *u)
{
	if (u->revisit != NULL)
		u->revisit->of = NULL;
	if (u->run != NULL)
		run_watch_del(&u->watch);
	remote_run_watch_free(u->away);
	LIST_REMOVE(u, link);
	u->of->n--;
	event_free(u->later);
	memory_give(&u->of->session->requestor->memory, cost_of(u));
	free(u->uri);
	free(u);
}

static struct subscription *find_subscription(const struct subscriber *o,
					      const char *uri)
{
	struct subscription *u;

	LIST_FOREACH(u, &o->all, link)
		if (strcmp(u->uri, uri) == 0)
			return u;
	return NULL;
}

/* ---- telling ---- */

static void hold_back(struct subscription *u, int64_t ms)
{
	if (!evtimer_pending(u->later, NULL))
		evtimer_add(u->later, CLOCK_TIMEVAL(ms));
}

static void tell_update(struct subscription *u)
{
	enum subscriber_told told = u->of->ops->tell(u->of->arg, u->uri);

	if (told == SUBSCRIBER_LATER)
		hold_back(u, SUBSCRIPTION_EVERY_MS);
	u->missed = told == SUBSCRIBER_NO_STREAM;
	if (told != SUBSCRIBER_TOLD)
		return;
	u->told = true;
	u->told_ms = clock_mono_ms();
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	tell_update(arg);
}

static void changed(struct subscription *u)
{
	int64_t wait = u->told_ms + SUBSCRIPTION_EVERY_MS - clock_mono_ms();

	if (evtimer_pending(u->later, NULL))
		return;
	if (u->told && wait > 0)
		hold_back(u, wait);
	else
		tell_update(u);
}

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct subscription *u = CONTAINER(w, struct subscription, watch);
	bool of_log = n->kind == NOTICE_LOG;

	(void)r;
	if (n->kind > NOTICE_LOG && n->kind != NOTICE_RECORDED)
		return;
	if (n->kind == NOTICE_RECORDED) {
		run_watch_del(&u->watch);
		u->run = NULL;
	}
	if (of_log == (u->kind == RESOURCE_URI_IS_LOG))
		changed(u);
}

static void watch_ours(struct subscription *u, struct run *r)
{
	u->run = r;
	run_watch_add(r, &u->watch);
}

static void on_remote(void *arg, enum remote_run_event ev, struct run *r)
{
	struct subscription *u = arg;

	if (ev == REMOTE_RUN_OURS)
		watch_ours(u, r);
	changed(u);
}

/* ---- subscribers ---- */

struct subscriber *subscriber_new(struct session *s,
				  const struct subscriber_ops *ops, void *arg)
{
	struct subscriber *o = xcalloc(1, sizeof(*o));

	o->session = s;
	o->ops = ops;
	o->arg = arg;
	LIST_INIT(&o->all);
	LIST_INSERT_HEAD(&s->ctx->sessions->subscribers, o, link);
	return o;
}

void subscriber_free(struct subscriber *o)
{
	struct subscription *u;

	if (o == NULL)
		return;
	while ((u = LIST_FIRST(&o->all)) != NULL)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): u is unlinked */
		forget_subscription(u);
	LIST_REMOVE(o, link);
	free(o);
}

static struct subscription *add_subscription(struct subscriber *o,
					     const char *uri,
					     enum resource_uri_kind kind)
{
	struct subscription *u = xcalloc(1, sizeof(*u));

	u->of = o;
	u->uri = xstrdup(uri);
	u->kind = kind;
	u->watch.on_notice = on_notice;
	u->later = evtimer_new(o->session->ctx->base, on_later, u);
	LIST_INSERT_HEAD(&o->all, u, link);
	memory_add(&o->session->requestor->memory, cost_of(u));
	o->n++;
	return u;
}

/* ---- does the resource exist? ---- */

/* A search for the resource of a URI in the store. */
struct search {
	struct run_row_lookup row;
	struct request *request; /* held; its params have the URI */
	struct subscriber *of;
	const char *uri;
	struct resource_uri own;
	subscriber_added done;
};

/* Watch U's run, which has ROW and is not local, if it is remote. */
static void watch_row(struct subscription *u, const struct store_run *row)
{
	struct remote_run_watcher w = {
	    .ctx = u->of->session->ctx,
	    .requestor = u->of->session->requestor,
	    .kind = u->kind == RESOURCE_URI_IS_LOG ? STORE_MAIL_LOG
						   : STORE_MAIL_WATCH,
	    .on_event = on_remote,
	    .arg = u,
	};

	if (row->status > STORE_RUNNING || row->owner == STORE_OWNER_SELF)
		return;
	memcpy(w.run_id, row->id, sizeof(w.run_id));
	u->away = remote_run_watch_new(&w, row);
}

/*
 * Return the outcome of F, and in *U a new subscription, if an earlier call has
 * not made it.
 */
static enum subscribed admit(const struct search *f, bool there,
			     struct subscription **u)
{
	*u = NULL;
	if (!there)
		return SUBSCRIBED_NOT_FOUND;
	if (find_subscription(f->of, f->uri) != NULL)
		return SUBSCRIBED;
	if (f->of->n >= SUBSCRIPTIONS_MAX)
		return SUBSCRIBED_TOO_MANY;
	*u = add_subscription(f->of, f->uri, f->own.kind);
	return SUBSCRIBED;
}

static void on_run(struct run_row_lookup *l, struct run *r,
		   const struct store_result *res)
{
	struct search *f = CONTAINER(l, struct search, row), found = *f;
	struct subscription *u;
	enum subscribed what;

	free(f);
	if (!request_unref(found.request))
		return;
	what = admit(&found, r != NULL || res->rc == 0, &u);
	if (u != NULL && r != NULL)
		watch_ours(u, r);
	else if (u != NULL)
		watch_row(u, res->runs);
	found.done(found.request, what);
}

static void add_run(struct search *f)
{
	struct request *req = f->request;
	struct run *r = run_lookup_ours(req, f->own.run_id);

	f->row = (struct run_row_lookup){.ctx = req->ctx,
					 .requestor = req->requestor,
					 .id = f->own.run_id,
					 .found = on_run};
	request_ref(req);
	if (r != NULL)
		on_run(&f->row, r, NULL);
	else
		run_lookup_row(&f->row, false);
}

static void on_artifact(void *arg, const struct store_result *res)
{
	struct search found = *(struct search *)arg;
	struct subscription *u;

	free(arg);
	if (request_unref(found.request))
		found.done(
		    found.request,
		    admit(&found,
			  res->rc == 0 && strcmp(found.own.run_id,
						 res->artifact->run_id) == 0,
			  &u));
}

static void add_artifact(struct search *f)
{
	struct request *req = f->request;

	request_ref_large(req);
	store_read_artifact(req->ctx->store, req->requestor->name,
			    f->own.artifact_id, 0, 0, on_artifact, f);
}

static void add_isolation(struct search *f)
{
	struct search found = *f;
	struct subscription *u;

	free(f);
	found.done(found.request, admit(&found, true, &u));
}

static void add_offer(struct search *f)
{
	struct search found = *f;
	struct json_object *values;
	const struct catalogue_entry *offer =
	    resources_find(found.of->session, found.uri, &values);
	struct subscription *u;
	enum subscribed what = admit(&found, offer != NULL, &u);

	free(f);
	json_object_put(values);
	if (u != NULL)
		snprintf(u->digest, sizeof(u->digest), "%s",
			 offer->template->digest);
	found.done(found.request, what);
}

static void (*const adders[])(struct search *f) = {
    [RESOURCE_URI_NONE] = add_offer,
    [RESOURCE_URI_IS_ISOLATION] = add_isolation,
    [RESOURCE_URI_IS_RUN] = add_run,
    [RESOURCE_URI_IS_LOG] = add_run,
    [RESOURCE_URI_IS_RESULT] = add_run,
    [RESOURCE_URI_IS_ARTIFACT] = add_artifact,
};

void subscriber_add(struct subscriber *o, struct request *req, const char *uri,
		    subscriber_added done)
{
	struct search *f;

	if (find_subscription(o, uri) != NULL || o->n >= SUBSCRIPTIONS_MAX) {
		done(req, find_subscription(o, uri) != NULL
			      ? SUBSCRIBED
			      : SUBSCRIBED_TOO_MANY);
		return;
	}
	f = xcalloc(1, sizeof(*f));
	*f = (struct search){.request = req,
			     .of = o,
			     .uri = uri,
			     .own = resource_uri_parse(uri),
			     .done = done};
	if (f->own.piece.asked) /* a part: the whole changes */
		f->own.kind = RESOURCE_URI_NONE;
	adders[f->own.kind](f);
}

bool subscriber_drop(struct subscriber *o, const char *uri)
{
	struct subscription *u = find_subscription(o, uri);

	if (u != NULL)
		forget_subscription(u);
	return u != NULL;
}

/* ---- changes for all subscribers ---- */

static void check_subscription(struct subscription *u)
{
	struct json_object *values;
	const struct catalogue_entry *o =
	    resources_find(u->of->session, u->uri, &values);
	const char *digest = o != NULL ? o->template->digest : "";

	json_object_put(values);
	if (strcmp(digest, u->digest) == 0)
		return;
	snprintf(u->digest, sizeof(u->digest), "%s", digest);
	changed(u);
}

void subscribers_reloaded(struct context *ctx)
{
	struct subscription *u;
	struct subscriber *o;

	LIST_FOREACH(o, &ctx->sessions->subscribers, link)
		LIST_FOREACH(u, &o->all, link)
			if (u->kind == RESOURCE_URI_NONE)
				check_subscription(u);
}

void subscriber_tell_missed(struct subscriber *o)
{
	struct subscription *u;

	LIST_FOREACH(u, &o->all, link)
		if (u->missed)
			changed(u);
}

/* ---- after a restart ---- */

struct json_object *subscriber_list(const struct subscriber *o, size_t bytes)
{
	struct json_object *uris = json_object_new_array();
	const struct subscription *u;
	size_t n = 0;

	LIST_FOREACH(u, &o->all, link) {
		n += strlen(u->uri);
		if (n > bytes)
			break;
		json_object_array_add(uris, json_text_new(u->uri));
	}
	return uris;
}

/* Watch the run of a restored subscription, if its row says that it goes on. */
static void on_revisit(struct run_row_lookup *row, struct run *r,
		       const struct store_result *res)
{
	struct revisit *v = CONTAINER(row, struct revisit, row);
	struct subscription *u = v->of;

	free(v);
	if (u == NULL)
		return;
	u->revisit = NULL;
	if (r != NULL)
		watch_ours(u, r);
	else if (res->rc == 0)
		watch_row(u, res->runs);
}

static void watch_again(struct subscription *u, const struct resource_uri *own)
{
	struct context *ctx = u->of->session->ctx;
	struct requestor *q = u->of->session->requestor;
	struct run *r = runs_find(ctx->runs, q, own->run_id);
	struct revisit *v;

	/* watch a local run at once: it may end before a row is read */
	if (r != NULL) {
		watch_ours(u, r);
		return;
	}
	v = u->revisit = xcalloc(1, sizeof(*v));
	v->of = u;
	memcpy(v->run_id, own->run_id, sizeof(v->run_id));
	v->row = (struct run_row_lookup){
	    .ctx = ctx, .requestor = q, .id = v->run_id, .found = on_revisit};
	run_lookup_row(&v->row, false);
}

/* Nothing is told if the resource is gone. */
void subscriber_restore(struct subscriber *o, const char *uri)
{
	struct resource_uri own = resource_uri_parse(uri);
	struct subscription *u = add_subscription(o, uri, own.kind);

	u->missed = own.kind != RESOURCE_URI_IS_ARTIFACT;
	if (own.kind == RESOURCE_URI_NONE)
		check_subscription(u);
	if (own.kind == RESOURCE_URI_IS_RUN ||
	    own.kind == RESOURCE_URI_IS_LOG ||
	    own.kind == RESOURCE_URI_IS_RESULT)
		watch_again(u, &own);
}
