/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_waiters.c - guests of our runs, waiting at other machines: whether a
 * guest's round may come back, its questions, and its expiry. remote_questions.c
 * brings messages; input_park.c and input.c ask. A message without news is
 * passed over. A guest without messages is removed, and cancels the run if no
 * other client waits for the run.
 */
#include "supervisor/cluster/remote_waiters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/exec/cluster.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/mcp/input/input.h"

/* of a run; a guest that does not wait makes room first */
#define GUESTS_MAX 256
#define HEARD_MAX 16 /* the run's row names so many guests, the last heard */

struct guest {
	char name[ID_SIZE];
	struct client_terms terms; /* the capabilities are owned */
	int64_t until_ms;	   /* mono */
	bool came; /* the guest's round was heard, or the guest has no round */
	bool waits, used, left, cancels;
	uint32_t round; /* the next round, to come back with; 0: none yet */
	struct json_object *keys; /* the questions of ROUND; owned */
	LIST_ENTRY(guest) link;
};

struct remote_waiters {
	struct context *ctx;
	struct run *run;
	struct run_watch watch;
	LIST_HEAD(, guest) all; /* the newest first */
	size_t n;
	struct event *expiry;
};

/* ---- guests come and go ---- */

static void stop_waiting(struct run *r, struct guest *g)
{
	r->remote.n_waiting -= g->waits;
	g->waits = false;
}

static void forget_guest(struct remote_waiters *all, struct guest *g)
{
	stop_waiting(all->run, g);
	LIST_REMOVE(g, link);
	all->n--;
	json_object_put(g->terms.capabilities);
	json_object_put(g->keys);
	free(g);
}

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct remote_waiters *all = CONTAINER(w, struct remote_waiters, watch);

	if (n->kind != NOTICE_RELEASED)
		return;
	while (!LIST_EMPTY(&all->all))
		/*
		 * NOLINTNEXTLINE(clang-analyzer-unix.Malloc): forget_guest() removes
		 * the guest
		 */
		forget_guest(all, LIST_FIRST(&all->all));
	run_watch_del(&all->watch);
	event_free(all->expiry);
	r->remote.waiters = NULL;
	free(all);
}

static void guest_leaves(struct remote_waiters *all, struct guest *g)
{
	bool waited = g->waits;

	stop_waiting(all->run, g);
	/* a remote run is not cancelled: its new owner may know G as a guest */
	if (waited && g->cancels && run_is_here(all->run) &&
	    run_is_unwanted(all->run))
		runs_cancel(all->ctx->runs, all->run);
}

static void on_expiry(evutil_socket_t fd, short what, void *arg)
{
	struct remote_waiters *all = arg;
	struct guest *g, *after;
	int64_t now = clock_mono_ms();

	(void)fd, (void)what;
	for (g = LIST_FIRST(&all->all); g != NULL; g = after) {
		after = LIST_NEXT(g, link);
		if (g->until_ms > now)
			continue;
		g->cancels = true;
		guest_leaves(all, g);
		forget_guest(all, g);
	}
	if (!LIST_EMPTY(&all->all))
		evtimer_add(all->expiry, CLOCK_TIMEVAL(REMOTE_WAITER_MS / 3));
}

static struct remote_waiters *guests_of(struct context *ctx, struct run *r)
{
	struct remote_waiters *all = r->remote.waiters;

	if (all != NULL)
		return all;
	all = r->remote.waiters = xcalloc(1, sizeof(*all));
	all->ctx = ctx;
	all->run = r;
	all->watch.on_notice = on_notice;
	all->expiry = evtimer_new(ctx->base, on_expiry, all);
	evtimer_add(all->expiry, CLOCK_TIMEVAL(REMOTE_WAITER_MS / 3));
	run_watch_add(r, &all->watch);
	return all;
}

/*
 * Make room for another guest, unless all guests wait. A guest that COMES back
 * with a round takes the place of a waiting guest: the displaced guest writes
 * again, and sees the run's end in any case.
 */
static bool drop_oldest_guest(struct remote_waiters *all, bool comes)
{
	struct guest *g, *idle = NULL, *waits = NULL;

	if (all->n < GUESTS_MAX)
		return true;
	LIST_FOREACH(g, &all->all, link) {
		if (!g->waits)
			idle = g;
		else if (waits == NULL || g->until_ms <= waits->until_ms)
			waits = g;
	}
	if (idle == NULL && comes)
		idle = waits;
	if (idle != NULL)
		forget_guest(all, idle);
	return idle != NULL;
}

static struct guest *guest_of(struct remote_waiters *all, const char *name,
			      bool comes)
{
	struct guest *g;

	LIST_FOREACH(g, &all->all, link)
		if (strcmp(g->name, name) == 0)
			return g;
	if (strlen(name) >= sizeof(g->name) || !drop_oldest_guest(all, comes))
		return NULL;
	g = xcalloc(1, sizeof(*g));
	snprintf(g->name, sizeof(g->name), "%s", name);
	g->terms.revision = MCP_LATEST;
	LIST_INSERT_HEAD(&all->all, g, link);
	all->n++;
	if (!evtimer_pending(all->expiry, NULL))
		evtimer_add(all->expiry, CLOCK_TIMEVAL(REMOTE_WAITER_MS / 3));
	return g;
}

