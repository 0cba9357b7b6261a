/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_fixture.c - the steps of lease_fixture.h: each function returns whether the
 * step is possible, and changes the state. t_lease.c tries the steps in every order.
 */
#include "tests/unit/model/lease_fixture.h"

#include <string.h>

#include "base/mem.h"

#define ATTEMPTS 2
#define ROUNDS 40 /* without faults all is over long before */

const char *const lease_step_names[STEPS] = {
    [STEP_SEND_BEAT] = "sends a heartbeat",
    [STEP_BEAT] = "has its heartbeat noted, or refused",
    [STEP_HEAR_BEAT] = "hears of its heartbeat",
    [STEP_ASK_CREATE] = "sends the row of the run",
    [STEP_ASK_CLAIM] = "sends a claim",
    [STEP_ASK_END] = "sends the end of the run",
    [STEP_ASK_TAKE_OVER] = "sends a take-over of the other",
    [STEP_EXECUTE] = "has its request done, or refused",
    [STEP_ANSWER] = "gets the answer",
    [STEP_WORK_ENDS] = "has the result of its worker",
    [STEP_KILL_WORKERS] = "kills its worker, since its lease is over",
    [STEP_RECONNECT] = "is connected again",
    [STEP_CONTINUE] = "is continued",
    [STEP_DATABASE_UP] = "(database) is there again",
    [STEP_TICK] = "(all) grow older by a tick",
    [STEP_CUT] = "is cut off; what it sent is lost",
    [STEP_CUT_LATE] = "is cut off; what it sent lies before the database",
    [STEP_CUT_ASKING] = "asks what became of it, and is cut off at once",
    [STEP_LOSE_BEAT] = "loses the connection of its heartbeat",
    [STEP_LATE] = "has an old request done",
    [STEP_KILL_NODE] = "is killed",
    [STEP_STOP] = "is stopped",
    [STEP_DATABASE_DOWN] = "(database) is gone",
};

static int kill_at(const struct rules *r)
{
	return r->late_kill ? LEASE + 1 : LEASE - 1;
}

static bool works(const struct node *n)
{
	return n->has == HAS_WORKER;
}

static bool is_over(int row)
{
	return row == ROW_SUCCEEDED || row == ROW_INTERRUPTED;
}

static void begin_work(struct world *w, struct node *n)
{
	n->has = HAS_WORKER;
	w->executed++;
}

struct world lease_begin(const struct rules *r, int faults)
{
	struct world w = {.is_up = 1, .faults = (uint8_t)faults};

	for (int i = 0; i < NODES; i++)
		w.node[i].link = w.node[i].present = 1;
	if (r->queued)
		w.node[0].has = HAS_CALL;
	else
		begin_work(&w, &w.node[0]);
	return w;
}

/* The node N ends and loses all state. */
static void go(struct node *n)
{
	n->life = LIFE_GONE;
	n->link = n->has = n->ask = n->stage = 0;
	n->beat = n->beat_age = 0;
	n->own_age = n->woken = n->recorded = n->committed = 0;
	n->is_last = 0;
}

/* ---- sending requests ---- */

static bool can_ask(const struct node *n)
{
	return n->life == LIFE_UP && n->link && n->ask == ASK_NOTHING;
}

static bool send(struct node *n, enum ask ask)
{
	n->ask = ask;
	n->stage = STAGE_SENT;
	n->committed = 0;
	return true;
}

static bool ask_create(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	if (!can_ask(x) || x->recorded || (x->has != HAS_CALL && !works(x)))
		return false;
	if (r->ack_unrecorded)
		w->acked = 1;
	return send(x, ASK_CREATE);
}

static bool ask_claim(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	if (!can_ask(x) || x->has != HAS_NO_RUN || w->row != ROW_QUEUED)
		return false;
	if (r->start_unasked)
		begin_work(w, x);
	/*
	 * the lease that the node counts is no newer than the lease that others see
	 */
	x->own_age =
	    x->present && x->age < kill_at(r) ? x->age : (uint8_t)kill_at(r);
	return send(x, ASK_CLAIM);
}

static bool ask_end(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	(void)r;
	if (!can_ask(x) || (x->has != HAS_RESULT && x->has != HAS_CUT))
		return false;
	return send(x, x->has == HAS_CUT ? ASK_END_CUT : ASK_END);
}

static bool is_dead(const struct node *x)
{
	return !x->present || x->age >= LEASE;
}

static bool has_row(const struct world *w, int n)
{
	return w->row == ROW_RUNNING && w->owner == n;
}

static bool ask_take_over(const struct rules *r, struct world *w, int n)
{
	const struct node *other = &w->node[1 - n];

	(void)r;
	return can_ask(&w->node[n]) && is_dead(other) &&
	       (other->present || has_row(w, 1 - n)) &&
	       send(&w->node[n], ASK_TAKE_OVER);
}

