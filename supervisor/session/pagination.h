/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagination.h - one page of a list, and its cursor.
 *
 * A cursor is the base64 of where the page before it ended, so that it stays
 * good when entries come or go. Where that is, is a task's id, or else the
 * templateId ("" for paddock's own) and the place there.
 */
#ifndef SUPERVISOR_SESSION_PAGINATION_H
#define SUPERVISOR_SESSION_PAGINATION_H

#include "supervisor/session/request.h"

#define PAGINATION_ENTRIES 100	/* of resources or prompts in one answer */
#define PAGINATION_OWNER_MAX 64 /* bytes of a templateId */
/* bytes of what a cursor says; a multiple of 3 */
#define PAGINATION_WHERE_MAX 75

/*
 * What C's cursor says; "" without one. False: it has not a cursor's form, and
 * C was answered, as pagination_refuse_cursor() does it.
 */
bool pagination_read_cursor(struct request *c,
			    char where[PAGINATION_WHERE_MAX + 1]);
void pagination_refuse_cursor(struct request *c);
/* RESULT ends at WHERE (copied), and there is more. */
void pagination_write_cursor(struct json_object *result, const char *where);

struct pagination {
	struct request *request;
	struct json_object *list;
	size_t size; /* entries, at the most */
	/* with place -1: from the start */
	char after[PAGINATION_OWNER_MAX + 1];
	long after_place;
	char last[PAGINATION_OWNER_MAX + 1]; /* the newest entry */
	long last_place;
	bool more;
	size_t counted; /* of the list, what… */
	size_t bytes;	/* …these are as text; enough ends a page, too */
};

/*
 * Begin C's page, of SIZE entries at the most, fewer when they are long. False: its cursor is none of
 * ours, and C was answered.
 */
bool pagination_begin(struct pagination *p, struct request *c, size_t size);

/*
 * OWNER's entry at PLACE is next; entries are told of in order: by OWNER as
 * strcmp(3) has it, then PLACE. True: it belongs to this page, so add it to list.
 */
bool pagination_wants(struct pagination *p, const char *owner, size_t place);

/* Answer: {KEY: list, nextCursor?}. */
void pagination_end(struct pagination *p, const char *key);

#endif
