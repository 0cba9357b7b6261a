/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_sched.c - the tasks of a run, in a single thread: lua_job.c runs the main task,
 * lua_map.c adds further tasks, and API functions wait here. Only STEP_TIMEOUT is raised;
 * a task's own error is the task's status.
 */
#include "worker/lua/lua_sched.h"

#include <assert.h>
#include <lauxlib.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "worker/lua/http/host_exchange.h"
#include "worker/lua/lua_questions.h"
#include "worker/lua/state/lua_error.h"
#include "worker/lua/lua_resident.h"
#include "worker/wait.h"
#include "worker/progress.h"
#include "worker/signals.h"
#include "worker/memory.h"
#include "worker/steps.h"

static TAILQ_HEAD(, lua_task) tasks MEMORY_EACH_RUN =
    TAILQ_HEAD_INITIALIZER(tasks);
static struct lua_task *current;
/* the coroutine that runs, for the signal handler */
static lua_State *_Atomic turn;

struct lua_task *lua_sched_current(void)
{
	return current;
}

bool lua_sched_is_task(lua_State *L)
{
	return current != NULL && current->L == L;
}

void lua_sched_add(struct lua_task *t)
{
	t->state = LUA_TASK_READY;
	TAILQ_INSERT_TAIL(&tasks, t, link);
}

void lua_sched_again(struct lua_task *t)
{
	t->state = LUA_TASK_READY;
}

void lua_sched_del(struct lua_task *t)
{
	TAILQ_REMOVE(&tasks, t, link);
}

static void take_turn(struct lua_task *t)
{
	current = t;
	atomic_store(&turn, t != NULL ? t->L : NULL);
}

static bool timed_out(const struct lua_task *t)
{
	return t->step != STEPS_NONE && steps_timed_out(t->step);
}

static bool must_end(const struct lua_task *t)
{
	return timed_out(t) || lua_resident_interrupted();
}

void lua_sched_check(lua_State *L)
{
	if (current == NULL || !must_end(current))
		return;
	if (lua_resident_interrupted())
		lua_error_cancelled(L);
	lua_error_push(L, LUA_ERROR_TYPED, "STEP_TIMEOUT",
		       "the step ran longer than its timeout");
	lua_error(L);
}

/*
 * The hook stays until the step, or the run of a resident, ends: so no pcall in there
 * hides the timeout.
 */
static void on_count(lua_State *L, lua_Debug *ar)
{
	(void)ar;
	if (current == NULL || !must_end(current))
		lua_sethook(L, NULL, 0, 0);
	else
		lua_sched_check(L);
}

static void interrupt(lua_State *L)
{
	lua_sethook(L, on_count, LUA_MASKCOUNT, 1);
}

void lua_sched_interrupt(void)
{
	lua_State *L = atomic_load(&turn);

	if (L != NULL)
		interrupt(L);
}

lua_State *lua_sched_enter(lua_State *L)
{
	lua_State *before = atomic_exchange(&turn, L);

	if (L != NULL && current != NULL && must_end(current))
		interrupt(L);
	return before;
}

static bool task_is_late(const struct lua_task *t, int64_t now)
{
	const struct lua_wait *w = &t->wait;

	if (now >= w->until_us || (w->over != NULL && w->over(w->arg)))
		return true;
	return w->light && ((!t->woken && signals_cancelled()) || must_end(t));
}

static void end_wait(struct lua_task *t)
{
	if (t->wait.light && signals_cancelled())
		t->woken = true;
}

static void resume_task(struct lua_task *t, lua_State *from)
{
	struct lua_task *before = current;
	int n = 0;

	take_turn(t);
	if (t->state == LUA_TASK_WAITING)
		end_wait(t);
	if (must_end(t))
		interrupt(t->L);
	t->state = LUA_TASK_RUNNING;
	t->status = lua_resume(t->L, from, t->nargs, &n);
	t->nargs = 0;
	take_turn(before);
	if (t->status == LUA_YIELD) {
		assert(t->state == LUA_TASK_WAITING);
		lua_pop(t->L, n);
		return;
	}
	t->state = LUA_TASK_OVER;
	if (t->on_over != NULL)
		t->on_over(t);
}

/* Take the next runnable task, and move the task to the end of the list; or NULL. */
static struct lua_task *pick_task(int64_t now)
{
	struct lua_task *t;

	TAILQ_FOREACH(t, &tasks, link) {
		if (t->state == LUA_TASK_READY ||
		    (t->state == LUA_TASK_WAITING && task_is_late(t, now))) {
			TAILQ_REMOVE(&tasks, t, link);
			TAILQ_INSERT_TAIL(&tasks, t, link);
			return t;
		}
	}
	return NULL;
}

/* The time at which something must be done even without a message. */
static int64_t next_us(const struct lua_task *waiter)
{
	int64_t next = progress_due_us();
	const struct lua_task *t;

	if (waiter->wait.until_us < next)
		next = waiter->wait.until_us;
	TAILQ_FOREACH(t, &tasks, link)
		if (t->state == LUA_TASK_WAITING && t->wait.until_us < next)
			next = t->wait.until_us;
	return next;
}

/* Run a runnable task, or wait for one. */
static void give_turn(lua_State *from, const struct lua_task *waiter,
		      uint32_t ticket)
{
	bool received = lua_questions_recv();
	struct lua_task *t;

	host_exchange_go_on();
	t = pick_task(clock_mono_us());
	if (t != NULL) {
		resume_task(t, from);
		return;
	}
	if (received)
		return; /* the waiter may be able to continue */
	if (lua_questions_owed() || host_exchange_events() != 0)
		wait_until_told(ticket, next_us(waiter), lua_questions_owed(),
				host_exchange_events());
	else
		wait_until(ticket, next_us(waiter));
	progress_tick();
}

void lua_sched_run(lua_State *L, struct lua_task *t)
{
	t->wait.until_us = INT64_MAX;
	while (t->state != LUA_TASK_OVER)
		give_turn(L, t, wait_ticket());
}

int lua_sched_wait(lua_State *L, const struct lua_wait *w, lua_KContext ctx,
		   lua_KFunction k)
{
	struct lua_task *t = current;

	assert(t != NULL);
	t->wait = *w;
	if (t->L == L && lua_isyieldable(L)) {
		t->state = LUA_TASK_WAITING;
		return lua_yieldk(L, 0, ctx, k);
	}
	/* without yielding T: other tasks run on top of T's stack */
	for (;;) {
		uint32_t ticket = wait_ticket();

		if (task_is_late(t, clock_mono_us()))
			break;
		give_turn(L, t, ticket);
	}
	end_wait(t);
	take_turn(t);
	(void)lua_sched_enter(L);
	return k(L, LUA_YIELD, ctx);
}
