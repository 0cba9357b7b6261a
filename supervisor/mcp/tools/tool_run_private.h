/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_private.h - a call which makes a run, or finds its earlier run, for
 * these files alone:
 *
 *   tool_run_wanted.c      which template, and may it be run?
 *   tool_try_again.c       takes an earlier run's inputs
 *   tool_run_inputs.c      checks the inputs by the schema
 *   tool_run_files.c       looks up files in the inputs
 *   tool_run_journal.c     finds the child that a run called before
 *   tool_run_idempotent.c  finds the run of an idempotencyKey
 *   tool_run_digest.c      makes digests to compare calls
 *   tool_run_retry.c       questions taken along, and answers brought back
 *   tool_run_task.c        calls which are tasks, or become tasks
 *   tool_run.c             all the rest
 */
#ifndef SUPERVISOR_TOOLS_TOOL_RUN_PRIVATE_H
#define SUPERVISOR_TOOLS_TOOL_RUN_PRIVATE_H

#include "supervisor/run/exec/runs.h"
#include "supervisor/mcp/tools/contract_tools.h"
#include "proto/mcp/request_state.h"
#include "supervisor/packages/inputs/run_files.h"
#include "supervisor/packages/inputs/inputs_digest.h"

/* The arguments of a call; request.state while the call waits. */
struct tool_run_args {
	/* a reference: the catalogue may change meanwhile */
	struct template *template;
	struct json_object *inputs; /* borrowed from the call's message */
	struct run_files *files;    /* owned: files in INPUTS, or NULL */
	size_t n_found;		    /* files looked up so far */
	struct run_wish wish;
	enum template_mode mode;
	enum store_task form; /* the form of the answer */
	bool journaled;	      /* a run calls, and may find the child again */
	struct run_journal_call call_key; /* JOURNALED: wish.journal */
	struct run *caller; /* CALL_KEY may have to be given back to this run */
	/* digest of INPUTS, for calls with an idempotencyKey, or JOURNALED */
	char digest[INPUTS_DIGEST_SIZE];
	unsigned char seal[INPUTS_DIGEST_KEY];	/* key for secret inputs */
	unsigned char call[REQUEST_STATE_CALL]; /* digest of the call */
	bool has_call;				/* CALL is valid */
	bool deduplicated;
	bool taken;	 /* another server made the run first */
	bool handed_out; /* the answer is a handle, once the run is durable */
	bool left;	 /* the run is left to the next server */
	bool abroad;	 /* a remote server has the run */
	bool asked;	 /* questions are passed on once the run is recorded */
	bool recorded;	 /* the run is recorded, or cannot be */
	bool becomes_task; /* the call becomes a task once the row says so */
	struct json_object *token; /* owned: progress token of a task */
	char run_id[ID_SIZE];	   /* the run of a repeated call */
	uint32_t round; /* round of questions which a repeated call answers */
	unsigned looks; /* reads of the row so far */
	struct proxied_request *proxied; /* a wait for a remote run, or NULL */
	const struct cluster *cluster;	 /* the functions for PROXIED */
};

/* Inputs to check: the member KEY of IN. */
struct tool_run_inputs {
	struct template *template; /* *lent* */
	struct json_object *in;	   /* borrowed from the message */
	const char *key;
	/* prefix of pointers into the inputs, for the client */
	const char *prefix;
	void (*pass)(struct request *req, struct template *t);
};

/*
 * Return the template ID of version RANGE (NULL: the newest), borrowed from the
 * catalogue, if REQ may run it with OPTIONS. NULL: REQ was answered.
 */
struct template *tool_run_wanted(struct request *req, const char *id,
				 const char *range,
				 struct json_object *options);

/* The rest of a call; the message *lends* all. */
struct tool_run_order {
	struct json_object *inputs; /* inputs, which were checked */
	struct json_object *options;
	const char *session_id;	  /* browser session of the run, or NULL */
	const char *retried_from; /* the run to repeat, or NULL */
	const char *journal;	  /* of the run to repeat, or NULL */
	enum store_task form;
};

/* Make or find the run of REQ, which has passed all checks; the run answers REQ. */
void tool_run_submit(struct request *req, struct template *t,
		     const struct tool_run_order *o);

/* Call PASS, now or later, if the inputs fit the schema; else refuse REQ. */
void tool_run_check_inputs(struct request *req,
			   const struct tool_run_inputs *i);

/* Call THEN, now or later, with the digests which REQ needs; else refuse REQ. */
void tool_run_digest(struct request *req, void (*then)(struct request *req));
/* Digest the call itself at once; it is not large. */
void tool_run_digest_call(struct request *req);

/*
 * Go on with the run which REQ, a repeated call with digests, brings answers to.
 */
void tool_run_retry(struct request *req);
/* Functions of request_ops. */
void tool_run_asked(struct request *req, struct run *r);
void tool_run_asked_abroad(struct request *req, struct json_object *requests,
			   uint32_t round);
void tool_run_not_heard(struct request *req, int rc);
void tool_run_dropped(struct request *req);
/* Answer REQ with ROW, the row of REQ's run. */
void tool_run_present_row(struct request *req, const struct store_run *row);

/*
 * Has C files to look up? Then tool_run_create() is called once more when they
 * are found, or REQ is refused.
 */
bool tool_run_files(struct request *req);

/* Can a call of T by PARENT (NULL: a client calls) find its child again? */
bool tool_run_is_journaled(const struct run *parent, const struct template *t,
			   struct json_object *inputs);
/*
 * Is the child that REQ made before looked up? Then REQ is answered with the child, or
 * tool_run_create() is called once more, or REQ is refused.
 */
bool tool_run_journal(struct request *req);
/* Give the number of a call back that made no run and found none. */
void tool_run_leave_journal(struct tool_run_args *ask);

/* Make the run of REQ. */
void tool_run_create(struct request *req);
/* As tool_run_create(), unless a run of REQ's key exists: then answer with it. */
void tool_run_find_or_create(struct request *req);

/* Answer with the run which another server has made first. */
void tool_run_taken(struct request *req);

/* Wait for the end of R, as long as REQ's mode allows. */
void tool_run_wait(struct request *req, struct run *r);
/* Answer REQ with R, which is durable and goes on: a handle, or a task. */
void tool_run_respond(struct request *req, struct run *r);
/* Limit REQ's wait to the time of its mode, after which REQ gets a handle. */
void tool_run_await_handle(struct request *req);
/* As tool_run_respond(), once R is durable. */
void tool_run_wait_durable(struct request *req, struct run *r);
/* Return a note if a run handed out now may end with the server, or NULL. */
const char *tool_run_mortal(const struct request *req);

/* Set the task wished for in REQ's wish. */
void tool_run_wish_task(struct request *req);
/* Set the task which REQ may become, in case any server starts the run. */
void tool_run_wish_later(struct request *req);
/*
 * Answer with CreateTaskResult. R has ended, or goes on (FEED) and
 * notifications follow.
 */
void tool_run_created(struct request *req, struct run *r, bool feed);
/* As tool_run_created(), for a remote open run. */
void tool_run_created_row(struct request *req, const struct store_run *row);
/* Have REQ become a task, if allowed, after task_after_ms. */
void tool_run_await_task(struct request *req);
/* Act on the record: R's row says that R is a task, or UNRECORDED why not. */
void tool_run_task_recorded(struct request *req, struct run *r,
			    const char *unrecorded);

/* Mark the _meta of an answer as deduplicated. */
void tool_run_deduplicated_meta(struct json_object *meta);

#endif
