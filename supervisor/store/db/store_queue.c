/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_queue.c - the queue of runs for all instances that share a database:
 * adds, claims, cancels and removes runs. Called by the operations of
 * store_impl.h and by the files of store/db; without a shared database the
 * queue is empty. A failure fails the batch.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

int store_enqueue(struct store *s, const struct store_run *run)
{
	char *resident;
	int rc;

	if (run->status != STORE_QUEUED || run->waits == STORE_WAITS_HERE ||
	    !store_is_shared(s))
		return 0;
	resident = run->notebook != NULL
		       ? xasprintf("%s/%s", run->template_id, run->notebook)
		       : xstrdup("");
	rc = store_change(
	    s, STMT_ENQUEUE, STORE_STR(run->id), STORE_STR(run->requestor),
	    STORE_STR(run->digest), STORE_STR(s->instance),
	    STORE_NUM(run->waits == STORE_WAITS_PINNED	    ? 1
		      : run->waits == STORE_WAITS_ELSEWHERE ? 2
							    : 0),
	    STORE_NUM(run->vtime), STORE_NUM(run->weight > 0 ? run->weight : 1),
	    STORE_STR(run->waits == STORE_WAITS_LEFT ? "" : s->instance),
	    STORE_STR(resident), STORE_NUM(run->depth));
	free(resident);
	return rc;
}

int store_queue_room(struct store *s, const struct store_run *run,
		     bool *is_there)
{
	struct store_cursor *st;
	int rc;

	*is_there = true;
	if (run->queued_most == 0 || run->status != STORE_QUEUED ||
	    run->waits == STORE_WAITS_HERE || !store_is_shared(s))
		return 0;
	st = store_query(s, STMT_QUEUE_ROOM, STORE_STR(run->requestor),
			 STORE_NUM(run->queued_most), STORE_STR(run->id));
	while ((rc = store_sql_step(s, st)) == 1)
		*is_there = store_number(st, 0) != 0;
	return rc;
}

static int in_turn(const void *a, const void *b)
{
	const struct store_run *x = a, *y = b;

	return x->vtime != y->vtime ? (x->vtime > y->vtime ? 1 : -1)
				    : strcmp(x->id, y->id);
}

/*
 * Read claims of ST: the row of a run, then the vtime and the instance that
 * queued the run.
 */
static int read_claims(struct store *s, struct store_req *r,
		       struct store_cursor *st, int64_t *last)
{
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		int at = s->engine->columns(st);
		int64_t vtime = store_number(st, at - 2);
		struct store_run *run;

		store_run_row(r, st);
		run = &r->rows[r->res.n_runs - 1];
		run->vtime = vtime;
		if (strcmp(store_text(st, at - 1), s->instance) != 0)
			snprintf(run->home, sizeof(run->home), "%s",
				 store_text(st, at - 1));
		*last = vtime > *last ? vtime : *last;
	}
	return rc;
}

static int claim(struct store *s, struct store_req *r)
{
	int64_t last = 0;
	int rc = 0;

	if (s->claim_failed)
		rc = read_claims(
		    s, r, store_query(s, STMT_CLAIMED, STORE_STR(s->instance)),
		    &last);
	if (rc == 0)
		rc = read_claims(
		    s, r,
		    store_query(s, STMT_CLAIM, STORE_STR(s->instance),
				STORE_NUM(r->limit), STORE_STR(r->key),
				STORE_STR(r->id), STORE_NUM(r->offset),
				STORE_NUM(r->all)),
		    &last);
	if (rc != 0 || r->res.n_runs == 0)
		return rc;
	qsort(r->rows, r->res.n_runs, sizeof(*r->rows), in_turn);
	return store_change(s, STMT_QUEUE_CLOCK, STORE_NUM(last));
}

/* The claim may have succeeded all the same, with the answer lost with the connection. */
static void claim_failed(struct store *s, struct store_req *r)
{
	(void)r;
	s->claim_failed = true;
}

/* Wake the instances that queued the runs, so that they read the news of the claim. */
static void tell_homes(struct store *s, struct store_req *r)
{
	s->claim_failed = false;
	for (size_t i = 0; i < r->res.n_runs; i++)
		store_wake_node(s, r->rows[i].home);
}

int store_cancel_queued(struct store *s, struct store_req *r)
{
	int64_t now = clock_wall_ms();
	struct store_cursor *st = store_query(
	    s, STMT_CANCEL_QUEUED, STORE_STR(r->id), STORE_STR(s->instance),
	    STORE_NUM(now), STORE_NUM(now + r->limit), STORE_STR(r->requestor));
	int rc, gone = 0;

	while ((rc = store_sql_step(s, st)) == 1) {
		free(r->found_text);
		r->found_text = xstrdup(store_text(st, 0));
		gone = 1;
	}
	return rc == 0 ? gone : rc;
}