/* ---- the database's steps ---- */

static void interrupt(const struct rules *r, struct world *w)
{
	bool again = r->retry && w->attempts < ATTEMPTS;

	w->row = again ? ROW_QUEUED : ROW_INTERRUPTED;
}

static void put_running(struct world *w, int n)
{
	w->row = ROW_RUNNING;
	w->owner = (uint8_t)n;
	w->attempts++;
}

static enum stage bury(const struct rules *r, struct world *w, int n)
{
	struct node *other = &w->node[1 - n];

	if (!is_dead(other))
		return STAGE_EMPTY;
	other->present = other->age = 0;
	if (has_row(w, 1 - n))
		interrupt(r, w);
	return STAGE_DONE;
}

static enum stage write_row(const struct rules *r, struct world *w, int n,
			    enum ask ask)
{
	switch (ask) {
	case ASK_CREATE:
		if (r->queued)
			w->row = ROW_QUEUED;
		else
			put_running(w, n);
		return STAGE_DONE;
	case ASK_CLAIM:
		if (w->row != ROW_QUEUED)
			return STAGE_EMPTY;
		put_running(w, n);
		return STAGE_DONE;
	case ASK_END:
		w->row = ROW_SUCCEEDED;
		return STAGE_DONE;
	case ASK_END_CUT:
		interrupt(r, w);
		return STAGE_DONE;
	case ASK_TAKE_OVER:
		return bury(r, w, n);
	default:
		return STAGE_DONE;
	}
}

/*
 * A write begins with the numbers of the node, which exist as long as the node's row.
 */
static enum stage carry_out(const struct rules *r, struct world *w, int n,
			    enum ask ask)
{
	struct node *x = &w->node[n];

	if (!x->present && !r->no_epoch)
		return STAGE_REFUSED;
	return write_row(r, w, n, ask);
}

static bool execute(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	if (x->ask == ASK_NOTHING || x->stage != STAGE_SENT || !x->link)
		return false;
	x->stage = (uint8_t)carry_out(r, w, n, (enum ask)x->ask);
	x->committed = x->stage == STAGE_DONE;
	return true;
}

static bool late(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];
	enum ask ask = (enum ask)x->late;

	if (ask == ASK_NOTHING || !w->is_up)
		return false;
	x->late = ASK_NOTHING;
	if (carry_out(r, w, n, ask) == STAGE_DONE)
		/* the request's number is now in the node's row */
		x->committed = x->is_last;
	x->is_last = 0;
	return true;
}

/* ---- answers of the database ---- */

static void tell(struct world *w, enum row row)
{
	w->acked = 1;
	w->told = (uint8_t)row;
}

static void on_done(const struct rules *r, struct world *w, struct node *x)
{
	bool is_old = x->own_age >= kill_at(r) && !r->late_start;

	switch (x->ask) {
	case ASK_CREATE:
		w->acked = x->recorded = 1;
		if (x->has == HAS_CALL)
			x->has = x->recorded = 0;
		break;
	case ASK_CLAIM:
		x->recorded = 1;
		if (is_old)
			x->has = HAS_CUT;
		else if (!r->start_unasked)
			begin_work(w, x);
		break;
	case ASK_END:
	case ASK_END_CUT:
		if (x->ask == ASK_END)
			tell(w, ROW_SUCCEEDED);
		else if (!r->retry)
			tell(w, ROW_INTERRUPTED);
		x->has = x->recorded = 0;
		break;
	default:
		break;
	}
}

static bool answer(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	if (x->life != LIFE_UP || !x->link || x->ask == ASK_NOTHING ||
	    x->stage == STAGE_SENT)
		return false;
	if (x->stage == STAGE_REFUSED) {
		go(x);
		return true;
	}
	if (x->stage == STAGE_DONE)
		on_done(r, w, x);
	else if (x->ask == ASK_CLAIM && r->start_unasked)
		x->has = HAS_NO_RUN;
	if (r->age_by_write)
		x->own_age = 0;
	x->ask = x->stage = x->committed = 0;
	return true;
}

/* ---- the heartbeat ---- */

/* The node has a run, or asks for a run, and so depends on the heartbeat. */
static bool needs_lease(const struct node *x)
{
	return works(x) || x->ask == ASK_CLAIM;
}

static bool send_beat(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	(void)r;
	if (x->life != LIFE_UP || x->beat != 0 || !w->is_up || x->age == 0)
		return false;
	/* one step for send and answer, since nothing depends on the heartbeat */
	if (!needs_lease(x)) {
		x->age = 0;
		return true;
	}
	x->beat = STAGE_SENT;
	x->beat_age = 0;
	return true;
}

