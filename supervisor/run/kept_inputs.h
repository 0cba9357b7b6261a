/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_inputs.h - the inputs that a run's row keeps after the start, so that
 * the run can be tried again. Missing inputs are in run.kept.lack, JSON text:
 *
 *   ["password"]  members that are secret, and so not kept
 *   {"bytes":N,"allowed":N,"whoCanRaise":TEXT}  too large: no member is kept
 *   NULL          nothing is missing, if there are inputs at all
 */
#ifndef SUPERVISOR_RUN_KEPT_INPUTS_H
#define SUPERVISOR_RUN_KEPT_INPUTS_H

#include "supervisor/config/config.h"
#include "supervisor/run/run.h"

/*
 * Set R->kept by R->inputs and CONFIG. TREE (lent) is the same inputs; NULL is
 * fine for a template without secrets.
 */
void kept_inputs_settle(struct run *r, struct json_object *tree,
			const struct config *config);

/*
 * Returns TREE without the members that may be secret by SCHEMA, an
 * inputsSchema; the caller's. The missing members' names are added to LACK, an
 * array. A member is secret when a part of its schema is, and when a $ref, or a
 * rule for all members, might make it secret.
 */
struct json_object *kept_inputs_open(struct json_object *tree,
				     struct json_object *schema,
				     struct json_object *lack);

#endif
