/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - a run's outcome, from its worker's messages and its worker's
 * death.
 */
#ifndef SUPERVISOR_RUN_OUTCOME_H
#define SUPERVISOR_RUN_OUTCOME_H

#include <sys/resource.h>

#include "supervisor/spawn/cgroup.h"
#include "supervisor/run/threads/validation.h"
#include "supervisor/run/run.h"

/*
 * The facts when a worker has been reaped; or when a worker has given its
 * result and is leaving: then STATUS is not known, and USE is the worker's own
 * report.
 */
struct exit_facts {
	bool
	    have_result; /* a complete RESULT came, and r->output.value is set */
	bool reply_failed; /* the reply has isError, or an error */
	char *output; /* a large result for on_over(), not read yet; or NULL */
	size_t output_len;
	/* for an invalid block of a large reply's content: the expected form */
	const char *content_expected;
	int content_at; /* the invalid block's index */
	int status;	/* status of wait(2) */
	struct rusage use;
	struct cgroup_use group; /* of a program's cgroup; all -1: no cgroup */
};

/*
 * Returns the event that ends R, and sets R's error for EV_FAIL. An earlier
 * error stays: the first cause wins. RUN_EVENTS: checking R's output would keep
 * the loop too long; pass C to validation_submit(), and its result to
 * outcome_validated().
 */
enum run_event outcome_of(struct run *r, const struct exit_facts *e,
			  struct validation *c);
/* Return the resources that R's worker used; outcome_of() notes them in R. */
struct run_use outcome_used(const struct run *r, const struct exit_facts *e);
/* Set R's error: the worker made OFFENCE; ERRMSG says more, or is "". */
void outcome_bad_result(struct run *r, const char *offence, const char *errmsg);
enum run_event outcome_validated(struct run *r, const struct validation *c);
/*
 * Returns the part of R's result that the outputsSchema is for; NULL is JSON
 * null.
 */
struct json_object *outcome_output(const struct run *r);

/* Set R's error: R has used USED_MS of CPU time, more than its limit. */
void outcome_cpu(struct run *r, int64_t used_ms);
/* Set R's error: WORKER_CRASHED by signal SIG. */
void outcome_signal(struct run *r, int sig);

#endif
