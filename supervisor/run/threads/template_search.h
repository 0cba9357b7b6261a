/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_search.h - finds templates by words, on a thread: the number of
 * templates is the operator's choice, and the words are a stranger's.
 */
#ifndef SUPERVISOR_THREADS_TEMPLATE_SEARCH_H
#define SUPERVISOR_THREADS_TEMPLATE_SEARCH_H

#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/run/threads/thread_pool.h"

#define TEMPLATE_SEARCH_FOUND 500 /* most templates that are found */

/*
 * IDS (N, lent) are of the best templates, best first: more than a caller shows. The
 * caller looks each up, and leaves out those not there any more, or not to be run now
 * (a grant, no browser).
 */
typedef void (*template_search_done)(void *arg, const char *const *ids,
				     size_t n);

struct template_search;

/*
 * Search the newest versions of CAT's templates that Q may see and TRUST may run
 * for the words of QUERY (copied). The others have no effect on the order. DONE
 * is called on the loop, once, unless the search is cancelled before. NULL: Q
 * has as many jobs for threads as allowed.
 */
struct template_search *
template_search_begin(struct thread_pool *o, struct requestor *q,
		      const struct catalogue *cat, enum template_trust trust,
		      const char *query, template_search_done done, void *arg);
void template_search_cancel(struct template_search *s);

#endif
