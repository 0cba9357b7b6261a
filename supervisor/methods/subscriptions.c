/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriptions.c - serves resources/subscribe and unsubscribe, and tells a
 * session what changed. methods.c calls it, runs' notices and reloads wake it,
 * http_session_store.c keeps the URIs. One too many is refused; a notification
 * that finds no way is told once there is one.
 */
#include "supervisor/methods/subscriptions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/exec/runs.h"
#include "supervisor/tools/remote_run_watch.h"
#include "supervisor/tools/run_lookup.h"
#include "supervisor/run/resource_uri.h"
#include "supervisor/methods/resources.h"

struct subscription {
	struct session *session;
	char *uri;
	enum resource_uri_kind kind;
	struct run *run; /* borrowed, while it goes on and is watched */
	struct run_watch watch;
	/* or NULL; another instance has the run */
	struct remote_run_watch *away;
	struct revisit *revisit; /* or NULL; after a restart */
	char digest[65]; /* of the template that offers it; "": none does */
	bool missed;	 /* it may have changed while nobody could tell */
	bool told;
	int64_t told_ms;
	struct event *later; /* a change, held back by the rate */
	struct session_observer observer;
	LIST_ENTRY(subscription) link; /* in session.subscriptions */
};

/* The store is asked for the run of a subscription. */
struct revisit {
	struct run_row_lookup row;
	char run_id[ID_SIZE];
	struct subscription *of; /* NULL: that is gone */
};

static void forget(struct subscription *u)
{
	if (u->revisit != NULL)
		u->revisit->of = NULL;
	if (u->run != NULL)
		run_watch_del(&u->watch);
	remote_run_watch_free(u->away);
	LIST_REMOVE(u, link);
	u->session->n_subscriptions--;
	session_unobserve(u->session, &u->observer);
	event_free(u->later);
	session_changed(u->session);
	free(u->uri);
	free(u);
}

static struct subscription *find(const struct session *s, const char *uri)
{
	struct subscription *u;

