/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_steps.c - steps that a program reports by name, for shim_lines.c. A forbidden
 * name, state or change of state is an error text, which ends the run.
 */
#include "worker/program/told/shim_told.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "worker/steps.h"
#include "worker/text.h"

#define BUCKETS 16384u /* a power of two, well above STEPS_MAX */

struct named {
	char *name;
	size_t len;
	uint32_t step;
	enum msg_step_state state;
};

static struct named *buckets;

/* Find the step NAME, or a free entry, whose name is NULL. */
static struct named *find_step(struct str name)
{
	uint32_t i = 2166136261u;

	for (size_t at = 0; at < name.n; at++)
		i = (i ^ (unsigned char)name.p[at]) * 16777619u;
	i &= BUCKETS - 1;
	if (buckets == NULL)
		buckets = xcalloc(BUCKETS, sizeof(*buckets));
	while (buckets[i].name != NULL &&
	       (buckets[i].len != name.n ||
		memcmp(buckets[i].name, name.p, name.n) != 0))
		i = (i + 1) & (BUCKETS - 1);
	return &buckets[i];
}

static int state_of(const char *text)
{
	static const char *const names[MSG_STEP_STATES] = {
	    [MSG_STEP_PENDING] = "pending",
	    [MSG_STEP_RUNNING] = "running",
	    [MSG_STEP_SUCCEEDED] = "succeeded",
	    [MSG_STEP_FAILED] = "failed",
	    [MSG_STEP_SKIPPED] = "skipped"};

	for (int i = 0; i < MSG_STEP_STATES; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	return -1;
}

/* The allowed changes of state; a step from pending to an end state has run. */
static const bool may[MSG_STEP_STATES][MSG_STEP_STATES] = {
    [MSG_STEP_PENDING] = {[MSG_STEP_PENDING] = true,
			  [MSG_STEP_RUNNING] = true,
			  [MSG_STEP_SUCCEEDED] = true,
			  [MSG_STEP_FAILED] = true,
			  [MSG_STEP_SKIPPED] = true},
    [MSG_STEP_RUNNING] = {[MSG_STEP_RUNNING] = true,
			  [MSG_STEP_SUCCEEDED] = true,
			  [MSG_STEP_FAILED] = true},
};

static void apply_step(struct named *s, enum msg_step_state to, struct str code,
		       struct str message)
{
	static char clean[MSG_TEXT_MAX], text[MSG_NAME_MAX + 1];
	size_t n = text_clean(clean, sizeof(clean), message.p, message.n);
	bool begins = to == MSG_STEP_RUNNING ||
		      (s->state == MSG_STEP_PENDING &&
		       (to == MSG_STEP_SUCCEEDED || to == MSG_STEP_FAILED));

	if (begins)
		(void)steps_begin(s->step, 0, NULL);
	memcpy(text, code.p, code.n);
	text[code.n] = '\0';
	if (to == MSG_STEP_SUCCEEDED)
		steps_succeed(s->step);
	else if (to == MSG_STEP_FAILED)
		steps_fail(s->step, text, clean, n);
	else if (to == MSG_STEP_SKIPPED)
		steps_skip(s->step);
	s->state = to;
}

const char *shim_step(struct str name, const char *state, struct str code,
		      struct str message)
{
	int to = state_of(state);
	struct named *s;

	if (!text_is_name(name.p, name.n, MSG_NAME_MAX))
		return "a step's name is 1 to 256 bytes without control "
		       "characters";
	if (to < 0)
		return "a step's state is pending, running, succeeded, failed "
		       "or skipped";
	if (code.n == 0)
		code = (struct str){"STEP_FAILED", strlen("STEP_FAILED")};
	if (!text_is_name(code.p, code.n, MSG_NAME_MAX))
		return "a step's code is 1 to 256 bytes without control "
		       "characters";
	s = find_step(name);
	if (s->name == NULL) {
		s->step = steps_declare(name.p, name.n, 1, STEPS_NONE);
		if (s->step == STEPS_NONE)
			return "there are more than 10000 steps";
		s->name = xstrndup(name.p, name.n);
		s->len = name.n;
	}
	if (!may[s->state][to])
		return "a step that has ended stays as it is";
	apply_step(s, (enum msg_step_state)to, code, message);
	return NULL;
}

void shim_forget_steps(void)
{
	for (size_t i = 0; buckets != NULL && i < BUCKETS; i++)
		free(buckets[i].name);
	free(buckets);
	buckets = NULL;
	steps_forget();
}
