/* SPDX-License-Identifier: Apache-2.0 */
/* run_call.h - a run that is asked for, shown as it goes on, and waited for. */
#ifndef CLI_RUN_CALL_H
#define CLI_RUN_CALL_H

#include "cli/answers.h"
#include "cli/client.h"
#include "cli/progress.h"

#define RUN_CALL_KEY_PREFIX "paddock-"
#define RUN_CALL_KEY_BYTES ((size_t)16)

struct run_call {
	const struct cli *cli;
	struct client *client;
	char *template;	     /* owned */
	const char *version; /* within its text, after the @; or NULL */
	/* the run that is to be repeated, and its version; or NULL, and a new one */
	const char *again, *own_version;
	struct json_object *inputs;
	/* of what the run had that is repeated: by pointers; NULL: none */
	struct json_object *members;
	struct json_object *schema; /* of inputs; owned; NULL: not looked up */
	int64_t timeout_ms;
	const char *key; /* finds the run again; NULL: one is made */
	char made_key[sizeof(RUN_CALL_KEY_PREFIX) + 2 * RUN_CALL_KEY_BYTES];
	struct answers answers; /* to what the template asks */
	struct progress progress;
	bool cancelling;
};

/* Ask for it in MODE. 0 and the answer, or an exit status; then _fini(). */
int run_call_start(struct run_call *r, const char *mode, struct tool_result *a);
/*
 * Where A is a handle: ask until the run has ended, and A is its view. 0, or an
 * exit status.
 */
int run_call_follow(struct run_call *r, struct tool_result *a);
void run_call_fini(struct run_call *r);

/* Is the run of VIEW neither queued nor running? */
bool run_call_ended(struct json_object *view);

#endif
