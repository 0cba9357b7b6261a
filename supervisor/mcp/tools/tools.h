/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.h - the tools which clients see: the contract's, with definitions in
 * contract_tools.json, then a tool for each template.
 */
#ifndef SUPERVISOR_TOOLS_TOOLS_H
#define SUPERVISOR_TOOLS_TOOLS_H

#include "supervisor/session/request.h"
#include "supervisor/packages/templates/catalogue_index.h"

#define TOOLS_PAGE 50 /* tools in an answer of tools/list */

void tools_list(struct request *req);
void tools_call(struct request *req);

/* May S run T, and so see T's resources and prompts? */
bool tools_offers(const struct session *s, const struct template *t);
/* Return the entry KEY of LIST which S may see, borrowed, or NULL. */
const struct catalogue_entry *
tools_offer(const struct session *s, const struct catalogue_index_list *list,
	    const char *key);
/* Return the id in CAT nearest to ID which REQUESTOR may see, or NULL. */
const char *tools_nearest(const struct requestor *requestor,
			  const struct catalogue *cat, const char *id);

#endif
