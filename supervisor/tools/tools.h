/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools.h - the tools that clients see: the contract's seven, whose
 * definitions are contract_tools.json, then each template by its own name.
 */
#ifndef SUPERVISOR_TOOLS_TOOLS_H
#define SUPERVISOR_TOOLS_TOOLS_H

#include "supervisor/session/request.h"
#include "supervisor/templates/catalogue_index.h"

#define TOOLS_PAGE 50 /* tools in one answer of tools/list */

void tools_list(struct request *c);
void tools_call(struct request *c);

/* May REQUESTOR see T at all? Else it must not differ from an unknown one. */
bool tools_visible(const struct requestor *requestor, const struct template *t);
/* And may S run it, and so see what else it offers: its resources, its prompts? */
bool tools_offers(const struct session *s, const struct template *t);
/* Of LIST, what S is given by the name KEY; NULL: nothing. Borrowed. */
const struct catalogue_entry *
tools_offer(const struct session *s, const struct catalogue_index_list *list,
	    const char *key);
/* Of what REQUESTOR sees in CAT, the id nearest to ID; NULL: none is near. */
const char *tools_nearest(const struct requestor *requestor,
			  const struct catalogue *cat, const char *id);

#endif
