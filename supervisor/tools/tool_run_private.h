/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_private.h - between these alone: a call that makes a run, or finds
 * the one that it asks for again.
 *
 *   tool_run_wanted.c  which template, and may it be run?
 *   tool_try_again.c   what is asked for is an earlier run's
 *   tool_run_inputs.c  are its inputs what the template takes?
 *   tool_run_files.c   the files among its inputs
 *   tool_run_idempotent.c    is there a run already, by its idempotencyKey?
 *   tool_run_digest.c  is a call the same as another?
 *   tool_run_retry.c   questions that a client takes along, and its coming back
 *   tool_run_task.c    it is a task, or becomes one
 *   tool_run.c    all the rest
 */
#ifndef SUPERVISOR_TOOLS_TOOL_RUN_PRIVATE_H
#define SUPERVISOR_TOOLS_TOOL_RUN_PRIVATE_H

#include "supervisor/exec/runs.h"
#include "supervisor/tools/contract_tools.h"
#include "proto/mcp/request_state.h"
#include "supervisor/inputs/run_files.h"
#include "supervisor/inputs/inputs_digest.h"

/* What is asked for; in request.state while the call waits. */
struct tool_run_args {
	struct template *template;  /* a user of it: the catalogue may change */
	struct json_object *inputs; /* borrowed from the call's message */
	struct run_files *files;    /* owned: those among them; or NULL */
	size_t n_found;		    /* of these, that were looked up */
	struct run_wish wish;
	enum template_mode mode;
	enum store_task form;			/* that its end is shown in */
	char digest[INPUTS_DIGEST_SIZE];	/* of INPUTS, with a key */
	unsigned char call[REQUEST_STATE_CALL]; /* a digest of it… */
	bool has_call;				/* …once it is made */
	bool deduplicated;
	bool taken;		   /* another server made its run first */
	bool handed_out;	   /* the run is to be, once it is durable */
	bool asked;		   /* so are the questions of its template… */
	bool recorded;		   /* …which it is, or cannot be */
	bool becomes_task;	   /* it is to be, once its row says so */
	struct json_object *token; /* owned: a task's, for progress */
	char run_id[ID_SIZE];	   /* of a call that comes back… */
	uint32_t round;		   /* …with this */
	unsigned looks;		   /* for its run… */
	struct input_visit *visit; /* …which is another machine's; or NULL */
};

/* Whose inputs they are: a member of the call's message. */
struct tool_run_inputs {
	struct template *template; /* lent */
	struct json_object *in;	   /* KEY of this; borrowed from the message */
	const char *key;
	const char *prefix; /* of pointers into them, for the client */
	void (*pass)(struct request *c, struct template *t);
};

/*
 * The template ID, of that version or RANGE (NULL: the newest), when C may run it
 * with OPTIONS. Borrowed from the catalogue. NULL: C has been answered.
 */
struct template *tool_run_wanted(struct request *c, const char *id,
				 const char *range,
				 struct json_object *options);

/* What a call asks for, beside the template; all is lent by its message. */
struct tool_run_order {
	struct json_object *inputs; /* that were checked */
	struct json_object *options;
	const char *session_id;	  /* or NULL */
	const char *retried_from; /* the run that it repeats, or NULL */
	enum store_task form;
};

/* C has passed all checks: its run is made or found, and C answered by it. */
void tool_run_submit(struct request *c, struct template *t,
		     const struct tool_run_order *o);

/* PASS is called, now or later, when they are what it takes; else C is refused. */
void tool_run_check_inputs(struct request *c, const struct tool_run_inputs *i);

/*
 * THEN is called, now or later, when the digests that C's ask needs are made;
 * else C is refused.
 */
void tool_run_digest(struct request *c, void (*then)(struct request *c));
/* That of the call itself, which is not large, at once. */
void tool_run_digest_call(struct request *c);

/*
 * C comes back with answers, and its digests are made: on with the run that it
 * was told of.
 */
void tool_run_retry(struct request *c);
/* For request_ops. */
void tool_run_asked(struct request *c, struct run *r);
void tool_run_asked_abroad(struct request *c, struct json_object *requests,
			   uint32_t round);
void tool_run_not_heard(struct request *c, int rc);
void tool_run_dropped(struct request *c);
/* R, or its row, is what became of C's call. */
void tool_run_present_row(struct request *c, const struct store_run *row);

/*
 * Has C's ask files that are to be found first? Then tool_run_create() is called
 * again once they are, or C is refused.
 */
bool tool_run_files(struct request *c);

/* Make the run that C's ask is for. */
void tool_run_create(struct request *c);
/* The same, unless there is one by its key: then that is what is answered. */
void tool_run_find_or_create(struct request *c);

/* Another server made it first: that is what is answered. */
void tool_run_taken(struct request *c);

/* R goes on: C waits for its end, if its mode says so, or for so long. */
void tool_run_wait(struct request *c, struct run *r);
/* R goes on and is durable: C's answer is its handle, or its task. */
void tool_run_respond(struct request *c, struct run *r);
/* C waits no more than its mode lets it for a handle. */
void tool_run_await_handle(struct request *c);
/* The same, as soon as R is durable. */
void tool_run_wait_durable(struct request *c, struct run *r);
/* What is handed out now may be gone before its end is asked for: NULL, or so. */
const char *tool_run_mortal(const struct request *c);

/* The task that C asks for, or has to be, into its wish. */
void tool_run_wish_task(struct request *c);
/* The same of the task that it may become, should its run wait for any server. */
void tool_run_wish_later(struct request *c);
/*
 * Does C, whose answer is a handle, say that what its run asks is answered by
 * tasks/update? Then its run is a task as well.
 */
bool tool_run_is_answered_later(const struct request *c);
/* The CreateTaskResult, and what follows it. R is over, or (FEED) goes on. */
void tool_run_created(struct request *c, struct run *r, bool feed);
/* One whose row alone is there, and which is open. */
void tool_run_created_row(struct request *c, const struct store_run *row);
/* C becomes a task, if it may, once R has had its time. */
void tool_run_await_task(struct request *c);
/* R's row says that it is a task, or UNRECORDED why not. */
void tool_run_task_recorded(struct request *c, struct run *r,
			    const char *unrecorded);

/* That, in an answer of ours and in its _meta. */
void tool_run_deduplicated(struct json_object *o);
void tool_run_deduplicated_meta(struct json_object *meta);

#endif