static bool beat(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	(void)r;
	if (x->beat != STAGE_SENT || !w->is_up)
		return false;
	x->beat = x->present ? STAGE_DONE : STAGE_REFUSED;
	x->age = 0; /* without a row, the node has no age */
	return true;
}

static bool hear_beat(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	(void)w;
	if (x->life != LIFE_UP || x->beat <= STAGE_SENT)
		return false;
	if (x->beat == STAGE_REFUSED) {
		go(x);
		return true;
	}
	x->own_age = r->age_by_answer ? 0 : x->beat_age;
	x->beat = x->beat_age = 0;
	return true;
}

/* ---- steps of a node ---- */

static bool work_ends(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	(void)r;
	if (x->life != LIFE_UP || !works(x))
		return false;
	x->has = HAS_RESULT;
	x->woken = 0;
	return true;
}

static bool is_due(const struct rules *r, const struct node *x)
{
	return x->life == LIFE_UP && works(x) && x->own_age >= kill_at(r);
}

static bool kill_workers(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	if (!is_due(r, x))
		return false;
	x->has = HAS_CUT;
	x->woken = 0;
	return true;
}

/* The node's row tells the result of an unanswered request. */
static void resolve(const struct rules *r, struct node *x)
{
	bool is_end = x->ask == ASK_END || x->ask == ASK_END_CUT;
	bool is_done =
	    x->committed && !(r->claim_unknown && x->ask == ASK_CLAIM);

	if (is_end && r->end_once)
		x->has = x->recorded = 0;
	if (is_done && !(is_end && r->end_once)) {
		x->stage = STAGE_DONE;
	} else {
		x->ask = x->stage = x->committed = 0;
	}
}

static bool can_connect(const struct world *w, const struct node *x)
{
	return x->life == LIFE_UP && !x->link && w->is_up;
}

/* The database has recorded the question of X about its last request. */
static void settle(const struct rules *r, struct node *x)
{
	x->is_last = 0;
	x->age = 0;
	if (!r->no_number)
		/* the number of a late request is now too low */
		x->late = ASK_NOTHING;
}

static bool reconnect(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	if (!can_connect(w, x))
		return false;
	if (!x->present) {
		go(x);
		return true;
	}
	x->link = 1;
	x->own_age = 0;
	settle(r, x);
	if (x->ask != ASK_NOTHING)
		resolve(r, x);
	return true;
}

static bool go_on(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	(void)r;
	if (x->life != LIFE_STOPPED)
		return false;
	x->life = LIFE_UP;
	x->woken = works(x);
	return true;
}

/* ---- the world ---- */

static bool database_up(const struct rules *r, struct world *w, int n)
{
	(void)r;
	if (w->is_up || n != 0)
		return false;
	w->is_up = 1;
	for (int i = 0; i < NODES; i++)
		/* the time of the database's outage does not count */
		w->node[i].age = 0;
	return true;
}

static void grow(uint8_t *age, int most)
{
	if (*age < most)
		++*age;
}

/* Duties of a node at a time come before the time advances. */
static bool tick(const struct rules *r, struct world *w, int n)
{
	if (n != 0)
		return false;
	for (int i = 0; i < NODES; i++)
		if (is_due(r, &w->node[i]))
			return false;
	for (int i = 0; i < NODES; i++) {
		struct node *x = &w->node[i];

		if (needs_lease(x))
			grow(&x->own_age, kill_at(r));
		if (x->beat != 0)
			grow(&x->beat_age, kill_at(r));
		if (x->present && w->is_up)
			grow(&x->age, LEASE);
		x->woken = 0;
	}
	return true;
}

/* ---- faults ---- */

static void drop(struct node *x)
{
	x->link = 0;
	if (x->ask != ASK_NOTHING)
		x->stage = STAGE_UNKNOWN;
}

static bool cut(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	(void)r;
	if (!x->link || w->faults == 0)
		return false;
	w->faults--;
	drop(x);
	return true;
}

static bool cut_late(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];
	uint8_t ask = x->ask;

	if (ask == ASK_NOTHING || x->stage != STAGE_SENT ||
	    x->late != ASK_NOTHING || !cut(r, w, n))
		return false;
	x->late = ask;
	x->is_last = 1;
	return true;
}

/* The question has reached the database, and the answer is lost. */
static bool cut_asking(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	if (!can_connect(w, x) || !x->present || x->ask == ASK_NOTHING ||
	    w->faults == 0)
		return false;
	w->faults--;
	settle(r, x);
	if (r->asks_once)
		/* the question's number is now in the node's row */
		x->committed = 1;
	return true;
}

