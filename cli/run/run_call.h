/* SPDX-License-Identifier: Apache-2.0 */
/* run_call.h - starts a run, shows its progress, and waits for its end. */
#ifndef CLI_RUN_CALL_H
#define CLI_RUN_CALL_H

#include "cli/ask/answers.h"
#include "cli/client/client.h"
#include "cli/client/progress.h"

#define RUN_CALL_KEY_PREFIX "paddock-"
#define RUN_CALL_KEY_BYTES ((size_t)16)

struct run_call {
	const struct cli *cli;
	struct client *client;
	char *template;	     /* owned */
	const char *version; /* within template's text, after the @; or NULL */
	/* the run to repeat, and its version; or NULL for a new run */
	const char *again, *own_version;
	struct json_object *inputs;
	/* members to change in the repeated run's inputs, by pointer */
	struct json_object *members;
	struct json_object *schema; /* of inputs; owned; NULL: unknown */
	int64_t timeout_ms;
	bool allow_writes; /* of templates that the run calls */
	const char *key;   /* the idempotency key; NULL: make a key */
	char made_key[sizeof(RUN_CALL_KEY_PREFIX) + 2 * RUN_CALL_KEY_BYTES];
	struct answers answers; /* to the template's questions */
	struct progress progress;
	bool cancelling;
};

/*
 * Call the tool in MODE and answer the template's questions. 0 and the answer
 * in A, or an exit status; in both cases run_call_fini() comes next.
 */
int run_call_start(struct run_call *r, const char *mode, struct tool_result *a);
/*
 * If A is the handle of a run that goes on, ask until the run has ended; A is
 * then its view. 0, or an exit status.
 */
int run_call_follow(struct run_call *r, struct tool_result *a);
void run_call_fini(struct run_call *r);

/* Is the run of VIEW neither queued nor running? */
bool run_call_ended(struct json_object *view);

#endif
