/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_steps.c - the steps of a run as its worker declared and changed them.
 * worker_recv.c applies each message; outcome.c reads what failed. A change
 * that a step cannot make is -EPROTO with the offence, and the worker is ended
 * for it.
 */
#include "supervisor/run/run_steps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"

static const char *const state_names[MSG_STEP_STATES] = {
    [MSG_STEP_PENDING] = "pending",	[MSG_STEP_RUNNING] = "running",
    [MSG_STEP_SUCCEEDED] = "succeeded", [MSG_STEP_FAILED] = "failed",
    [MSG_STEP_SKIPPED] = "skipped",
};

/* RUNNING again is a retry: another attempt of the same step. */
static const bool may[MSG_STEP_STATES][MSG_STEP_STATES] = {
    [MSG_STEP_PENDING] = {[MSG_STEP_RUNNING] = true, [MSG_STEP_SKIPPED] = true},
    [MSG_STEP_RUNNING] = {[MSG_STEP_RUNNING] = true,
			  [MSG_STEP_SUCCEEDED] = true,
			  [MSG_STEP_FAILED] = true,
			  [MSG_STEP_SKIPPED] = true},
};

void run_steps_fini(struct run_steps *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->all[i].name);
		free(s->all[i].code);
		free(s->all[i].message);
	}
	free(s->all);
	*s = (struct run_steps){0};
}

static void set_state(struct run_steps *s, struct step *step,
		      enum msg_step_state state)
{
	s->count[step->state]--;
	s->count[state]++;
	step->state = state;
}

/* One step keeps its name; of several, each is NAME[1], NAME[2], … */
static int declare(struct run_steps *s, const struct msg_step *m,
		   const char **errmsg)
{
	size_t n = (size_t)m->count;

	if (m->index != s->n) {
		*errmsg = "a step was declared out of order";
		return -EPROTO;
	}
	if (n > STEPS_MAX - s->n) {
		*errmsg = "more than 10000 steps were declared";
		return -EPROTO;
	}
	s->all = xrealloc(s->all, (s->n + n) * sizeof(*s->all));
	for (size_t i = 0; i < n; i++) {
		struct step *step = &s->all[s->n + i];

		*step = (struct step){.state = MSG_STEP_PENDING};
		step->name = n == 1 ? xstrndup(m->name.p, m->name.n)
				    : xasprintf("%.*s[%zu]", (int)m->name.n,
						m->name.p, i + 1);
	}
	s->n += n;
	s->count[MSG_STEP_PENDING] += n;
	return 0;
}

int run_steps_apply(struct run_steps *s, const struct msg_step *m,
		    const char **errmsg)
{
	struct step *step;

	if (m->state == MSG_STEP_PENDING)
		return declare(s, m, errmsg);
	if (m->index >= s->n) {
		*errmsg = "a step changed that was never declared";
		return -EPROTO;
	}
	step = &s->all[m->index];
	if (!may[step->state][m->state]) {
		*errmsg = "a step made a change that it cannot make";
		return -EPROTO;
	}
	set_state(s, step, m->state);
	step->attempts = m->attempts;
	step->elapsed_ms = m->elapsed_ms;
	if (m->state == MSG_STEP_FAILED) {
		step->code = xstrndup(m->code.p, m->code.n);
		step->message = xstrndup(m->message.p, m->message.n);
	}
	return 0;
}

void run_steps_close(struct run_steps *s, const char *code, const char *message)
{
	for (size_t i = 0; i < s->n; i++) {
		struct step *step = &s->all[i];

		if (step->state == MSG_STEP_PENDING) {
			set_state(s, step, MSG_STEP_SKIPPED);
		} else if (step->state == MSG_STEP_RUNNING) {
			set_state(s, step, MSG_STEP_FAILED);
			step->code = xstrdup(code);
			step->message = xstrdup(message);
		}
	}
}

const struct step *run_steps_first_failed(const struct run_steps *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->all[i].state == MSG_STEP_FAILED)
			return &s->all[i];
	return NULL;
}

static struct json_object *step_view(const struct step *step)
{
	return json_pack(
	    "name:s status:s attempts:i elapsedMs:i error?o", step->name,
	    state_names[step->state], step->attempts, step->elapsed_ms,
	    step->code == NULL
		? NULL
		: json_pack("code:s message:s", step->code, step->message));
}

struct json_object *run_steps_view(const struct run_steps *s)
{
	struct json_object *list = json_object_new_array_ext((int)s->n);

	for (size_t i = 0; i < s->n; i++)
		json_object_array_add(list, step_view(&s->all[i]));
	return list;
}