/* The heartbeat's connection ends at any stage. */
static bool lose_beat(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	(void)r;
	if (x->beat == 0 || w->faults == 0)
		return false;
	w->faults--;
	x->beat = x->beat_age = 0;
	return true;
}

static bool kill_node(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	(void)r;
	if (x->life == LIFE_GONE || w->faults == 0)
		return false;
	w->faults--;
	if (x->ask != ASK_NOTHING && x->link && x->stage == STAGE_SENT &&
	    x->late == ASK_NOTHING)
		x->late = x->ask;
	go(x);
	return true;
}

static bool stop(const struct rules *r, struct world *w, int n)
{
	struct node *x = &w->node[n];

	(void)r;
	if (x->life != LIFE_UP || w->faults == 0)
		return false;
	w->faults--;
	x->life = LIFE_STOPPED;
	return true;
}

static bool database_down(const struct rules *r, struct world *w, int n)
{
	(void)r;
	if (!w->is_up || w->faults == 0 || n != 0)
		return false;
	w->faults--;
	w->is_up = 0;
	for (int i = 0; i < NODES; i++) {
		if (w->node[i].link)
			drop(&w->node[i]);
		w->node[i].beat = w->node[i].beat_age = 0;
		w->node[i].late = w->node[i].is_last = 0;
	}
	return true;
}

static bool (*const steps[STEPS])(const struct rules *, struct world *, int) = {
    [STEP_SEND_BEAT] = send_beat,
    [STEP_BEAT] = beat,
    [STEP_HEAR_BEAT] = hear_beat,
    [STEP_ASK_CREATE] = ask_create,
    [STEP_ASK_CLAIM] = ask_claim,
    [STEP_ASK_END] = ask_end,
    [STEP_ASK_TAKE_OVER] = ask_take_over,
    [STEP_EXECUTE] = execute,
    [STEP_ANSWER] = answer,
    [STEP_WORK_ENDS] = work_ends,
    [STEP_KILL_WORKERS] = kill_workers,
    [STEP_RECONNECT] = reconnect,
    [STEP_CONTINUE] = go_on,
    [STEP_DATABASE_UP] = database_up,
    [STEP_TICK] = tick,
    [STEP_CUT] = cut,
    [STEP_CUT_LATE] = cut_late,
    [STEP_CUT_ASKING] = cut_asking,
    [STEP_LOSE_BEAT] = lose_beat,
    [STEP_LATE] = late,
    [STEP_KILL_NODE] = kill_node,
    [STEP_STOP] = stop,
    [STEP_DATABASE_DOWN] = database_down,
};

bool lease_step(const struct rules *r, struct world *w, enum step step, int n)
{
	if (!steps[step](r, w, n))
		return false;
	for (int i = 0; i < NODES; i++) {
		struct node *x = &w->node[i];

		if (!needs_lease(x))
			x->own_age = x->beat = x->beat_age = 0;
	}
	return true;
}

/* ---- rules for all states ---- */

/* Does the node still work by its own clock: neither stopped nor just woken? */
static bool works_on(const struct node *x)
{
	return works(x) && x->life == LIFE_UP && !x->woken;
}

const char *lease_wrong(const struct rules *r, const struct world *before,
			const struct world *w)
{
	const struct node *x = w->node;

	if (is_over(before->row) && w->row != before->row)
		return "a run has two ends";
	if (w->told != ROW_NONE && w->row != w->told)
		return "a client was told of another end";
	if (w->executed > (r->retry ? ATTEMPTS : 1))
		return "a run was done twice without being asked for";
	if (works_on(&x[0]) && works_on(&x[1]))
		return "two nodes do a run at once";
	if (before->row == ROW_RUNNING && w->row != ROW_RUNNING &&
	    w->row != ROW_SUCCEEDED && works_on(&x[before->owner]))
		return "a run was called interrupted while it was done";
	if (!lease_ends(r, *w))
		return "an acknowledged run is lost";
	return NULL;
}

/* Can a later node take the run, since no other node has the run? */
static bool is_left(const struct world *w)
{
	if (w->row == ROW_QUEUED)
		return w->node[0].life == LIFE_GONE &&
		       w->node[1].life == LIFE_GONE;
	return w->row == ROW_RUNNING && w->node[w->owner].life == LIFE_GONE &&
	       w->node[1 - w->owner].life == LIFE_GONE;
}

bool lease_ends(const struct rules *r, struct world w)
{
	if (!w.acked)
		return true;
	for (int round = 0; round < ROUNDS && !is_over(w.row); round++)
		for (int step = 0; step < STEP_FAULTS; step++)
			for (int n = 0; n < NODES; n++)
				lease_step(r, &w, (enum step)step, n);
	return is_over(w.row) || is_left(&w);
}
