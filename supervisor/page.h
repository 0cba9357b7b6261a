/*
 * page.h - one page of a list of resources or prompts, and its cursor.
 *
 * A cursor is the base64 of where the page before it ended: the templateId
 * ("" for paddock's own) and the place there. So it stays good when templates
 * come or go.
 */
#ifndef SUPERVISOR_PAGE_H
#define SUPERVISOR_PAGE_H

#include "supervisor/call.h"

#define PAGE_ENTRIES 100
#define PAGE_OWNER_MAX 64 /* bytes of a templateId */

struct page {
	struct call *call;
	struct json_object *list;
	char after[PAGE_OWNER_MAX + 1]; /* with place -1: from the start */
	long after_place;
	char last[PAGE_OWNER_MAX + 1]; /* the newest entry */
	long last_place;
	bool more;
};

/* Begin C's page. False: its cursor is none of ours, and C was answered. */
bool page_begin(struct page *p, struct call *c);

/*
 * OWNER's entry at PLACE is next; entries are told of in order: by OWNER as
 * strcmp(3) has it, then PLACE. True: it belongs to this page, so add it to list.
 */
bool page_wants(struct page *p, const char *owner, size_t place);

/* Answer: {KEY: list, nextCursor?}. */
void page_end(struct page *p, const char *key);

#endif