/* ---- messages of guests ---- */

static void wait_for_run(struct run *r, struct guest *g)
{
	if (g->waits || g->used || g->round != 0)
		return;
	g->waits = true;
	r->remote.n_waiting++;
	r->task.known = true; /* the guest knows the run's id */
	run_tell_waiter(r, WAITER_CAME, NULL);
}

/*
 * Hear G's round, a single time, as for a client that comes back to this
 * machine.
 */
static void come_back(struct run *r, struct guest *g, int64_t round,
		      struct json_object *answers, size_t bytes)
{
	g->came = true;
	if (run_round_is_old(round, r->rounds.given)) { /* G is asked anew */
		wait_for_run(r, g);
		return;
	}
	g->used = round <= r->rounds.used || round > r->rounds.given;
	if (g->used) {
		stop_waiting(r, g);
		return;
	}
	r->rounds.used = (uint32_t)round;
	/* by R's row, G is not told of another client's use of the round */
	if (r->remote.heard == NULL)
		r->remote.heard = json_object_new_array();
	if (json_length(r->remote.heard) >= HEARD_MAX)
		json_object_array_del_idx(r->remote.heard, 0, 1);
	json_object_array_add(r->remote.heard, json_text_new(g->name));
	input_unpark(r);
	wait_for_run(r, g);
	input_answer_keys(r, r->requestor, answers, bytes);
}

void remote_waiters_hear(struct context *ctx, struct run *r,
			 struct json_object *message, size_t bytes)
{
	const char *name = json_member_str(message, "guest");
	int64_t round = json_member_int(message, "round");
	struct remote_waiters *all = guests_of(ctx, r);
	struct guest *g = name != NULL ? guest_of(all, name, round > 0) : NULL;
	bool leaves = json_member_bool(message, "left");

	if (g == NULL)
		return;
	g->until_ms = clock_mono_ms() + REMOTE_WAITER_MS;
	if (g->terms.capabilities == NULL) {
		/* moved: a thread may free MESSAGE */
		g->terms.capabilities =
		    json_object_get(json_member(message, "capabilities"));
		json_object_object_del(message, "capabilities");
	}
	g->left |= leaves;
	g->cancels |= json_member_bool(message, "cancels");
	if (round > 0 && !g->came)
		come_back(r, g, round, json_member(message, "answers"), bytes);
	else if (!leaves)
		wait_for_run(r, g);
	/* "left" may come before the round: messages have no order */
	if (g->left)
		guest_leaves(all, g);
	run_tell(r, &(struct run_notice){.kind = NOTICE_ASKED});
}

/* ---- questions to guests ---- */

const char *remote_waiters_missing(const struct run *r,
				   const struct input_request *q)
{
	const char *missing = NULL, *lacks;
	const struct guest *g;

	if (r->remote.waiters == NULL)
		return CLUSTER_NO_WAITER;
	LIST_FOREACH(g, &r->remote.waiters->all, link) {
		if (!g->waits)
			continue;
		lacks = input_request_missing(q, &g->terms);
		if (lacks == NULL)
			return NULL;
		missing = lacks;
	}
	return missing != NULL ? missing : CLUSTER_NO_WAITER;
}

/*
 * Returns the guest that has waited longest and can be asked a question of IN.
 */
static struct guest *next(const struct run *r)
{
	struct guest *g, *first = NULL;

	if (r->remote.waiters == NULL)
		return NULL;
	LIST_FOREACH(g, &r->remote.waiters->all, link)
		if (g->waits && input_may_be_told(r, &g->terms))
			first = g;
	return first;
}

bool remote_waiters_may_ask(const struct run *r)
{
	return next(r) != NULL;
}

bool remote_waiters_ask(struct context *ctx, struct run *r)
{
	struct guest *g = next(r);
	struct tool_error e = {0};
	struct json_object *asked;

	if (g == NULL)
		return false;
	if (!r->job.parked.is && !runs_may_park(ctx->runs, r, &e)) {
		input_refuse_all(r, &e);
		return true;
	}
	asked = input_requests(r, &g->terms);
	g->keys = json_object_new_array();
	json_object_object_foreach(asked, key, one) {
		(void)one;
		json_object_array_add(g->keys, json_text_new(key));
	}
	json_object_put(asked);
	input_park(r);
	g->round = r->rounds.given;
	stop_waiting(r, g);
	run_tell(r, &(struct run_notice){.kind = NOTICE_ASKED});
	return true;
}

struct json_object *remote_waiters_shown(const struct run *r)
{
	struct json_object *all = NULL;
	const struct guest *g;

	if (r->remote.waiters == NULL || LIST_EMPTY(&r->remote.waiters->all))
		return NULL;
	all = json_object_new_object();
	LIST_FOREACH(g, &r->remote.waiters->all, link) {
		struct json_object *o = json_object_new_object();

		if (g->used)
			json_add(o, "used:b", true);
		else if (g->round != 0)
			json_add(o, "round:i keys:O", (int64_t)g->round,
				 g->keys);
		else
			json_add(o, "waits:b", g->waits);
		json_object_object_add(all, g->name, o);
	}
	return all;
}
