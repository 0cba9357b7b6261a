/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - how a run ended, from what its worker said and how it died.
 */
#ifndef SUPERVISOR_RUN_OUTCOME_H
#define SUPERVISOR_RUN_OUTCOME_H

#include <sys/resource.h>

#include "supervisor/spawn/cgroup.h"
#include "supervisor/threads/validation.h"
#include "supervisor/run/run.h"

/*
 * What the supervisor knows when a worker has been reaped; or when it has given its
 * result and leaves: then nothing of its exit, and USE is what it says itself.
 */
struct exit_facts {
	bool have_result;  /* a whole RESULT came, and r->result is set */
	bool reply_failed; /* the reply has isError, or an error */
	char *output;	   /* on_over()'s: a large result, not read yet; NULL */
	size_t output_len;
	/* of a large reply's block that is none… */
	const char *content_expected;
	int content_at; /* …which is this one */
	int status;	/* as wait(2) gives it */
	struct rusage use;
	struct cgroup_use group; /* of a program's own; all -1: it had none */
};

/*
 * The event that ends R, whose error is set when that is EV_FAIL. An error
 * that is set already stands: the first cause wins. RUN_EVENTS: whether its
 * output conforms takes longer to see than the loop can be away; C is for
 * validation_submit(), and what comes of that for outcome_validated().
 */
enum run_event outcome_of(struct run *r, const struct exit_facts *e,
			  struct validation *c);
/* What R's worker used, which outcome_of() looks at as well. */
void outcome_usage(struct run *r, const struct exit_facts *e);
struct run_use outcome_used(const struct run *r, const struct exit_facts *e);
/* R's error: its worker gave OFFENCE; ERRMSG says more, or is "". */
void outcome_bad_result(struct run *r, const char *offence, const char *errmsg);
enum run_event outcome_validated(struct run *r, const struct validation *c);
/* What of R's result is held against its outputsSchema; NULL is JSON null. */
struct json_object *outcome_output(const struct run *r);

/* R's error: WORKER_CRASHED by signal SIG. */
void outcome_signal(struct run *r, int sig);

#endif
