/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreters.h - finds the interpreters for programs on this machine: Python
 * with its modules, Node.js, bash and Lua, by their versions.
 */
#ifndef SUPERVISOR_HEALTH_INTERPRETERS_H
#define SUPERVISOR_HEALTH_INTERPRETERS_H

#include <json-c/json.h>

struct context;
struct interpreters;

struct interpreters *interpreters_new(struct context *ctx);
/*
 * Free I after spawner_stop(); callers that wait are told Lua alone. NULL is
 * fine.
 */
void interpreters_free(struct interpreters *i);

/* Programs or the machine may have changed: look again at the next question. */
void interpreters_forget(struct interpreters *i);

/*
 * Try to run a program as a run would be, unless the result is known, for
 * struct isolation's no_start: once, and after a failure until one has run.
 */
void interpreters_try(struct interpreters *i);

/*
 * Called once with {python?, node?, bash?, lua}, each {version}, Python's with
 * {modules, moreModules?}; borrowed until DONE returns. Called at once when the
 * result is known, else when a worker, caged as a run's, has looked. Where no
 * program can run the result is Lua alone.
 */
typedef void interpreters_done(void *arg, struct json_object *view);
void interpreters_ask(struct interpreters *i, interpreters_done *done,
		      void *arg);

#endif
