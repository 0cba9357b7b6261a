/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validation.h - does a value conform to a template's schema? Cheap checks run
 * at once, on the loop; expensive checks on a thread, by thread_pool.h. Both
 * kinds take from one budget, and the requestor pays for both.
 */
#ifndef SUPERVISOR_THREADS_VALIDATION_H
#define SUPERVISOR_THREADS_VALIDATION_H

#include <json-c/json.h>

#include "proto/schema/schema.h"
#include "supervisor/run/threads/thread_pool.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/packages/templates/template.h"

#define VALIDATION_CPU_MS 1000 /* deadline of one check on a thread */

/* The outcome of a check. */
struct validation {
	int rc; /* result of schema_check() */
	struct schema_error err;
	struct schema_budget budget;
};

/*
 * Check V on the loop, for Q; C gets the outcome. False: the check takes longer
 * than the loop can be away, or Q has used up its steps for now. Then there is
 * no result, and C goes to validation_submit().
 */
bool validation_try(struct validation *c, struct requestor *q,
		    const struct schema *s, struct json_object *v);

/*
 * Continue the check on a thread: check V, a part of TREE, by S of the template
 * T, which gets a user. TREE is taken until then, and no other reference to any
 * part of it may exist. DONE gives TREE back, with the outcome.
 */
typedef void (*validation_done)(void *arg, const struct validation *c,
				struct json_object *tree);

struct validation_job;
struct validation_job *
validation_submit(struct thread_pool *o, struct requestor *q,
		  const struct validation *c, struct template *t,
		  const struct schema *s, struct json_object *v,
		  struct json_object *tree, validation_done done, void *arg);
/*
 * Fill R for a NULL from validation_submit(): Q has too many checks already, or
 * there is no thread; TREE is as before.
 */
void validation_refuse_busy(struct tool_error *r);

void validation_cancel(struct validation_job *job); /* frees the tree, too */

/*
 * C has no result: return the details with the limit met; the caller frees
 * them.
 */
struct json_object *validation_details(const struct validation *c,
				       const char *schema);
/*
 * Return the sentence for C without a result, naming SCHEMA ("inputsSchema") of
 * T.
 */
char *validation_message(const struct validation *c, const struct template *t,
			 const char *schema);

#endif
