/* SPDX-License-Identifier: Apache-2.0 */
/* admission.h - may a requestor make one more run? Pure, but for the clock. */
#ifndef SUPERVISOR_REQUESTOR_ADMISSION_H
#define SUPERVISOR_REQUESTOR_ADMISSION_H

#include "supervisor/config/config.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/requestor/sched.h"

/* so often it is looked whether it can be written */
#define ADMISSION_STORE_MS 1000
#define ADMISSION_RETRY_MS 1000 /* when a queue is full; a guess */

struct admission { /* all lent */
	const struct config *config;
	const struct sched *sched;
	bool shared;  /* there may be other requestors: leave them room */
	bool starts;  /* it would start at once, and so need not wait */
	size_t bytes; /* of its inputs, which it holds while it waits */
};

/* base/fair_share.h's rule. */
int64_t admission_share(int64_t most, int64_t theirs);

/* False: not now, and R says why: QUEUE_FULL, QUOTA_EXCEEDED or
   STORE_UNAVAILABLE. */
bool admission_check_run(const struct admission *a, struct requestor *q,
			 struct tool_error *r);

/* May anything take CPU time for Q? False: R says why not: QUOTA_EXCEEDED. */
bool admission_check_cpu(struct requestor *q, struct tool_error *r);

/* {limit, used, allowed, unit, whoCanRaise, retryAfterMs}; the caller's. */
struct json_object *admission_details(const char *limit, int64_t used,
				      int64_t allowed, const char *unit,
				      const char *who_can_raise,
				      int64_t retry_after_ms);

/* STORE_UNAVAILABLE's, of a record that cannot be written; the caller's. */
struct json_object *admission_store_details(void);

#endif
