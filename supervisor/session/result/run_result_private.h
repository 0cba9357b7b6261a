/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_result_private.h - the tool result for a run, for these files alone:
 *
 *   run_result.c          the result, and its first item
 *   run_result_content.c  later items: failures, links to artifacts, and where the
 *                         rest of a long result is
 */
#ifndef SUPERVISOR_RESULT_RUN_RESULT_PRIVATE_H
#define SUPERVISOR_RESULT_RUN_RESULT_PRIVATE_H

#include "supervisor/session/result/run_result.h"

/* A part of a view, as text: the whole may be too large for a tree. */
struct part {
	const char *text; /* NULL: no such part */
	size_t len;
};

struct part run_result_part(struct part whole, const char *key);
/* Return PART as a tree, which the caller owns; NULL: no such part. */
struct json_object *run_result_tree(struct part part);

/*
 * Add to CONTENT, which lacks a part of WHOLE: LEAD, a sentence on the lack,
 * the reason, and where WHOLE is, with links. WHOLE is the result of the run,
 * or with IS_VIEW the view.
 */
void run_result_add_rest(struct json_object *content,
			 const struct run_result_source *a, const char *lead,
			 struct part whole, bool is_view,
			 enum mcp_revision rev);
/* Return the URI of the whole; the caller's. */
char *run_result_uri(const struct run_result_source *a, bool is_view);
/* Return a sentence on why the answer is cut; the caller's. */
char *run_result_why_cut(const struct run_result_source *a, size_t bytes);

/*
 * Add to CONTENT the later items of a result, from the view WHOLE of A: failed
 * steps of a partial success, artifacts not kept, and links to artifacts. A
 * revision without links gets texts.
 */
void run_result_add_details(struct json_object *content,
			    const struct run_result_source *a,
			    struct part whole, enum mcp_revision rev);

#endif
