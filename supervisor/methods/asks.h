/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asks.h - what a prompt or a resource of a template asks its user before it is
 * given: "asks" in the manifest.
 */
#ifndef SUPERVISOR_METHODS_ASKS_H
#define SUPERVISOR_METHODS_ASKS_H

#include "supervisor/session/request.h"
#include "supervisor/templates/catalogue_index.h"

/*
 * Answer C with O. ANSWERS, as placeholder_add_answers() makes them, are NULL
 * when O asks nothing. Both are lent.
 */
typedef void (*asks_give)(struct request *c, const struct catalogue_entry *o,
			  struct json_object *answers);

/*
 * GIVE O to C's client once its user has answered what O asks: at once when
 * that is nothing. C is answered otherwise when there will be no answers.
 */
void asks_before(struct request *c, const struct catalogue_entry *o,
		 asks_give give);

/* Add all members of ANSWERS (NULL: none) to VALUES, for placeholder_fill(). */
void asks_add(struct json_object *values, struct json_object *answers);

#endif
