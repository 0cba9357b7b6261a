/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_inputs.h - what a run's row keeps of its inputs once it has begun, so that
 * it can be tried again. What is missing is said by a text of JSON (run.kept.lack):
 *
 *   ["password"]                      these members were secret, and are not kept
 *   {"bytes":…,"allowed":…,"whoCanRaise":…}  none of it is: there was too much
 *   NULL                              nothing is missing, if there are inputs at all
 */
#ifndef SUPERVISOR_RUN_KEPT_INPUTS_H
#define SUPERVISOR_RUN_KEPT_INPUTS_H

#include "supervisor/config/config.h"
#include "supervisor/run/run.h"

/*
 * Settle R->kept by R->inputs and CONFIG. TREE (lent) is the same inputs; NULL is
 * fine for a template without secrets.
 */
void kept_inputs_settle(struct run *r, struct json_object *tree,
			const struct config *config);

/*
 * TREE without the members that may be secret by SCHEMA, an inputsSchema; the
 * caller's. Their names are added to LACK, an array. A member is as secret as
 * anything in it, and so is what a $ref, or a rule for all, might make secret.
 */
struct json_object *kept_inputs_open(struct json_object *tree,
				     struct json_object *schema,
				     struct json_object *lack);

#endif
