/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_inputs.h - the inputs that "paddock retry" gives anew: whole ones, members of
 * objects that the run had, and those that were not kept.
 */
#ifndef CLI_RETRY_INPUTS_H
#define CLI_RETRY_INPUTS_H

#include "cli/run_call.h"

/*
 * TYPED has what WORDS, of -i, give by SCHEMA: to R's inputs what is whole, or a part
 * of what is there, and to R's members what is a member of what the run had.
 */
void retry_inputs_put(struct run_call *r, struct json_object *schema,
		      const struct opt_list *words, struct json_object *typed);

/* Was R's call refused, by REFUSAL, for inputs that somebody here can be asked for? */
bool retry_inputs_lack(const struct run_call *r, struct json_object *refusal);
/* They are asked for and put to R's inputs. 0, or an exit status and that is said. */
int retry_inputs_ask(struct run_call *r, struct json_object *refusal);

#endif
