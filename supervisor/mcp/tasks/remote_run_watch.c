/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_run_watch.c - a table of remote runs being watched, for subscriber.c
 * and listen_tasks.c. The row of each run is read once a second; a failed read
 * is repeated at the next second.
 */
#include "supervisor/mcp/tasks/remote_run_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/mcp/tools/run_lookup.h"

#define LOOK_S 1

/* The parts of a row which show whether the watched part changed. */
struct mark {
	enum store_status status;
	bool cancelling, awaiting;
	int64_t seq;
};

struct look_key {
	const struct requestor *requestor;
	enum store_mail kind;
	char run_id[ID_SIZE];
};

/* A run being watched; the store is asked once for all its watches. */
struct remote_run_lookup {
	struct run_row_lookup row; /* for reading the row of KEY */
	struct look_key key;
	struct mark seen;
	struct event *look; /* timer of reads; NULL: no further reads */
	bool reading;	    /* a read is under way */
	bool gone;	    /* without watches; freed after the read */
	LIST_HEAD(, remote_run_watch) watches;
	UT_hash_handle hh; /* in ctx.looks, while LOOK is set */
};

struct remote_run_watch {
	struct remote_run_watcher w;
	struct remote_run_lookup *of;
	LIST_ENTRY(remote_run_watch) link;
};

static struct mark mark_of(const struct remote_run_lookup *l,
			   const struct store_run *row)
{
	bool log = l->key.kind == STORE_MAIL_LOG;

	if (log) /* for a log, only its lines matter */
		return (struct mark){.seq = row->log_seq};
	return (struct mark){.status = row->status,
			     .cancelling = row->cancelling,
			     .awaiting = row->awaiting,
			     .seq = row->shown_seq};
}

static void stop_looking(struct remote_run_lookup *l)
{
	if (l->look == NULL)
		return;
	event_free(l->look);
	l->look = NULL;
	HASH_DEL(l->row.ctx->looks, l);
}

static void keep_asking(struct remote_run_lookup *l,
			const struct store_run *row)
{
	const struct look_key *k = &l->key;
	int64_t until =
	    k->kind == STORE_MAIL_LOG ? row->log_until_ms : row->shown_until_ms;

	if (!run_lookup_owner_died(l->row.ctx, row) &&
	    row->owner != STORE_OWNER_QUEUE &&
	    until < clock_wall_ms() + RUN_LOOKUP_RENEW_MS)
		store_send_mail(
		    l->row.ctx->store, k->requestor->name, k->run_id, k->kind,
		    clock_wall_ms() + RUN_LOOKUP_WATCH_MS, NULL, NULL);
}

static void tell_change(struct remote_run_lookup *l, enum remote_run_event ev,
			struct run *r)
{
	struct remote_run_watch *w;

	LIST_FOREACH(w, &l->watches, link)
		w->w.on_event(w->w.arg, ev, r);
}

static void last(struct remote_run_lookup *l, enum remote_run_event ev,
		 struct run *r)
{
	stop_looking(l);
	tell_change(l, ev, r);
}

static void on_look(struct run_row_lookup *lookup, struct run *r,
		    const struct store_result *res)
{
	struct remote_run_lookup *l =
	    CONTAINER(lookup, struct remote_run_lookup, row);
	const struct store_run *row = res->runs;
	struct mark now;

	l->reading = false;
	if (l->gone) {
		free(l);
		return;
	}
	if (r != NULL) {
		last(l, REMOTE_RUN_OURS, r);
	} else if (res->rc == -ENOENT ||
		   (res->rc == 0 && row->status > STORE_RUNNING)) {
		last(l, REMOTE_RUN_OVER, NULL);
	} else if (res->rc == 0) {
		now = mark_of(l, row);
		keep_asking(l, row);
		if (now.status == l->seen.status &&
		    now.cancelling == l->seen.cancelling &&
		    now.awaiting == l->seen.awaiting && now.seq == l->seen.seq)
			return;
		l->seen = now;
		tell_change(l, REMOTE_RUN_CHANGED, NULL);
	}
}

static void look_at_row(evutil_socket_t fd, short what, void *arg)
{
	struct remote_run_lookup *l = arg;

	(void)fd, (void)what;
	if (l->reading)
		return;
	l->reading = true;
	run_lookup_row(&l->row, false);
}

struct remote_run_watch *
remote_run_watch_new(const struct remote_run_watcher *w,
		     const struct store_run *row)
{
	struct remote_run_watch *e = xcalloc(1, sizeof(*e));
	struct remote_run_lookup *l;
	struct look_key key;

	memset(&key, 0, sizeof(key)); /* HASH_FIND compares padding too */
	key.requestor = w->requestor;
	key.kind = w->kind;
	snprintf(key.run_id, sizeof(key.run_id), "%s", w->run_id);
	e->w = *w;
	HASH_FIND(hh, w->ctx->looks, &key, sizeof(key), l);
	if (l == NULL) {
		l = xcalloc(1, sizeof(*l));
		memcpy(&l->key, &key, sizeof(l->key));
		l->row = (struct run_row_lookup){.ctx = w->ctx,
						 .requestor = l->key.requestor,
						 .id = l->key.run_id,
						 .found = on_look};
		l->seen = mark_of(l, row);
		LIST_INIT(&l->watches);
		HASH_ADD(hh, w->ctx->looks, key, sizeof(l->key), l);
		l->look =
		    event_new(w->ctx->base, -1, EV_PERSIST, look_at_row, l);
		event_add(l->look, CLOCK_TIMEVAL(LOOK_S * 1000));
		keep_asking(l, row);
	}
	e->of = l;
	LIST_INSERT_HEAD(&l->watches, e, link);
	return e;
}

void remote_run_watch_free(struct remote_run_watch *w)
{
	struct remote_run_lookup *l;

	if (w == NULL)
		return;
	l = w->of;
	LIST_REMOVE(w, link);
	free(w);
	if (!LIST_EMPTY(&l->watches))
		return;
	stop_looking(l);
	l->gone = true;
	if (!l->reading)
		free(l);
}
