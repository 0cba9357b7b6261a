/* SPDX-License-Identifier: Apache-2.0 */
/* t_run_journal.c - keys by which a run that is run again finds its children. */
#include "supervisor/run/run_journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/run/run.h"
#include "tests/unit/tap.h"

static struct requestor q;
static struct template t = {
    .id = (char *)"callee", .version_text = (char *)"1.0.0", .digest = {"d1"}};

static struct run *make(const char *journal)
{
	struct run *r;

	t.users++;
	r = run_new(&q, &t);
	r->family.journal.id = xstrdup_opt(journal);
	return r;
}

/* The key of R's next call with the inputs of the digest INPUTS. */
static struct run_journal_call call(struct run *r, const char *inputs)
{
	struct run_journal_call c;

	run_journal_enter(r, r->template, inputs, &c);
	return c;
}

TEST(keys)
{
	struct run *first = make(NULL), *again = make(first->id);
	struct run_journal_call a = call(first, "aa"), b = call(first, "bb"),
				second = call(first, "aa"), found;

	is_int((int)strlen(a.key), RUN_JOURNAL_KEY - 1, "a call has a key");
	ok(strcmp(a.key, b.key) != 0, "other inputs have another key");
	ok(strcmp(a.key, second.key) != 0, "an equal call has another key");
	found = call(again, "bb");
	is_str(found.key, b.key, "a run that is run again has the same keys,");
	found = call(again, "aa");
	is_str(found.key, a.key, "whatever the order of different calls");
	found = call(again, "aa");
	is_str(found.key, second.key, "of equal calls, too");
	run_free(again);
	run_free(first);
}

TEST(templates)
{
	struct run *r = make("j"), *other = make("k");
	struct run_journal_call a = call(r, "aa"), b;

	b = call(other, "aa");
	ok(strcmp(a.key, b.key) != 0, "another journal has other keys");
	run_journal_start_over(r);
	t.version_text = (char *)"1.0.1";
	b = call(r, "aa");
	ok(strcmp(a.key, b.key) != 0, "another version has another key");
	t.version_text = (char *)"1.0.0";
	strcpy(t.digest, "d2");
	b = call(r, "aa");
	ok(strcmp(a.key, b.key) != 0, "another package has another key");
	strcpy(t.digest, "d1");
	b = call(r, "aa");
	is_str(b.key, a.key, "the next attempt has the same key");
	run_free(r);
	run_free(other);
}

TEST(refused)
{
	struct run *r = make("j");
	struct run_journal_call a = call(r, "aa"), b;

	run_journal_leave(r, &a);
	b = call(r, "aa");
	is_str(b.key, a.key, "a call that made no child leaves its key");
	call(r, "aa");
	run_journal_leave(r, &b);
	a = call(r, "aa");
	ok(strcmp(a.key, b.key) != 0,
	   "a key is not used twice when a later equal call has one");
	a.key[0] = '\0';
	run_journal_leave(r, &a);
	run_free(r);
}

TEST(bound)
{
	struct run *r = make("j");
	struct run_journal_call c = {.key = "x"};
	char inputs[16];
	int n = 0;

	while (c.key[0] != '\0' && n < 100000) {
		snprintf(inputs, sizeof(inputs), "%d", n++);
		c = call(r, inputs);
	}
	is_int(n - 1, 2 * RUN_CHILDREN_MAX,
	       "the number of calls with a key has a bound");
	run_journal_leave(r, &c);
	run_free(r);
}

TEST(resumes)
{
	struct run *r = make(NULL);

	ok(!run_journal_resumes(r), "a new run has nothing to find");
	r->attempts.ended = json_object_new_array();
	json_object_array_add(r->attempts.ended, json_object_new_object());
	ok(run_journal_resumes(r), "a further attempt looks");
	run_free(r);
	r = make("j");
	r->family.journal.resumes = true;
	ok(run_journal_resumes(r), "a run that repeats another looks");
	run_free(r);
}