int store_queue_again(struct store *s, const char *instance, int64_t now_ms,
		      int64_t kept_ms)
{
	static const enum store_stmt stmts[] = {
	    STMT_INTERRUPT_QUEUED, STMT_QUEUE_AGAIN, STMT_FORGET_NEWS,
	    STMT_FORGET_SERVED};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(stmts); i++)
		rc = stmts[i] == STMT_INTERRUPT_QUEUED
			 ? store_change(s, stmts[i], STORE_STR(instance),
					STORE_STR(s->instance),
					STORE_NUM(now_ms),
					STORE_NUM(now_ms + kept_ms))
			 : store_change(s, stmts[i], STORE_STR(instance));
	return rc;
}

/* ---- counts ---- */

static int look_at_queue(struct store *s, struct store_req *r)
{
	struct store_cursor *st =
	    store_query(s, STMT_QUEUE_WAITS, STORE_STR(s->instance));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1)
		r->res.waits = store_number(st, 0) != 0;
	/* a run of a lost claim is in no queue, and only a further claim reads the run */
	r->res.waits |= s->claim_failed;
	if (rc != 0 || r->limit == 0)
		return rc;
	st = store_query(s, STMT_QUEUE_COUNTS, STORE_STR(s->instance));
	while ((rc = store_sql_step(s, st)) == 1) {
		size_t n = r->res.n_uses++;

		r->uses = xrealloc(r->uses, (n + 1) * sizeof(*r->uses));
		r->uses[n] = (struct store_use){
		    .requestor = xstrdup(store_text(st, 0)),
		    .runs = store_number(st, 1),
		};
		r->res.unserved |= store_number(st, 2) > 0;
	}
	r->res.uses = r->uses;
	return rc;
}

static int serve(struct store *s, struct store_req *r)
{
	int rc = store_change(s, STMT_FORGET_SERVED, STORE_STR(s->instance));

	return rc != 0 ? rc
		       : store_change(s, STMT_SERVE, STORE_STR(s->instance),
				      STORE_STR(r->key));
}

static int end_unserved(struct store *s, struct store_req *r)
{
	int64_t now = clock_wall_ms();

	return store_change(s, STMT_END_UNSERVED, STORE_STR(""),
			    STORE_STR(s->instance), STORE_NUM(now),
			    STORE_NUM(now + r->time_ms));
}

/* Read the ids of runs, and nothing else of the runs, from ST. */
static int read_ids(struct store *s, struct store_req *r,
		    struct store_cursor *st)
{
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		struct store_run *run = store_req_row(r);

		snprintf(run->id, sizeof(run->id), "%s", store_text(st, 0));
	}
	return rc;
}

static int unheard(struct store *s, struct store_req *r)
{
	return read_ids(s, r,
			store_query(s, STMT_UNHEARD, STORE_STR(r->key),
				    STORE_STR(s->instance)));
}

static int orphans(struct store *s, struct store_req *r)
{
	return read_ids(s, r, store_query(s, STMT_ORPHANS, STORE_STR(r->key)));
}

static int heard(struct store *s, struct store_req *r)
{
	return store_change(s, STMT_HEARD, STORE_STR(r->id),
			    STORE_STR(s->instance));
}

/* ---- limits ---- */

static int share(struct store *s, struct store_req *r)
{
	const struct store_share *a = &r->share;
	struct store_share *given = &r->res.share;
	bool is_told = false;
	struct store_cursor *st = store_query(
	    s, STMT_SHARE, STORE_STR(s->instance), STORE_STR(r->requestor),
	    STORE_NUM(a->runs_used), STORE_NUM(a->runs_wanted),
	    STORE_NUM(a->runs_most), STORE_NUM(a->rate_wanted),
	    STORE_NUM(a->rate_most), STORE_NUM(a->cpu_ms));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		is_told = !st->engine->is_null(st, 2);
		given->runs = store_number(st, 0);
		given->rate = store_number(st, 1);
		given->cpu_others_ms = store_number(st, 2);
	}
	if (rc == 0 && !is_told)
		store_req_fail(r, -EAGAIN, "another asks for its share");
	return rc;
}

STORE_OP(claim, .writes = true, .ours = true, .keep = tell_homes,
	 .undo = claim_failed);
STORE_OP(share, .writes = true, .ours = true);
STORE_OP(look_at_queue);
STORE_OP(serve, .writes = true, .ours = true);
STORE_OP(end_unserved, .writes = true);
STORE_OP(unheard);
STORE_OP(orphans);
STORE_OP(heard, .writes = true);
