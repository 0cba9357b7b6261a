/* SPDX-License-Identifier: Apache-2.0 */
/* t_validation.c - checks by a template's schema, here and on a thread. */
#include "supervisor/run/threads/validation.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/tap_json.h"

static const struct config_requestor unlimited;
static struct requestor q;
static struct event_base *base;
static struct thread_pool *o;

/* Three failing branches, each with a reference which goes deeper. */
#define RECURSIVE                                                              \
	"{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"anyOf\":["                \
	"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"not\":{}},"        \
	"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"not\":{}},"        \
	"{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"not\":{}}]}}}"
#define INTEGERS "{\"items\":{\"type\":\"integer\"}}"

static struct json_object *nested(int n)
{
	struct json_object *v = json_object_new_object();

	for (; n > 1; n--) {
		struct json_object *up = json_object_new_object();

		json_object_object_add(up, "a", v);
		v = up;
	}
	return v;
}

static struct json_object *numbers(int n)
{
	struct json_object *v = json_object_new_array();

	for (int i = 0; i < n; i++)
		json_object_array_add(v, json_object_new_int(i));
	return v;
}

/* A template of which the schema alone is there; ours to unref. */
static struct template *template_of(const char *schema)
{
	struct template *t = xcalloc(1, sizeof(*t));
	struct json_object *doc = parse(schema);

	t->users = 1;
	t->id = xstrdup("dear");
	schema_compile(&t->inputs, doc, NULL, NULL);
	json_object_put(doc);
	return t;
}

static struct told {
	int calls;
	struct validation c;
	struct json_object *tree;
} told;

static void on_told(void *arg, const struct validation *c,
		    struct json_object *tree)
{
	struct told *t = arg;

	t->calls++;
	t->c = *c;
	t->tree = tree;
}

static void begin(void)
{
	q = (struct requestor){.name = (char *)"q", .section = &unlimited};
	told = (struct told){0};
	o = thread_pool_new(base, 1);
}

static void wait_told(void)
{
	while (told.calls == 0)
		event_base_loop(base, EVLOOP_ONCE);
}

static struct validation_job *later(const struct validation *c,
				    struct template *t, struct json_object *v)
{
	return validation_submit(o, &q, c, t, t->inputs, v, v, on_told, &told);
}

TEST(cheap)
{
	struct template *t = template_of(INTEGERS);
	struct json_object *good = parse("[1,2]"), *bad = parse("[1,true]");
	struct validation c;

	begin();
	ok(validation_try(&c, &q, t->inputs, good),
	   "what is cheap is seen at once");
	is_int(c.rc, 0, "a cheap good value passes at once");
	ok(c.budget.used < 20, "  by a few steps: %llu",
	   (unsigned long long)c.budget.used);
	ok(validation_try(&c, &q, t->inputs, bad), "what is wrong as well");
	is_int(c.rc, -EINVAL, "a cheap bad value does not pass");
	is_str(c.err.pointer, "/1", "a cheap bad value's error has a pointer");
	thread_pool_free(o);
	json_object_put(good);
	json_object_put(bad);
	template_unref(t);
}

TEST(dear)
{
	struct template *t = template_of(INTEGERS);
	struct json_object *v = numbers(200000);
	struct validation c;

	begin();
	ok(!validation_try(&c, &q, t->inputs, v), "what is dear is not");
	is_int(c.budget.used, SCHEMA_STEPS_INLINE,
	       "  after as much as the loop has time for");
	ok(later(&c, t, v) != NULL, "  a thread takes it");
	is_int(t->users, 2,
	       "a check on a thread keeps the schema, whatever is reloaded");
	template_unref(t);
	wait_told();
	is_int(told.c.rc, 0, "a dear good value passes on a thread");
	ok(told.tree == v, "  the value comes back");
	ok(told.c.budget.used > SCHEMA_STEPS_INLINE + 200000,
	   "  by one budget: %llu", (unsigned long long)told.c.budget.used);
	ok(requestor_cpu_ms(&q) > 0, "the requestor is charged for the check");
	json_object_put(told.tree);
	thread_pool_free(o);
}

