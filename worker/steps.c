/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c - the steps of a run, for both runtimes: each change is sent at once, and a
 * step with a timeout has a timer. A step above the maximum is STEPS_NONE, a timer above
 * the maximum -ENOSPC; the runtime makes errors of both.
 */
#include "worker/steps.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "worker/channel.h"
#include "worker/progress.h"
#include "worker/text.h"
#include "worker/timers.h"

#define NO_TIMER (-1)

struct step {
	int64_t began_us; /* of the first attempt */
	uint32_t around;  /* always below the index of the step */
	uint16_t attempts;
	int16_t timer; /* NO_TIMER: no attempt with a timeout is running */
	enum msg_step_state state;
};

static struct step steps[STEPS_MAX];
static uint32_t n_steps;
static uint32_t n_open; /* neither succeeded, failed nor skipped */
static int64_t grace_us;

void steps_set_grace_ms(int64_t ms)
{
	grace_us = ms * 1000;
}

/* Send the state; earlier progress is sent before. */
static void send_state(uint32_t step, const char *code, struct str message)
{
	struct msg m = {.type = MSG_STEP};
	const struct step *s = &steps[step];

	progress_flush();
	m.step.index = step;
	m.step.state = s->state;
	m.step.attempts = s->attempts;
	if (s->attempts > 0)
		m.step.elapsed_ms =
		    (uint64_t)(clock_mono_us() - s->began_us) / 1000;
	if (code != NULL)
		m.step.code = (struct str){code, strlen(code)};
	m.step.message = message;
	channel_send(&m);
}

uint32_t steps_declare(const char *name, size_t len, uint32_t count,
		       uint32_t around)
{
	struct msg m = {.type = MSG_STEP};
	uint32_t first = n_steps;

	if (count > STEPS_MAX - n_steps)
		return STEPS_NONE;
	for (uint32_t i = 0; i < count; i++)
		steps[first + i] =
		    (struct step){.around = around, .timer = NO_TIMER};
	n_steps += count;
	n_open += count;
	progress_flush();
	m.step.index = first;
	m.step.count = count;
	m.step.name = (struct str){name, len};
	channel_send(&m);
	return first;
}

uint32_t steps_around(uint32_t step)
{
	return steps[step].around;
}

unsigned steps_attempts(uint32_t step)
{
	return steps[step].attempts;
}

int steps_begin(uint32_t step, int64_t timeout_ms, const char *details)
{
	struct step *s = &steps[step];
	int64_t now = clock_mono_us();

	if (s->attempts++ == 0)
		s->began_us = now;
	s->state = MSG_STEP_RUNNING;
	send_state(step, NULL, (struct str){0});
	if (timeout_ms > 0) {
		int timer =
		    timers_start(now + timeout_ms * 1000, grace_us, details);

		if (timer < 0)
			return timer;
		s->timer = (int16_t)timer;
	}
	return 0;
}

bool steps_itself_timed_out(uint32_t step)
{
	return steps[step].timer != NO_TIMER && timers_due(steps[step].timer);
}

bool steps_timed_out(uint32_t step)
{
	for (; step != STEPS_NONE; step = steps[step].around)
		if (steps_itself_timed_out(step))
			return true;
	return false;
}

void steps_pause(uint32_t step)
{
	if (steps[step].timer == NO_TIMER)
		return;
	timers_stop(steps[step].timer);
	steps[step].timer = NO_TIMER;
}

static void end_step(uint32_t step, enum msg_step_state state, const char *code,
		     struct str message)
{
	steps_pause(step);
	steps[step].state = state;
	n_open--;
	send_state(step, code, message);
}

void steps_succeed(uint32_t step)
{
	end_step(step, MSG_STEP_SUCCEEDED, NULL, (struct str){0});
}

void steps_fail(uint32_t step, const char *code, const char *message,
		size_t len)
{
	static char text[MSG_TEXT_MAX];
	size_t n = text_clean(text, sizeof(text), message, len);

	end_step(step, MSG_STEP_FAILED, code, (struct str){text, n});
}

void steps_skip(uint32_t step)
{
	end_step(step, MSG_STEP_SKIPPED, NULL, (struct str){0});
}

void steps_close(void)
{
	static const char errmsg[] = "the run ended before this step did";

	for (uint32_t i = 0; n_open > 0 && i < n_steps; i++) {
		if (steps[i].state == MSG_STEP_PENDING)
			steps_skip(i);
		else if (steps[i].state == MSG_STEP_RUNNING)
			steps_fail(i, "ABANDONED", errmsg, sizeof(errmsg) - 1);
	}
}

void steps_forget(void)
{
	n_steps = n_open = 0;
}
