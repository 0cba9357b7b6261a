/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_steps.c - the steps of a run as its worker declared and changed them.
 * worker_recv.c applies each message; outcome.c reads failed steps. An illegal
 * change is -EPROTO with the offence, and the worker is ended for it.
 */
#include "supervisor/run/run_steps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_write.h"

static const char *const state_names[MSG_STEP_STATES] = {
    [MSG_STEP_PENDING] = "pending",	[MSG_STEP_RUNNING] = "running",
    [MSG_STEP_SUCCEEDED] = "succeeded", [MSG_STEP_FAILED] = "failed",
    [MSG_STEP_SKIPPED] = "skipped",
};

/* Legal changes. RUNNING to RUNNING is a retry: another attempt at the step. */
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

/*
 * Add the COUNT steps of M: a single step is called NAME, several steps are
 * NAME[1], NAME[2] and so on.
 */
static int declare_steps(struct run_steps *s, const struct msg_step *m,
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
		return declare_steps(s, m, errmsg);
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

void run_steps_write(struct buf *out, const struct run_steps *s)
{
	struct buf list = {0};

	for (size_t i = 0; i < s->n; i++) {
		const struct step *step = &s->all[i];

		buf_add(&list, i == 0 ? "[" : ",", 1);
		json_open(&list, NULL);
		json_write(&list, "name:s status:s attempts:i elapsedMs:i",
			   step->name, state_names[step->state], step->attempts,
			   step->elapsed_ms);
		if (step->code != NULL) {
			json_open(&list, "error");
			json_write(&list, "code:s message:s", step->code,
				   step->message);
			json_close(&list);
		}
		json_close(&list);
	}
	if (s->n > 0) {
		buf_add(&list, "]", 1);
		json_write_raw(out, "steps", buf_data(&list), buf_len(&list));
	}
	buf_fini(&list);
}
