/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validation.h - does a value conform to a template's schema? Cheap checks are
 * made at once, on the loop; dear ones on a thread, by thread_pool.h. Both take
 * from one budget, and both are their requestor's to pay for.
 */
#ifndef SUPERVISOR_THREADS_VALIDATION_H
#define SUPERVISOR_THREADS_VALIDATION_H

#include <json-c/json.h>

#include "proto/schema/schema.h"
#include "supervisor/threads/thread_pool.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/templates/template.h"

#define VALIDATION_CPU_MS 1000 /* of one check on a thread */

/* What came of a check. */
struct validation {
	int rc; /* as schema_check() has it */
	struct schema_error err;
	struct schema_budget budget;
};

/*
 * Check V on the loop, for Q: C says what came of it. False: it takes longer
 * than a loop can be away, or Q has had enough of that for now. Then there is
 * no result, and C goes to validation_submit().
 */
bool validation_try(struct validation *c, struct requestor *q,
		    const struct schema *s, struct json_object *v);

/*
 * The check goes on, on a thread: of V, a part of TREE, by S of the template T
 * (a user of it is made). TREE is taken until then, and nobody else has a
 * reference to any part of it. DONE gives it back, with what came of it.
 */
typedef void (*validation_done)(void *arg, const struct validation *c,
				struct json_object *tree);

struct validation_job;
struct validation_job *
validation_submit(struct thread_pool *o, struct requestor *q,
		  const struct validation *c, struct template *t,
		  const struct schema *s, struct json_object *v,
		  struct json_object *tree, validation_done done, void *arg);
/* NULL came: Q has too many already, or there is no thread; TREE is as before. */
void validation_refuse_busy(struct tool_error *r);

void validation_cancel(struct validation_job *job); /* the tree goes with it */

/* C has no result: the limit that was met, as details have it; the caller's. */
struct json_object *validation_details(const struct validation *c,
				       const char *schema);
/* The sentence for it, which names SCHEMA ("inputsSchema") of T. */
char *validation_message(const struct validation *c, const struct template *t,
			 const char *schema);

#endif
