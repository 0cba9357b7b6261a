/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - the supervisor's view of one worker: what goes to it, what it
 * says, and how it ends. Whatever it says is a claim.
 */
#ifndef SUPERVISOR_WORKER_WORKER_H
#define SUPERVISOR_WORKER_WORKER_H

#include <event2/event.h>

#include "supervisor/spawn/spawner.h"
#include "supervisor/run/run.h"

/* What a template can ask for in mid-run. */
enum worker_question_kind {
	WORKER_QUESTION_ELICIT, /* of the user */
	WORKER_QUESTION_SAMPLE, /* of the client's model */
	WORKER_QUESTION_ROOTS,	/* of the client: its roots */
	WORKER_QUESTION_CALL,	/* a tool's result */
	WORKER_QUESTION_KINDS
};

/* All lent, until on_ask() returns. */
struct worker_question {
	uint32_t seq; /* above 0; its name in this run */
	enum worker_question_kind kind;
	const char *tool; /* CALL's; else NULL */
	/* an object; INPUT's is the request's params, perhaps timeoutMs and
	   key */
	struct json_object *params;
};

/*
 * R's template asks. Answer by worker_answer_question() or worker_fail_question(), at
 * once or later. R is RUN_AWAITING_INPUT while one of its but a CALL has
 * no answer; any other state means that none is wanted any more (it was
 * cancelled, or has ended), and an answer then is -ENOENT or goes nowhere.
 */
struct context;
typedef void (*worker_on_question)(struct context *ctx, struct run *r,
				   const struct worker_question *ask);

/*
 * R's template waits for the answer to SEQ no more, which is (or was) its to
 * give: whoever is at it can stop, and need not answer.
 */
typedef void (*worker_on_drop)(struct context *ctx, struct run *r,
			       uint32_t seq);

/* What every worker is started with; owned by runs.c. */
struct exit_facts; /* outcome.h */
struct tool_error;
struct worker_env {
	struct context *ctx;
	/*
	 * R's worker has sent a whole artifact, whose bytes are in TMP_PATH
	 * (taken). Answer by worker_answer_saved() or _refused(), now or later.
	 */
	void (*on_artifact)(void *arg, struct run *r, struct run_artifact *a,
			    char *tmp_path, const char *sha256);
	worker_on_question on_ask; /* NULL: each is refused */
	worker_on_drop on_drop;	   /* NULL when on_ask is */
	/* R's worker is gone, and E is how. */
	void (*on_over)(void *arg, struct run *r, const struct exit_facts *e);
	/*
	 * R's worker has given its result, and can only leave. Is R over by that?
	 * Then on_gone() comes when the worker is gone, instead of on_over().
	 */
	bool (*on_leaving)(void *arg, struct run *r,
			   const struct exit_facts *e);
	void (*on_gone)(void *arg, struct run *r, const struct exit_facts *e);
	/* There is no worker for R after all (-EAGAIN: queue it again). */
	void (*on_not_started)(void *arg, struct run *r, int err);
	void *arg;
};

/*
 * Start a worker for R, which is RUNNING: its limits, code and inputs go to
 * it. 0, or -EAGAIN: no zygote or slot now; -errno.
 */
int worker_start(const struct worker_env *env, struct run *r);

/* R is CANCELLING: SIGTERM, and SIGKILL when the grace is over. */
void worker_cancel(struct run *r);

/* The answer to an ARTIFACT: it is kept, as ID… */
void worker_answer_saved(struct run *r, const char *id);
/* …or it is not, ERRMSG (taken): R's view and its end will tell, too. */
void worker_answer_refused(struct run *r, const struct run_artifact *a,
			   struct tool_error *errmsg);

/*
 * R's worker takes no more CPU time until worker_continue(), and its time rests.
 * False: it cannot be stopped, for a program has others beside it.
 */
bool worker_stop(struct run *r);
/*
 * It goes on after RESTED_MS, with what is left of its time (run_left_ms()); if
 * there is one.
 */
void worker_continue(struct run *r, int64_t rested_ms);
/* R's error is set: its worker is killed. */
void worker_end(struct run *r);
/* Is there one that nobody has killed? */
bool worker_is_alive(const struct run *r);

/*
 * The answer to R's question SEQ: LEN bytes of JSON text, copied, sent as the
 * worker takes them. OK: the value that the template gets; else an object
 * {code, message, details?}, which it sees raised. One that is over
 * MSG_ANSWER_MAX, or too much beside what is unsent, becomes an error that
 * says so. 0, or -ENOENT: that question awaits no answer (any more).
 */
int worker_answer_question(struct run *r, uint32_t seq, bool ok,
			   const char *json, size_t len);

/* The same, as an error of CODE ([A-Z_]); MESSAGE is for people. */
int worker_fail_question(struct run *r, uint32_t seq, const char *code,
			 const char *message);

/* Does R's worker live, and wait for the answer to SEQ? */
bool worker_awaits(const struct run *r, uint32_t seq);

/*
 * Refuse ASK by the code of its kind: ELICITATION_NOT_SUPPORTED,
 * SAMPLING_NOT_SUPPORTED, ROOTS_NOT_SUPPORTED, CALL_NOT_ALLOWED. ERRMSG NULL: nobody here serves it.
 */
int worker_refuse_question(struct run *r, const struct worker_question *ask,
			   const char *errmsg);

#endif
