/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_result_private.h - between these alone: what the call that made a run
 * answers.
 *
 *   run_result.c          the result, and its first item
 *   run_result_content.c  what comes after that: what failed, and what there is more
 *   run_result_links.c  where the rest is of what a message has no room for
 */
#ifndef SUPERVISOR_RESULT_RUN_RESULT_PRIVATE_H
#define SUPERVISOR_RESULT_RUN_RESULT_PRIVATE_H

#include "supervisor/result/run_result.h"

/* A part of a view, as text: the whole need not fit into a tree. */
struct part {
	const char *text; /* NULL: there is none */
	size_t len;
};

struct part run_result_part(struct part whole, const char *key);
/* As a tree, the caller's; NULL: there is none. */
struct json_object *run_result_tree(struct part part);

/*
 * To CONTENT, which has not all of WHOLE: LEAD, a sentence that says so, why,
 * and where all of it is, with links. WHOLE is the run's result, or its view
 * when IS_VIEW.
 */
void run_result_add_rest(struct json_object *content,
			 const struct run_result_source *a, const char *lead,
			 struct part whole, bool is_view,
			 enum mcp_revision rev);
/* Where all of it is; the caller's. */
char *run_result_uri(const struct run_result_source *a, bool is_view);
/* Why it is not here: a sentence, the caller's. */
char *run_result_why_cut(const struct run_result_source *a, size_t bytes);

/*
 * To CONTENT, a result's: in what the run of A, whose view is WHOLE, was a
 * success only in part, what of it could not be kept, and links to what it left.
 * A revision that has no links gets their text.
 */
void run_result_add_details(struct json_object *content,
			    const struct run_result_source *a,
			    struct part whole, enum mcp_revision rev);

#endif
