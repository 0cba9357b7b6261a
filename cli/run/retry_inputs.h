/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_inputs.h - inputs given anew for "paddock retry": whole inputs, members
 * of objects of the earlier run, and inputs that were not kept.
 */
#ifndef CLI_RETRY_INPUTS_H
#define CLI_RETRY_INPUTS_H

#include "cli/ask/ask.h"
#include "cli/run/run_call.h"

/*
 * Sort the inputs TYPED, from WORDS of -i by SCHEMA: whole inputs, and parts of
 * inputs already in R, go to R's inputs; members of the earlier run's objects
 * go to R's members.
 */
void retry_inputs_put(struct run_call *r, struct json_object *schema,
		      const struct opt_list *words, struct json_object *typed);

/* Return 0 after a dialogue that gave all inputs; else an exit status. */
int retry_inputs_end(enum ask_end end);
/* Was R's call refused for missing inputs, and can the user be asked? */
bool retry_inputs_lack(const struct run_call *r, struct json_object *refusal);
/*
 * Ask for the missing inputs and put them into R's inputs. 0, or an exit
 * status, the reason printed.
 */
int retry_inputs_ask(struct run_call *r, struct json_object *refusal);

#endif
