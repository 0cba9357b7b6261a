/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validation.c - checks values by templates' schemas, which nobody trusts to be
 * cheap. tool_run.c has inputs checked here, runs.c outputs. The caller refuses
 * a value that cannot be decided within the budget, with the words from here.
 */
#include "supervisor/run/threads/validation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/threads/rpc_async.h"
#include "proto/json/json_pack.h"

struct validation_job {
	struct thread_pool *o;
	struct requestor *who;
	struct validation c;
	struct thread_pool_job *job;
	struct template *template; /* owns the schema; counts a user */
	const struct schema *schema;
	struct json_object *v, *tree;
	validation_done done;
	void *arg;
};

bool validation_try(struct validation *c, struct requestor *q,
		    const struct schema *s, struct json_object *v)
{
	*c = (struct validation){.budget.allowed = requestor_steps(q)};
	c->rc = schema_check(s, v, &c->budget, &c->err);
	if (c->budget.used > c->budget.allowed) /* the check was not begun */
		c->budget.used = c->budget.allowed;
	requestor_stepped(q, c->budget.used);
	return c->rc != -E2BIG;
}

/* ---- on a thread ---- */

static bool check_goes_on(void *arg)
{
	return thread_pool_may_continue(arg);
}

static void check_value(struct thread_pool_job *j, void *arg)
{
	struct validation_job *job = arg;
	struct validation *c = &job->c;

	c->budget.allowed = SCHEMA_STEPS_MAX;
	c->budget.goes_on = check_goes_on;
	c->budget.arg = j;
	c->rc = schema_check(job->schema, job->v, &c->budget, &c->err);
}

/* ---- on the loop ---- */

static void on_validated(void *arg, const struct thread_pool_result *end)
{
	struct validation_job *job = arg;
	struct json_object *tree = job->tree;

	(void)end;
	job->tree = NULL;
	job->done(job->arg, &job->c, tree);
}

static void drop_check(void *arg)
{
	struct validation_job *job = arg;

	rpc_async_put(job->o, job->who, job->tree);
	template_unref(job->template);
	free(job);
}

static const struct thread_pool_kind kind = {.name = "conform",
					     .cpu_ms = VALIDATION_CPU_MS,
					     .work = check_value,
					     .done = on_validated,
					     .drop = drop_check};

struct validation_job *
validation_submit(struct thread_pool *o, struct requestor *q,
		  const struct validation *c, struct template *t,
		  const struct schema *s, struct json_object *v,
		  struct json_object *tree, validation_done done, void *arg)
{
	struct validation_job *job = xcalloc(1, sizeof(*job));

	*job = (struct validation_job){.o = o,
				       .who = q,
				       .c = *c,
				       .template = template_ref(t),
				       .schema = s,
				       .v = v,
				       .tree = tree,
				       .done = done,
				       .arg = arg};
	job->job = thread_pool_submit(o, q, &kind, job);
	if (job->job != NULL)
		return job;
	job->tree = NULL;
	drop_check(job);
	return NULL;
}

void validation_cancel(struct validation_job *job)
{
	thread_pool_cancel(job->job);
}

/* ---- in words ---- */

void validation_refuse_busy(struct tool_error *r)
{
	tool_error_set(
	    r, "QUOTA_EXCEEDED",
	    admission_details(
		"checks under way", THREAD_POOL_JOBS_MAX, THREAD_POOL_JOBS_MAX,
		"checks", "nobody: they end by themselves", ADMISSION_RETRY_MS),
	    "%d checks of yours wait for a thread already; this one is "
	    "taken when some of them have ended",
	    THREAD_POOL_JOBS_MAX);
}

struct json_object *validation_details(const struct validation *c,
				       const char *schema)
{
	static const char who[] =
	    "nobody; the template's author can make the schema simpler";
	struct json_object *d =
	    c->rc == -ETIME
		? tool_error_limit("schema_cpu_ms", VALIDATION_CPU_MS,
				   VALIDATION_CPU_MS, "ms", who)
		: tool_error_limit(c->err.limit, (int64_t)c->err.allowed,
				   (int64_t)c->err.allowed,
				   strcmp(c->err.limit, "schema_depth") == 0
				       ? "subschemas"
				       : "steps",
				   who);
	char *place = xasprintf("/%s%s", schema, c->err.schema);

	json_add(d, "pointer:s schema:s", c->err.pointer, place);
	free(place);
	return d;
}

char *validation_message(const struct validation *c, const struct template *t,
			 const char *schema)
{
	return xasprintf("the %s of %s is too costly for this value: %s; its "
			 "author has to make the schema simpler, or the value "
			 "has to be smaller",
			 schema, t->id, c->err.text);
}
