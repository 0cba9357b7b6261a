/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_int.h - between these alone: what the call that made a run answers.
 *
 *   answer.c       the result, and its first item
 *   answer_more.c  what comes after that: what is missing, and where more is
 */
#ifndef SUPERVISOR_ANSWER_INT_H
#define SUPERVISOR_ANSWER_INT_H

#include "supervisor/answer.h"

/* A part of a view, as text: the whole need not fit into a tree. */
struct part {
	const char *text; /* NULL: there is none */
	size_t len;
};

struct part answer_part(struct part whole, const char *key);
/* As a tree, the caller's; NULL: there is none. */
struct json_object *answer_tree(struct part part);

/*
 * To CONTENT, a result's: in what the run of A, whose view is WHOLE, was a
 * success only in part, what of it could not be kept, and links to what it left. A revision that has no
 * links gets their text.
 */
void answer_more(struct json_object *content, const struct answer_source *a,
		 struct part whole, enum mcp_revision rev);

#endif
