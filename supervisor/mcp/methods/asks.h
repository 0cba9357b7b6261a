/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asks.h - the questions to the user before a prompt or a resource of a
 * template is given: "asks" in the manifest.
 */
#ifndef SUPERVISOR_METHODS_ASKS_H
#define SUPERVISOR_METHODS_ASKS_H

#include "supervisor/session/request.h"
#include "supervisor/packages/templates/catalogue_index.h"

/*
 * Answer REQ with O. *Lends* O and ANSWERS of placeholder_add_answers(), which
 * are NULL if O asks no question.
 */
typedef void (*asks_give)(struct request *req, const struct catalogue_entry *o,
			  struct json_object *answers);

/*
 * Call GIVE for O after REQ's user has answered O's questions: at once if there
 * are no questions. REQ is refused if there will be no answers.
 */
void asks_before(struct request *req, const struct catalogue_entry *o,
		 asks_give give);

/*
 * Add the members of ANSWERS (may be NULL) to VALUES, for placeholder_fill().
 */
void asks_add(struct json_object *values, struct json_object *answers);

#endif
