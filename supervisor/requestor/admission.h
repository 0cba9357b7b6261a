/* SPDX-License-Identifier: Apache-2.0 */
/* admission.h - may a requestor make one more run? Pure, but for the clock. */
#ifndef SUPERVISOR_REQUESTOR_ADMISSION_H
#define SUPERVISOR_REQUESTOR_ADMISSION_H

#include "supervisor/config/config.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/requestor/sched.h"

/* how often the server tries whether the store can be written */
#define ADMISSION_STORE_MS 1000
/* when to try again while a queue is full; a guess */
#define ADMISSION_RETRY_MS 1000

struct admission { /* the question; members are lent */
	const struct config *config;
	const struct sched *sched;
	bool shared; /* other requestors may come: leave room for them */
	/* the run would start at once and needs no place in the queue */
	bool starts;
	/* size of the run's inputs, in memory while the run waits */
	size_t bytes;
};

/*
 * Return fair_share() of base/fair_share.h: how much of MOST a requestor may
 * have.
 */
int64_t admission_share(int64_t most, int64_t theirs);

/*
 * May Q make one more run? False: not now, and R has the reason: QUEUE_FULL,
 * QUOTA_EXCEEDED or STORE_UNAVAILABLE.
 */
bool admission_check_run(const struct admission *a, struct requestor *q,
			 struct tool_error *r);

/* Refuse by Q's max_queued_runs, where the runs of all servers were counted. */
void admission_refuse_queued(struct requestor *q, struct tool_error *r);

/* May Q's work take CPU time now? False: R has the reason, QUOTA_EXCEEDED. */
bool admission_check_cpu(struct requestor *q, struct tool_error *r);

/*
 * {limit, used, allowed, unit, whoCanRaise, retryAfterMs}; the caller frees the
 * object.
 */
struct json_object *admission_details(const char *limit, int64_t used,
				      int64_t allowed, const char *unit,
				      const char *who_can_raise,
				      int64_t retry_after_ms);

/*
 * The details of STORE_UNAVAILABLE for a record that cannot be written; the
 * caller frees the object.
 */
struct json_object *admission_store_details(void);

#endif
