/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagination.h - a page of a list, and its cursor.
 *
 * A cursor is the base64 of where the previous page ended, so a cursor stays
 * valid when entries come or go. The end of a page is a task's id, or a
 * templateId ("" for paddock's own entries) and the place there.
 */
#ifndef SUPERVISOR_SESSION_PAGINATION_H
#define SUPERVISOR_SESSION_PAGINATION_H

#include "supervisor/session/request.h"

#define PAGINATION_ENTRIES 100	/* resources or prompts in an answer */
#define PAGINATION_OWNER_MAX 64 /* bytes of a templateId */
/* bytes of a decoded cursor; a multiple of 3 */
#define PAGINATION_WHERE_MAX 75

/*
 * Read REQ's cursor into WHERE ("" without a cursor). False: malformed, and REQ was
 * answered by pagination_refuse_cursor().
 */
bool pagination_read_cursor(struct request *req,
			    char where[PAGINATION_WHERE_MAX + 1]);
void pagination_refuse_cursor(struct request *req);
/* Add the cursor WHERE (*copied*) to RESULT: more entries follow. */
void pagination_write_cursor(struct json_object *result, const char *where);

struct pagination {
	struct request *request;
	struct json_object *list;
	size_t size; /* most entries of the page */
	/* the entry before the page; place -1: from the start */
	char after[PAGINATION_OWNER_MAX + 1];
	long after_place;
	char last[PAGINATION_OWNER_MAX + 1]; /* owner of the newest entry */
	long last_place;
	bool more;
	size_t counted; /* entries of LIST counted in BYTES */
	/* of counted entries as text; enough bytes end the page */
	size_t bytes;
};

/*
 * Begin REQ's page, of SIZE entries at most, fewer if long. False: the cursor is
 * invalid, and REQ was answered.
 */
bool pagination_begin(struct pagination *p, struct request *req, size_t size);

/*
 * Does OWNER's entry at PLACE belong to the page? Then add the entry to list.
 * Call this for the entries in order: by OWNER as strcmp(3) compares, then by
 * PLACE.
 */
bool pagination_wants(struct pagination *p, const char *owner, size_t place);

/* Answer with {KEY: list, nextCursor?}. */
void pagination_end(struct pagination *p, const char *key);

#endif