	LIST_FOREACH(u, &s->subscriptions, link)
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

static void tell(struct subscription *u)
{
	struct json_object *params;

	if (session_is_backlogged(
		u->session)) { /* it is told when it reads again */
		hold_back(u, SUBSCRIPTION_EVERY_MS);
		return;
	}
	u->told = true;
	u->told_ms = clock_mono_ms();
	if (!session_has_push_stream(u->session))
		return;
	params = json_pack("uri:s", u->uri);
	session_tell(u->session, NULL, "notifications/resources/updated",
		     params);
	json_object_put(params);
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	tell(arg);
}

static void changed(struct subscription *u)
{
	int64_t wait = u->told_ms + SUBSCRIPTION_EVERY_MS - clock_mono_ms();

	if (evtimer_pending(u->later, NULL))
		return;
	if (u->told && wait > 0)
		hold_back(u, wait);
	else
		tell(u);
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

static void on_remote(void *arg, enum remote_run_event ev, struct run *r)
{
	struct subscription *u = arg;

	if (ev == REMOTE_RUN_OURS) {
		u->run = r;
		run_watch_add(r, &u->watch);
	}
	changed(u);
}

/* ---- resources/subscribe ---- */

static const char *uri_of(const struct request *c)
{
	return json_member_str(c->msg.params, "uri");
}

static void on_gone(struct session_observer *o)
{
	forget(CONTAINER(o, struct subscription, observer));
}

static void on_push_open(struct session_observer *o)
{
	struct subscription *u = CONTAINER(o, struct subscription, observer);

	if (u->missed)
		changed(u);
	u->missed = false;
}

static const struct session_observer_ops observer_ops = {
    .on_gone = on_gone, .on_push_open = on_push_open};

static struct subscription *add(struct session *s, const char *uri,
				enum resource_uri_kind kind)
{
	struct subscription *u = xcalloc(1, sizeof(*u));

	u->session = s;
	u->uri = xstrdup(uri);
	u->kind = kind;
	u->watch.on_notice = on_notice;
	u->later = evtimer_new(s->ctx->base, on_later, u);
	LIST_INSERT_HEAD(&s->subscriptions, u, link);
	s->n_subscriptions++;
	session_observe(s, &u->observer, &observer_ops);
	session_changed(s);
	return u;
}

static void done(struct request *c)
{
	request_result(c, json_object_new_object());
}

static bool too_many(struct request *c)
{
	if (c->session->n_subscriptions < SUBSCRIPTIONS_MAX)
		return false;
	request_error(c, RPC_INVALID_PARAMS, NULL,
		      "this session has %d subscriptions, which is the most; "
		      "resources/unsubscribe ends one",
		      SUBSCRIPTIONS_MAX);
	return true;
}

static void watch_ours(struct subscription *u, struct run *r)
{
	u->run = r;
	run_watch_add(r, &u->watch);
}

/* U's run has ROW, and is not ours: does it go on elsewhere? */
static void watch_row(struct subscription *u, const struct store_run *row)
{
	struct remote_run_watcher w = {
	    .ctx = u->session->ctx,
	    .requestor = u->session->requestor,
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

/* *U is new, or NULL: another call of this kind has made it. False: C is answered. */
static bool add_found(struct request *c, struct subscription **u)
{
	const char *uri = uri_of(c);

	*u = NULL;
	if (find(c->session, uri) != NULL)
		return true;
	if (too_many(c))
		return false;
	*u = add(c->session, uri, resource_uri_parse(uri).kind);
	return true;
}

static void on_run(struct request *c, const struct run_found *f)
{
	struct subscription *u;

	if (f->run == NULL && f->res->rc != 0) {
		resources_not_found(c, uri_of(c));
		return;
	}
	if (!add_found(c, &u))
		return;
	if (u != NULL && f->run != NULL)
		watch_ours(u, f->run);
	else if (u != NULL)
		watch_row(u, f->res->runs);
	done(c);
}

static void add_run(struct request *c, const struct resource_uri *uri)
{
	run_lookup(c, &(struct run_query){.want = RUN_LOOKUP_ROW,
					  .id = uri->run_id,
					  .found = on_run});
}

static void on_artifact(void *arg, const struct store_result *res)
{
	struct request *c = arg;
	struct subscription *s;
	struct resource_uri u;

	if (!request_unref(c))
		return;
	u = resource_uri_parse(uri_of(c));
	if (res->rc != 0 || strcmp(u.run_id, res->artifact->run_id) != 0)
		resources_not_found(c, uri_of(c));
	else if (add_found(c, &s))
		done(c);
}

static void add_artifact(struct request *c, const struct resource_uri *uri)
{
	struct session *s = c->session;

	request_ref_large(c);
	store_read_artifact(s->ctx->store, s->requestor->name, uri->artifact_id,
			    0, 0, on_artifact, c);
}

static void add_isolation(struct request *c, const struct resource_uri *uri)
{
	add(c->session, uri_of(c), uri->kind);
	done(c);
}

static void add_offer(struct request *c, const struct resource_uri *uri)
{
	struct json_object *values;
	const struct catalogue_entry *o =
	    resources_find(c->session, uri_of(c), &values);
	struct subscription *u;

	json_object_put(values);
	if (o == NULL) {
		resources_not_found(c, uri_of(c));
		return;
	}
	u = add(c->session, uri_of(c), uri->kind);
	snprintf(u->digest, sizeof(u->digest), "%s", o->template->digest);
	done(c);
}

static void (*const adders[])(struct request *c,
			      const struct resource_uri *uri) = {
    [RESOURCE_URI_NONE] = add_offer,
    [RESOURCE_URI_IS_ISOLATION] = add_isolation,
    [RESOURCE_URI_IS_RUN] = add_run,
    [RESOURCE_URI_IS_LOG] = add_run,
    [RESOURCE_URI_IS_RESULT] = add_run,
    [RESOURCE_URI_IS_ARTIFACT] = add_artifact,
};

/* C's uri; NULL: there is none, and C was answered. */
static const char *need_uri(struct request *c)
{
	const char *uri = uri_of(c);

	if (uri == NULL)
		request_error(c, RPC_INVALID_PARAMS, NULL,
			      "%s needs params.uri, a string", c->msg.method);
	return uri;
}

void subscriptions_add(struct request *c)
{
	const char *uri = need_uri(c);
	struct resource_uri u;

	if (uri == NULL)
		return;
	if (find(c->session, uri) != NULL) {
		done(c);
		return;
	}
	if (too_many(c))
		return;
	u = resource_uri_parse(uri);
	if (u.piece.asked) /* of something: that is what changes */
		u.kind = RESOURCE_URI_NONE;
	adders[u.kind](c, &u);
}

void subscriptions_drop(struct request *c)
{
	const char *uri = need_uri(c);
	struct subscription *u = uri != NULL ? find(c->session, uri) : NULL;

	if (uri == NULL)
		return;
	if (u != NULL)
		forget(u);
	done(c);
}

/* ---- what happens to all ---- */

static void look_again(struct subscription *u)
{
	struct json_object *values;
	const struct catalogue_entry *o =
	    resources_find(u->session, u->uri, &values);
	const char *digest = o != NULL ? o->template->digest : "";

	json_object_put(values);
	if (strcmp(digest, u->digest) == 0)
		return;
	snprintf(u->digest, sizeof(u->digest), "%s", digest);
	changed(u);
}

void subscriptions_reloaded(struct context *ctx)
{
	struct subscription *u;
	struct session *s;

	LIST_FOREACH(s, &ctx->sessions->all, link)
		LIST_FOREACH(u, &s->subscriptions, link)
			if (u->kind == RESOURCE_URI_NONE)
				look_again(u);
}

/* ---- after a restart ---- */

struct json_object *subscriptions_list(const struct session *s, size_t bytes)
{
	struct json_object *uris = json_object_new_array();
	const struct subscription *u;
	size_t n = 0;

	LIST_FOREACH(u, &s->subscriptions, link) {
		n += strlen(u->uri);
		if (n > bytes)
			break;
		json_object_array_add(uris, json_object_new_string(u->uri));
	}
	return uris;
}

/* Its run's row has been read, or not: does it go on? */
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
	struct context *ctx = u->session->ctx;
	struct requestor *q = u->session->requestor;
	struct run *r = runs_find(ctx->runs, q, own->run_id);
	struct revisit *v;

	/* one of ours is watched from now on: it may end before a row is read */
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

/* What it is about may be gone: then nothing comes. */
static void restore(struct session *s, const char *uri)
{
	struct resource_uri own = resource_uri_parse(uri);
	struct subscription *u = add(s, uri, own.kind);

	u->missed = own.kind != RESOURCE_URI_IS_ARTIFACT;
	if (own.kind == RESOURCE_URI_NONE)
		look_again(u);
	if (own.kind == RESOURCE_URI_IS_RUN ||
	    own.kind == RESOURCE_URI_IS_LOG ||
	    own.kind == RESOURCE_URI_IS_RESULT)
		watch_again(u, &own);
}

void subscriptions_restore(struct session *s, struct json_object *uris)
{
	size_t n = json_length(uris);

	for (size_t i = 0; i < n && i < SUBSCRIPTIONS_MAX; i++) {
		struct json_object *uri = json_object_array_get_idx(uris, i);

		if (json_object_is_type(uri, json_type_string))
			restore(s, json_object_get_string(uri));
	}
}
