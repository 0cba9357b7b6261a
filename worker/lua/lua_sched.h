/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_sched.h - the tasks of a run: coroutines that run in turns. The template's main
 * function is a task, and so is each running item of run.map(). A task lets others run
 * while waiting for a time, for items, or for an answer. A template's own coroutines are
 * no tasks. When such a coroutine waits, or a task within a function that Lua cannot
 * yield across (for example the comparison of a sort), other tasks run from within the
 * waiting call.
 */
#ifndef WORKER_LUA_LUA_SCHED_H
#define WORKER_LUA_LUA_SCHED_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct lua_wait {
	int64_t until_us;	 /* clock_mono_us(); INT64_MAX: no timeout */
	bool (*over)(void *arg); /* or NULL: only the time counts */
	void *arg;
	/* the step's timeout, or cancellation (once), ends the wait early */
	bool light;
};

enum lua_task_state {
	LUA_TASK_READY,	  /* has not run yet */
	LUA_TASK_RUNNING, /* runs, or waits without yielding */
	LUA_TASK_WAITING,
	LUA_TASK_OVER,
};

struct lua_task {
	lua_State *L;  /* anchored by the function that added the task */
	uint32_t step; /* the innermost running step, or STEPS_NONE */
	int nargs;     /* READY: arguments above the function on L's stack */
	int status;    /* OVER: lua_resume's; results or error on L's stack */
	void (*on_over)(struct lua_task *t); /* or NULL; must not raise */
	void *arg;
	/* members of the scheduler */
	enum lua_task_state state;
	struct lua_wait wait;
	bool woken;		    /* by cancellation, once */
	TAILQ_ENTRY(lua_task) link; /* in the scheduler's list */
};

/* Add T, which is READY; T must not move until OVER and deleted. */
void lua_sched_add(struct lua_task *t);
/* restart T, which is OVER, in on_over() */
void lua_sched_again(struct lua_task *t);
void lua_sched_del(struct lua_task *t);

/* Run until T is OVER. L is a state on which no task runs. */
void lua_sched_run(lua_State *L, struct lua_task *t);

struct lua_task *lua_sched_current(void); /* the running task; or NULL */
bool lua_sched_is_task(lua_State *L);	  /* is L the task's coroutine? */

/*
 * Let the current task, which calls from L, wait until W is over; then K continues,
 * also when W ended early. For "return lua_sched_wait();".
 */
int lua_sched_wait(lua_State *L, const struct lua_wait *w, lua_KContext ctx,
		   lua_KFunction k);

/* Raise an error if a step around the current task has timed out, or the run must end. */
void lua_sched_check(lua_State *L);

/*
 * L, a coroutine of the template's, runs from now on, or NULL: a timeout interrupts L.
 * Returns the coroutine that ran before.
 */
lua_State *lua_sched_enter(lua_State *L);

/* Async-signal-safe: the running coroutine checks at the next instruction. */
void lua_sched_interrupt(void);

#endif
