/* SPDX-License-Identifier: Apache-2.0 */
/* tool_listing.h - an answer with many templates, printed piece by piece. */
#ifndef SUPERVISOR_TOOLS_TOOL_LISTING_H
#define SUPERVISOR_TOOLS_TOOL_LISTING_H

#include "supervisor/session/request.h"
#include "supervisor/packages/templates/template.h"

struct tool_listing {
	struct template **all; /* *taken*, with a reference each */
	size_t n;
	size_t most; /* most entries */
	/* Return the entry of T; NULL: T is left out. */
	struct json_object *(*view)(const struct request *req,
				    const struct template *t, bool whole);
	bool whole; /* for VIEW */
	/* the caller has a turn; else the list waits for one, since many searches
	   may end at once */
	bool in_turn;
	/* an answer without room for all says where the next one begins */
	bool pages;
	size_t first; /* the number of the first of ALL */
};

/* Answer REQ with {"templates": [...]}. *Takes* L's list. */
void tool_listing_answer(struct request *req, const struct tool_listing *l);

/* Add T to L's list, which has room. */
void tool_listing_add(struct tool_listing *l, struct template *t);

#endif