TEST(too_dear)
{
	struct template *t = template_of(RECURSIVE);
	struct json_object *v = nested(14), *d;
	struct validation c;
	bool in_time;
	char *text;

	begin();
	ok(!validation_try(&c, &q, t->inputs, v), "what never ends is dear");
	later(&c, t, v);
	wait_told();
	in_time = told.c.rc == -E2BIG; /* otherwise the machine is slow */
	ok(in_time || told.c.rc == -ETIME, "an endless check is given up");
	ok(told.c.budget.used < SCHEMA_STEPS_MAX + 10000, "  at the budget");
	text = validation_message(&told.c, t, "inputsSchema");
	ok(strstr(text, "inputsSchema of dear is too costly") != NULL &&
	       strstr(text, "/$defs/n/anyOf") != NULL,
	   "  whose fault it is, is said: %s", text);
	d = validation_details(&told.c, "inputsSchema");
	is_str(json_member_str(d, "schema"), "/inputsSchema/$defs/n/anyOf",
	       "a check that was given up says where");
	is_str(json_member_str(d, "limit"),
	       in_time ? "schema_steps" : "schema_cpu_ms",
	       "a check that was given up names the limit");
	is_int(json_object_get_int64(json_member(d, "allowed")),
	       in_time ? SCHEMA_STEPS_MAX : VALIDATION_CPU_MS,
	       "  how much that is");
	json_object_put(d);
	free(text);
	json_object_put(told.tree);
	template_unref(t);
	thread_pool_free(o);
}

TEST(cancel)
{
	struct template *t = template_of(RECURSIVE);
	struct validation c = {.budget.allowed = SCHEMA_STEPS_INLINE};
	struct validation_job *job;

	begin();
	job = later(&c, t, nested(14));
	validation_cancel(job);
	while (thread_pool_jobs(o) > 0)
		event_base_loop(base, EVLOOP_ONCE);
	is_int(told.calls, 0, "a check that is cancelled is not told of");
	is_int(t->users, 1, "a cancelled check lets the schema go");
	later(&c, t, nested(14));
	for (int i = 1; i < THREAD_POOL_JOBS_MAX; i++)
		later(&c, t, nested(2));
	{
		struct json_object *more = nested(2);
		struct tool_error r = {0};

		ok(later(&c, t, more) == NULL,
		   "a requestor has no more than so many");
		ok(json_object_put(more) == 1,
		   "a refused check leaves the value to the caller");
		validation_refuse_busy(&r);
		is_str(r.code, "QUOTA_EXCEEDED",
		       "a refused check is an exceeded quota");
		tool_error_fini(&r);
	}
	thread_pool_free(o);
	is_int(told.calls, 0, "at the end nobody is told");
	is_int(t->users, 1, "no check keeps the schema at the end");
	template_unref(t);
}

/* A requestor has a tenth of the loop's time for checks. */
TEST(credit)
{
	struct template *t = template_of(INTEGERS);
	struct json_object *v = numbers(200000), *few = numbers(10);
	struct validation c;
	uint64_t steps = 0;
	int calls = 0;

	begin();
	do {
		validation_try(&c, &q, t->inputs, v);
		steps += c.budget.used;
	} while (c.budget.used == SCHEMA_STEPS_INLINE && ++calls < 100000);
	ok(calls < 100000,
	   "many dear checks do not go on on the loop for ever");
	ok(calls >= 8, "but some do: %d", calls);
	ok(requestor_cpu_ms(&q) >= (int64_t)(steps / SCHEMA_STEPS_PER_MS) - 1,
	   "and all are charged: %lld ms", (long long)requestor_cpu_ms(&q));
	q.steps_ms -= 1000; /* a second later */
	validation_try(&c, &q, t->inputs, v);
	ok(validation_try(&c, &q, t->inputs, few) && c.rc == 0,
	   "a second later there is time again");
	json_object_put(v);
	json_object_put(few);
	template_unref(t);
	thread_pool_free(o);
}

int main(void)
{
	base = event_base_new();
	tap_run();
	event_base_free(base);
	return tap_done();
}
