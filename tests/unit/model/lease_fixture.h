/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_fixture.h - a model of lease, epoch and terminal state: two nodes, a database
 * and one run, as a state and the steps that lead from one to the next. Time is
 * counted in ticks; a node's clock and the database's tell durations alone.
 *
 * What is asked of the database goes the whole way: it is sent, done or refused
 * there, and answered. Between any two of these the connection may end, and then a
 * request that was sent may still be done, late, by the end that is left of it. The
 * heartbeat goes the same way on a connection of its own, beside what is asked.
 */
#ifndef TESTS_UNIT_MODEL_LEASE_FIXTURE_H
#define TESTS_UNIT_MODEL_LEASE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#define NODES 2
#define LEASE 3 /* ticks without a write: then a node is dead for others */

enum life { LIFE_UP, LIFE_STOPPED, LIFE_GONE };
enum row { ROW_NONE, ROW_QUEUED, ROW_RUNNING, ROW_SUCCEEDED, ROW_INTERRUPTED };
enum ask {
	ASK_NOTHING,

	ASK_CREATE,
	ASK_CLAIM,
	ASK_END,     /* with its result */
	ASK_END_CUT, /* its worker was killed, since the lease was over */
	ASK_TAKE_OVER
};
enum stage {
	STAGE_SENT = 1,
	STAGE_DONE,
	STAGE_EMPTY,
	STAGE_REFUSED,
	STAGE_UNKNOWN
};
enum has { HAS_NO_RUN, HAS_CALL, HAS_WORKER, HAS_RESULT, HAS_CUT };

/* All are bytes, so that a state is compared and hashed as it lies there. */
struct node {
	uint8_t life, link, has;
	/* ticks since it sent the heartbeat that was answered last */
	uint8_t own_age;
	uint8_t woken; /* it was stopped, in this tick */
	uint8_t ask, stage;
	uint8_t beat, beat_age; /* a stage, or 0; ticks since it was sent */
	uint8_t late;		/* an ask on a connection that has ended */
	uint8_t is_last;	/* it is ask, of which nobody knows what came */
	uint8_t recorded;	/* it knows that its run has a row */
	/* the database's row of it */
	uint8_t present, age, committed;
};

struct world {
	struct node node[NODES];
	uint8_t row, owner, attempts;
	uint8_t acked, told; /* told: the row that a client was told of */
	uint8_t executed;    /* how often a worker began with it */
	uint8_t is_up;
	uint8_t faults; /* so many may still come */
};

/* What nodes and database do; each can be broken. */
struct rules {
	bool queued; /* the run waits for a node; else its node starts it */
	bool retry;  /* interrupted, it may be done a second time */
	bool no_epoch;
	bool no_number;	    /* a late write of one's own is let through */
	bool late_kill;	    /* workers are killed after the lease of others */
	bool age_by_answer; /* the own lease begins when the answer comes */
	bool age_by_write;  /* or with any write, which others do not see */
	bool end_once;	    /* an end is not written again */
	bool
	    asks_once; /* to ask what became of a write leaves its mark there */
	bool claim_unknown;  /* a claim without an answer is taken for none */
	bool late_start;     /* whatever is left of the lease */
	bool start_unasked;  /* before the claim is answered */
	bool ack_unrecorded; /* before the row is there */
};

enum step {
	STEP_ASK_CREATE,
	STEP_ASK_CLAIM,
	STEP_ASK_END,
	STEP_ASK_TAKE_OVER,
	STEP_SEND_BEAT,
	STEP_BEAT,
	STEP_HEAR_BEAT,
	STEP_EXECUTE,
	STEP_ANSWER,
	STEP_WORK_ENDS,
	STEP_KILL_WORKERS,
	STEP_RECONNECT,
	STEP_CONTINUE,
	STEP_DATABASE_UP,
	STEP_TICK,
	STEP_FAULTS, /* from here on what only a fault does */
	STEP_CUT = STEP_FAULTS,
	STEP_CUT_LATE, /* what was sent may still be done */
	STEP_CUT_ASKING,
	STEP_LOSE_BEAT,
	STEP_LATE,
	STEP_KILL_NODE,
	STEP_STOP,
	STEP_DATABASE_DOWN,
	STEPS
};

extern const char *const lease_step_names[STEPS];

struct world lease_begin(const struct rules *r, int faults);
/* W after STEP of node N (of the database: 0); false: not possible in W. */
bool lease_step(const struct rules *r, struct world *w, enum step step, int n);
/* What does not hold after a step from BEFORE to W; NULL: all does. */
const char *lease_wrong(const struct rules *r, const struct world *before,
			const struct world *w);
/* Without another fault, does what was acknowledged come to an end? */
bool lease_ends(const struct rules *r, struct world w);

#endif
