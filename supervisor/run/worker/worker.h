/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - the supervisor's view of one worker: messages to it, messages from
 * it, and its end. Every message from a worker is a claim.
 */
#ifndef SUPERVISOR_WORKER_WORKER_H
#define SUPERVISOR_WORKER_WORKER_H

#include <event2/event.h>

#include "supervisor/spawn/spawner.h"
#include "supervisor/run/run.h"

/* The kinds of questions that a template can ask in mid-run. */
enum worker_question_kind {
	WORKER_QUESTION_ELICIT, /* a question to the user */
	WORKER_QUESTION_SAMPLE, /* a request to the client's model */
	WORKER_QUESTION_ROOTS,	/* a question for the client's roots */
	WORKER_QUESTION_CALL,	/* a call of a tool */
	WORKER_QUESTION_KINDS
};

/* A question; members are lent until on_ask() returns. */
struct worker_question {
	uint32_t seq; /* above 0; names the question within the run */
	enum worker_question_kind kind;
	const char *tool; /* the tool of a CALL; else NULL */
	/* an object; for INPUT the request's params, perhaps with timeoutMs
	   and key */
	struct json_object *params;
	size_t cost;	 /* approximate bytes of memory of PARAMS */
	struct str text; /* of PARAMS */
};

/*
 * R's template asks. Answer by worker_answer_question() or
 * worker_fail_question(), at once or later. R is RUN_AWAITING_INPUT while a
 * question other than a CALL has no answer; any other state means that no
 * answer is wanted any more (the run was cancelled, or has ended), and an
 * answer then is -ENOENT or goes nowhere.
 */
struct context;
typedef void (*worker_on_question)(struct context *ctx, struct run *r,
				   const struct worker_question *ask);

/*
 * R's template no longer waits for the answer to SEQ, so the callee can stop,
 * and need not answer.
 */
typedef void (*worker_on_drop)(struct context *ctx, struct run *r,
			       uint32_t seq);

/* The environment of every worker; owned by runs.c. */
struct exit_facts; /* see outcome.h */
struct tool_error;
struct worker_env {
	struct context *ctx;
	/*
	 * R's worker has sent a whole artifact, whose bytes are in TMP_PATH
	 * (taken). Answer by worker_answer_saved() or _refused(), now or later.
	 */
	void (*on_artifact)(void *arg, struct run *r, struct run_artifact *a,
			    char *tmp_path, const char *sha256);
	worker_on_question on_ask; /* NULL: every question is refused */
	worker_on_drop on_drop;	   /* NULL when on_ask is */
	/* R's worker is gone; E describes its exit. */
	void (*on_over)(void *arg, struct run *r, const struct exit_facts *e);
	/*
	 * R's worker has given its result, and can only exit. Is R over by
	 * that? Then on_gone() comes when the worker is gone, instead of
	 * on_over().
	 */
	bool (*on_leaving)(void *arg, struct run *r,
			   const struct exit_facts *e);
	void (*on_gone)(void *arg, struct run *r, const struct exit_facts *e);
	/* There is no worker for R after all (-EAGAIN: queue R again). */
	void (*on_not_started)(void *arg, struct run *r, int err);
	void *arg;
};

/*
 * Start a worker for R, which is RUNNING, and send limits, code and inputs; FRESH:
 * not a worker that waited. 0, or -EAGAIN: no zygote or slot now; -errno.
 */
int worker_start(const struct worker_env *env, struct run *r, bool fresh);

/*
 * Send SIGTERM to the worker of R, which is CANCELLING, and SIGKILL when the
 * grace is over.
 */
void worker_cancel(struct run *r);

/* Answer an ARTIFACT: it was kept, as ID. */
void worker_answer_saved(struct run *r, const char *id);
/*
 * Answer an ARTIFACT: it was not kept, for the reason ERRMSG (taken); R's view
 * and its end will tell the reason, too.
 */
void worker_answer_refused(struct run *r, const struct run_artifact *a,
			   struct tool_error *errmsg);

/*
 * Stop R's worker: it takes no more CPU time until worker_continue(), and its
 * clock rests. False: it cannot be stopped, for a program has other processes.
 */
bool worker_stop(struct run *r);
/*
 * Continue R's worker, if there is one, after RESTED_MS, with the time it has
 * left (run_left_ms()).
 */
void worker_continue(struct run *r, int64_t rested_ms);
/* Kill R's worker; R's error is set. */
void worker_end(struct run *r);
/* Has R a living worker that was not killed? */
bool worker_is_alive(const struct run *r);

/*
 * Answer R's question SEQ: LEN bytes of JSON text, copied, sent as the worker
 * reads. OK: the value for the template; else an object {code, message,
 * details?}, which is raised in the template. An answer over MSG_ANSWER_MAX, or
 * too much beside unsent answers, becomes an error that says so. 0, or -ENOENT:
 * no such question awaits an answer.
 */
int worker_answer_question(struct run *r, uint32_t seq, bool ok,
			   const char *json, size_t len);

/*
 * Answer with an error of CODE ([A-Z_]); MESSAGE is for people. Returns as
 * worker_answer_question().
 */
int worker_fail_question(struct run *r, uint32_t seq, const char *code,
			 const char *message);

/* While R calls: do runs that R called, or their calls, ask R's clients? */
void worker_await_called(struct run *r, bool awaits);

/* Is R's worker alive, and waiting for the answer to SEQ? */
bool worker_awaits(const struct run *r, uint32_t seq);

/*
 * Refuse ASK by the code of its kind: ELICITATION_NOT_SUPPORTED,
 * SAMPLING_NOT_SUPPORTED, ROOTS_NOT_SUPPORTED, CALL_NOT_ALLOWED. ERRMSG NULL:
 * the server serves no such questions.
 */
int worker_refuse_question(struct run *r, const struct worker_question *ask,
			   const char *errmsg);

#endif
