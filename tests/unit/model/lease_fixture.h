/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_fixture.h - a model of lease, epoch and terminal state: two nodes, a database
 * and one run, as a state and the steps between states. Time is counted in ticks; the
 * clocks of a node and of the database measure durations alone.
 *
 * A request to the database goes through three stages: sent, done or refused, answered.
 * Between any two stages the connection may end, and a sent request may still be done
 * later by the remaining end of the connection. The heartbeat goes through the same
 * stages on a connection of its own.
 */
#ifndef TESTS_UNIT_MODEL_LEASE_FIXTURE_H
#define TESTS_UNIT_MODEL_LEASE_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#define NODES 2
/* ticks without a write until other nodes take a node for dead */
#define LEASE 3

enum life { LIFE_UP, LIFE_STOPPED, LIFE_GONE };
enum row { ROW_NONE, ROW_QUEUED, ROW_RUNNING, ROW_SUCCEEDED, ROW_INTERRUPTED };
enum ask {
	ASK_NOTHING,

	ASK_CREATE,
	ASK_CLAIM,
	ASK_END,     /* with the result of the run */
	ASK_END_CUT, /* the worker was killed at the end of the lease */
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

/* Fields are bytes, so states can be compared and hashed as memory. */
struct node {
	uint8_t life, link, has;
	/* ticks since the node sent the last answered heartbeat */
	uint8_t own_age;
	uint8_t woken; /* the node was stopped in this tick */
	uint8_t ask, stage;
	/* a stage, or 0; ticks since the heartbeat was sent */
	uint8_t beat, beat_age;
	uint8_t late;	  /* a request on an ended connection */
	uint8_t is_last;  /* the result of the request is unknown */
	uint8_t recorded; /* the node knows of the run's row */
	/* the database's row of the node */
	uint8_t present, age, committed;
};

struct world {
	struct node node[NODES];
	uint8_t row, owner, attempts;
	uint8_t acked, told; /* told: the row in the answer to the client */
	uint8_t executed;    /* number of workers started for the run */
	uint8_t is_up;
	uint8_t faults; /* so many may still come */
};

/* Rules of nodes and database; each rule can be broken. */
struct rules {
	/* the run waits for a node; else the first node starts the run */
	bool queued;
	bool retry; /* an interrupted run may be executed a second time */
	bool no_epoch;
	bool no_number;	    /* a late write of one's own is let through */
	bool late_kill;	    /* workers are killed after the end of the lease */
	bool age_by_answer; /* the own lease begins when the answer comes */
	/* any write renews the own lease, unseen by others */
	bool age_by_write;
	bool end_once; /* an end is not written again */
	bool
	    /* a question about a write leaves its mark in the database */
	    asks_once;
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
	STEP_FAULTS, /* steps from here on are faults */
	STEP_CUT = STEP_FAULTS,
	STEP_CUT_LATE, /* the sent request may still be done */
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
/* The broken rule after a step from BEFORE to W; NULL: no rule is broken. */
const char *lease_wrong(const struct rules *r, const struct world *before,
			const struct world *w);
/* Without a further fault, does an acknowledged run come to an end? */
bool lease_ends(const struct rules *r, struct world w);

#endif
