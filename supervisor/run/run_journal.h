/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_journal.h - finds the children that had succeeded when a run is run again: by a
 * further attempt, or by retry_task_run after a failure. The row of a child has the call's
 * key in the column "journal", which no client's idempotencyKey reaches.
 */
#ifndef SUPERVISOR_RUN_RUN_JOURNAL_H
#define SUPERVISOR_RUN_RUN_JOURNAL_H

#include <stdbool.h>

struct run;
struct template;

#define RUN_JOURNAL_KEY 33  /* size of a key in hex, with NUL */
#define RUN_JOURNAL_CALL 16 /* bytes of a call's digest */

/* The calls that a run has made in its present attempt, counted by digest. */
struct run_journal;

struct run_journal_call {
	unsigned char digest[RUN_JOURNAL_CALL];
	unsigned nth;		   /* among the calls with the same digest */
	char key[RUN_JOURNAL_KEY]; /* "": the call is in no journal */
};

/*
 * Give CALL, of T with inputs of the digest INPUTS, the next key of PARENT. Of more calls
 * than a run may make, the rest gets no key.
 */
void run_journal_enter(struct run *parent, const struct template *t,
		       const char *inputs, struct run_journal_call *call);
/* No child was made by CALL: the next such call of PARENT gets the same key. */
void run_journal_leave(struct run *parent, const struct run_journal_call *call);
/* Can calls of R have been made before, by an earlier attempt or run? */
bool run_journal_resumes(const struct run *r);
/* Forget the calls of R's attempt; also before R is freed. */
void run_journal_start_over(struct run *r);

#endif
